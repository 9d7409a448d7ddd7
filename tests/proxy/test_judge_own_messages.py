"""What a verdict has us say ourselves, where the switches tell us to."""

from __future__ import annotations

import json

from nevermind.envelopes import Response
from nevermind.notes import What
from nevermind.policy import IdReuse, LateResponse, Policy
from proxy.bench import Bench, cancelled
from proxy.messages import answer, call, cancel, progress, task
from proxy.wire import CLIENT, SERVER


class TestOurOwnMessages:
    """Where the switches tell us to say something: see ``authoring``."""

    def test_a_clock_for_each_request(self) -> None:
        """Which progress starts again."""
        bench = Bench(Policy(timeout=10.0))
        bench.client(call(7, token="t"))
        assert bench.judge.author.deadlines.next() == 10.0
        bench.now = 4.0
        bench.server(progress("t"))
        bench.server(progress(b"null"))
        assert bench.judge.author.deadlines.next() == 14.0

    def test_an_answer_in_the_servers_place(self) -> None:
        """Then its own is dropped, whatever it creates."""
        bench = cancelled(Policy(answer_cancelled=1.0))
        bench.judge.author.overdue(3.5)
        assert b"-32800" in bench.said(CLIENT)
        assert bench.server(task(7)) is None
        assert bench.judge.dropped == {What.LATE_RESPONSE: 1}

    def test_an_answer_that_comes_first(self) -> None:
        """Ours is not given then."""
        bench = cancelled(Policy(answer_cancelled=1.0, late_response=LateResponse.FIRST))
        assert bench.server(answer(7)) == answer(7)
        bench.judge.author.overdue(3.5)
        assert bench.said(CLIENT) == b""

    def test_an_answer_that_is_let_through_for_doubt(self) -> None:
        """It was to be dropped, and might create a task: then its token lives on."""
        bench = cancelled(Policy(reap_tasks=True))
        doubtful = task(7)[:-1] + b',"id":7}'
        assert bench.server(doubtful) is doubtful
        assert bench.server(progress("t")) == progress("t")

    def test_an_answer_that_is_taken_back(self) -> None:
        """It counts as cancelled now."""
        bench = Bench(Policy(answer_cancelled=1.0))
        bench.client(call(7))
        bench.server(answer(7))
        bench.judge.retract(CLIENT, 7, Response(7), answer(7), 2.0)
        assert bench.judge.author.deadlines.next() == 3.0

    def test_a_new_use_of_an_id(self) -> None:
        """It revokes ours for the old one."""
        bench = cancelled(Policy(answer_cancelled=1.0, id_reuse=IdReuse.FORWARD))
        bench.judge.author.overdue(3.5)
        bench.client(call(7))
        assert bench.said(CLIENT) == b""

    def test_a_task_that_nobody_wants(self) -> None:
        """It is cancelled, and the answer to that is ours."""
        bench = cancelled(Policy(reap_tasks=True))
        assert bench.server(task(7)) is None
        said = json.loads(bench.said(SERVER))
        assert said["method"] == "tasks/cancel"
        assert bench.server(answer(said["id"])) is None
        assert bench.judge.dropped == {What.LATE_RESPONSE: 1, What.SWALLOWED_ANSWER: 1}

    def test_what_has_nothing_to_do_with_it(self) -> None:
        """A cancel of somebody's, an answer to nobody."""
        bench = Bench(Policy(answer_cancelled=10.0))
        assert bench.client(cancel(9)) == cancel(9)
        assert bench.server(answer(9)) == answer(9)
        assert bench.said(CLIENT) == b""

    def test_an_id_that_cannot_be_tracked(self) -> None:
        """It has no clock."""
        bench = Bench(Policy(timeout=10.0))
        bench.client(call(b"null"))
        assert bench.judge.author.deadlines.next() is None
