"""What a conversation hears of a request of the client's that is given up."""

from __future__ import annotations

from nevermind.policy import Policy
from proxy.ours import stop, timed_out
from proxy.playbook import Script, client, server

AFTER_30 = Policy(timeout=30)


def gives_up(id: int | str | bytes, after: float = 30) -> list[Script]:
    """Both peers are told that the request has timed out."""
    return [
        server << stop(id, after),
        client << timed_out(id, after),
    ]
