"""A multipart form as it streams in: one file, and a field of metadata."""

from __future__ import annotations

from collections.abc import AsyncIterator

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from admir.errors import InputError, TooLarge

MOST_METADATA_BYTES = 65_536


class FormReader:
    """Yields the bytes of the field `file` while it reads; `name` and `metadata` come with it.

    Raises InputError for a form that cannot be read or has no such field.
    """

    def __init__(self, content_type: str) -> None:
        _, options = parse_options_header(content_type)
        boundary = options.get(b"boundary")
        if not boundary:
            raise InputError("the form names no boundary; send multipart/form-data with one")
        self.name = ""
        self.metadata = ""
        self.has_file = False
        self._field, self._header, self._value = b"", b"", b""
        self._taken: list[bytes] = []
        self._text = bytearray()
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._begin,
                    "on_header_field": self._on_header,
                    "on_header_value": self._on_value,
                    "on_header_end": self._on_header_end,
                    "on_part_data": self._on_data,
                },
            )
        except FormParserError as error:
            raise InputError(f"the form cannot be read: {error}") from None

    async def file(self, body: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The bytes of the file, piece by piece, to the end of the form."""
        async for chunk in body:
            try:
                self._parser.write(chunk)
            except FormParserError as error:
                raise InputError(f"the form cannot be read: {error}") from None
            taken, self._taken = self._taken, []
            for piece in taken:
                yield piece
        try:
            self._parser.finalize()
        except FormParserError:
            raise InputError("the form ends too early; send it again") from None
        if not self.has_file:
            raise InputError("the form has no field `file`; send the video as one: -F file=@ad.mp4")
        self.metadata = self._text.decode("utf-8", "replace")

    def _begin(self) -> None:
        self._field = b""

    def _on_header(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _on_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_header_end(self) -> None:
        if self._header.lower() == b"content-disposition":
            _, options = parse_options_header(self._value)
            self._field = options.get(b"name", b"")
            if self._field == b"file":
                self._open_file(options.get(b"filename", b""))
        self._header, self._value = b"", b""

    def _open_file(self, name: bytes) -> None:
        if self.has_file:
            raise InputError("the form has two fields `file`; send one video at a time")
        self.has_file = True
        self.name = name.decode("utf-8", "replace")

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        if self._field == b"file":
            self._taken.append(data[start:end])
        elif self._field == b"metadata":
            self._text += data[start:end]
            if len(self._text) > MOST_METADATA_BYTES:
                raise TooLarge(f"the metadata has more than {MOST_METADATA_BYTES:,} bytes")
