"""What may be held back: the switches of one session, as values.

Knows nothing of flags, environment or files; ``nevermind_cli`` and
``nevermind_config`` turn those into a ``Policy``.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace


class Fate(enum.Enum):
    """What becomes of one redundant kind of message."""

    DROP = "drop"
    FORWARD = "forward"


class FirstCancel(enum.Enum):
    """What becomes of the client's first cancel for a request in flight."""

    FORWARD = "forward"
    ABSORB = "absorb"


class LateResponse(enum.Enum):
    """Which answers to a cancelled request still reach its issuer."""

    DROP = "drop"
    FIRST = "first"
    FORWARD_ERRORS = "forward-errors"
    FORWARD = "forward"


class IdReuse(enum.Enum):
    """What becomes of a request whose id still has a tombstone."""

    ALIAS = "alias"
    FORWARD = "forward"


class Noise(enum.Enum):
    """What becomes of a server's line that is no JSON object or array."""

    FORWARD = "forward"
    STDERR = "stderr"
    DROP = "drop"


MIB = 1024 * 1024

REMEMBER = 65_536
"""Ids remembered per issuer: hours of traffic for a few megabytes."""

LIVE_LIMIT = 262_144
"""Requests tracked in flight per issuer; beyond it new ones pass untracked."""

MAX_MESSAGE = 64 * MIB
"""Largest message that is held whole to be judged; longer ones stream through."""

QUEUE_LIMIT = 16 * MIB
"""Bytes that may wait for one peer before the other is no longer read."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The switches that say what may be held back.

    ``remember`` and ``live_limit`` count ids, ``max_message`` and
    ``queue_limit`` bytes.  A switch that is None has the default that the
    dialect or another switch gives it; ``resolved`` fills it in.
    """

    cancel: FirstCancel = FirstCancel.FORWARD
    late_response: LateResponse | None = None
    late_progress: Fate | None = None
    stale_progress: Fate | None = None
    redundant_cancel: Fate = Fate.DROP
    id_reuse: IdReuse = IdReuse.ALIAS
    shield: bool = False
    noise: Noise | None = None
    remember: int = REMEMBER
    live_limit: int = LIVE_LIMIT
    max_message: int = MAX_MESSAGE
    queue_limit: int = QUEUE_LIMIT

    def resolved(self, answer_owed: bool) -> Policy:
        """The same with every None replaced.

        ``answer_owed``: the dialect owes cancelled requests an answer (LSP
        3.17 "Cancellation Support"), and partial results stay usable.
        """
        progress = Fate.FORWARD if answer_owed else Fate.DROP
        answers = LateResponse.FIRST if answer_owed else LateResponse.DROP
        noise = Noise.STDERR if self.shield else Noise.FORWARD
        return replace(
            self,
            late_response=self.late_response or answers,
            late_progress=self.late_progress or progress,
            stale_progress=self.stale_progress or progress,
            noise=self.noise or noise,
        )
