"""The OpenAPI document against the service: generated requests, sensible and not."""

from __future__ import annotations

from contextlib import suppress

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.specs.openapi.checks import positive_data_acceptance

from admir.settings import load_settings
from tests.server.running import serving


@pytest.fixture(scope="module")
def document(demo, memories):
    with serving(load_settings(memories=memories)) as client:
        yield schemathesis.openapi.from_url(f"{client.base_url}/openapi.json")


def unsaid_of(case):
    """A document cannot say which bytes are a video, and which lines stand in it."""
    says_all = case.method.lower() != "post" or case.path == "/ask"
    return [] if says_all else [positive_data_acceptance]


@pytest.mark.parametrize("mode", list(GenerationMode))
def test_every_route_does_what_its_document_says(document, mode):
    for result in document.get_all_operations():
        operation = result.ok()

        @settings(
            max_examples=8,
            deadline=None,
            phases=[Phase.explicit, Phase.generate],
            suppress_health_check=list(HealthCheck),
            database=None,
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def check(case):
            case.call_and_validate(timeout=20, excluded_checks=unsaid_of(case))

        with suppress(Unsatisfiable):  # a route that takes nothing cannot be called wrongly
            check()
