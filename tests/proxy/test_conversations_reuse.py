"""An id used again while its tombstone stands: a fresh id on the wire, the old one for its issuer.

In the scripts ``<n>`` is the fresh id, ``<t>`` the fresh token.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from nevermind.notes import Event, What
from nevermind.policy import Fate, IdReuse, LateResponse, Policy
from proxy.messages import (
    OWED,
    Spelling,
    answer,
    batch,
    call,
    cancel,
    error,
    listen,
    note,
    progress,
    task,
    update,
)
from proxy.playbook import End, Script, both_ways, client, held, play, server

LATE = What.LATE_RESPONSE
LATE_PROGRESS = What.LATE_PROGRESS
REDUNDANT = What.REDUNDANT_CANCEL
OPAQUE = b'{"jsonrpc":"2.0","id":"o","method":"x","result":{}}'
ids = pytest.mark.parametrize("id", [1, "a-1", 0, -7, 2**31 - 1, 2**53, "7"], ids=repr)


def again(asker: End, id: Spelling, token: Spelling | None = None) -> list[Script]:
    """The id is used, cancelled and used again: the new use goes out under a fresh id."""
    fresh = call(b"<n>", b"<t>" if token is not None else None)
    return [
        asker.passes(call(id, token), cancel(id)),
        asker >> call(id, token),
        End(asker.peer.other) << fresh,
    ]


def loads(names: dict[bytes, bytes], name: bytes) -> int | str:
    """What a name turned out to be."""
    value = json.loads(names[name])
    assert isinstance(value, int | str)
    return value


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

    def test_a_later_use_was_answered(self, asker: End, worker: End) -> None:
        """The old tombstone still stands on the wire: the third use gets another fresh id."""
        done = play(
            again(asker, 1),
            worker >> answer(b"<n>", "second"),
            asker << answer(1, "second"),
            asker >> call(1),
            worker << call(b"<m>"),
            worker.loses(LATE, answer(1, "first")),
            worker >> answer(b"<m>", "third"),
            asker << answer(1, "third"),
        )
        assert len({1, loads(done.names, b"n"), loads(done.names, b"m")}) == 3

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

    def test_a_further_use_shares_it(self, asker: End, worker: End) -> None:
        """While a fresh id is live the next use is ambiguous with it."""
        play(
            again(asker, 1),
            asker >> call(1),
            worker << call(b"<n>"),
            asker >> cancel(1),
            worker << cancel(b"<n>"),
            worker.loses(LATE, answer(1, "old")),
            worker >> answer(b"<n>", "a"),
            asker << answer(1, "a"),
            worker >> answer(b"<n>", "b"),
            asker << answer(1, "b"),
        )

    def test_a_further_use_shares_its_token(self, asker: End, worker: End) -> None:
        """The old use's late progress is not the further use's either."""
        play(
            again(asker, 1, "t"),
            asker >> call(1, "t"),
            worker << call(b"<n>", b"<u>"),
            worker.loses(LATE_PROGRESS, progress("t")),
            worker >> progress(b"<u>"),
            asker << progress("t"),
        )

    def test_a_further_use_with_the_old_uses_token(self, asker: End, worker: End) -> None:
        """Also where the use that it shares the fresh id with carried none."""
        play(
            asker.passes(call(1, "t"), cancel(1)),
            asker >> call(1),
            worker << call(b"<n>"),
            asker >> call(1, "t"),
            worker << call(b"<n>", b"<u>"),
            worker.loses(LATE_PROGRESS, progress("t")),
            worker >> progress(b"<u>"),
            asker << progress("t"),
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

    def test_a_second_answer_of_an_older_use(self, asker: End, worker: End) -> None:
        """The second use has been answered, the third waits: it must not get that one's."""
        play(
            again(asker, 1),
            worker >> answer(b"<n>", "second"),
            asker << answer(1, "second"),
            worker >> answer(b"<n>", "second, again"),
            asker << answer(1, "second, again"),
            asker >> call(1),
            worker << call(b"<m>"),
            worker >> answer(b"<n>", "second, once more"),
            held(LATE),
            worker >> answer(b"<m>", "third"),
            asker << answer(1, "third"),
        )

    def test_an_id_that_was_given_out_as_fresh(self, asker: End, worker: End) -> None:
        """Its issuer happens to use it: that one travels under another fresh id."""
        done = play(
            again(asker, 1),
            asker >> call(b"<n>"),
            worker << call(b"<m>"),
            worker >> answer(b"<n>", "for 1"),
            asker << answer(1, "for 1"),
            asker >> cancel(b"<n>"),
            worker << cancel(b"<m>"),
            worker.loses(LATE, answer(b"<m>")),
        )
        assert loads(done.names, b"m") not in (1, loads(done.names, b"n"))

    def test_a_task_of_a_fresh_id(self, asker: End, worker: End) -> None:
        """Its progress is turned back for as long as it is remembered."""
        play(
            again(asker, 1, "t"),
            worker >> task(b"<n>"),
            asker << task(1),
            worker >> progress(b"<t>"),
            asker << progress("t"),
            asker >> cancel(1),
            worker << cancel(b"<n>"),
            worker >> progress(b"<t>"),
            asker << progress("t"),
        )

    def test_forgetting_spares_the_tombstone_of_a_live_fresh_id(
        self, asker: End, worker: End
    ) -> None:
        """What could not be tracked may have asked, but this one's old answer is still wrong."""
        play(
            again(asker, 1),
            asker.passes(OPAQUE),
            worker.loses(LATE, answer(1, "old")),
            worker >> answer(b"<n>", "new"),
            asker << answer(1, "new"),
        )

    def test_a_fresh_id_that_was_forgotten(self, asker: End, worker: End) -> None:
        """What names it is dropped as late: nobody else used it."""
        play(
            again(asker, 1, "t"),
            asker >> cancel(1),
            worker << cancel(b"<n>"),
            asker.passes(OPAQUE),
            worker.loses(LATE, answer(b"<n>")),
            worker.loses(LATE_PROGRESS, progress(b"<t>")),
            worker.passes(answer(1), progress("t")),
            asker.passes(call(1), cancel(1)),
            worker.loses(LATE, answer(1)),
        )

    def test_a_cancel_of_the_newest_use_after_forgetting(self, asker: End, worker: End) -> None:
        """An issuer's id means its newest use, whatever older ones are still remembered."""
        play(
            again(asker, 2),
            asker >> call(b"<n>"),
            worker << call(b"<m>"),
            asker >> cancel(2),
            worker << cancel(b"<n>"),
            asker.passes(OPAQUE, call(2), cancel(2)),
            worker.loses(LATE, answer(2)),
        )

    def test_eviction_spares_the_tombstone_of_a_live_fresh_id(
        self, asker: End, worker: End
    ) -> None:
        """However many are cancelled after it."""
        play(
            again(asker, 1),
            asker.passes(*(line for n in range(10, 40) for line in (call(n), cancel(n)))),
            worker.loses(LATE, answer(1, "old")),
            worker >> answer(b"<n>", "new"),
            asker << answer(1, "new"),
            policy=Policy(remember=2),
        )

    def test_many_times(self, asker: End, worker: End) -> None:
        """Each use gets an id of its own, issued once."""
        names = [b"<%c>" % letter for letter in b"abcdefgh"]
        steps: list[Script] = [asker.passes(call(1))]
        last = b"1"
        for name in names:
            steps += [asker >> cancel(1), worker << cancel(last)]
            steps += [asker >> call(1), worker << call(name)]
            steps += worker.loses(LATE, answer(last, "late"))
            last = name
        steps += [worker >> answer(last), asker << answer(1)]
        done = play(*steps)
        assert len(set(done.names.values())) == len(names)

    def test_two_ids_at_once(self, asker: End, worker: End) -> None:
        """Fresh ids of one issuer differ from each other, and from all it used."""
        done = play(
            asker.passes(call(1), call(2), call(2**31 - 1), cancel(1), cancel(2)),
            asker >> call(1),
            worker << call(b"<n>"),
            asker >> call(2),
            worker << call(b"<m>"),
            worker >> answer(b"<m>", "two"),
            asker << answer(2, "two"),
            worker >> answer(b"<n>", "one"),
            asker << answer(1, "one"),
        )
        assert loads(done.names, b"n") != loads(done.names, b"m")

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


class TestSubscriptions:
    """A listen under a fresh id: what names it is turned back."""

    def test_its_notifications_and_the_servers_cancel(self) -> None:
        """``_meta[…/subscriptionId]``, cancel and answer; the old listen's pass as they are."""
        play(
            client.passes(listen(5), cancel(5)),
            client >> listen(5),
            server << listen(b"<n>"),
            server >> update(b"<n>"),
            client << update(5),
            server.passes(update(5)),
            server >> cancel(b"<n>"),
            client << cancel(5),
            server >> cancel(b"<n>"),
            client << cancel(5),
            server >> answer(b"<n>"),
            client << answer(5),
        )

    def test_the_servers_cancel_of_another_request(self) -> None:
        """In flight with the client under a fresh id: it is turned back, and marks nothing."""
        play(
            client.passes(call(3), cancel(3)),
            client >> call(3),
            server << call(b"<n>"),
            server >> cancel(b"<n>"),
            client << cancel(3),
            server >> answer(b"<n>"),
            client << answer(3),
        )

    @pytest.mark.parametrize(
        "ask",
        [listen, call],
    )
    def test_both_peers_have_fresh_ids(self, ask: Callable[[Spelling], bytes]) -> None:
        """There are two counters: one number may stand for both, and this is the client's."""
        play(
            server.passes(call(1), cancel(1)),
            server >> call(1),
            client << call(b"<m>"),
            client.passes(ask(5), cancel(5)),
            client >> ask(5),
            server << ask(b"<n>"),
            server >> cancel(b"<n>"),
            client << cancel(5),
            client >> answer(b"<m>"),
            server << answer(1),
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
