"""How long each method may take: the switches of one session, looked up by method.

Knows no clock and no requests.
"""

from __future__ import annotations

from nevermind.dialects import Dialect
from nevermind.policy import Policy


class Timeouts:
    """Seconds by method, for the client's requests.

    ``general``: every method has a timeout, but for what must not be cancelled
    and for subscriptions, which live for hours.  ``methods`` are the ones
    that have one of their own.
    """

    __slots__ = ("_exempt", "_longest", "_named", "_usual", "any", "general", "methods")

    def __init__(self, policy: Policy, dialect: Dialect) -> None:
        self._usual = policy.timeout or None
        self._named = {method: seconds or None for method, seconds in policy.timeouts.items()}
        self._exempt = dialect.uncancellable | dialect.subscriptions
        self._longest = policy.max_timeout
        self.general = self._usual is not None
        self.methods = frozenset(m for m, seconds in self._named.items() if seconds is not None)
        self.any = self.general or bool(self.methods)

    def of(self, method: str) -> float | None:
        """How long a request of ``method`` may go without an answer or progress; None: for ever."""
        if method in self._named:
            return self._named[method]
        return None if method in self._exempt else self._usual

    def at_most(self, seconds: float) -> float:
        """How long progress can put a timeout of ``seconds`` off, from the request on."""
        return max(seconds, self._longest)
