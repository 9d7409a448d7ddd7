"""A verdict put into a note: what it was about, since when, and why.

Knows what people want to read, not where they read it.
"""

from __future__ import annotations

from nevermind.envelopes import Cancel, Envelope, Response, value_at
from nevermind.ids import read_string, shown
from nevermind.ledger import Verdict
from nevermind.notes import Event, Note
from nevermind.peers import Peer
from nevermind.uses import Use

LONGEST_REASON = 200
"""Characters of a cancel's reason that are kept with its tombstone."""

_REASON = ("params", "reason")


def describe(
    event: Event,
    issuer: Peer,
    verdict: Verdict,
    envelope: Envelope,
    body: bytes,
    now: float,
    *,
    size: int | None = None,
) -> Note:
    """The note on ``verdict``, which fell on ``envelope`` at ``now``.

    ``size`` if ``body`` is not all of the message.  A late message is told with
    the reason of the cancel that made it late.
    """
    record = verdict.record
    asked: float | None = None
    method: str | None = None
    cancelled: float | None = None
    reason: str | None = None
    if isinstance(record, Use):
        asked, method, cancelled = record.asked, record.method, record.cancelled_at
        reason = record.reason
    elif record is not None:
        asked, method = record
    outcome = None
    if isinstance(envelope, Response):
        outcome = "error" if envelope.is_error else "result"
    if isinstance(envelope, Cancel):
        reason = reason_of(body)
    if event is Event.CANCEL:
        cancelled = None
    return Note(
        event=event,
        what=verdict.held,
        issuer=issuer,
        id=None if verdict.name is None else shown(verdict.name),
        method=method,
        since_request_s=None if asked is None else now - asked,
        since_cancel_s=None if cancelled is None else now - cancelled,
        bytes=len(body) if size is None else size,
        outcome=outcome,
        reason=reason,
        why=verdict.why or None,
        task=verdict.task or None,
    )


def reason_of(cancel: bytes) -> str | None:
    """The reason that a cancel gives, if it is a string: the beginning of a long one."""
    raw = value_at(cancel, _REASON)
    reason = None if raw is None else read_string(raw)
    return None if reason is None else reason[:LONGEST_REASON]
