"""A note becomes a line that a person can read, or a JSON object, and nothing else."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nevermind.notes import Event, Note, Statistics, What
from nevermind.peers import Peer
from nevermind.shell.journal_lines import (
    Member,
    escape,
    json_line,
    note_members,
    stamp,
    summary_members,
    text_line,
)

LATE = Note(
    event=Event.DROP,
    what=What.LATE_RESPONSE,
    issuer=Peer.CLIENT,
    id=7,
    method="tools/call",
    since_request_s=2.5,
    since_cancel_s=1.25,
    bytes=64,
    outcome="error",
    reason="user stopped",
    task="t-1",
    why="the request was cancelled",
)


def as_json(note: Note) -> dict[str, object]:
    line = json_line(note_members(note), None)
    assert line.isprintable()
    value = json.loads(line)
    assert isinstance(value, dict)
    return value


def as_text(note: Note) -> str:
    line = text_line(note_members(note), None)
    assert line.isprintable()
    return line


def with_id(id: int | str) -> Note:
    return Note(event=Event.CANCEL, id=id)


class TestJson:
    def test_every_member_of_a_note_stands_under_its_name(self) -> None:
        assert as_json(LATE) == {
            "event": "drop",
            "what": "late-response",
            "issuer": "client",
            "id": 7,
            "method": "tools/call",
            "since_request_s": 2.5,
            "since_cancel_s": 1.25,
            "bytes": 64,
            "outcome": "error",
            "reason": "user stopped",
            "task": "t-1",
            "why": "the request was cancelled",
        }

    def test_what_is_unknown_is_absent(self) -> None:
        assert as_json(Note(event=Event.CANCEL)) == {"event": "cancel"}

    @pytest.mark.parametrize("id", [0, -1, 2**64 + 1, "", "7", "a b", 10**199])
    def test_an_id_keeps_its_type_and_value(self, id: int | str) -> None:
        assert as_json(with_id(id))["id"] == id

    @pytest.mark.parametrize("id", [-(10**1000), 2**100_000], ids=["1000", "30000"])
    def test_an_endless_number_is_shown_in_part(self, id: int) -> None:
        shown = as_json(with_id(id))["id"]
        assert isinstance(shown, str)
        assert shown.startswith(("0x", "-0x"))
        assert shown.endswith("…")
        assert len(shown) == 200

    def test_a_long_number_is_shown_in_hex(self) -> None:
        assert as_json(with_id(10**200))["id"] == hex(10**200)

    def test_times_are_rounded_to_microseconds(self) -> None:
        assert as_json(Note(event=Event.DROP, since_cancel_s=0.1234567891)) == {
            "event": "drop",
            "since_cancel_s": 0.123457,
        }

    def test_a_stamp_comes_first(self) -> None:
        line = json_line({"event": "cancel"}, "2026-11-30T14:47:01.123Z")
        assert line == '{"time":"2026-11-30T14:47:01.123Z","event":"cancel"}'

    @given(st.text(max_size=200))
    def test_any_text_comes_back_as_it_was(self, text: str) -> None:
        assert as_json(with_id(text))["id"] == text

    @given(st.text(alphabet=st.characters(categories=["Cs", "Cc", "Cf"]), max_size=200))
    def test_so_does_text_that_no_terminal_should_see(self, text: str) -> None:
        shown = as_json(with_id(text))["id"]
        assert isinstance(shown, str)
        # json joins two halves of an emoji that stood side by side
        assert shown.encode("utf-16", "surrogatepass") == text.encode("utf-16", "surrogatepass")


class TestText:
    def test_a_line_says_what_to_whom_how_late_and_why(self) -> None:
        assert as_text(LATE) == (
            "nevermind: drop late-response: client, id 7, tools/call, error, 64 bytes,"
            ' 2.500 s after the request, 1.250 s after the cancel, reason "user stopped",'
            ' task "t-1";'
            " the request was cancelled"
        )

    def test_little_known_is_little_said(self) -> None:
        assert as_text(Note(event=Event.CANCEL)) == "nevermind: cancel"
        assert as_text(Note(event=Event.FORGET, why="x")) == "nevermind: forget: x"

    @pytest.mark.parametrize(
        ("id", "shown"),
        [
            (7, "id 7"),
            ("7", 'id "7"'),
            ("", 'id ""'),
            ('a"b\\c', 'id "a\\"b\\\\c"'),
            (10**300, f"id 0x{10**300:x}"[:202] + "…"),
        ],
    )
    def test_a_string_is_told_from_a_number(self, id: int | str, shown: str) -> None:
        assert as_text(with_id(id)) == f"nevermind: cancel: {shown}"

    def test_a_stamp_comes_first(self) -> None:
        assert text_line({"event": "cancel"}, "2026") == "2026 nevermind: cancel"

    def test_a_refusal_says_who_wanted_what(self) -> None:
        refused: dict[str, Member] = {
            "event": "refused",
            "from": "127.0.0.1:5",
            "path": "/mcp",
            "origin": "https://a.example\n",
            "status": 403,
            "why": "this origin is not allowed",
        }
        assert text_line(refused, None) == (
            "nevermind: refused: from 127.0.0.1:5, path /mcp, origin https://a.example\\n,"
            " status 403; this origin is not allowed"
        )

    def test_a_broken_connection_says_whose_it_was(self) -> None:
        broken: dict[str, Member] = {
            "event": "broken",
            "connection": 3,
            "peer": "server",
            "code": 1011,
            "why": "died",
        }
        line = "nevermind: broken: connection 3, server, code 1011; died"
        assert text_line(broken, None) == line

    def test_a_sum_says_how_many(self) -> None:
        members: dict[str, Member] = {
            "event": "drop",
            "what": "late-progress",
            "count": 12,
            "bytes": 900,
            "why": "w",
        }
        assert text_line(members, None) == "nevermind: drop late-progress: 12 more, 900 bytes; w"

    @given(st.text(), st.text(), st.text())
    def test_no_text_of_a_peer_makes_a_second_line(self, id: str, method: str, reason: str) -> None:
        as_text(Note(event=Event.CANCEL, id=id, method=method, reason=reason, why=reason))


class TestEscape:
    @pytest.mark.parametrize(
        ("text", "escaped"),
        [
            ("plain", "plain"),
            ("é 漢 🙂", "é 漢 🙂"),
            ('"', '\\"'),
            ("\\", "\\\\"),
            ("\n\r\t\b\f", "\\n\\r\\t\\b\\f"),
            ("\x1b[31m", "\\u001b[31m"),
            ("\x7f\x9b", "\\u007f\\u009b"),
            ("\u202egnp.exe", "\\u202egnp.exe"),
            ("\u2028", "\\u2028"),
            ("\ud83d", "\\ud83d"),
            ("\U000e0041", "\\udb40\\udc41"),
        ],
    )
    def test_what_a_terminal_would_act_upon_is_spelled_out(self, text: str, escaped: str) -> None:
        assert escape(text) == escaped

    def test_two_hundred_characters_pass_whole(self) -> None:
        assert escape("x" * 200) == "x" * 200

    def test_more_are_cut(self) -> None:
        assert escape("x" * 201) == "x" * 199 + "…"


class TestSummary:
    def test_a_session_without_events(self) -> None:
        assert json.loads(json_line(summary_members(Statistics()), None)) == {
            "event": "summary",
            "forwarded": 0,
            "dropped": {},
            "cancelled": 0,
            "never_answered": 0,
            "longest_overrun_s": None,
        }
        assert text_line(summary_members(Statistics()), None) == (
            "nevermind: summary: forwarded 0, dropped 0, cancelled 0, never answered 0"
        )

    def test_a_busy_session(self) -> None:
        statistics = Statistics(
            forwarded=1204,
            dropped={What.LATE_RESPONSE: 2, What.REDUNDANT_CANCEL: 1, What.NOISE: 0},
            cancelled=3,
            never_answered=1,
            longest_overrun_s=1.5,
        )
        assert json.loads(json_line(summary_members(statistics), None)) == {
            "event": "summary",
            "forwarded": 1204,
            "dropped": {"late-response": 2, "redundant-cancel": 1},
            "cancelled": 3,
            "never_answered": 1,
            "longest_overrun_s": 1.5,
        }
        assert text_line(summary_members(statistics), None) == (
            "nevermind: summary: forwarded 1204, dropped 3 (late-response 2, redundant-cancel 1),"
            " cancelled 3, never answered 1, longest overrun 1.500 s"
        )

    def test_what_we_said_ourselves_is_counted(self) -> None:
        members = summary_members(Statistics(timed_out=2, answered=3, reaped=1))
        assert (members["timed_out"], members["answered"], members["reaped"]) == (2, 3, 1)
        assert text_line(members, None) == (
            "nevermind: summary: forwarded 0, dropped 0, cancelled 0, timed out 2,"
            " answered by us 3, tasks cancelled 1, never answered 0"
        )


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1796050021.1239, "2026-11-30T14:47:01.123Z"),
        (1796050021.9999, "2026-11-30T14:47:01.999Z"),
    ],
)
def test_a_stamp_is_utc_to_the_millisecond(seconds: float, shown: str) -> None:
    assert stamp(seconds) == shown
