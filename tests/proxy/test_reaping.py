"""``--reap-tasks``: a task that answers a cancelled request is cancelled too, in our own name."""

from __future__ import annotations

import json

import pytest

from nevermind.notes import Event, What
from nevermind.peers import Peer
from nevermind.policy import LateResponse, Policy
from nevermind.session import Session
from proxy.header_frames import frame
from proxy.messages import OWED, answer, batch, call, cancel, error, note, progress, task
from proxy.ours import cancel_task, cancelled, stop, timed_out
from proxy.playbook import End, Waits, both_ways, client, held, play, server

LATE = What.LATE_RESPONSE
REAP = Policy(reap_tasks=True)
SWALLOWED = What.SWALLOWED_ANSWER


@both_ways
class TestReaping:
    """A task that nobody wants any more."""

    @pytest.mark.parametrize("modern", [False, True])
    def test_it_is_cancelled(self, asker: End, worker: End, modern: bool) -> None:
        """The late answer is dropped, the task is cancelled, the answer to that is swallowed."""
        how = play(
            asker.passes(call(1), cancel(1)),
            worker >> task(1, modern=modern),
            held(LATE, 1),
            worker << cancel_task(b"<n>"),
            worker.loses(SWALLOWED, answer(b"<n>", {"taskId": "t-1", "status": "cancelled"})),
            policy=REAP,
        )
        reaped = next(n for n in how.notes if n.event is Event.REAP)
        assert (reaped.issuer, reaped.id, reaped.task) == (asker.peer, 1, "t-1")
        assert how.statistics.reaped == 1
        assert how.statistics.dropped == {LATE: 1, SWALLOWED: 1}

    def test_an_error_is_swallowed_too(self, asker: End, worker: End) -> None:
        """The task may have ended by itself; nobody asked who could hear of it."""
        play(
            asker.passes(call("a"), cancel("a")),
            worker >> task("a"),
            held(LATE),
            worker << cancel_task(b"<n>"),
            worker.loses(SWALLOWED, error(b"<n>", -32602)),
            worker.loses(LATE, error(b"<n>", -32602)),
            policy=REAP,
        )

    def test_an_answer_under_the_id_of_the_other_type(self, asker: End, worker: End) -> None:
        """SDKs turn 7 into "7"."""
        play(
            asker.passes(call(1), cancel(1)),
            worker >> task(1),
            held(LATE),
            worker << cancel_task(b"<n>"),
            worker.loses(SWALLOWED, answer(b'"<n>"')),
            policy=REAP,
        )

    def test_in_batches(self, asker: End, worker: End) -> None:
        """The task's answer and the answer to us are taken out; the rest passes."""
        play(
            asker.passes(call(1), call(2), cancel(1)),
            worker >> batch(task(1), answer(2)),
            asker.spliced(answer(2)),
            held(LATE, 1),
            worker << cancel_task(b"<n>"),
            worker >> batch(answer(b"<n>"), note()),
            asker.spliced(note()),
            held(SWALLOWED),
            policy=REAP,
        )

    def test_its_progress_is_late(self, asker: End, worker: End) -> None:
        """The token dies with the request: nobody knows of the task."""
        play(
            asker.passes(call(1, token="t"), cancel(1)),
            worker >> task(1),
            held(LATE),
            worker << cancel_task(b"<n>"),
            worker.loses(What.LATE_PROGRESS, progress("t")),
            asker.loses(What.REDUNDANT_CANCEL, cancel(1)),
            policy=REAP,
        )

    def test_whatever_is_said_of_late_answers(self, asker: End, worker: End) -> None:
        """Who wants tasks reaped does not want them handed over."""
        for late in LateResponse:
            play(
                asker.passes(call(1), cancel(1)),
                worker >> task(1),
                held(LATE),
                worker << cancel_task(b"<n>"),
                policy=Policy(reap_tasks=True, late_response=late),
            )

    def test_every_task_that_is_created(self, asker: End, worker: End) -> None:
        """Each has an id of its own, and so has each of our requests."""
        how = play(
            asker.passes(call(1), cancel(1)),
            worker >> task(1),
            held(LATE),
            worker << cancel_task(b"<n>"),
            worker >> task(1),
            held(LATE),
            worker << cancel_task(b"<m>"),
            policy=REAP,
        )
        assert how.names[b"n"] != how.names[b"m"]

    def test_a_request_that_was_not_cancelled(self, asker: End, worker: End) -> None:
        """Its task is its issuer's."""
        play(
            asker.passes(call(1, token="t")),
            worker.passes(task(1), progress("t")),
            asker.passes(cancel(1)),
            policy=REAP,
        )

    def test_off_by_default(self, asker: End, worker: End) -> None:
        """The answer passes: losing it would orphan the task."""
        play(asker.passes(call(1), cancel(1)), worker.passes(task(1)))

    def test_a_task_whose_id_cannot_be_told(self, asker: End, worker: End) -> None:
        """It can't be cancelled, or not within reason, so its issuer hears of it."""
        nameless = answer(1, {"resultType": "task"})
        odd = answer(2, {"resultType": "task", "taskId": 7})
        twice = b'{"id":3,"result":{"resultType":"task","taskId":"a","taskId":"b"}}'
        broken = b'{"id":4,"result":{"x":NaN,"task":{"taskId":"t"}}}'
        endless = answer(5, {"task": {"taskId": "t" * 2000}})
        play(
            asker.passes(*(call(n, token=n) for n in range(1, 6))),
            asker.passes(*(cancel(n) for n in range(1, 6))),
            worker.passes(nameless, odd, twice, broken, endless),
            worker.passes(*(progress(n) for n in range(1, 6))),
            asker.passes(cancel(3)),
            policy=REAP,
        )

    def test_the_id_is_nobody_elses(self, asker: End, worker: End) -> None:
        """An issuer that uses it for itself has a fresh one on the wire."""
        play(
            asker.passes(call(1), cancel(1)),
            worker >> task(1),
            held(LATE),
            worker << cancel_task(b"<n>"),
            asker >> call(b"<n>"),
            worker << call(b"<m>"),
            worker.loses(SWALLOWED, answer(b"<n>")),
            worker >> answer(b"<m>"),
            asker << answer(b"<n>"),
            policy=REAP,
        )

    def test_used_again(self, asker: End, worker: End) -> None:
        """The older use's late answer is dropped anyway; its task is cancelled all the same."""
        play(
            asker.passes(call(1), cancel(1)),
            asker >> call(1),
            worker << call(b"<n>"),
            worker >> task(1),
            held(LATE),
            worker << cancel_task(b"<m>"),
            worker >> task(b"<n>"),
            asker << task(1),
            policy=REAP,
        )

    def test_after_an_answer_of_ours(self, asker: End, worker: End) -> None:
        """Its issuer has been answered; the task would run for nobody."""
        play(
            asker.passes(call(1), cancel(1)),
            asker << cancelled(1),
            worker >> task(1),
            held(LATE),
            worker << cancel_task(b"<n>"),
            worker.loses(SWALLOWED, answer(b"<n>")),
            policy=Policy(reap_tasks=True, answer_cancelled=0),
        )


class TestWithOtherSwitches:
    """What only the client's requests have."""

    def test_after_a_timeout(self) -> None:
        """The request was cancelled, by us."""
        play(
            client.passes(call(1)),
            Waits(30),
            server << stop(1),
            client << timed_out(1),
            server >> task(1),
            held(LATE),
            server << cancel_task(b"<n>"),
            policy=Policy(reap_tasks=True, timeout=30),
        )

    def test_a_dialect_without_tasks(self) -> None:
        """There a result is a result."""
        play(
            client.passes(call(1, dialect=OWED), cancel(1, dialect=OWED)),
            server.passes(task(1)),
            policy=REAP,
            dialect=OWED,
        )


class TestSelfDescription:
    """MCP 2026-07-28 wants every request to say who speaks which version."""

    VERSION = b'"io.modelcontextprotocol/protocolVersion": "2026-07-28"'
    CAPABILITIES = b'"io.modelcontextprotocol/clientCapabilities":{"x":[1, 2]}'

    def modern(self, id: int, *members: bytes) -> bytes:
        """A request that does."""
        meta = b",".join(members)
        return b'{"id":%d,"method":"tools/call","params":{"_meta":{%b}}}' % (id, meta)

    def test_ours_says_what_the_clients_say(self) -> None:
        """The same bytes, without what belongs to the one request."""
        own = (b'"progressToken":1', b'"com.example/x":2')
        meta = b"{%b}" % b",".join((self.VERSION.replace(b": ", b":"), self.CAPABILITIES))
        play(
            client.passes(self.modern(1, *own, self.CAPABILITIES, self.VERSION), cancel(1)),
            server >> task(1, modern=True),
            held(LATE),
            server << cancel_task(b"<n>", meta=meta),
            policy=REAP,
        )

    def test_the_latest_that_said_it(self) -> None:
        """Requests may differ; those that say nothing, or nothing readable, change nothing."""
        newer = b'"io.modelcontextprotocol/protocolVersion":"2027"'
        play(
            client.passes(
                self.modern(1, self.VERSION),
                self.modern(2, newer),
                call(3),
                b'{"id":4,"method":"x","params":{"about":"io.modelcontextprotocol/protocolVersion"}}',
                cancel(1),
            ),
            server >> task(1),
            held(LATE),
            server << cancel_task(b"<n>", meta=b"{%b}" % newer),
            policy=REAP,
        )

    def test_on_one_line(self) -> None:
        """Where messages have headers instead of lines, the client's may have line ends."""
        body = self.modern(1, b'"io.modelcontextprotocol/protocolVersion":\r\n"2026"')
        session = Session(REAP)
        session.receive_data(Peer.CLIENT, frame(body) + cancel(1) + b"\n", 0.0)
        sent = b"".join(session.outbox[Peer.SERVER].buffers())
        session.outbox[Peer.SERVER].wrote(len(sent))
        session.receive_data(Peer.SERVER, task(1) + b"\n", 0.0)
        line = b"".join(session.outbox[Peer.SERVER].buffers())
        assert line.count(b"\n") == 1
        meta = json.loads(line)["params"]["_meta"]
        assert meta == {"io.modelcontextprotocol/protocolVersion": "2026"}

    def test_a_server_says_nothing_of_itself(self) -> None:
        """What the client says of itself is not the server's."""
        play(
            client.passes(self.modern(1, self.VERSION)),
            server.passes(call(1), cancel(1)),
            client >> task(1),
            held(LATE),
            client << cancel_task(b"<n>"),
            policy=REAP,
        )
