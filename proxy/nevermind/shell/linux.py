"""Two Linux process attributes that Python does not expose, without the price of ctypes.

``_ctypes``, the extension module under ctypes, loads in a tenth of the time; this runs
before the server's process exists, where every millisecond is one the host waits.
Elsewhere, or where the interpreter was built without it, both calls say False.
"""

from __future__ import annotations

import sys

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

_prctl: int | None = None
if sys.platform == "linux":
    try:
        import _ctypes

        _prctl = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # type: ignore[arg-type]
    except (ImportError, AttributeError, OSError):
        _prctl = None


def _set(option: int, value: int) -> bool:
    if _prctl is None:
        return False
    return bool(_ctypes.call_function(_prctl, (option, value, 0, 0, 0)) == 0)


def die_with_parent(signal_number: int) -> bool:
    """Have the kernel send us ``signal_number`` when the thread that forked us ends.

    It survives exec.  The caller must check afterwards that the parent was still there:
    a parent that ended earlier sends nothing.
    """
    return _set(_PR_SET_PDEATHSIG, signal_number)


def adopt_orphans() -> bool:
    """Become the parent of every descendant whose own parent ends (sub-reaper).

    Without it a server behind a wrapper (``sh -c``, ``npx``, ``uvx``) falls to init as
    soon as the wrapper ends, out of our sight.
    """
    return _set(_PR_SET_CHILD_SUBREAPER, 1)
