"""Text as saved by editors: with or without byte order mark, in UTF-8, UTF-16 or UTF-32."""

from __future__ import annotations

import codecs

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is its prefix
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
LONGEST_MARK = 4
"""Length, bytes, of the longest byte order mark."""


def encoding_of(data: bytes) -> tuple[bytes, str]:
    """Return the byte order mark at the beginning of the data, and its encoding; b"" and UTF-8 without a mark."""
    return next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", "utf-8"))


def text_of(data: bytes) -> str:
    """Return the text without its mark; UnicodeDecodeError if the bytes are invalid in its encoding."""
    mark, encoding = encoding_of(data)
    return data[len(mark) :].decode(encoding)


def without_mark(data: bytes) -> bytes:
    """Return text as bytes without a mark, converted to UTF-8 from UTF-16 or UTF-32. Other bytes, such as names in
    Latin-1, are unchanged.
    """
    mark, encoding = encoding_of(data)
    return data[len(mark) :] if encoding == "utf-8" else text_of(data).encode()
