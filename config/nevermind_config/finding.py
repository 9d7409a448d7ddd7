"""Where the configuration file is, if nobody named one.

In the user's own folder and nowhere else.  The current folder is not looked
into: a host starts its servers wherever it likes, often in somebody else's
project, and what is cloned must not configure the user's proxy.
"""

from __future__ import annotations

import os.path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

FILE_NAME = "nevermind.toml"


def usual_place(environment: Mapping[str, str]) -> str | None:
    """``nevermind/nevermind.toml`` in ``XDG_CONFIG_HOME``, else in ``~/.config``.

    None if ``environment`` names no home.  (The XDG Base Directory
    Specification has relative paths ignored.)
    """
    folder = environment.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(folder):
        home = environment.get("HOME")
        if not home:
            return None
        folder = os.path.join(home, ".config")
    return os.path.join(folder, "nevermind", FILE_NAME)


def find(environment: Mapping[str, str]) -> str | None:
    """The file in the usual place, if there is one."""
    path = usual_place(environment)
    return path if path is not None and os.path.exists(path) else None
