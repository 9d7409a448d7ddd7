"""Generated speech: small pools of ids and tokens, so that messages meet each other.

A ``Saying`` is a recipe; what it sounds like can depend on the fresh ids that a session has
given out by then, so it becomes bytes only when it is said.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec
from hypothesis import strategies as st

from nevermind.dialects import Dialect
from nevermind.peers import Peer
from nevermind.policy import (
    REMEMBER,
    Fate,
    FirstCancel,
    IdReuse,
    LateResponse,
    Noise,
    Policy,
)
from proxy import messages as say
from proxy.oracle import Oracle
from proxy.oracle_memory import Side

SPELLINGS: dict[bytes, tuple[bytes, ...]] = {
    b"1": (b"1", b"1", b"1", b"1.0", b"10e-1"),
    b"2": (b"2", b"2", b"2e0"),
    b"7": (b"7", b"7", b"7.00", b"0.7E+1"),
    b"0": (b"0", b"-0", b"0.0", b"0e5"),
    b'"7"': (b'"7"', b'"\\u0037"'),
    b'"a"': (b'"a"', b'"\\u0061"'),
    b'""': (b'""',),
    b"1e400": (b"1e400", b"10e399", b"0.1E401"),
    b"123456789012345678901234567890": (
        b"123456789012345678901234567890",
        b"123456789012345678901234567890.0",
        b"12345678901234567890123456789e1",
    ),
    b"2147483647": (b"2147483647",),
}
NEVER_TRACKED = (b"null", b"true", b"1.5", b"[1]", b'{"a":1}', b'"%b"' % (b"x" * 2000), b"1e-3")

CLIENT_IDS = (b"1", b"1", b"2", b"2", b"7", b"7", b'"7"', b"0", b'"a"', *SPELLINGS)
COERCED = (b'"1"', b'"2"')
TWINS = (*COERCED, b'"7"', b'"0"')
SERVER_IDS = (b"1", b"1", b"2", b"2", b'"a"', b"0", b"2147483647")
INITIALIZES = (b"1", b"0", b'"a"', b"40")
MANY = 1000
LISTENS = (b"5", b"2", b'"sub"')
TOKENS = (b"1", b"1", b"2", b'"t"', b'"t"', b'"1"', b"7")


@dataclass(frozen=True, slots=True)
class Name:
    """An id or token: one of a pool in one of its spellings, or the n-th fresh one."""

    value: bytes
    spelling: int = 0
    fresh: int | None = None

    def spelled(self, issued: list[bytes]) -> bytes:
        """How it is written."""
        if self.fresh is not None and issued:
            return issued[self.fresh % len(issued)]
        ways = SPELLINGS.get(self.value, (self.value,))
        return ways[self.spelling % len(ways)]


@dataclass(frozen=True, slots=True)
class Saying:
    """One message, or one line that is none."""

    what: str
    name: Name = Name(b"1")
    token: Name | None = None
    twist: int = 0

    def sound(self, sender: Peer, oracle: Oracle, serial: int) -> bytes:
        """The bytes of it; which of two twins is meant can't be told where one may be evicted."""
        dialect = oracle.dialect
        if oracle.policy.remember < MANY and self.name.value in TWINS:
            return replace(self, name=Name(b'"a"')).sound(sender, oracle, serial)
        mine, theirs = oracle.sides[sender], oracle.sides[sender.other]
        fresh = [entry.wire_bytes for entry in theirs.entries if entry.fresh]
        mine_fresh = self.usable(oracle, mine)
        odd = [entry.spellings[0] for entry in mine.entries if entry.own in mine.issued_ids]
        tokens = [spell_token(key) for key in sorted(theirs.issued_tokens)]
        named = self.name.spelled(fresh)
        match self.what:
            case "request":
                carries = self.token if dialect.request_tokens else None
                token = None if carries is None else carries.spelled([])
                name = self.name.spelled(mine_fresh)
                method = b'"tools\\/call"' if self.twist == 1 else b'"tools/call"'
                return say.call(name, token, method, work=serial, dialect=dialect)
            case "initialize":
                [kept] = dialect.uncancellable
                return say.call(self.name.spelled([]), method=kept, dialect=dialect)
            case "listen":
                return say.listen(self.name.spelled([]))
            case "cancel":
                return self.cancel(dialect, self.name.spelled(odd), serial)
            case "foreign cancel":
                return self.cancel(dialect, named, serial)
            case "answer":
                line = say.answer(named, serial)
                return line if self.twist != 1 else line[:-1] + b',"id":%b}' % named
            case "error":
                return say.error(named, serial)
            case "null result":
                return say.answer(named, None)[:-1] + b',"n":%d}' % serial
            case "task":
                return say.task(named, modern=bool(self.twist % 2))
            case "progress" if dialect.progress_method is None:
                return say.progress(b"1", serial)
            case "progress":
                token = Name(b"1").spelled([]) if self.token is None else self.token.spelled(tokens)
                return say.progress(token, serial, dialect=dialect)
            case "update":
                return say.update(named)
            case "nobody":
                return say.nobodys_error(null=bool(self.twist % 2))
            case _:
                return self.oddity(serial)

    def usable(self, oracle: Oracle, mine: Side) -> list[bytes]:
        """Fresh ids that their issuer may happen to use itself.

        Once each, and not where bounds are small: fresh ids of fresh ids are a corner that may
        be met more simply.
        """
        if min(oracle.policy.live_limit, oracle.policy.remember) < MANY:
            return []
        used = {entry.own for entry in mine.entries}
        return [
            entry.wire_bytes
            for entry in mine.entries
            if entry.fresh and entry.wire not in used and entry.own not in mine.issued_ids
        ]

    def cancel(self, dialect: Dialect, id: bytes, serial: int) -> bytes:
        """A cancel, now and then with an escaped name or a repeated key."""
        if dialect.cancel_method is None:
            return say.cancel(id, f"reason {serial}")
        name = say.spell(dialect.cancel_method)
        line = say.cancel(
            id,
            f"reason {serial}",
            dialect=dialect,
            method=name.replace(b"/", b"\\/") if self.twist == 1 else name,
        )
        return line if self.twist != 2 else line.replace(b'"reason"', b'"x":{"id":9},"reason"')

    def oddity(self, serial: int) -> bytes:
        """What is no request, answer, cancel or progress."""
        return {
            "note": say.note(serial),
            "opaque": b'{"id":1,"method":"x","result":{"n":%d}}' % serial,
            "mixed": b"[%b,%d]" % (say.note(serial), serial),
            "numbers": b"[1,%d]" % serial,
            "empty": b"[]",
            "broken": b'{"jsonrpc":"2.0","id":1,"result":%d' % serial,
            "blank": (b"", b" ", b"\r", b"\t ")[self.twist % 4],
            "noise": b"listening on %d" % serial,
        }[self.what]


def spell_token(key: tuple[str, str]) -> bytes:
    """A fresh token as it is sent."""
    kind, text = key
    if kind == "s":
        return say.spell(text)
    digits, _, power = text.partition("e")
    return (digits + "0" * int(power or "0")).encode()


def _name(pool: tuple[bytes, ...], fresh: bool) -> st.SearchStrategy[Name]:
    known = st.builds(Name, st.sampled_from(pool), st.integers(0, 4))
    if not fresh:
        return known
    issued = st.builds(Name, st.sampled_from(pool), st.just(0), st.integers(0, 5))
    return st.one_of(known, known, issued)


def sayings(sender: Peer, dialect: Dialect) -> st.SearchStrategy[Saying]:
    """What a peer may say."""
    client = sender is Peer.CLIENT
    mine, theirs = (CLIENT_IDS, SERVER_IDS) if client else (SERVER_IDS, CLIENT_IDS)
    token = st.none() | _name(TOKENS, fresh=False)
    twist = st.integers(0, 6)
    common = [
        st.builds(Saying, st.just("request"), _name(mine, fresh=False), token, twist),
        st.builds(Saying, st.just("request"), _name(mine, fresh=False), token, twist),
        st.builds(Saying, st.just("cancel"), _name(mine, fresh=False), st.none(), twist),
        st.builds(
            Saying, st.just("cancel"), _name((*mine, *(COERCED if client else ())), fresh=False)
        ),
        st.builds(
            Saying,
            st.sampled_from(("answer", "answer", "error", "null result")),
            _name((*theirs, *COERCED, b"40"), fresh=True),
            st.none(),
            twist,
        ),
        st.builds(Saying, st.just("progress"), st.just(Name(b"1")), _name(TOKENS, fresh=True)),
        st.builds(
            Saying,
            st.sampled_from(("request", "cancel", "answer")),
            st.builds(Name, st.sampled_from(NEVER_TRACKED)),
            token,
        ),
        st.builds(
            Saying,
            st.sampled_from(("note", "numbers", "empty", "broken", "blank", "nobody")),
            twist=twist,
        ),
    ]
    rare = [
        st.builds(Saying, st.sampled_from(("opaque", "mixed")), twist=twist),
        st.builds(
            Saying, st.just("progress"), token=st.builds(Name, st.sampled_from(NEVER_TRACKED))
        ),
    ]
    if client and dialect.uncancellable:
        rare += [
            st.builds(Saying, st.just("initialize"), _name(INITIALIZES, fresh=False)),
            st.builds(Saying, st.just("cancel"), _name((*INITIALIZES, b'"0"'), fresh=False)),
        ]
    if not client:
        rare += [st.builds(Saying, st.just("noise"), twist=twist)]
    if dialect.creates_tasks:
        rare += [st.builds(Saying, st.just("task"), _name(theirs, fresh=True), st.none(), twist)]
    if not dialect.answer_owed:
        rare += [
            st.builds(Saying, st.just("request"), _name(mine, fresh=True), token),
            st.builds(Saying, st.just("cancel"), _name(mine, fresh=True)),
        ]
    if dialect.subscriptions:
        if client:
            rare += [st.builds(Saying, st.just("listen"), _name(LISTENS, fresh=False))]
            rare += [st.builds(Saying, st.just("cancel"), _name(LISTENS, fresh=False))]
        else:
            rare += [
                st.builds(
                    Saying,
                    st.sampled_from(("foreign cancel", "update", "answer")),
                    _name(LISTENS, fresh=True),
                )
            ]
    return st.one_of(*common, *common, *common, st.one_of(*rare))


def policies(dialect: Dialect) -> st.SearchStrategy[Policy]:
    """Every switch, most often as it is when nobody touches it."""
    mcp = not dialect.answer_owed
    usual = LateResponse.DROP if mcp else LateResponse.FIRST
    late = list(LateResponse) if mcp else [LateResponse.FIRST, LateResponse.FORWARD]
    usual_fate = Fate.DROP if mcp else Fate.FORWARD
    fate = st.sampled_from((usual_fate, usual_fate, *Fate))
    drawn = st.builds(
        Policy,
        cancel=st.sampled_from((FirstCancel.FORWARD, *FirstCancel)),
        late_response=st.sampled_from((usual, usual, usual, *late)),
        late_progress=fate,
        stale_progress=fate,
        redundant_cancel=st.sampled_from((Fate.DROP, *Fate)),
        id_reuse=st.sampled_from((IdReuse.ALIAS, *IdReuse)),
        shield=st.sampled_from((False, False, True)),
        noise=st.sampled_from((None, None, *Noise)),
        remember=st.sampled_from((65_536, 65_536, 65_536, 1, 2, 3)),
        live_limit=st.sampled_from((262_144, 262_144, 262_144, 3)),
        queue_limit=st.sampled_from((1 << 24, 1 << 24, 500)),
    )
    return drawn.map(one_bound_at_a_time)


def one_bound_at_a_time(policy: Policy) -> Policy:
    """Whether a forgotten id counts against the live bound can't be seen."""
    return (
        policy if policy.live_limit > MANY else msgspec.structs.replace(policy, remember=REMEMBER)
    )
