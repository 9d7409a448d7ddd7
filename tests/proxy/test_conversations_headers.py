"""``Content-Length`` headers in a protocol of lines: a frame is judged like any message."""

from __future__ import annotations

import pytest

from nevermind.notes import Event, What
from proxy.header_frames import MCP_FRAMED, frame
from proxy.messages import answer, call, cancel, error, note
from proxy.playbook import End, Waits, both_ways, client, held, play, server

LATE = What.LATE_RESPONSE
STILL = Waits(0.2)


@both_ways
class TestHeaders:
    """A peer of a line protocol may frame with headers all the same."""

    def test_a_framed_message_passes_at_once(self, asker: End, worker: End) -> None:
        """No newline is awaited that will not come."""
        play(
            asker.raw(frame(call(1))),
            worker.hears_raw(frame(call(1))),
            worker.raw(frame(answer(1))),
            asker.hears_raw(frame(answer(1))),
        )

    def test_it_is_judged(self, asker: End, worker: End) -> None:
        """A dropped frame goes with its header."""
        play(
            asker.raw(frame(call(1)) + frame(cancel(1))),
            worker.hears_raw(frame(call(1)) + frame(cancel(1))),
            worker.raw(frame(answer(1))),
            held(LATE, 1),
            worker.raw(frame(note())),
            asker.hears_raw(frame(note())),
        )

    def test_more_than_one_header_line_in_any_case(self, asker: End, worker: End) -> None:
        """Header bytes are kept as they came."""
        odd = b"X-Y: z\r\nCONTENT-length:  %d\r\nContent-Type: a; b=c\r\n\r\n%b"
        sent = odd % (len(call(1)), call(1))
        play(asker.raw(sent), worker.hears_raw(sent))

    def test_the_choice_holds_for_one_frame(self, asker: End, worker: End) -> None:
        """Lines and frames take turns."""
        play(
            asker.passes(call(1)),
            asker.raw(frame(cancel(1))),
            worker.hears_raw(frame(cancel(1))),
            worker.loses(LATE, answer(1)),
            worker.raw(frame(error(1))),
            held(LATE, 1),
            worker.passes(note()),
        )

    def test_a_translation_changes_the_length(self, asker: End, worker: End) -> None:
        """The id's bytes and the length's, no others."""
        done = play(
            asker.passes(call(1), cancel(1)),
            asker.raw(frame(call(1))),
            worker.hears_raw(frame(call(b"<n>"), b"Content-Length: <l>\r\n\r\n")),
            worker.raw(
                b'Content-Length: 51\r\n\r\n{"jsonrpc":"2.0","id":0000000000,"result":"filler"}'
            ),
            asker.hears_raw(
                b'Content-Length: 51\r\n\r\n{"jsonrpc":"2.0","id":0000000000,"result":"filler"}'
            ),
        )
        assert int(done.names[b"l"]) == len(call(done.names[b"n"]))

    @pytest.mark.parametrize(
        "lines",
        [
            b"Content-Length: 5\n\n",
            b"Content-Length: 5\r\n{}\n",
            b"Content-Type: x\r\n\r\n",
            b"Content-Length: 5\r\n\r\nhello\n",
            b"Content-Length: x\r\n\r\n{}\n",
        ],
    )
    def test_what_is_no_header(self, asker: End, worker: End, lines: bytes) -> None:
        """Its lines pass as lines."""
        play(asker.raw(lines), worker.hears_raw(lines), asker.passes(call(1)))

    def test_a_body_that_is_no_json_value(self, asker: End, worker: End) -> None:
        """Its bytes pass as they are, and lines go on."""
        sent = frame(b"{bad}") + call(1) + b"\n"
        play(
            asker.raw(sent),
            worker.hears_raw(sent),
            asker.passes(cancel(1)),
            worker.loses(LATE, answer(1)),
        )

    def test_a_body_that_stalls(self, asker: End, worker: End) -> None:
        """After 0.1 s what came of it passes, and lines go on."""
        play(
            asker.raw(frame(call(1), b"Content-Length: 999\r\n\r\n")),
            STILL,
            worker.hears_raw(frame(call(1), b"Content-Length: 999\r\n\r\n")),
            asker.raw(b"\n"),
            worker.hears_raw(b"\n"),
            asker.passes(call(2), cancel(2)),
            worker.loses(LATE, answer(2)),
        )


class TestHint:
    """Whoever frames with headers may well speak another protocol: it is said once."""

    WHY = "the host sends Content-Length headers, which mcp has not: --dialect lsp may be meant"

    def test_the_hosts_first_header_is_told_of(self) -> None:
        """Before what becomes of its message, and never again."""
        done = play(
            client.passes(call(1)),
            client.raw(frame(cancel(1))),
            server.hears_raw(frame(cancel(1))),
            client.raw(frame(call(2)) + frame(note())),
            server.hears_raw(frame(call(2)) + frame(note())),
        )
        assert [n.event for n in done.notes] == [Event.HINT, Event.CANCEL]
        assert done.notes[0].why == self.WHY

    def test_the_servers_is_not(self) -> None:
        """The host has chosen the protocol, and it speaks in lines."""
        done = play(server.raw(frame(note())), client.hears_raw(frame(note())))
        assert done.notes == []

    @pytest.mark.parametrize(
        "lines", [b"Content-Length: 5\r\n\r\nhello\n", b"Content-Type: x\r\n\r\n"]
    )
    def test_what_frames_nothing_is_not(self, lines: bytes) -> None:
        """It only looks like a header."""
        assert play(client.raw(lines), server.hears_raw(lines)).notes == []

    def test_where_each_message_has_one(self) -> None:
        """There is nothing to be told."""
        done = play(client.raw(frame(note())), server.hears_raw(frame(note())), dialect=MCP_FRAMED)
        assert done.notes == []

    def test_a_host_that_sends_lines_where_each_message_has_one(self) -> None:
        """The other way round."""
        line = call(1) + b"\n"
        done = play(
            client.raw(line),
            server.hears_raw(line),
            client.raw(line),
            server.hears_raw(line),
            dialect=MCP_FRAMED,
        )
        assert [n.event for n in done.notes] == [Event.HINT, Event.FORGET]
        assert done.notes[0].why == (
            "the host sends no Content-Length headers, which mcp has: --dialect mcp may be meant"
        )

    def test_a_line_of_one_that_knows_better_is_none(self) -> None:
        line = call(1) + b"\n"
        done = play(
            client.raw(frame(note()) + line),
            server.hears_raw(frame(note()) + line),
            dialect=MCP_FRAMED,
        )
        assert [n.event for n in done.notes] == [Event.FORGET]

    def test_nor_is_what_it_printed_by_mistake(self) -> None:
        sent = b"oops {}\n"
        done = play(client.raw(sent), server.hears_raw(sent), dialect=MCP_FRAMED)
        assert [n.event for n in done.notes] == [Event.FORGET]

    def test_nor_is_a_line_of_the_server(self) -> None:
        line = note() + b"\n"
        done = play(server.raw(line), client.hears_raw(line), dialect=MCP_FRAMED)
        assert [n.event for n in done.notes] == [Event.FORGET]
