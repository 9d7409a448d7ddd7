"""The settings that let nevermind say something itself; without them it never does."""

from __future__ import annotations

from nevermind_config.option import Option
from nevermind_config.values import Flag, Limit, Seconds

OWN_MESSAGES = (
    Option(
        "--timeout",
        Limit(),
        None,
        "How long a request of the client may go without an answer or progress. Then the server"
        " gets a cancel, the client an error, and a late answer is dropped. A file can set it"
        " for single methods; initialize and subscriptions have only what is set for them.",
        unset="off",
        per_method=True,
    ),
    Option(
        "--max-timeout",
        Seconds(),
        3600.0,
        "How long progress can put a timeout off, from the request on.",
    ),
    Option(
        "--answer-cancelled",
        Limit(),
        None,
        "Answer a cancelled request ourselves, with the protocol's error for that, if no answer"
        " was let through so long after the cancel; 0: at once. Every later answer is dropped.",
        unset="off",
    ),
    Option(
        "--reap-tasks",
        Flag(),
        False,
        "Where an answer to a cancelled request creates a task, cancel that task and drop the"
        " answer, whatever --late-response says.",
    ),
)
"""In the order in which help shows them."""
