"""The exceptions: initialize, tasks, malformed cancels, subscriptions, and odd shapes."""

from __future__ import annotations

import pytest

from nevermind.notes import What
from nevermind.policy import LateResponse, Policy
from proxy.messages import (
    answer,
    batch,
    call,
    cancel,
    error,
    initialize,
    listen,
    note,
    progress,
    task,
    update,
)
from proxy.playbook import ENDS, End, client, held, play, server

LATE = What.LATE_RESPONSE
REDUNDANT = What.REDUNDANT_CANCEL
INITIALIZE = What.INITIALIZE_CANCEL
both_ways = pytest.mark.parametrize(("asker", "worker"), ENDS, ids=("client asks", "server asks"))


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
        from nevermind.policy import Fate

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
class TestTasks:
    """Losing the answer that creates a task would orphan running work."""

    @pytest.mark.parametrize("modern", [False, True], ids=("task.taskId", "resultType"))
    def test_it_passes_although_cancelled(self, asker: End, worker: End, modern: bool) -> None:
        """Its progress passes from then on; the tombstone stays for further answers."""
        play(
            asker.passes(call(1, token="t"), cancel(1)),
            worker.loses(What.LATE_PROGRESS, progress("t")),
            worker.passes(task(1, modern=modern), progress("t"), progress("t")),
            worker.loses(LATE, answer(1), error(1)),
            worker.passes(progress("t")),
        )

    def test_a_cancel_after_it_is_forwarded(self, asker: End, worker: End) -> None:
        """It marks nothing: the token stays unknown, answers stay what they are."""
        play(
            asker.passes(call(1, token="t"), cancel(1)),
            worker.passes(task(1)),
            asker.passes(cancel(1), cancel(1)),
            worker.passes(progress("t")),
            worker.loses(LATE, answer(1)),
        )

    def test_not_cancelled(self, asker: End, worker: End) -> None:
        """The request is answered; its token lives on, a cancel passes and marks nothing."""
        play(
            asker.passes(call(1, token="t")),
            worker.passes(task(1), progress("t")),
            asker.passes(cancel(1), cancel(1)),
            worker.passes(progress("t"), answer(1)),
        )

    @pytest.mark.parametrize("cancelled", [True, False])
    def test_another_request_carried_the_token_too(
        self, asker: End, worker: End, cancelled: bool
    ) -> None:
        """Unknown from then on: that one's end does not end the task's progress."""
        play(
            asker.passes(call(1, token="t"), call(2, token="t")),
            worker.passes(task(1)),
            asker.passes(cancel(2)) if cancelled else worker.passes(answer(2)),
            worker.passes(progress("t")),
        )

    def test_the_token_ends_with_its_next_owner(self, asker: End, worker: End) -> None:
        """Unknown is unknown until a request carries it again."""
        play(
            asker.passes(call(1, token="t")),
            worker.passes(task(1)),
            asker.passes(call(2, token="t"), cancel(2)),
            worker.loses(What.LATE_PROGRESS, progress("t")),
        )

    @pytest.mark.parametrize(
        "result",
        [
            {"task": {"taskId": 7}},
            {"task": "t-1"},
            {"taskId": "t-1"},
            {"resultType": "complete"},
            {"content": [{"task": {"taskId": "t"}}]},
            {"result": {"resultType": "task"}},
            ["task"],
            "task",
        ],
        ids=str,
    )
    def test_what_creates_no_task(self, asker: End, worker: End, result: object) -> None:
        """A string ``result.task.taskId`` or ``result.resultType == "task"``, nothing else."""
        play(asker.passes(call(1), cancel(1)), worker.loses(LATE, answer(1, result)))

    def test_in_a_batch(self, asker: End, worker: End) -> None:
        """The element that creates a task is kept, its neighbour is late."""
        play(
            asker.passes(batch(call(1), call(2)), cancel(1), cancel(2)),
            worker >> batch(answer(2), task(1)),
            asker.spliced(task(1)),
            held(LATE, 2),
        )

    def test_the_requests_about_tasks_are_ordinary(self, asker: End, worker: End) -> None:
        """``tasks/cancel`` and its kin name a task, not a request."""
        stop = b'{"jsonrpc":"2.0","id":2,"method":"tasks/cancel","params":{"taskId":"1"}}'
        play(
            asker.passes(call("1"), stop, cancel(2)),
            worker.loses(LATE, answer(2)),
            worker.passes(answer("1")),
        )

    def test_an_escaped_one(self, asker: End, worker: End) -> None:
        """Keys and values are compared after decoding."""
        escaped = b'{"jsonrpc":"2.0","id":1,"result":{"res\\u0075ltType":"\\u0074ask"}}'
        play(asker.passes(call(1), cancel(1)), worker.passes(escaped))


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


class TestSubscriptions:
    """A server may end a listen of the client's with a cancel that names the client's id."""

    @pytest.mark.parametrize("id", [5, "sub"])
    def test_the_servers_cancel_is_always_forwarded(self, id: int | str) -> None:
        """It is never redundant and marks nothing: the answer passes."""
        play(
            client.passes(listen(id)),
            server.passes(update(id), cancel(id), cancel(id), update(id), answer(id)),
        )

    def test_also_when_the_server_used_that_id_itself(self) -> None:
        """Whether its own request is in flight, cancelled or answered."""
        play(
            client.passes(listen(5)),
            server.passes(call(5), cancel(5)),
            client.passes(answer(5, "the client's")),
            server.passes(cancel(5), answer(5)),
        )

    def test_its_own_tombstone_makes_no_redundant_one(self) -> None:
        """The server cancelled its own 5 before the client listened as 5."""
        play(
            server.passes(call(5), cancel(5)),
            server.loses(REDUNDANT, cancel(5)),
            client.passes(listen(5)),
            server.passes(cancel(5), cancel(5), answer(5)),
            client.loses(LATE, answer(5)),
        )

    def test_one_of_two_uses(self) -> None:
        """The use that is left may be the listen."""
        play(
            client.passes(call(5), listen(5)),
            server.passes(answer(5)),
            server.passes(call(5), cancel(5), cancel(5)),
        )

    def test_both_cancel(self) -> None:
        """The client's cancel marks; the server's is then for an id not in flight: it passes."""
        play(
            client.passes(listen(5), cancel(5)),
            server.passes(cancel(5), update(5)),
            server.loses(LATE, answer(5)),
        )

    def test_in_a_batch(self) -> None:
        """The same out of an array."""
        play(
            client.passes(listen(5)),
            server.passes(batch(update(5), cancel(5)), answer(5)),
        )

    def test_any_other_request_of_the_client(self) -> None:
        """Neither in flight nor tombstoned with the server, in flight with the client: passes."""
        play(
            client.passes(call(3), call(4)),
            server.passes(cancel(3), cancel(3), answer(3)),
            server.passes(call(4)),
            client.passes(answer(4, "the client's")),
            server.passes(cancel(4), answer(4)),
        )

    def test_the_servers_own_comes_first(self) -> None:
        """In flight in both tables, and no listen: the server means its own."""
        play(
            client.passes(call(3)),
            server.passes(call(3), cancel(3)),
            server.loses(REDUNDANT, cancel(3)),
            client.loses(LATE, answer(3)),
            server.passes(answer(3)),
        )

    def test_a_cancelled_listens_notifications_pass(self) -> None:
        """They may evict caches."""
        play(
            client.passes(listen(5), cancel(5)),
            server.passes(update(5), update(5)),
            server.loses(LATE, answer(5)),
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


@both_ways
def test_under_first_a_task_is_the_first_answer(asker: End, worker: End) -> None:
    """``--late-response first``: the answer that creates a task passes, and no other after it."""
    play(
        asker.passes(call(1), cancel(1)),
        worker.passes(task(1)),
        worker.loses(LATE, answer(1)),
        policy=Policy(late_response=LateResponse.FIRST),
    )
