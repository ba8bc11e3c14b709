"""Where a speech model runs: in what is free of the card, else on the CPU, and never silently."""

from __future__ import annotations

import gc
import weakref

import pytest

from admir.errors import BackendUnavailable
from admir.perception import devices
from admir.perception.devices import ON_CPU, DeviceLimit, DevicePlan, place_for, with_cpu_behind

OUT_OF_MEMORY = "CUDA failed with error out of memory"
ON_CARD = DevicePlan(device="cuda", compute_type="float16", batch=4)


@pytest.fixture
def weights(tmp_path):
    """A folder of 1,600 MB of weights (a sparse file): large-v3-turbo."""
    with (tmp_path / "model.bin").open("wb") as stream:
        stream.truncate(1_600_000_000)
    return tmp_path


@pytest.fixture
def place(weights, monkeypatch):
    """(the place, the warnings) for so much free memory."""

    def found(free_mb, *, sees=True, **share):
        monkeypatch.setattr(devices, "free_gpu_mb", lambda: free_mb)
        said = []
        return place_for(weights, DeviceLimit(**share), lambda: sees, said.append), said

    return found


def test_an_empty_card_hears_many_pieces_at_once(place):
    assert place(80_000) == (DevicePlan(device="cuda", compute_type="float16", batch=16), [])


@pytest.mark.parametrize(
    ("free_mb", "gpu_mb", "compute_type", "batch"),
    [
        (4_000, None, "float16", 7),
        (80_000, 4_000, "float16", 7),
        (2_600, None, "float16", 1),
        (2_000, None, "int8_float16", 2),
        (None, 2_000, "int8_float16", 2),
        (None, None, "float16", 1),
    ],
)
def test_it_takes_what_is_free_and_what_it_may(place, free_mb, gpu_mb, compute_type, batch):
    found, said = place(free_mb, gpu_mb=gpu_mb)
    assert (found.device, found.compute_type, found.batch, said) == (
        "cuda",
        compute_type,
        batch,
        [],
    )


def test_a_full_card_is_left_alone_and_that_is_said(place):
    found, said = place(900)
    assert found == ON_CPU
    assert said == [
        "speech is recognised on the CPU: 1700 MB of the card are needed, 900 MB may be taken"
    ]


def test_without_a_card_auto_is_the_cpu_in_silence_and_cuda_says_so(place):
    assert place(None, sees=False) == (ON_CPU, [])
    found, said = place(None, sees=False, device="cuda")
    assert (found, len(said)) == (ON_CPU, 1)


def test_the_cpu_asks_for_no_card(weights, monkeypatch):
    monkeypatch.setattr(devices, "free_gpu_mb", pytest.fail)
    assert place_for(weights, DeviceLimit(device="cpu"), pytest.fail, pytest.fail) == ON_CPU


TOLD = "0, GPU-aaa, 1000\n1, GPU-bbb, 2000\n"


@pytest.mark.parametrize(
    ("told", "visible", "free"),
    [
        (TOLD, "", 1000),
        (TOLD, "1", 2000),
        (TOLD, "1,0", 2000),
        (TOLD, "GPU-b", 2000),
        (TOLD, "7", 1000),
        ("", "", None),
        ("0, GPU-aaa, [N/A]\n", "", None),
        ("No devices were found\n", "", None),
    ],
)
def test_free_memory_is_that_of_the_visible_card(told, visible, free):
    assert devices._free_of(told, visible) == free


def test_no_tool_of_the_card_tells_nothing(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert devices.free_gpu_mb() is None


class Model:
    """Stands for weights on the card."""


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError(OUT_OF_MEMORY),
        RuntimeError("Library libcublas.so.12 is not found or cannot be loaded"),
        OSError("libcudnn_ops.so.9: cannot open shared object file"),
    ],
)
def test_what_fails_on_the_card_is_done_on_the_cpu_after_it_is_freed(error):
    models, said = [], []

    def work(place):
        if place.device == "cpu":
            gc.collect()
            assert models[0]() is None, "the weights are still on the card"
            return "heard"
        model = Model()
        models.append(weakref.ref(model))
        raise type(error)(*error.args)  # the one of the parameter would live on

    assert with_cpu_behind(ON_CARD, work, said.append, "tiny") == "heard"
    (line,) = said
    assert str(error) in line
    assert "CPU" in line


def test_what_fails_on_the_cpu_too_is_one_line_that_says_what_to_do():
    def work(_):
        raise RuntimeError("Unable to open file 'model.bin'\nin model /tiny")

    with pytest.raises(BackendUnavailable, match="tiny cannot be used: Unable to open") as caught:
        with_cpu_behind(ON_CPU, work, pytest.fail, "tiny")
    assert "fetch-models" in str(caught.value)


def test_an_error_of_ours_is_not_hidden():
    with pytest.raises(ZeroDivisionError):
        with_cpu_behind(ON_CARD, lambda _: 1 / 0, pytest.fail, "tiny")
