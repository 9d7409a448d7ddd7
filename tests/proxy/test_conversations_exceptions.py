"""The exceptions: initialize, malformed cancels, and odd shapes."""

from __future__ import annotations

import pytest

from nevermind.notes import What
from nevermind.policy import Fate, Policy
from proxy.messages import (
    answer,
    batch,
    call,
    cancel,
    initialize,
    note,
    progress,
)
from proxy.playbook import End, both_ways, client, held, play, server

LATE = What.LATE_RESPONSE
REDUNDANT = What.REDUNDANT_CANCEL
INITIALIZE = What.INITIALIZE_CANCEL


class TestInitialize:
    """A client's cancel for it is not forwarded and changes no state."""

    @pytest.mark.parametrize("id", [0, 1, "i", b"0.0"])
    def test_its_answer_passes(self, id: int) -> None:
        """Hosts that time out do cancel it; the session begins all the same."""
        play(
            client.passes(initialize(id)),
            client.loses(INITIALIZE, cancel(id), cancel(id)),
            server.passes(answer(id, "welcome")),
            client.loses(REDUNDANT, cancel(id)),
        )

    def test_in_a_batch(self) -> None:
        """The same out of an array."""
        play(
            client.passes(batch(initialize(0), note())),
            client >> batch(cancel(0), note()),
            server.spliced(note()),
            held(INITIALIZE, 0),
            server.passes(answer(0)),
        )

    def test_under_the_other_type(self) -> None:
        """ "0" stands for 0 here as everywhere."""
        play(
            client.passes(initialize(0)),
            client.loses(INITIALIZE, cancel("0")),
            server.passes(answer(0)),
        )

    def test_the_id_is_ordinary_afterwards(self) -> None:
        """A later call with that id is cancelled like any other."""
        play(
            client.passes(initialize(0)),
            server.passes(answer(0)),
            client.passes(call(0), cancel(0)),
            server.loses(LATE, answer(0)),
        )

    def test_no_switch_forwards_it(self) -> None:
        """Neither ``--redundant-cancel forward`` nor absorbing changes this."""

        play(
            client.passes(initialize(0)),
            client.loses(INITIALIZE, cancel(0)),
            server.passes(answer(0)),
            policy=Policy(redundant_cancel=Fate.FORWARD),
        )

    @pytest.mark.parametrize("first", ["a call", "initialize"])
    def test_one_of_two_uses(self, first: str) -> None:
        """The use that is left may be the one that nobody may cancel: its answer passes."""
        uses = (call(1), initialize(1)) if first == "a call" else (initialize(1), call(1))
        play(
            client.passes(*uses),
            server.passes(answer(1, "a")),
            client.loses(INITIALIZE, cancel(1)),
            server.passes(answer(1, "b")),
            client.passes(call(1), cancel(1)),
        )

    def test_one_of_two_uses_under_a_fresh_id(self) -> None:
        """A shared fresh id is no different."""
        play(
            client.passes(call(1), cancel(1)),
            client >> call(1),
            server << call(b"<n>"),
            client >> initialize(1),
            server << initialize(b"<n>"),
            server >> answer(b"<n>", "a"),
            client << answer(1, "a"),
            client.loses(INITIALIZE, cancel(1)),
            server >> answer(b"<n>", "b"),
            client << answer(1, "b"),
            server.loses(LATE, answer(1)),
        )

    def test_an_answer_in_the_queue_stays_there(self) -> None:
        """Its first response always passes, also when the cancel finds it unsent."""
        play(
            client.passes(initialize(0)),
            client.stalls(),
            server >> answer(0),
            client.loses(REDUNDANT, cancel(0)),
            client.reads(),
            client << answer(0),
        )


@both_ways
class TestMalformedCancels:
    """A cancel whose id is missing, null or malformed: forwarded, no state."""

    @pytest.mark.parametrize(
        "params",
        [
            b"{}",
            b'{"requestId":null}',
            b'{"requestId":[1]}',
            b'{"requestId":{"id":1}}',
            b'{"requestId":true}',
            b'{"requestId":1.5}',
            b'{"id":1}',
            b'{"requestid":1}',
            b"[1]",
            b"1",
            b"null",
        ],
    )
    def test_it_cancels_nothing(self, asker: End, worker: End, params: bytes) -> None:
        """The request that it may have meant is answered as usual."""
        odd = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":%b}' % params
        play(
            asker.passes(call(1), odd, odd),
            worker.passes(answer(1)),
        )

    @pytest.mark.parametrize(
        "odd",
        [
            b'{"jsonrpc":"2.0","method":"notifications/cancelled"}',
            b'{"jsonrpc":"2.0","method":"notifications/canceled","params":{"requestId":1}}',
            b'{"jsonrpc":"2.0","method":"Notifications/cancelled","params":{"requestId":1}}',
            b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}',
            b'{"id":"y","method":"x","params":%b}' % cancel(1),
            b'{"method":"x","params":%b}' % cancel(1),
        ],
    )
    def test_it_is_another_notification(self, asker: End, worker: End, odd: bytes) -> None:
        """Names are exact, and what stands inside ``params`` is somebody else's protocol."""
        play(asker.passes(call(1), odd), worker.passes(answer(1)))

    @pytest.mark.parametrize("id", [b"9", b"null"])
    def test_with_an_id_member_it_is_a_request(self, asker: End, worker: End, id: bytes) -> None:
        """It is tracked, forwarded, and cancels nothing."""
        odd = cancel(1)[:-1] + b',"id":%b}' % id
        play(
            asker.passes(call(1), odd),
            worker.passes(answer(1), answer(id)),
        )

    def test_progress_with_an_id_member_is_a_request(self, asker: End, worker: End) -> None:
        """The same for progress: requests are never dropped."""
        odd = progress("t")[:-1] + b',"id":"p"}'
        play(
            asker.passes(call(1, token="t"), cancel(1)),
            worker.loses(What.LATE_PROGRESS, progress("t")),
            worker.passes(odd),
            asker.passes(answer("p")),
        )

    def test_an_escaped_method_is_the_cancel(self, asker: End, worker: End) -> None:
        """``notifications\\/cancelled`` says the same."""
        escaped = cancel(1).replace(b"notifications/", b"notifications\\/")
        play(
            asker.passes(call(1), escaped),
            worker.loses(LATE, answer(1)),
            asker.loses(REDUNDANT, escaped, cancel(1)),
        )


class TestShapes:
    """Request, notification, response by their members; all else is opaque and passes."""

    @both_ways
    def test_null_members_count_as_absent(self, asker: End, worker: End) -> None:
        """``result`` and ``error`` null beside a method, ``method`` null beside a result."""
        request = b'{"id":1,"method":"x","result":null,"error":null}'
        late = b'{"id":1,"method":null,"result":1,"error":null}'
        play(asker.passes(request, cancel(1)), worker.loses(LATE, late))

    @both_ways
    def test_a_null_result_is_a_result(self, asker: End, worker: End) -> None:
        """Presence of the member makes the response."""
        play(
            asker.passes(call(1), cancel(1)),
            worker.loses(LATE, b'{"id":1,"result":null}', b'{"id":1,"error":null}'),
        )

    @both_ways
    def test_both_result_and_error(self, asker: End, worker: End) -> None:
        """Still a response for its id."""
        play(
            asker.passes(call(1), cancel(1)),
            worker.loses(LATE, b'{"id":1,"result":{},"error":{"code":0,"message":""}}'),
        )

    @both_ways
    @pytest.mark.parametrize(
        "odd",
        [
            b"{}",
            b'{"id":1}',
            b'{"id":1,"method":7}',
            b'{"id":1,"method":"x","result":1}',
            b'{"id":1,"method":7,"result":1}',
            b'{"id":1,"method":"x","error":{}}',
        ],
    )
    def test_opaque_objects_pass(self, asker: End, worker: End, odd: bytes) -> None:
        """Nothing is dropped that is not clearly a response, progress or cancel."""
        play(asker.passes(call(1), cancel(1)), worker.passes(odd, odd))

    @both_ways
    def test_without_jsonrpc(self, asker: End, worker: End) -> None:
        """Members decide; a version is not asked for."""
        play(
            asker.passes(
                b'{"id":1,"method":"x"}',
                b'{"method":"notifications/cancelled","params":{"requestId":1}}',
            ),
            worker.loses(LATE, b'{"id":1,"result":{}}'),
        )
