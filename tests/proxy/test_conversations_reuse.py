"""An id used again while its tombstone stands: a fresh id on the wire, the old one for its issuer.

In the scripts ``<n>`` is the fresh id, ``<t>`` the fresh token.
"""

from __future__ import annotations

import pytest

from nevermind.notes import Event, What
from nevermind.policy import Fate, IdReuse, LateResponse, Policy
from proxy.messages import OWED, answer, batch, call, cancel, error, note, progress
from proxy.playbook import End, both_ways, client, held, play, server
from proxy.using_again import again, loads

LATE = What.LATE_RESPONSE
LATE_PROGRESS = What.LATE_PROGRESS
REDUNDANT = What.REDUNDANT_CANCEL
ids = pytest.mark.parametrize("id", [1, "a-1", 0, -7, 2**31 - 1, 2**53, "7"], ids=repr)


@both_ways
class TestFreshIds:
    """The old, late answer must not be taken for the new request's."""

    @ids
    def test_there_and_back(self, asker: End, worker: End, id: int | str) -> None:
        """Old traffic is dropped, the new use's is heard under the old names."""
        done = play(
            again(asker, id, id),
            worker.loses(LATE_PROGRESS, progress(id)),
            worker.loses(LATE, answer(id, "old"), id=id),
            worker >> progress(b"<t>", 5),
            asker << progress(id, 5),
            worker >> answer(b"<n>", "new"),
            asker << answer(id, "new"),
            worker.loses(LATE, answer(id, "old, again")),
            worker.loses(What.STALE_PROGRESS, progress(b"<t>")),
            worker.loses(LATE_PROGRESS, progress(id)),
            asker.loses(REDUNDANT, cancel(id)),
        )
        for name in (b"n", b"t"):
            fresh = loads(done.names, name)
            assert type(fresh) is type(id)
            assert fresh != id
            assert isinstance(fresh, str) or -(2**31) <= fresh < 2**31
        assert [n.event for n in done.notes].count(Event.ALIAS) == 1

    @ids
    def test_after_the_late_answer(self, asker: End, worker: End, id: int | str) -> None:
        """A tombstone stays after a late answer was dropped: there may be another."""
        play(
            asker.passes(call(id), cancel(id)),
            worker.loses(LATE, error(id)),
            asker >> call(id),
            worker << call(b"<n>"),
            worker.loses(LATE, answer(id, "old, again")),
            worker >> answer(b"<n>", "new"),
            asker << answer(id, "new"),
        )

    def test_cancelled_again(self, asker: End, worker: End) -> None:
        """The cancel names the fresh id, everything else about it stays."""
        odd = (
            b'{"params":{"x":{"requestId":1}, "requestId" :1.0},"method":"notifications/cancelled"}'
        )
        play(
            again(asker, 1, "t"),
            asker >> odd,
            worker << odd.replace(b"1.0", b"<n>"),
            asker.loses(REDUNDANT, cancel(1), id=1),
            worker.loses(LATE, answer(b"<n>"), answer(1), error(b"<n>")),
            worker.loses(LATE_PROGRESS, progress(b"<t>"), progress("t")),
            asker >> call(1, "t"),
            worker << call(b"<m>", b"<u>"),
            worker.loses(LATE, answer(b"<n>"), answer(1)),
            worker.loses(LATE_PROGRESS, progress(b"<t>"), progress("t")),
            worker >> progress(b"<u>"),
            asker << progress("t"),
            worker >> answer(b"<m>", "third"),
            asker << answer(1, "third"),
        )

    def test_only_the_ids_bytes_change(self, asker: End, worker: End) -> None:
        """Spelled as the issuer wrote it, nested lookalikes untouched, CR kept."""
        odd = (
            b' {"params" : {"id":7,"_meta":{"progressToken":7,"id":7}} ,"id" :7.0 , "method":"x"}\r'
        )
        there = odd.replace(b"7.0", b"<n>").replace(b'"progressToken":7', b'"progressToken":<t>')
        back = b'{"result":{"id":7,"v":1.0,"w":"\\u0041"}, "id" : <n> }\r'
        play(
            asker.passes(call(7, 7), cancel(7)),
            asker >> odd,
            worker << there,
            worker
            >> b' {"method":"notifications/progress","params":{"progress":7,"progressToken":<t>}}',
            asker
            << b' {"method":"notifications/progress","params":{"progress":7,"progressToken":7}}',
            worker >> back,
            asker << back.replace(b"<n>", b"7.0"),
        )

    def test_every_occurrence_of_a_repeated_key(self, asker: End, worker: End) -> None:
        """Whichever of them a parser takes, it is the same id."""
        odd = b'{"id":1,"method":"x","id":1}'
        play(
            asker.passes(call(1), cancel(1)),
            asker >> odd,
            worker << b'{"id":<n>,"method":"x","id":<n>}',
            worker >> b'{"id":<n>,"result":1,"\\u0069d":<n>}',
            asker << b'{"id":1,"result":1,"\\u0069d":1}',
        )

    def test_a_token_that_the_old_use_did_not_carry_stays(self, asker: End, worker: End) -> None:
        """Nobody would take its progress for the old use's."""
        play(
            asker.passes(call(1, "t"), cancel(1)),
            asker >> call(1, "u"),
            worker << call(b"<n>", "u"),
            worker.passes(progress("u")),
            worker.loses(LATE_PROGRESS, progress("t")),
        )

    def test_a_stringified_answer(self, asker: End, worker: End) -> None:
        """Coerced second holds for fresh ids: the answer comes back as the issuer asked."""
        play(
            again(asker, 1),
            worker.loses(LATE, answer("1", "old")),
            worker >> answer(b'"<n>"', "new"),
            asker << answer(1, "new"),
        )

    def test_in_a_batch(self, asker: End, worker: End) -> None:
        """Elements are translated where they stand."""
        play(
            asker >> batch(call(1), cancel(1), call(1)),
            worker.spliced(call(1), cancel(1), call(b"<n>")),
            worker >> batch(answer(1, "old"), note(), answer(b"<n>", "new")),
            asker.spliced(note(), answer(1, "new")),
            held(LATE, 1),
        )

    def test_the_switches_do_not_let_older_uses_through(self, asker: End, worker: End) -> None:
        """While an id has a newer use its older ones' late traffic is dropped regardless."""
        play(
            again(asker, 1, "t"),
            worker.loses(LATE, answer(1, "old"), error(1)),
            worker.loses(LATE_PROGRESS, progress("t")),
            worker >> answer(b"<n>", "new"),
            asker << answer(1, "new"),
            worker.loses(LATE, answer(1, "old")),
            policy=Policy(late_response=LateResponse.FORWARD, late_progress=Fate.FORWARD),
        )

    def test_a_late_answer_of_the_newest_use(self, asker: End, worker: End) -> None:
        """``--late-response forward`` is about it, and it is translated."""
        play(
            again(asker, 1, "t"),
            asker >> cancel(1),
            worker << cancel(b"<n>"),
            worker >> progress(b"<t>"),
            asker << progress("t"),
            worker >> answer(b"<n>"),
            asker << answer(1),
            policy=Policy(late_response=LateResponse.FORWARD, late_progress=Fate.FORWARD),
        )

    def test_reuse_after_an_answer_needs_none(self, asker: End, worker: End) -> None:
        """Nothing late can come."""
        play(
            asker.passes(call(1)),
            worker.passes(answer(1)),
            asker.passes(call(1)),
            worker.passes(answer(1)),
        )

    def test_where_an_answer_is_owed_there_are_none(self, asker: End, worker: End) -> None:
        """The answer to each use is awaited under its own id."""
        play(
            asker.passes(call(1, dialect=OWED), cancel(1, dialect=OWED), call(1, dialect=OWED)),
            worker.passes(error(1), answer(1)),
            dialect=OWED,
        )


@both_ways
class TestForward:
    """``--id-reuse forward``: the new request clears the tombstone instead."""

    POLICY = Policy(id_reuse=IdReuse.FORWARD)

    def test_it_is_an_ordinary_request(self, asker: End, worker: End) -> None:
        """The first answer is taken for its own, as without us."""
        play(
            asker.passes(call(1, "t"), cancel(1), call(1, "t")),
            worker.passes(progress("t"), answer(1, "old or new")),
            asker.passes(call(1), cancel(1)),
            worker.loses(LATE, answer(1)),
            policy=self.POLICY,
        )

    def test_the_cancel_is_a_first_one_again(self, asker: End, worker: End) -> None:
        """Nothing of the old use is left."""
        play(
            asker.passes(call(1), cancel(1), call(1), cancel(1)),
            asker.loses(REDUNDANT, cancel(1)),
            policy=self.POLICY,
        )


class TestRetraction:
    """The newest use's answer waits in our queue while its cancel is read."""

    def test_of_a_fresh_id(self) -> None:
        """It is retracted like any other; the fresh id is a tombstone then."""
        play(
            again(client, 1),
            client.stalls(),
            server >> answer(b"<n>", "new"),
            client >> cancel(1),
            held(LATE, 1),
            held(REDUNDANT, 1),
            client.reads(),
            server.loses(LATE, answer(b"<n>"), answer(1)),
            client >> call(1),
            server << call(b"<m>"),
        )


class TestLog:
    """What people see of a fresh id."""

    def test_notes_speak_the_issuers_language(self) -> None:
        """Ids in notes are the issuer's own, not the wire's."""
        done = play(
            again(client, "a"),
            client >> cancel("a", "why"),
            server << cancel(b"<n>", "why"),
            server.loses(LATE, answer(b"<n>")),
        )
        assert {n.id for n in done.notes} == {"a"}
        assert [n.event for n in done.notes] == [
            Event.CANCEL,
            Event.ALIAS,
            Event.CANCEL,
            Event.DROP,
        ]

    def test_so_do_those_of_progress(self) -> None:
        """Its token, as the issuer wrote it."""
        play(
            again(client, "a", "t"),
            client >> cancel("a"),
            server << cancel(b"<n>"),
            server.loses(LATE_PROGRESS, progress("t"), progress(b"<t>"), id="t"),
        )
