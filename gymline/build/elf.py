"""The few ELF facts a gate needs, read from the bytes of an untrusted file."""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass

_ET_EXEC, _ET_DYN = 2, 3
_PT_DYNAMIC, _PT_INTERP = 2, 3
_PROGRAM_HEADER, _LONGEST_DYNAMIC = 56, 64 * 1024
_DT_FLAGS_1, _DF_1_PIE = 0x6FFFFFFB, 0x08000000


@dataclass(frozen=True)
class Elf:
    """``program``: whether the kernel can start it as one; ``dynamic``: whether it asks for a loader."""

    program: bool
    dynamic: bool


def read_elf(content: bytes | mmap.mmap) -> Elf | None:
    """What the headers say, or None where ``content`` is no 64-bit little-endian ELF file.

    A position-independent program and a shared library are both ET_DYN: a program asks for a loader
    (PT_INTERP) or, linked statically, carries the DF_1_PIE flag.
    """
    if len(content) < 64 or content[:6] != b"\x7fELF\x02\x01":
        return None
    (kind,) = struct.unpack_from("<H", content, 16)
    (headers_at,) = struct.unpack_from("<Q", content, 32)
    size, count = struct.unpack_from("<HH", content, 54)
    # The kernel starts nothing with other header sizes, or with more of them than fit in 64 KiB.
    if count and (size != _PROGRAM_HEADER or count * size > 64 * 1024):
        return None
    interpreter = False
    pie: bool | None = None
    try:
        for index in range(count):
            at = headers_at + index * size
            (header,) = struct.unpack_from("<I", content, at)
            if header == _PT_INTERP:
                interpreter = True
            elif header == _PT_DYNAMIC and pie is None:
                (offset,) = struct.unpack_from("<Q", content, at + 8)
                (length,) = struct.unpack_from("<Q", content, at + 32)
                pie = _is_pie(content, offset, min(length, _LONGEST_DYNAMIC))
    except struct.error:
        return None
    return Elf(program=kind == _ET_EXEC or (kind == _ET_DYN and (interpreter or bool(pie))), dynamic=interpreter)


def _is_pie(content: bytes | mmap.mmap, offset: int, length: int) -> bool:
    for at in range(offset, min(offset + length, len(content)) - 15, 16):
        tag, value = struct.unpack_from("<QQ", content, at)
        if tag == _DT_FLAGS_1:
            return bool(value & _DF_1_PIE)
    return False
