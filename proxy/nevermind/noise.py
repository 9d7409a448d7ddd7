"""What is noise: a message of a server's that is no JSON object or array.

Servers print banners and logs to their stdout, between the messages.  Knows
nothing of what becomes of it.
"""

from __future__ import annotations

import re

_NOT_NOISE = re.compile(rb"(?:\xef\xbb\xbf)?[ \t\r\n]*+(?:\{|\[[ \t\r\n]*+[\[{\]])")


def is_noise(message: bytes) -> bool:
    """Whether the first bytes of ``message``, white space and a BOM left out, show noise."""
    return _NOT_NOISE.match(message) is None
