"""Bytes: what passes passes as it came, and looking at it never changes a thing."""

from __future__ import annotations

import pytest

from nevermind.notes import What
from nevermind.policy import Policy
from proxy.messages import answer, call, cancel, error, note, progress
from proxy.playbook import End, Waits, both_ways, held, play

LATE = What.LATE_RESPONSE
REDUNDANT = What.REDUNDANT_CANCEL
STILL = Waits(0.2)

DEEP = b"[" * 5000 + b"]" * 5000
ODD_LINES = [
    b' {"jsonrpc" : "2.0" ,\t"id":1, "method":"ping"}  ',
    b'{"method":"ping","id":2,"jsonrpc":"2.0"}',
    b'{"id":"\\u0061\\u00e9\\ud83d\\ude00","method":"ping"}',
    b'{"id":123456789012345678901234567890,"method":"ping"}',
    b'{"id":1e400,"method":"ping"}',
    b'{"id":1,"id":2,"method":"a","method":"b"}',
    b'{"id":1.0,"method":"ping","params":{"a":1E5,"b":-0,"c":-0.0,"d":1.10}}',
    b'{"id":3,"method":"ping","params":{"s":"\\/\\u2028\xe2\x80\xa8\xc2\x85 \xf0\x9f\x98\x80"}}',
    b'{"id":4,"method":"ping","params":{"x":NaN,"y":-Infinity,"z":nan}}',
    b'{"id":5,"method":"ping","params":{"x":"\\ud800","y":"\xff\xfe\xed\xa0\x80"}}',
    b'{"id":6,"method":"ping","params":%b}' % DEEP,
    b'{"id":7,"method":"ping","params":{"n":%b}}' % (b"9" * 5000),
    b"\xef\xbb\xbf" + b'{"id":8,"method":"ping"}',
    b'{"id":9,"method":"ping"}\r',
    b'{"id":10,"method":"ping"}\r\r',
    b'{"a":1}\r{"b":2}',
    b'{"a":1}{"b":2}',
    b'{"jsonrpc":"2.0","id":1',
    b'{"id":1,"method":"x"',
    b"{bad}",
    b"]",
    b"",
    b"\r",
    b"   ",
    b"\x00\x07",
    b"\xc3",
    b'"str"',
    b"42",
    b"null",
    b"[]",
    b"[1,2]",
    b"[ ]",
    b"{}",
    b"Content-Length: 7",
]


@both_ways
class TestForwarded:
    """Key order, spacing, escapes, spelling, bad UTF-8, duplicate keys, BOM, CR, blank lines."""

    @pytest.mark.parametrize("line", ODD_LINES, ids=lambda line: repr(line[:30]))
    def test_as_it_came(self, asker: End, worker: End, line: bytes) -> None:
        """Alone and between other lines."""
        play(asker.passes(line, note(), line, line, call("z"), line), worker.passes(line))

    def test_pieces_of_a_message_on_several_lines(self, asker: End, worker: End) -> None:
        """Lines end at 0x0A and nowhere else; each piece passes in its order."""
        play(asker.passes(b"{", b' "jsonrpc":"2.0",', b' "id":1,', b' "result":{}', b"}"))

    def test_a_large_message(self, asker: End, worker: End) -> None:
        """Megabytes on one line."""
        big = call(1, work="x" * 3_000_000)
        play(asker.passes(big), worker.passes(answer(1, "y" * 3_000_000)), ways=("one by one",))

    def test_the_end_of_a_peer_without_newline(self, asker: End, worker: End) -> None:
        """A last line needs none and gets none."""
        play(asker.raw(call(1)), asker.ends(), worker.hears_raw(call(1)))

    def test_the_end_in_the_middle(self, asker: End, worker: End) -> None:
        """What is no message passes as it is."""
        play(asker.raw(call(1)[:20]), asker.ends(), worker.hears_raw(call(1)[:20]))

    def test_the_last_line_is_judged(self, asker: End, worker: End) -> None:
        """Late is late, with a newline or without."""
        play(
            asker.passes(call(1), cancel(1)),
            worker.raw(answer(1)),
            worker.ends(),
            held(LATE, 1),
        )


@both_ways
class TestLooking:
    """Whatever a late answer is made of, it is seen for what it is."""

    @pytest.mark.parametrize(
        "late",
        [
            b'{"jsonrpc":"2.0","id":1,"result":{"x":NaN,"y":-Infinity}}',
            b'{"jsonrpc":"2.0","id":1,"result":{"x":nan,"y":Nan}}',
            b'{"jsonrpc":"2.0","id":1,"result":{"t":"\xb0\xa1\xff\xc3("}}',
            b'{"jsonrpc":"2.0","result":%b,"id":1}' % DEEP,
            b'{"jsonrpc":"2.0","id":1,"result":%b}' % (b"9" * 5000),
            b'{"jsonrpc":"2.0","id":1,"result":1e99999}',
            b'{"jsonrpc":"2.0","id":1,"result":"\\ud800"}',
            b"\xef\xbb\xbf" + answer(1),
            b" \t" + answer(1) + b" \r",
            b'{"\\u0069d":1,"resul\\u0074":0}',
            b'{"id":1,"error":{"code":0,"message":"}{\\"]["}}',
            b'{"id":1,"result":{"id":2,"method":"x","error":[]}}',
            b'{"id":1,"result":{"a":1,"a":2}}',
            b'{"id":1,"result":"a\tb"}',
        ],
        ids=lambda late: repr(late[:40]),
    )
    def test_it_is_dropped(self, asker: End, worker: End, late: bytes) -> None:
        """Before and after an answer that is not late."""
        play(
            asker.passes(call(1), call(2), cancel(1)),
            worker.loses(LATE, late),
            worker.passes(answer(2)),
            worker.loses(LATE, late, late),
        )

    @pytest.mark.parametrize("size", [100_000, 2_000_000])
    def test_a_large_one(self, asker: End, worker: End, size: int) -> None:
        """Late megabytes."""
        play(
            asker.passes(call(1), cancel(1)),
            worker.loses(LATE, answer(1, "x" * size)),
            worker.loses(LATE, b'{"result":"%b","id":1}' % (b"x" * size)),
            worker.passes(note()),
            ways=("one by one", "together"),
        )

    @pytest.mark.parametrize(
        "odd",
        [
            b'{"id":1,"result":nan,"x":{"resultType":"task"}}',
            b'{"id":1,"result":{"x":nan,"task":{"taskId":"t"}}}',
            b'{"id":1,"result":[nan,"a task"]}',
        ],
    )
    def test_where_only_the_scan_succeeded(self, asker: End, worker: End, odd: bytes) -> None:
        """A late response that contains the bytes ``task`` is forwarded."""
        play(asker.passes(call(1), cancel(1)), worker.passes(odd), worker.loses(LATE, answer(1)))

    @pytest.mark.parametrize(
        "odd",
        [
            b'{"jsonrpc":"2.0","id":1,"id":1,"result":{}}',
            b'{"jsonrpc":"2.0","id":2,"id":1,"result":{}}',
            b'{"jsonrpc":"2.0","id":1,"result":{},"\\u0069d":1}',
            b'{"jsonrpc":"2.0","id":1,"result":{},"result":1}',
            b'{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","resultType":"y"}}',
            b'{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t"},"task":null}}',
            b'{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"t","taskId":7}}}',
        ],
    )
    def test_a_repeated_key_that_we_read(self, asker: End, worker: End, odd: bytes) -> None:
        """Who takes the first value sees another message: it is forwarded."""
        play(asker.passes(call(1), cancel(1)), worker.passes(odd), worker.loses(LATE, answer(1)))

    def test_a_repeated_key_has_its_last_value(self, asker: End, worker: End) -> None:
        """As in common parsers."""
        play(
            asker.passes(
                b'{"id":9,"method":"x","id":1}',
                b'{"method":"notifications/cancelled","params":{"requestId":9,"requestId":1}}',
            ),
            worker.passes(answer(9)),
            worker.loses(LATE, answer(1)),
            asker.passes(
                b'{"method":"notifications/cancelled","params":{"requestId":9,"requestId":1}}'
            ),
            asker.loses(REDUNDANT, cancel(1)),
        )

    def test_repeated_keys_of_progress(self, asker: End, worker: End) -> None:
        """Late progress that names two tokens passes."""
        odd = b'{"method":"notifications/progress","params":{"progressToken":2,"progressToken":1}}'
        play(
            asker.passes(call(1, token=1), cancel(1)),
            worker.passes(odd),
            worker.loses(What.LATE_PROGRESS, progress(1)),
        )

    def test_only_named_paths_are_read(self, asker: End, worker: End) -> None:
        """A message inside ``params`` is somebody else's protocol."""
        inner = b'{"id":7,"method":"mcp/message","params":%b}'
        play(
            asker.passes(call(1), inner % cancel(1), inner % call(2), cancel(2)),
            worker.passes(answer(1), inner % answer(7)),
        )

    def test_broken_json_is_opaque(self, asker: End, worker: End) -> None:
        """It passes, and changes nothing."""
        play(
            asker.passes(call(1), cancel(1)),
            worker.passes(answer(1)[:-1], answer(1) + b"}", answer(1) * 2, answer(1)[1:]),
            worker.loses(LATE, answer(1)),
        )


@both_ways
class TestStillness:
    """Some peers never send the newline: after 0.1 s what is whole is judged and sent."""

    def test_an_object_passes(self, asker: End, worker: End) -> None:
        """Not before the time has come, and not as it waits for nothing."""
        play(
            asker.raw(call(1)),
            STILL,
            worker.hears_raw(call(1)),
            asker.raw(b" \n"),
            worker.hears_raw(b" \n"),
            asker.passes(cancel(1)),
            worker.loses(LATE, answer(1)),
        )

    def test_a_late_one_is_dropped_with_its_newline(self, asker: End, worker: End) -> None:
        """White space up to and with the next 0x0A shares its fate."""
        play(
            asker.passes(call(1), cancel(1)),
            worker.raw(answer(1)),
            STILL,
            held(LATE, 1),
            worker.raw(b"\r\n"),
            worker.passes(note()),
        )

    def test_a_whole_conversation_without_newlines(self, asker: End, worker: End) -> None:
        """One object after another."""
        play(
            asker.raw(call(1)),
            STILL,
            worker.hears_raw(call(1)),
            asker.raw(cancel(1)),
            STILL,
            worker.hears_raw(cancel(1)),
            worker.raw(answer(1)),
            STILL,
            held(LATE, 1),
            worker.raw(note()),
            STILL,
            asker.hears_raw(note()),
        )

    def test_several_at_once(self, asker: End, worker: End) -> None:
        """They are judged and sent one by one."""
        play(
            asker.raw(call(1) + call(2) + b" " + cancel(1)),
            STILL,
            worker.hears_raw(call(1) + call(2) + b" " + cancel(1)),
            worker.raw(answer(1)),
            STILL,
            held(LATE, 1),
        )

    def test_a_part_waits(self, asker: End, worker: End) -> None:
        """What is not whole stays until it is, or until the newline comes."""
        play(
            asker.raw(call(1)[:30]),
            STILL,
            asker.raw(call(1)[30:] + b"\n"),
            worker << call(1),
        )

    def test_a_string_is_no_message(self, asker: End, worker: End) -> None:
        """Only objects and arrays are looked for."""
        play(asker.raw(b'"text"'), STILL, asker.raw(b"\n"), worker << b'"text"')

    def test_before_its_time(self, asker: End, worker: End) -> None:
        """Two objects on one line, with no pause between them, are one broken line."""
        play(
            asker.passes(call(1), cancel(1)),
            worker.passes(answer(1) + answer(1)),
            worker.raw(answer(1)),
            Waits(0.05),
            worker.raw(b"garbage\n"),
            asker << answer(1) + b"garbage",
        )


def frame(body: bytes, length: object = None, name: bytes = b"Content-Length") -> bytes:
    """A message with a header."""
    size = b"%d" % len(body) if length is None else length
    assert isinstance(size, bytes)
    return name + b": " + size + b"\r\n\r\n" + body


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
            worker.hears_raw(frame(call(b"<n>"), b"<l>")),
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
            asker.raw(frame(call(1), b"999")),
            STILL,
            worker.hears_raw(frame(call(1), b"999")),
            asker.raw(b"\n"),
            worker.hears_raw(b"\n"),
            asker.passes(call(2), cancel(2)),
            worker.loses(LATE, answer(2)),
        )


@both_ways
class TestOverLong:
    """A message over ``--max-message`` is streamed through, and its ends are looked at."""

    POLICY = Policy(max_message=20_000)
    LONG = "x" * 50_000

    def test_it_passes_whole(self, asker: End, worker: End) -> None:
        """Never truncated, never a reason to stop."""
        play(
            asker.passes(call(1, work=self.LONG)),
            worker.passes(answer(1, self.LONG)),
            asker.passes(call(2)),
            policy=self.POLICY,
        )

    @pytest.mark.parametrize("first", [True, False], ids=("id first", "id last"))
    def test_its_id_is_retired(self, asker: End, worker: End, first: bool) -> None:
        """The request has been answered: a cancel is redundant."""
        tail = b'{"jsonrpc":"2.0","result":"%b","id":1}' % self.LONG.encode()
        play(
            asker.passes(call(1)),
            worker.passes(answer(1, self.LONG) if first else tail),
            asker.loses(REDUNDANT, cancel(1)),
            policy=self.POLICY,
        )

    @pytest.mark.parametrize("first", [True, False], ids=("id first", "id last"))
    def test_its_id_is_tracked(self, asker: End, worker: End, first: bool) -> None:
        """The request is in flight and can be cancelled."""
        tail = b'{"jsonrpc":"2.0","method":"x","params":"%b","id":1}' % self.LONG.encode()
        play(
            asker.passes(call(1, work=self.LONG) if first else tail),
            asker.passes(cancel(1)),
            worker.loses(LATE, answer(1)),
            policy=self.POLICY,
        )

    def test_its_fresh_id_is_turned_back(self, asker: End, worker: End) -> None:
        """Request and answer are both too long, the id is used again."""
        play(
            asker.passes(call(1), cancel(1)),
            asker >> call(1, work=self.LONG),
            worker << call(b"<n>", work=self.LONG),
            worker >> answer(b"<n>", self.LONG),
            asker << answer(1, self.LONG),
            policy=self.POLICY,
        )

    def test_its_id_is_out_of_sight(self, asker: End, worker: End) -> None:
        """It may have asked anything: what has ended is forgotten."""
        hidden = b'{"a":"%b","id":2,"method":"x","b":"%b"}' % (b"x" * 15_000, b"x" * 15_000)
        play(
            asker.passes(call(1), cancel(1), hidden),
            worker.passes(answer(1)),
            policy=self.POLICY,
            ways=("byte by byte",),
        )
