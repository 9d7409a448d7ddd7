"""Generated messages as texts: odd spellings, repeated keys, values of every kind.

Unlike a serialiser's output: a key may be escaped, stand twice or hold anything.
"""

from __future__ import annotations

import json

from hypothesis import strategies as st

SPACES = st.sampled_from([b"", b"", b"", b" ", b"\t", b"\r", b"  "])

ATOMS = st.sampled_from(
    [
        *(b"0", b"1", b"7", b"-7", b"-0", b"1.0", b"7e0", b"0.7e1", b"1.5", b"1e400"),
        *(b"9223372036854775807", b"9223372036854775808", b"123456789012345678901234567890"),
        *(b"null", b"true", b"false", b"{}", b"[]", b"[1]", b'""', b'"7"', b'"a"', b'"t"'),
        *(b'"\\u0061"', b'"\\ud83d\\ude00"', b'"task"', b'"\\u0074ask"', b'"\xc3\xa9"'),
        b'"' + b"x" * 100 + b'"',
    ]
)
ODD_ATOMS = st.sampled_from(
    [
        *(b"NaN", b"-Infinity", b'"\\ud800"', b'"\xff"', b'"\x01"', b"01", b"1e", b"nul", b"1."),
        b'"\\q"',
    ]
)
METHODS = st.sampled_from(
    [
        *(b'"tools/call"', b'"tools\\/call"', b'"x"', b'""', b'"initialize"', b"null", b"7"),
        *(b'"notifications/cancelled"', b'"notifications\\/cancelled"', b'"$/cancelRequest"'),
        *(b'"notifications/progress"', b'"$/progress"', b'"subscriptions/listen"'),
    ]
)
PLAIN_KEYS = ("jsonrpc", "id", "method", "params", "result", "error", "_meta", "requestId")
KEYS = (
    *PLAIN_KEYS,
    *("progressToken", "token", "workDoneToken", "partialResultToken", "task", "taskId"),
    *("resultType", "io.modelcontextprotocol/subscriptionId", "reason", "x", "i\u0064", "\u00e9"),
)


@st.composite
def keys(draw: st.DrawFn, names: tuple[str, ...]) -> bytes:
    """A key, now and then with an escape."""
    name = draw(st.sampled_from(names))
    text = json.dumps(name, ensure_ascii=False)
    if draw(st.integers(0, 9)) == 0:
        text = f'"\\u{ord(name[0]):04x}{text[2:]}'
    return text.replace("/", draw(st.sampled_from(["/", "/", "\\/"]))).encode()


@st.composite
def objects(draw: st.DrawFn, names: tuple[str, ...], values: st.SearchStrategy[bytes]) -> bytes:
    """An object with any members, in any order, some of them twice."""
    members = draw(st.lists(st.tuples(keys(names), SPACES, SPACES, values), max_size=5))
    parts = [key + before + b":" + behind + value for key, before, behind, value in members]
    gap = draw(SPACES)
    return b"{" + gap + (gap + b"," + gap).join(parts) + gap + b"}"


def _values(depth: int) -> st.SearchStrategy[bytes]:
    if not depth:
        return ATOMS
    return st.one_of(ATOMS, ATOMS, objects(KEYS, _values(depth - 1)))


@st.composite
def messages(draw: st.DrawFn, *, odd: bool = True) -> bytes:
    """A message, or what is nearly one; ``odd``: with values that strict parsers refuse."""
    members: list[bytes] = []
    for name, values in (
        ("id", ATOMS),
        ("method", METHODS),
        ("params", _values(2)),
        ("result", _values(2)),
        ("error", _values(1)),
        ("x", ODD_ATOMS if odd else ATOMS),
    ):
        # As often as not; now and then twice.
        times = draw(st.sampled_from([0, 1, 1, 1, 2] if name in ("id", "method") else [0, 0, 1, 2]))
        if name == "x":
            times = draw(st.sampled_from([0, 0, 0, 1]))
        members += [draw(keys((name,))) + b":" + draw(SPACES) + draw(values) for _ in range(times)]
    ordered = draw(st.permutations(members))
    gap = draw(SPACES)
    return b"{" + gap + (gap + b"," + gap).join(ordered) + gap + b"}"
