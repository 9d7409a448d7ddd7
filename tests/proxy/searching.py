"""How long the state machines search, and that each run of the suite plays the same conversations.

Hypothesis draws constants out of whatever modules are loaded, and every choice that it makes is
such a draw: with it alone, one more test file would mean other conversations.  In the suite the
choices come from numbered generators instead, and nothing is shrunk.  ``MACHINE_EXAMPLES`` asks
for a deep search: that many conversations, of ``MACHINE_STEPS`` steps each, random and shrunk.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from random import Random
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, PrimitiveProvider

DEEP = int(os.environ.get("MACHINE_EXAMPLES", "0"))
FAR = 1 << 31


class Numbered(PrimitiveProvider):
    """Choices that depend on the number of the conversation, and on nothing else."""

    def __init__(self, conjecturedata: Any) -> None:
        super().__init__(conjecturedata)
        self._number = 0
        self._random = Random(0)

    def per_test_case_context_manager(self) -> AbstractContextManager[None]:
        """Each conversation has a generator of its own."""
        return self._numbered()

    @contextmanager
    def _numbered(self) -> Iterator[None]:
        self._random = Random(self._number)
        self._number += 1
        yield

    def draw_boolean(self, p: float = 0.5) -> bool:
        """True as often as ``p`` says."""
        return self._random.random() < p

    def draw_integer(
        self,
        min_value: int | None = None,
        max_value: int | None = None,
        *,
        weights: dict[int, float] | None = None,
        shrink_towards: int = 0,
    ) -> int:
        """Any integer in the range is as likely as another."""
        low = -FAR if min_value is None else min_value
        return self._random.randint(low, low + FAR if max_value is None else max_value)

    def draw_float(
        self,
        *,
        min_value: float = -math.inf,
        max_value: float = math.inf,
        allow_nan: bool = True,
        smallest_nonzero_magnitude: float,
    ) -> float:
        """No conversation needs one."""
        raise NotImplementedError

    def draw_string(self, intervals: Any, *, min_size: int = 0, max_size: int = 0) -> str:
        """No conversation needs one: texts come from pools."""
        raise NotImplementedError

    def draw_bytes(self, min_size: int = 0, max_size: int = 0) -> bytes:
        """No conversation needs them: messages come from pools."""
        raise NotImplementedError


AVAILABLE_PROVIDERS["numbered"] = Numbered


def search(examples: int, steps: int) -> settings:
    """The settings of a state machine: so many conversations, of so many steps each."""
    if DEEP:
        return settings(
            max_examples=DEEP,
            stateful_step_count=int(os.environ.get("MACHINE_STEPS", steps)),
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        backend="numbered",
        phases=(Phase.generate,),
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
