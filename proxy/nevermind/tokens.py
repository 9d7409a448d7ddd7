"""Progress tokens: whose they are, and what progress for them is worth.

A name space of its own, though many SDKs use the request id as the token (MCP
basic/utilities/progress).  A token's owners are the uses that carried it.
While one of them is live progress passes; with none, the owner that ended last
decides: cancelled means late, answered means stale.  Unknown tokens pass.
"""

from __future__ import annotations

from nevermind.ids import Key, twin
from nevermind.memory import Generations
from nevermind.uses import Record, Use


class Tokens:
    """The progress tokens of one issuer's requests, by wire token.

    ``remember`` bounds the ended ones and, apart, the tokens of tasks that
    travel under a fresh token and still have to be translated.
    """

    __slots__ = ("_ended", "_live", "_tasks")

    def __init__(self, remember: int) -> None:
        # Dictionaries as ordered sets: tens of thousands may carry one token.
        self._live: dict[Key, dict[Use, None]] = {}
        self._ended: Generations[Key, Record] = Generations(remember)
        self._tasks: Generations[Key, bytes] = Generations(remember)

    def claim(self, use: Use) -> None:
        """``use``, live now, carries its tokens: claims that ended are void."""
        for token in use.tokens:
            self._ended.pop(token)
            self._live.setdefault(token, {})[use] = None

    def lift(self, token: Key) -> None:
        """A request that is not tracked carries ``token``: let its progress pass."""
        self._ended.pop(token)

    def end(self, use: Use) -> None:
        """``use`` was cancelled or answered; it may be the last owner."""
        # An answered use that is never translated needs no record of its own.
        keep: Record = use
        if use.cancelled_at is None and use.name is None:
            keep = (use.asked, use.method)
        for token in use.tokens:
            owners = self._live.get(token)
            if owners is None:
                # It ended before, as answered; or the token is a task's by now.
                if token in self._ended:
                    self._ended.put(token, keep)
            elif use in owners:
                del owners[use]
                if not owners:
                    del self._live[token]
                    self._ended.put(token, keep)

    def release(self, use: Use) -> None:
        """``use`` created a task: its tokens live on, and are nobody's from now on."""
        for token in use.tokens:
            self._live.pop(token, None)
            self._ended.pop(token)
            if use.respelled and token in use.respelled:
                self._tasks.put(token, use.respelled[token])

    def look_up(self, token: Key) -> tuple[bool, Record] | None:
        """(live or not, the owner that decides) for ``token`` or else its twin."""
        found = self._find(token)
        if found is None:
            other = twin(token)
            found = None if other is None else self._find(other)
        return found

    def live_owners(self, token: Key) -> list[Use]:
        """The uses in flight that carry ``token``, or else its twin."""
        owners = self._live.get(token)
        if owners is None and token not in self._ended:
            other = twin(token)
            owners = None if other is None else self._live.get(other)
        return list(owners or ())

    def task_spelling(self, token: Key) -> bytes | None:
        """The issuer's bytes for the fresh token of a task, if it is one."""
        spelling = self._tasks.get(token)
        if spelling is None:
            other = twin(token)
            spelling = None if other is None else self._tasks.get(other)
        return spelling

    def forget_ended(self) -> None:
        """Forget every token without a live owner; tasks keep theirs."""
        self._ended.clear()

    def knows(self, token: Key) -> bool:
        """Whether exactly ``token`` has owners, live or ended."""
        return token in self._live or token in self._ended

    def _find(self, token: Key) -> tuple[bool, Record] | None:
        owners = self._live.get(token)
        if owners:
            return True, next(reversed(owners))
        record = self._ended.get(token)
        return None if record is None else (False, record)
