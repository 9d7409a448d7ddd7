"""What somebody who wrote an unknown word may have meant.

Imports nothing until something is wrong.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_ALIKE = 0.66
"""Two letters of three."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``; did you mean …?`` with the known word that is most like ``word``, or nothing.

    Dashes in front make no likeness: all flags have them.
    """
    from difflib import get_close_matches

    plain = {each.lstrip("-"): each for each in known}
    close = get_close_matches(word.lstrip("-"), list(plain), n=1, cutoff=_ALIKE)
    return f"; did you mean {plain[close[0]]}?" if close else ""
