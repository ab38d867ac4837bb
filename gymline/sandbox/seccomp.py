"""A system-call filter for bwrap: what namespaces do not cover and no program under test needs.

Kernel keyrings are shared by all processes of one user of the host, a new user namespace would give capabilities back,
and the others here are entrances to the kernel with a long history of holes (container engines deny them too). Denied
calls fail with EPERM, as do all calls through another architecture's entry (32-bit, x32), whose numbers mean something
else. ``clone3`` hides its flags from filters, so it is "not implemented" and the C library uses ``clone``.
"""

from __future__ import annotations

import errno
import platform
import struct

_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
"""Machine → its column below, and its number in the kernel's audit interface."""
_CLONE = (56, 220)
_DENIED = {
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "kexec_load": (246, 104),
    "open_by_handle_at": (304, 265),
    "unshare": (272, 97),
    "setns": (308, 268),
}
_CLONE3 = 435
_X32 = 0x40000000
_NEW_NAMESPACES = 0x7E020000
_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_CALL, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000


def seccomp_program() -> bytes | None:
    """The filter as the kernel's ``sock_filter`` array; None on an architecture without a table."""
    if platform.machine() not in _ARCHITECTURES:
        return None
    column, architecture = _ARCHITECTURES[platform.machine()]
    # (instruction, operand, label when true, label when false); no label: the next instruction.
    program = [
        (_LOAD, _ARCHITECTURE, "", ""),
        (_IF_EQUAL, architecture, "", "deny"),
        (_LOAD, _CALL, "", ""),
        (_IF_AT_LEAST, _X32, "deny", ""),
        *((_IF_EQUAL, numbers[column], "deny", "") for numbers in _DENIED.values()),
        (_IF_EQUAL, _CLONE3, "missing", ""),
        (_IF_EQUAL, _CLONE[column], "", "allow"),
        (_LOAD, _FIRST_ARGUMENT, "", ""),
        (_IF_ANY_BIT, _NEW_NAMESPACES, "deny", "allow"),
    ]
    ends = {"allow": _ALLOW, "deny": _ERROR | errno.EPERM, "missing": _ERROR | errno.ENOSYS}
    labels = {label: len(program) + index for index, label in enumerate(ends)}
    packed = [
        struct.pack("=HBBI", code, *(labels[to] - at - 1 if to else 0 for to in (yes, no)), operand)
        for at, (code, operand, yes, no) in enumerate(program)
    ]
    return b"".join(packed + [struct.pack("=HBBI", _RETURN, 0, 0, value) for value in ends.values()])
