"""An id used a third time and more, and several ids under fresh ones at once.

In the scripts ``<n>`` and ``<m>`` are fresh ids, ``<t>`` and ``<u>`` fresh tokens.
"""

from __future__ import annotations

from nevermind.notes import What
from proxy.messages import answer, call, cancel, progress
from proxy.playbook import End, Script, both_ways, held, play
from proxy.using_again import again, loads

LATE = What.LATE_RESPONSE
LATE_PROGRESS = What.LATE_PROGRESS


@both_ways
class TestFurtherUses:
    """Live fresh ids are shared, answered ones are not used again."""

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


@both_ways
class TestOtherIds:
    """A fresh id is nobody else's: of no other id, and of none that its issuer uses."""

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
