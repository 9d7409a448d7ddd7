"""Stands before a server and keeps what goes in and out, byte for byte.

    python wiretap.py FOLDER SERVER [ARG...]

writes ``FOLDER/in`` and ``FOLDER/out`` and ends with the server's code.  Stands alone (standard
library), because the proxy starts it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

CHUNK = 65_536


def carry(source: int, sink: int, record: int) -> None:
    """Copy until the end of ``source``, then close ``sink``."""
    try:
        while data := os.read(source, CHUNK):
            os.write(record, data)
            while data:
                data = data[os.write(sink, data) :]
    except OSError:
        pass  # Nobody reads any more: the end is near.
    finally:
        os.close(sink)


def main() -> int:
    folder, *command = sys.argv[1:]
    kept = [
        os.open(Path(folder) / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for name in ("in", "out")
    ]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert server.stdin is not None
    assert server.stdout is not None
    inwards = (0, os.dup(server.stdin.fileno()), kept[0])
    server.stdin.close()
    threading.Thread(target=carry, args=inwards, daemon=True).start()
    carry(server.stdout.fileno(), os.dup(1), kept[1])
    return server.wait()


if __name__ == "__main__":
    os._exit(main())
