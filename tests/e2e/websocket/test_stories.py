"""The stories of switches, time and full pipes once more, with WebSockets on either side or both.

They are told of a proxy on stdio, next door; here a bridge carries what each side says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType

import pytest

from e2e import test_pressure, test_switches, test_time
from e2e.harness.proxy_command import in_place_of_nevermind
from e2e.websocket.test_pairings import SIDES, through

LEFT_OUT = {
    "test_a_longer_message_is_streamed_and_still_known": "none is longer than may be",
    "test_noise_may_go_to_stderr": "a message has no line end to be kept",
    "test_an_answer_that_waits_in_our_queue_is_taken_back": "the bridge holds what we do not",
    "test_a_flood_that_nobody_reads_is_not_kept_in_memory": "the bridge keeps it in its own",
    "test_a_client_that_cancels_much_and_reads_nothing_is_not_read_for_ever": "it does read",
}
"""With the reasons; ``proxy/shell`` tells the last three with peers that hold nothing."""


def stories(module: ModuleType) -> Iterator[tuple[str, FunctionType]]:
    for name, story in vars(module).items():
        if name.startswith("test_") and name not in LEFT_OUT:
            yield name, once(story)


def once(story: FunctionType) -> FunctionType:
    """Without the twin in which a variable of the environment stands for each option."""
    copy = FunctionType(story.__code__, story.__globals__, story.__name__)
    copy.__annotations__ = story.__annotations__
    settings: Callable[[FunctionType], FunctionType]
    for mark in getattr(story, "pytestmark", []):
        names, values = mark.args
        settings = pytest.mark.parametrize(names, values[:1], ids=mark.kwargs["ids"][:1])
        copy = settings(copy)
    return copy


@pytest.fixture(autouse=True, params=list(SIDES.values()), ids=list(SIDES))
def pairing(request: pytest.FixtureRequest) -> Iterator[None]:
    with in_place_of_nevermind(through(request.param)):
        yield


for told in (test_pressure, test_switches, test_time):
    globals().update(stories(told))


def test_what_is_left_out_exists() -> None:
    everywhere = vars(test_pressure) | vars(test_switches) | vars(test_time)
    assert LEFT_OUT.keys() <= everywhere.keys()
