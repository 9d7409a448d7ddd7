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
    """``; did you mean …?`` with the known words that ``word`` begins, or the one most like it.

    Dashes in front make no likeness: all flags have them.  Without any such word, nothing.
    """
    from difflib import get_close_matches

    plain = {each.lstrip("-"): each for each in known}
    asked = word.lstrip("-")
    meant = sorted(each for each in plain if asked and each.startswith(asked + "-"))
    meant = meant or get_close_matches(asked, list(plain), n=1, cutoff=_ALIKE)
    *others, last = [plain[each] for each in meant] or [""]
    first = f"{', '.join(others)} or " if others else ""
    return f"; did you mean {first}{last}?" if last else ""
