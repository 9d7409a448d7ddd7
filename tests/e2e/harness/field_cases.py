"""The field cases of ``tests/field``, read into steps.

The format is described in that folder's README.  Knows nothing of processes: ``field_player``
plays the steps.
"""

from __future__ import annotations

import enum
import json
import re
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "field"


class Arrow(enum.Enum):
    """Who sends, and whether it arrives; spelled as in the files."""

    TO_SERVER = "-->"
    KEPT_FROM_SERVER = "--x"
    TO_CLIENT = "<--"
    KEPT_FROM_CLIENT = "x--"

    @property
    def is_drop(self) -> bool:
        return self in (Arrow.KEPT_FROM_SERVER, Arrow.KEPT_FROM_CLIENT)


class Id(enum.Enum):
    """Whether a message goes under an id of the proxy's choice on the server's side."""

    ITS_OWN = enum.auto()
    MADE_FRESH = enum.auto()
    FOR_FRESH = enum.auto()


@dataclass(frozen=True, slots=True)
class Said:
    """One message.  ``data`` are the exact bytes, the newline included where there is one."""

    arrow: Arrow
    data: bytes
    id: Id = Id.ITS_OWN
    byte_by_byte: bool = False
    cut: bool = False
    variants: dict[str, Arrow] = field(default_factory=dict)

    def under(self, options: str) -> Said:
        """The same message with the fate that it has under these options."""
        if options not in self.variants:
            return self
        return replace(self, arrow=self.variants[options], id=Id.ITS_OWN)


@dataclass(frozen=True, slots=True)
class Happening:
    """Anything else: an event, or something that holds."""

    text: str


@dataclass(frozen=True, slots=True)
class FieldCase:
    """One report; ``variants`` are the sets of options that some of its messages name."""

    id: str
    source: str
    role: str
    fault: str
    holds: str
    wire: tuple[Said | Happening, ...]
    options: str = ""
    framing: str = "lines"
    stays: bool = False
    ignores: tuple[str, ...] = ()
    behind_shell: bool = False
    alone: bool = False
    repeat: int = 1
    later: str | None = None

    @property
    def variants(self) -> list[str]:
        """The case as it stands first ("" is no option), then each set of options named."""
        named = {o: None for step in self.wire if isinstance(step, Said) for o in step.variants}
        return ["", *named]

    def steps(self, options: str) -> list[Said | Happening]:
        """The conversation under these options."""
        return [step.under(options) if isinstance(step, Said) else step for step in self.wire]


def load_cases() -> list[FieldCase]:
    """All cases, in the order of their numbers."""
    cases: dict[str, FieldCase] = {}
    for path in sorted(FOLDER.glob("*.toml")):
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["case"]:
            server = entry.pop("server", {})
            if "ignores" in server:
                server["ignores"] = tuple(server["ignores"])
            wire = read_script(entry["wire"], entry.get("framing", "lines"))
            case = FieldCase(**entry | server | {"wire": wire})
            if case.id in cases:
                raise ValueError(f"{path.name}: {case.id} is there twice")
            cases[case.id] = case
    return [cases[number] for number in sorted(cases)]


LINE = re.compile(r"(-->|--x|<--|x--) ((?:\([a-z0-9 ]+\) )*)(.*)")
VARIANT = re.compile(r" +(--.*): (-->|--x|<--|x--)")


def framed(text: bytes, framing: str) -> bytes:
    """A message as it goes over the pipe, or by itself."""
    match framing:
        case "lines":
            return text + b"\n"
        case "websocket":
            return text
        case "content-length":
            return b"Content-Length: %d\r\n\r\n%b" % (len(text), text)
        case _:
            raise ValueError(f"unknown framing {framing!r}")


def read_script(script: str, framing: str = "lines") -> tuple[Said | Happening, ...]:
    """The steps that a ``wire`` text describes."""
    steps: list[Said | Happening] = []
    for line in script.strip("\n").split("\n"):
        if line.startswith("! "):
            steps.append(Happening(line[2:]))
        elif variant := VARIANT.fullmatch(line):
            last = steps[-1]
            if not isinstance(last, Said):
                raise ValueError(f"no message stands before {line!r}")
            last.variants[variant[1]] = Arrow(variant[2])
        elif message := LINE.fullmatch(line):
            modifiers = re.findall(r"\(([^)]*)\)", message[2])
            steps += read_message(Arrow(message[1]), modifiers, message[3], framing)
        elif not line.startswith("#"):
            raise ValueError(f"not a step: {line!r}")
    return tuple(steps)


def read_message(arrow: Arrow, modifiers: list[str], text: str, framing: str) -> list[Said]:
    """The message or messages of one line."""
    said = Said(arrow, framed(text.encode(), framing))
    times = 0
    for modifier in modifiers:
        match modifier.split():
            case ["fill", count]:
                said = replace(said, data=said.data.replace(b"<FILL>", b"A" * int(count)))
            case ["times", count]:
                times = int(count)
            case ["hex"]:
                said = replace(said, data=bytes.fromhex(text))
            case ["text"]:
                said = replace(said, data=json.loads(text).encode())
            case ["byte", "by", "byte"]:
                said = replace(said, byte_by_byte=True)
            case ["cut"]:
                said = replace(said, cut=True, data=text.encode())
            case ["fresh", "id"]:
                said = replace(said, id=Id.MADE_FRESH)
            case ["for", "fresh", "id"]:
                said = replace(said, id=Id.FOR_FRESH)
            case _:
                raise ValueError(f"unknown modifier {modifier!r}")
    if not times:
        return [said]
    # One write and one comparison: it is the proxy that is to be busy, not the test.
    lines = (said.data.replace(b"<N>", b"%d" % n) for n in range(1, times + 1))
    return [replace(said, data=b"".join(lines))]
