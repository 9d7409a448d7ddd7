"""Notes as lines: for people, or as JSON.  Knows nothing of where lines go.

Whatever a peer chose (ids, methods, reasons) is escaped as in JSON strings,
everything unprintable included, so that no line can steer a terminal or pass
for two; and it is cut at 200 characters.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from nevermind.notes import Note, Statistics

Member = str | int | float | None | Mapping[str, int]
"""The value of one member of a line."""

LONGEST = 200
"""Characters shown of anything that a peer chose: enough to tell two apart."""

_HUGE = 10**LONGEST
"""Larger integers are shown in hex, and cut: Python refuses to spell out 4,300 digits."""

_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}


def escape(text: str) -> str:
    """``text``, cut, as it stands between the quotes of a JSON string."""
    if len(text) > LONGEST:
        text = text[: LONGEST - 1] + "…"
    if text.isprintable() and '"' not in text and "\\" not in text:
        return text
    return "".join(
        _SHORT.get(char) or (char if char.isprintable() else _code(char)) for char in text
    )


def _code(char: str) -> str:
    # surrogatepass: half an emoji is what a peer may well have sent
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[n : n + 4]}" for n in range(0, len(units), 4))


def note_members(note: Note) -> dict[str, Member]:
    """The members of a note's line; what is unknown is left out."""
    members: dict[str, Member] = {
        "event": note.event.value,
        "what": note.what.value if note.what else None,
        "issuer": note.issuer.value if note.issuer else None,
        "id": note.id,
        "method": note.method,
        "outcome": note.outcome,
        "bytes": note.bytes,
        "since_request_s": note.since_request_s,
        "since_cancel_s": note.since_cancel_s,
        "reason": note.reason,
        "task": note.task,
        "why": note.why,
    }
    return {name: value for name, value in members.items() if value is not None}


def summary_members(statistics: Statistics) -> dict[str, Member]:
    """The members of the line that ends a session; what we author only where we did."""
    ours = {
        "timed_out": statistics.timed_out,
        "answered": statistics.answered,
        "reaped": statistics.reaped,
    }
    return {
        "event": "summary",
        "forwarded": statistics.forwarded,
        "dropped": {what.value: n for what, n in statistics.dropped.items() if n},
        "cancelled": statistics.cancelled,
        **{name: count for name, count in ours.items() if count},
        "never_answered": statistics.never_answered,
        "longest_overrun_s": statistics.longest_overrun_s,
    }


def json_line(members: Mapping[str, Member], stamp: str | None) -> str:
    """One JSON object.  ``stamp`` is its ``time``."""
    # by hand: orjson refuses integers over 64 bits and half an emoji, and lets through what
    # a terminal would act upon (0x7f, 0x9b, text that runs backwards)
    parts = [f'"time":"{stamp}"'] if stamp else []
    parts += [f'"{name}":{_json(value)}' for name, value in members.items()]
    return "{" + ",".join(parts) + "}"


def _json(value: Member) -> str:
    match value:
        case str():
            return f'"{escape(value)}"'
        case float():
            return repr(round(value, 6))
        case int():
            return str(value) if -_HUGE < value < _HUGE else f'"{_digits(value)}"'
        case None:
            return "null"
        case _:
            return "{" + ",".join(f'"{escape(key)}":{n}' for key, n in value.items()) + "}"


def _digits(number: int) -> str:
    return str(number) if -_HUGE < number < _HUGE else escape(f"{number:#x}")


def text_line(members: Mapping[str, Member], stamp: str | None) -> str:
    """One line for people: what happened, to whom, how late, and why."""
    head = " ".join(str(members[name]) for name in ("event", "what") if members.get(name))
    parts = [shown for name, show in _SHOWN.items() if (shown := show(members.get(name)))]
    line = f"nevermind: {head}: {', '.join(parts)}" if parts else f"nevermind: {head}"
    why = members.get("why")
    if isinstance(why, str):
        line += f"{';' if parts else ':'} {escape(why)}"
    return f"{stamp} {line}" if stamp else line


def _seconds(words: str) -> Callable[[Member], str]:
    return lambda value: "" if value is None else f"{value:.3f} s {words}"


def _id(value: Member) -> str:
    match value:
        case None:
            return ""
        case int():
            return f"id {_digits(value)}"
        case _:
            return f'id "{escape(str(value))}"'


def _plain(value: Member) -> str:
    return "" if value is None else escape(str(value))


def _counts(value: Member) -> str:
    if not isinstance(value, Mapping):
        return ""
    kinds = ", ".join(f"{name} {n}" for name, n in value.items())
    return f"dropped {sum(value.values())}" + (f" ({kinds})" if kinds else "")


_SHOWN: dict[str, Callable[[Member], str]] = {
    "count": lambda value: "" if value is None else f"{value} more",
    "connection": lambda value: "" if value is None else f"connection {value}",
    "address": _plain,
    "from": lambda value: "" if value is None else f"from {_plain(value)}",
    "path": lambda value: "" if value is None else f"path {_plain(value)}",
    "origin": lambda value: "" if value is None else f"origin {_plain(value)}",
    "status": lambda value: "" if value is None else f"status {value}",
    "peer": _plain,
    "code": lambda value: "" if value is None else f"code {value}",
    "issuer": _plain,
    "id": _id,
    "method": _plain,
    "outcome": _plain,
    "bytes": lambda value: "" if value is None else f"{value} bytes",
    "since_request_s": _seconds("after the request"),
    "since_cancel_s": _seconds("after the cancel"),
    "reason": lambda value: "" if value is None else f'reason "{escape(str(value))}"',
    "task": lambda value: "" if value is None else f'task "{escape(str(value))}"',
    "forwarded": lambda value: "" if value is None else f"forwarded {value}",
    "dropped": _counts,
    "cancelled": lambda value: "" if value is None else f"cancelled {value}",
    "timed_out": lambda value: "" if value is None else f"timed out {value}",
    "answered": lambda value: "" if value is None else f"answered by us {value}",
    "reaped": lambda value: "" if value is None else f"tasks cancelled {value}",
    "never_answered": lambda value: "" if value is None else f"never answered {value}",
    "longest_overrun_s": lambda value: "" if value is None else f"longest overrun {value:.3f} s",
}


def stamp(seconds: float) -> str:
    """``seconds`` since 1970 as UTC: 2026-11-30T14:47:01.123Z."""
    whole, fraction = divmod(seconds, 1)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + f".{int(fraction * 1000):03}Z"
