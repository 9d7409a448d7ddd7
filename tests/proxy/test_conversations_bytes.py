"""Bytes: what passes passes as it came, and looking at it never changes a thing."""

from __future__ import annotations

import pytest

from nevermind.notes import What
from proxy.messages import DEEP, answer, call, cancel, note, progress
from proxy.playbook import End, both_ways, held, play

LATE = What.LATE_RESPONSE
REDUNDANT = What.REDUNDANT_CANCEL
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
