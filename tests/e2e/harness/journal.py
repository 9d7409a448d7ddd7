"""What stands on stderr, read as the JSON log that the proxy was told to keep."""

from __future__ import annotations

import json
from typing import Any


class Journal:
    """The bytes of stderr; the lines among them that are events."""

    def __init__(self) -> None:
        self.data = bytearray()

    def feed(self, data: bytes) -> None:
        self.data += data

    def events(self, **members: object) -> list[dict[str, Any]]:
        """All events so far that have at least these members, oldest first."""
        return [event for event in read_events(bytes(self.data)) if _has(event, members)]


def read_events(log: bytes) -> list[dict[str, Any]]:
    """The whole lines of ``log`` that are JSON objects with an ``event``."""
    found = []
    for line in log.split(b"\n")[:-1]:
        if line.startswith(b"{"):
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if "event" in value:
                found.append(value)
    return found


def _has(event: dict[str, Any], members: dict[str, object]) -> bool:
    missing = object()
    for name, wanted in members.items():
        found = event.get(name, missing)
        # 7 and true and "7" are three ids.
        if type(found) is not type(wanted) or found != wanted:
            return False
    return True
