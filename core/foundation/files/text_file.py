"""Decoding of text files in UTF-8, UTF-16 or UTF-32, with or without the byte order mark that some editors write."""

from __future__ import annotations

import codecs

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, since this mark begins with that of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
LONGEST_MARK = 4
"""Number of bytes of the longest byte order mark."""


def encoding_of(data: bytes) -> tuple[bytes, str]:
    """Return the byte order mark at the beginning of ``data`` and the encoding that it indicates; without a mark, b""
    and UTF-8.
    """
    return next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", "utf-8"))


def text_of(data: bytes) -> str:
    """Return ``data`` decoded to text, with the encoding of its byte order mark (UTF-8 without one); the mark is
    removed. Raise UnicodeDecodeError for invalid bytes.
    """
    mark, encoding = encoding_of(data)
    return data[len(mark) :].decode(encoding)


def without_mark(data: bytes) -> bytes:
    """Return ``data`` without a byte order mark and, if the mark is that of UTF-16 or UTF-32, converted to UTF-8. Data
    in other encodings, such as Latin-1, are unchanged.
    """
    mark, encoding = encoding_of(data)
    return data[len(mark) :] if encoding == "utf-8" else text_of(data).encode()
