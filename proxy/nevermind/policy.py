"""What may be held back: the switches of one session, as values.

Knows nothing of flags, environment or files; ``nevermind_cli`` and
``nevermind_config`` turn those into a ``Policy``.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


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
    """The switches of section "what may be held back", with MCP's defaults.

    ``remember`` and ``live_limit`` count ids, ``max_message`` and
    ``queue_limit`` bytes.  ``noise`` None means: ``stderr`` under ``shield``,
    else ``forward``.
    """

    cancel: FirstCancel = FirstCancel.FORWARD
    late_response: LateResponse = LateResponse.DROP
    late_progress: Fate = Fate.DROP
    stale_progress: Fate = Fate.DROP
    redundant_cancel: Fate = Fate.DROP
    id_reuse: IdReuse = IdReuse.ALIAS
    shield: bool = False
    noise: Noise | None = None
    remember: int = REMEMBER
    live_limit: int = LIVE_LIMIT
    max_message: int = MAX_MESSAGE
    queue_limit: int = QUEUE_LIMIT

    @property
    def noise_fate(self) -> Noise:
        """The switch for noise, with the default that ``shield`` gives it."""
        if self.noise is not None:
            return self.noise
        return Noise.STDERR if self.shield else Noise.FORWARD
