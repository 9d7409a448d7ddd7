"""What may be held back: the switches of one session, as values.

Knows nothing of flags, environment or files; ``nevermind_cli`` and
``nevermind_config`` turn those into a ``Policy``.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

import msgspec


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


MAX_TIMEOUT = 3600.0
"""Seconds for which progress can put a timeout off.  MCP (lifecycle, "Timeouts")
wants a maximum that holds regardless of progress, and names none; an hour is more
than hosts wait for anything but a subscription."""


class Policy(msgspec.Struct, frozen=True):
    """The switches that say what may be held back, and what we may say ourselves.

    ``remember`` and ``live_limit`` count ids, ``max_message`` and
    ``queue_limit`` bytes.  A switch that is None has the default that the
    dialect or another switch gives it; ``resolved`` fills it in.

    Times are seconds.  ``timeout`` is for the client's requests (None or 0:
    no timeout), ``timeouts`` for those of single methods; requests that must not
    be cancelled and subscriptions have only what is named there.  Progress starts
    the clock again, until ``max_timeout`` after the request; a timeout that is
    longer than that holds all the same.
    ``answer_cancelled`` is how long after a cancel we answer the request
    ourselves (0: at once, None: never).  ``reap_tasks``: a task that answers
    a cancelled request is cancelled too.
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
    timeout: float | None = None
    timeouts: Mapping[str, float | None] = msgspec.field(default_factory=dict)
    max_timeout: float = MAX_TIMEOUT
    answer_cancelled: float | None = None
    reap_tasks: bool = False

    def resolved(self, answer_owed: bool) -> Policy:
        """The same with every None replaced.

        ``answer_owed``: the dialect owes cancelled requests an answer (LSP
        3.17 "Cancellation Support"), and partial results stay usable.
        """
        progress = Fate.FORWARD if answer_owed else Fate.DROP
        answers = LateResponse.FIRST if answer_owed else LateResponse.DROP
        noise = Noise.STDERR if self.shield else Noise.FORWARD
        return msgspec.structs.replace(
            self,
            late_response=self.late_response or answers,
            late_progress=self.late_progress or progress,
            stale_progress=self.stale_progress or progress,
            noise=self.noise or noise,
        )
