"""What all tests share: no clock in Hypothesis, no settings and no signals from outside."""

from __future__ import annotations

import os
import signal

from hypothesis import settings

# how long an example takes says more of the machine than of the code
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")

for name in [name for name in os.environ if name.startswith("NEVERMIND_")]:
    del os.environ[name]
# a run in the background has these ignored, and what it starts inherits that
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

os.environ["XDG_CONFIG_HOME"] = os.devnull  # where there is no nevermind.toml
