"""A host that is a process of its own: it holds the proxy's pipes, reads nothing and can be killed.

Run as ``python lone_host.py PROXY-COMMAND…``.  Stands alone.
"""

from __future__ import annotations

import signal
import subprocess
import sys


def main() -> None:
    proxy = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    while proxy.poll() is None:
        signal.pause()


if __name__ == "__main__":
    main()
