"""What all tests share: no clock in Hypothesis, no settings from outside."""

from __future__ import annotations

import os

from hypothesis import settings

# how long an example takes says more of the machine than of the code
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

for name in [name for name in os.environ if name.startswith("NEVERMIND_")]:
    del os.environ[name]
os.environ["XDG_CONFIG_HOME"] = os.devnull  # where there is no nevermind.toml
