"""The records of one issuer's requests: each wire id stands in one place, or nowhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nevermind.ids import Key
from nevermind.lifecycle import State
from nevermind.outbox import Outbox
from nevermind.uses import Requests, Use

ASKED = (1.5, "tools/call")


def use_of(requests: Requests, key: Key, state: State) -> Use:
    """A use of ``key``, moved to ``state``."""
    use = Use(key, ASKED)
    requests.rise(key)
    requests.move(use, state)
    return use


def fresh_use(requests: Requests, name: Key, wire: Key) -> Use:
    """A use of ``name`` that travels under the fresh id ``wire``."""
    use = Use(wire, ASKED)
    use.name = name
    requests.add_fresh(use)
    return use


class TestFind:
    """Where exactly a key stands."""

    def test_nowhere(self) -> None:
        """An id that was never asked about is absent."""
        requests = Requests(10)
        assert requests.find(7) is None
        assert requests.locate(7) is None
        assert not requests.is_live(7)
        assert not requests.knows(7)

    def test_a_plain_request(self) -> None:
        """No more than when it was read, and its method."""
        requests = Requests(10)
        requests.plain[7] = ASKED
        assert requests.find(7) == (State.IN_FLIGHT, ASKED)
        assert requests.is_live(7)
        assert requests.live_count() == 1

    def test_a_plain_request_that_gets_a_record(self) -> None:
        """It is the same request."""
        requests = Requests(10)
        requests.plain[7] = ASKED
        use = requests.promote(7)
        assert requests.find(7) == (State.IN_FLIGHT, use)
        assert (use.asked, use.method, use.uses) == (1.5, "tools/call", 1)
        assert not requests.plain
        assert requests.live_count() == 1

    @pytest.mark.parametrize("state", [s for s in State if s is not State.ABSENT])
    def test_each_state_has_its_place(self, state: State) -> None:
        """Live ones are live, the others are remembered."""
        requests = Requests(10)
        use = use_of(requests, 7, state)
        assert requests.find(7) == (state, use)
        live = state in (State.IN_FLIGHT, State.AMBIGUOUS, State.CANCELLED)
        assert requests.is_live(7) == live
        assert requests.live_count() == live
        assert requests.knows(7)
        assert use.waits == (state in (State.IN_FLIGHT, State.AMBIGUOUS))

    def test_moving_leaves_nothing_behind(self) -> None:
        """A wire id stands in one place."""
        requests = Requests(10)
        use = use_of(requests, 7, State.IN_FLIGHT)
        for state in (State.TOMBSTONE, State.ANSWERED, State.AMBIGUOUS, State.SETTLED):
            requests.move(use, state)
            assert requests.find(7) == (state, use)
            places = (requests.live, requests.ended, requests.answered)
            assert sum(7 in place for place in places) == 1

    def test_forgetting(self) -> None:
        """What has ended goes, what is live stays."""
        requests = Requests(10)
        for key, state in enumerate((State.TOMBSTONE, State.ANSWERED, State.IN_FLIGHT)):
            use_of(requests, key, state)
            requests.forget(key)
        assert [requests.find(key) is None for key in range(3)] == [True, True, False]

    def test_forgetting_all_that_has_ended(self) -> None:
        """Something untracked may have used any id again."""
        requests = Requests(10)
        for key, state in enumerate((State.TOMBSTONE, State.ANSWERED, State.IN_FLIGHT)):
            use_of(requests, key, state)
        requests.plain[3] = ASKED
        requests.forget_ended()
        assert [requests.find(key) is None for key in range(4)] == [True, True, False, False]

    def test_forgetting_what_is_owed_an_answer(self) -> None:
        """It may be owed two by now; what is in flight stays."""
        requests = Requests(10)
        for key, state in enumerate((State.CANCELLED, State.CANCELLED, State.IN_FLIGHT)):
            use_of(requests, key, state)
        again = requests.live[1]
        requests.move(again, State.AMBIGUOUS)
        requests.forget_ended()
        assert [requests.find(key) is None for key in range(3)] == [True, False, False]
        requests.forget_ended()
        assert requests.live_count() == 2


class TestTwins:
    """``7`` and ``"7"`` are two, but one may stand in for the other."""

    def test_exact_first(self) -> None:
        """Each is itself."""
        requests = Requests(10)
        number = use_of(requests, 7, State.IN_FLIGHT)
        text = use_of(requests, "7", State.TOMBSTONE)
        assert requests.locate(7) == (7, State.IN_FLIGHT, number)
        assert requests.locate("7") == ("7", State.TOMBSTONE, text)

    def test_coerced_second(self) -> None:
        """Where there is only the other."""
        requests = Requests(10)
        use = use_of(requests, 7, State.TOMBSTONE)
        assert requests.locate("7") == (7, State.TOMBSTONE, use)
        assert requests.locate("07") is None
        assert requests.locate("8") is None

    def test_a_twin_in_flight(self) -> None:
        """It may be the one that is meant."""
        requests = Requests(10)
        requests.plain["7"] = ASKED
        use_of(requests, 8, State.TOMBSTONE)
        assert requests.twin_in_flight(7)
        assert not requests.twin_in_flight("7")
        assert not requests.twin_in_flight("8")
        assert not requests.twin_in_flight("x")

    def test_a_cancelled_twin(self) -> None:
        """It is not in flight, but waits for an answer."""
        requests = Requests(10)
        use = use_of(requests, 7, State.CANCELLED)
        assert not requests.twin_in_flight("7")
        assert requests.twin_is_live("7")
        requests.move(use, State.SETTLED)
        assert not requests.twin_is_live("7")
        assert not requests.twin_is_live("x")


class TestKnowsAny:
    """Whether a whole block of ids is new."""

    @pytest.mark.parametrize("state", [s for s in State if s is not State.ABSENT])
    def test_one_that_stands_somewhere(self, state: State) -> None:
        """In whatever state."""
        requests = Requests(10)
        use_of(requests, 7, state)
        assert requests.knows_any([6, 7])
        assert requests.knows_any([7, "7"])
        assert requests.knows_any(["7", 7])
        assert not requests.knows_any([6])
        assert not requests.knows_any(["7"])

    def test_a_plain_one(self) -> None:
        """And none at all."""
        requests = Requests(10)
        requests.plain[7] = ASKED
        requests.rise(7)
        assert requests.knows_any([7])
        assert not requests.knows_any([])

    def test_ids_that_rise(self) -> None:
        """They are new as long as they are above all that ever were."""
        requests = Requests(10)
        assert not requests.knows_any([3, 1, 2])
        requests.plain.update(dict.fromkeys((1, 2, 3), ASKED))
        assert not requests.knows_any([4])
        assert not requests.knows_any([-1, 0])
        assert requests.knows_any([4, 3])
        assert requests.knows_any([9, 2])
        assert requests.highest == 9

    def test_one_that_was_only_asked_about(self) -> None:
        """It counts as tracked: who asks is about to."""
        requests = Requests(10)
        assert not requests.knows(5)
        assert not requests.knows("9")
        assert requests.highest == 5


class TestFreshIds:
    """Uses that travel under another wire id than their issuer's."""

    def test_the_newest_use_of_a_name(self) -> None:
        """Whatever has become of it."""
        requests = Requests(10)
        assert requests.newest_use(7) is None
        first = fresh_use(requests, 7, 1000)
        assert requests.newest_use(7) is first
        assert requests.newest_use(8) is None
        requests.move(first, State.TOMBSTONE)
        assert requests.newest_use(7) is first
        second = fresh_use(requests, 7, 1001)
        assert requests.newest_use(7) is second

    def test_a_forgotten_use_is_no_use(self) -> None:
        """The way to it goes too."""
        requests = Requests(10)
        use = fresh_use(requests, 7, 1000)
        requests.move(use, State.ANSWERED)
        requests.forget(1000)
        assert requests.newest_use(7) is None
        assert not requests.newest

    def test_another_use_of_its_wire_id_is_another(self) -> None:
        """A peer may use an id that we issued."""
        requests = Requests(10)
        use = fresh_use(requests, 7, 1000)
        requests.move(use, State.ANSWERED)
        use_of(requests, 1000, State.ANSWERED)
        assert requests.newest_use(7) is None

    def test_a_tombstone_stands_while_a_fresh_id_for_it_is_live(self) -> None:
        """Neither evicted nor forgotten."""
        requests = Requests(1)
        old = use_of(requests, 7, State.TOMBSTONE)
        new = fresh_use(requests, 7, 1000)
        requests.forget_ended()
        for key in range(10):
            use_of(requests, key + 100, State.TOMBSTONE)
        assert requests.find(7) == (State.TOMBSTONE, old)
        requests.move(new, State.ANSWERED)
        requests.forget_ended()
        assert requests.find(7) is None

    def test_an_older_use_that_ends_does_not_matter(self) -> None:
        """It is the newest that holds the tombstone."""
        requests = Requests(10)
        use_of(requests, 7, State.TOMBSTONE)
        old = fresh_use(requests, 7, 1000)
        fresh_use(requests, 7, 1001)
        requests.move(old, State.TOMBSTONE)
        requests.forget_ended()
        assert requests.find(7) is not None

    def test_a_tombstone_stands_while_an_answer_of_ours_waits(self) -> None:
        """A new use of its id may still have to take it back."""
        requests = Requests(1)
        outbox = Outbox(1000)
        use = Use(7, ASKED)
        use.reply = outbox.speak(b"{}")
        requests.move(use, State.TOMBSTONE)
        requests.forget_ended()
        assert requests.find(7) is not None
        outbox.wrote(1)
        requests.forget_ended()
        assert requests.find(7) is None

    def test_ways_to_forgotten_uses_do_not_gather(self) -> None:
        """However many ids are used again."""
        requests = Requests(2)
        for n in range(10_000):
            use = fresh_use(requests, f"name {n}", n)
            requests.move(use, State.ANSWERED)
        assert len(requests.newest) < 3000
        assert requests.newest_use("name 9999") is not None


@given(
    st.integers(0, 3),
    st.lists(
        st.tuples(st.integers(0, 5), st.sampled_from([s for s in State if s is not State.ABSENT])),
        max_size=40,
    ),
)
def test_any_life(remember: int, moves: list[tuple[int, State]]) -> None:
    """Live ids are always known, ended ones within the bound."""
    requests = Requests(remember)
    uses: dict[int, Use] = {}
    for key, state in moves:
        found = requests.find(key)
        use = uses[key] if found is not None else Use(key, ASKED)
        uses[key] = use
        requests.move(use, state)
        live = {k for k, u in uses.items() if requests.is_live(k)}
        assert live == {
            k
            for k, u in uses.items()
            if u.state in (State.IN_FLIGHT, State.AMBIGUOUS, State.CANCELLED)
        }
        assert requests.live_count() == len(live)
        assert len(requests.ended) <= 2 * remember
        assert len(requests.answered) <= 2 * remember
        for k, u in uses.items():
            assert requests.find(k) in (None, (u.state, u))
            assert requests.find(k) is not None or k not in live
