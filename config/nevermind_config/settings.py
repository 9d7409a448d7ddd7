"""Turns what was chosen into the engine's own values.

Imported once the server is running: the engine's policy is made of enums and
msgspec's structs, which take their time.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from nevermind.policy import Fate, FirstCancel, IdReuse, LateResponse, Noise, Policy
from nevermind_config.values import Value

WORDS: dict[str, type[Enum]] = {
    "cancel": FirstCancel,
    "late_response": LateResponse,
    "late_progress": Fate,
    "stale_progress": Fate,
    "redundant_cancel": Fate,
    "id_reuse": IdReuse,
    "noise": Noise,
}
"""The options whose words are the values of an enum."""

PLAIN = (
    "shield",
    "remember",
    "max_message",
    "timeout",
    "max_timeout",
    "answer_cancelled",
    "reap_tasks",
)
"""The options that a policy takes as they are."""

_NONE: Mapping[str, Mapping[str, Value]] = {}


def policy(
    values: Mapping[str, Value], methods: Mapping[str, Mapping[str, Value]] = _NONE
) -> Policy:
    """The policy that ``values``, by option name, describe.

    ``methods`` are the settings of single methods: by method, then by option name.
    """
    chosen: dict[str, Any] = {name: values[name] for name in PLAIN}
    for name, words in WORDS.items():
        word = values[name]
        chosen[name] = None if word is None else words(word)
    chosen["timeouts"] = {
        method: settings["timeout"] for method, settings in methods.items() if "timeout" in settings
    }
    return Policy(**chosen)
