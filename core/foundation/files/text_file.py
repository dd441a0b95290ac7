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
    """Return the byte order mark at the beginning of ``data``, and the encoding that the mark indicates.

    Without a mark, the result is b"" and UTF-8.
    """
    return next(((mark, name) for mark, name in _MARKS if data.startswith(mark)), (b"", "utf-8"))


def text_of(data: bytes) -> str:
    """Return ``data`` decoded to text, without the byte order mark.

    The mark selects the encoding, by default UTF-8. Raises UnicodeDecodeError for invalid bytes.
    """
    mark, encoding = encoding_of(data)
    return data[len(mark) :].decode(encoding)


def without_mark(data: bytes) -> bytes:
    """Return ``data`` without its byte order mark; text marked as UTF-16 or UTF-32 is converted to UTF-8.

    Data without a mark, such as Latin-1 text, are unchanged.
    """
    mark, encoding = encoding_of(data)
    return data[len(mark) :] if encoding == "utf-8" else text_of(data).encode()
