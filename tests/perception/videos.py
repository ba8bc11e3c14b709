"""Real videos of unusual make: any codec, frame times, sound, subtitles, damage."""

from __future__ import annotations

import struct
from fractions import Fraction

import av
import numpy as np
from av.subtitles.subtitle import SubtitleSet

from admir.perception.decode import decode
from admir.perception.frame_seek import decode_at
from tests.conftest import flat

MS = Fraction(1, 1000)
SOUND_RATE = 44_100
_FAST = {"libvpx": {"deadline": "realtime", "cpu-used": "8"}}

_ASS_HEADER = (
    b"[Script Info]\nScriptType: v4.00+\n\n[V4+ Styles]\n"
    b"Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour,"
    b" Bold, Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline,"
    b" Shadow, Alignment, MarginL, MarginR, MarginV, Encoding\n"
    b"Style: Default,Arial,16,&Hffffff,&Hffffff,&H0,&H0,0,0,0,0,100,100,0,0,1,1,0,2,9,9,9,1\n\n"
    b"[Events]\n"
    b"Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n"
)


def numbered(index, size=(320, 240)):
    """A picture that tells its index (0 to 27) by its brightness."""
    return flat((5 + 9 * index,) * 3, size)


def number_of(pixels):
    """The index that `assign_ids` drew."""
    return round((float(pixels.mean()) - 5) / 9)


def noise(count, size=(160, 120)):
    """Pictures that do not compress, so that half of the file is half of the video."""
    random = np.random.default_rng(7)
    return [random.integers(0, 255, (size[1], size[0], 3), dtype=np.uint8) for _ in range(count)]


def tone(seconds=1.0, level=0.3):
    """float32 [1, samples]: a sine of this amplitude."""
    return (np.sin(np.arange(int(SOUND_RATE * seconds)) * 0.06) * level).astype(np.float32)[None]


def encode(
    path,
    pictures,
    *,
    codec="libx264",
    pix_fmt="yuv420p",
    fps=25,
    times_ms=None,
    last_ms=None,
    muxing=None,
    options=None,
    sound=None,
    cues=(),
    cue_codec="mov_text",
):
    """Write a video. `sound` is (codec, format, samples); `cues` are (start ms, end ms, text).

    `last_ms` is how long the last picture stands, `options` are the encoder's.
    """
    height, width = pictures[0].shape[:2]
    with av.open(str(path), "w", options=muxing or {}) as container:
        chosen = {"g": "12"} | _FAST.get(codec, {}) | (options or {})
        video = container.add_stream(codec, rate=fps, options=chosen)
        video.width, video.height, video.pix_fmt = width, height, pix_fmt
        audio = container.add_stream(sound[0], rate=SOUND_RATE, layout="mono") if sound else None
        words = _cue_stream(container, cue_codec) if cues else None
        if times_ms:
            video.codec_context.time_base = MS
        add_pictures(container, video, pictures, times_ms, last_ms)
        if audio is not None:
            write_sound(container, audio, *sound[1:])
        for number, cue in enumerate(cues):
            container.mux(_cue(words, number, *cue))
    return path


def add_pictures(container, video, pictures, times_ms=None, last_ms=None):
    """Encode pictures into an open track."""
    packets = []
    for index, pixels in enumerate(pictures):
        frame = av.VideoFrame.from_ndarray(pixels, format="bgr24")
        if video.pix_fmt == "yuvj420p":
            frame = frame.reformat(format="yuvj420p")
        if times_ms:
            frame.pts, frame.time_base = times_ms[index], MS
        packets += video.encode(frame)
    packets += video.encode()
    if last_ms:
        max(packets, key=lambda packet: packet.pts).duration = last_ms
    container.mux(packets)


def write_sound(container, stream, sample_format, samples, layout="mono"):
    for start in range(0, samples.shape[1], 1024):
        block = np.ascontiguousarray(samples[:, start : start + 1024])
        frame = av.AudioFrame.from_ndarray(block, sample_format, layout)
        frame.sample_rate, frame.pts = SOUND_RATE, start
        container.mux(stream.encode(frame))
    container.mux(stream.encode())


def _cue_stream(container, codec):
    stream = container.add_stream(codec)
    stream.codec_context.subtitle_header = _ASS_HEADER
    stream.time_base = stream.codec_context.time_base = MS
    return stream


def _cue(stream, number, start_ms, end_ms, text):
    line = f"{number},0,Default,,0,0,0,,{text}".encode()
    lines = SubtitleSet.create(text=line, start=0, end=end_ms - start_ms, pts=start_ms)
    packet = stream.codec_context.encode_subtitle(lines)
    packet.stream, packet.time_base = stream, MS
    packet.pts = packet.dts = start_ms
    packet.duration = end_ms - start_ms
    return packet


def walk(path, **options):
    """(facts, thumbs, samples) of a file."""
    thumbs, samples = [], []
    return decode(path, thumbs.append, samples.append, **options), thumbs, samples


def shown_at(path, times_s):
    """The frames shown at these times, in this order; none where the file does not give one."""
    found = decode_at(path, times_s)
    return [found[time_s] for time_s in times_s if time_s in found]


def state_length(path, length_ms):
    """Overwrite the length that a Matroska file states (EBML element 0x4489, a double)."""
    data = bytearray(path.read_bytes())
    place = data.find(b"\x44\x89\x88") + 3
    data[place : place + 8] = struct.pack(">d", length_ms)
    path.write_bytes(data)


def cut_off(path, share=0.5):
    """The same file, ending after this share of its bytes."""
    short = path.with_name(f"cut-{path.name}")
    data = path.read_bytes()
    short.write_bytes(data[: int(len(data) * share)])
    return short


def turned(path, quarters):
    """The same MP4, marked to be shown turned clockwise by so many quarters."""
    one = 1 << 16
    cos, sin = ((one, 0), (0, one), (-one, 0), (0, -one))[quarters]
    data = bytearray(path.read_bytes())
    matrix_at = data.find(b"tkhd") + 4 + 4 + 20 + 8 + 8
    data[matrix_at : matrix_at + 36] = struct.pack(">9i", cos, sin, 0, -sin, cos, 0, 0, 0, 1 << 30)
    marked = path.with_name(f"turned{quarters}-{path.name}")
    marked.write_bytes(data)
    return marked


def damage_packet(path, kind, number):
    """The same MP4 with one packet of its `video` or `audio` track overwritten by noise."""
    with av.open(str(path)) as container:
        stream = getattr(container.streams, kind)[0]
        places = [(p.pos, p.size) for p in container.demux(stream) if p.size]
    position, size = places[number]
    data = bytearray(path.read_bytes())
    data[position + 4 : position + size] = np.random.default_rng(1).bytes(size - 4)
    hurt = path.with_name(f"hurt-{path.name}")
    hurt.write_bytes(data)
    return hurt
