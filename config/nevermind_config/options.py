"""Everything that can be chosen for one session: the one table of it.

The command line's parser, its help, the environment variables, the keys of a
configuration file and the reference in the README are all made from
``OPTIONS``.  Where the dialect has the last word the default is None.

``nevermind_config.settings`` turns the values into the engine's own, and its
tests hold words and defaults to the engine's enums and constants.  (They are
spelled out here because the engine's policy is imported only after the server
has been started.)
"""

from __future__ import annotations

from nevermind_config.network import NETWORK
from nevermind_config.option import Option
from nevermind_config.own_messages import OWN_MESSAGES
from nevermind_config.values import Choice, Count, File, Flag, Name, Seconds, Size

DIALECTS = ("mcp", "lsp", "bsp", "acp", "jsonrpc")
"""The dialects that come with nevermind."""

_SESSION = (
    Option(
        "--dialect",
        Name(),
        DIALECTS[0],
        f"The protocol that the two speak: {', '.join(DIALECTS)}, or one that the configuration"
        " file defines.",
    ),
    Option(
        "--cancel",
        Choice("forward", "absorb"),
        "forward",
        "The client's cancel of a request in flight. absorb: it takes effect here but never"
        " reaches the server (for servers that crash on one).",
    ),
    Option(
        "--late-response",
        Choice("drop", "first", "forward-errors", "forward"),
        None,
        "Answers to a cancelled request. first: let the first one through; forward-errors: let"
        " the first error through (for callers that still wait after they cancel).",
        unset="drop; first where the dialect owes an answer",
    ),
    Option(
        "--late-progress",
        Choice("drop", "forward"),
        None,
        "Progress for a cancelled request.",
        unset="drop; forward where the dialect owes an answer",
    ),
    Option(
        "--stale-progress",
        Choice("drop", "forward"),
        None,
        "Progress for a request that has been answered.",
        unset="drop; forward where the dialect owes an answer",
    ),
    Option(
        "--redundant-cancel",
        Choice("drop", "forward"),
        "drop",
        "Repeated cancels, and cancels of requests that have been answered.",
    ),
    Option(
        "--id-reuse",
        Choice("alias", "forward"),
        "alias",
        "A new request under the id of a cancelled one. alias: the server sees a fresh id, so"
        " that the old answer cannot pass for the new one.",
    ),
    Option(
        "--shield",
        Flag(),
        False,
        "Guard a strict host: drop the server's answers that nobody asked for and the client's"
        " cancels of ids never seen; noise goes to stderr unless --noise says otherwise.",
    ),
    Option(
        "--noise",
        Choice("forward", "stderr", "drop"),
        None,
        "Lines on the server's stdout that are no JSON message.",
        unset="forward; stderr under --shield",
    ),
    *OWN_MESSAGES,
    Option(
        "--remember",
        Count(),
        65_536,
        "How many cancelled and how many answered ids to remember, per side.",
    ),
    Option(
        "--max-message",
        Size(),
        64 * 1024 * 1024,
        "The longest message to hold whole; a longer one is streamed through.",
    ),
    Option(
        "--grace",
        Seconds(),
        5.0,
        "How long the server may go on after the host has closed its side; 30 at least while"
        " a request still waits for its answer.",
    ),
    Option(
        "--log-level",
        Choice("off", "error", "warning", "info", "debug"),
        "info",
        "How much to tell. info: every cancel, every drop and a summary.",
    ),
    Option(
        "--log-format",
        Choice("text", "json"),
        "text",
        "Lines for people, or one JSON object a line.",
    ),
    Option(
        "--log-file",
        File(),
        None,
        "Append the log to this file instead of writing it to stderr.",
        unset="stderr",
    ),
    Option(
        "--config",
        File(),
        None,
        "The configuration file (TOML) with what is not said here.",
        unset="~/.config/nevermind/nevermind.toml, if it is there",
        in_file=False,
    ),
    Option(
        "--profile",
        Name(),
        None,
        "The profile of the configuration file that is in force.",
        unset="what stands outside of its profiles",
        in_file=False,
    ),
)

OPTIONS = _SESSION + NETWORK
"""In the order in which help shows them."""
