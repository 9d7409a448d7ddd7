"""Measure relays against each other: ``python tests/bench/measure.py [NAME=COMMAND]...``.

Every mode is run in interleaved rounds with no relay at all (``direct``), with a plain relay
in C that looks at nothing (``relay``, built here; needs ``cc``), with ``nevermind run --`` and
with every COMMAND given (the server's command is appended to it).  Printed are medians over
the rounds and, in brackets, the medians of the ratios inside one round: to ``direct`` and to
``relay``.  On a shared machine only ratios from one run mean anything; ``--pin CORE`` keeps
the wake-ups of idle cores out of the latencies.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
BASE = "relay"


class Mode(NamedTuple):
    """One thing to measure: the driver's and the server's arguments, and what to print."""

    driver: str
    server: str
    metrics: tuple[str, ...]


BIG = ("mb_s", "cpu_us", "peak_kb")
MODES = {
    "start": Mode("start -n 5", "", ("start_ms", "end_ms")),
    "lat": Mode("talk -n 3000 -W 300", "", ("p50_us", "p99_us", "cpu_us", "peak_kb")),
    "thr": Mode("talk -n 200000 -W 20000 -w 256", "", ("msgs_s", "cpu_us", "peak_kb")),
    "tombs": Mode(
        "talk -n 200000 -W 20000 -w 256 -t 1000", "-l 10", ("msgs_s", "cpu_us", "peak_kb")
    ),
    "mb1": Mode("talk -n 120 -W 10 -r 1000000", "-r 1000000", BIG),
    "mb10": Mode("talk -n 16 -W 2 -r 10000000", "-r 10000000", BIG),
    "mb50": Mode("talk -n 4 -W 1 -r 50000000", "-r 50000000", BIG),
    "objs10": Mode("talk -n 8 -W 1 -r 10000000", "-j -r 10000000", BIG),
    "up1": Mode("talk -n 120 -W 10 -s 1000000", "", BIG),
    "up10": Mode("talk -n 16 -W 2 -s 10000000", "", BIG),
}

Run = dict[str, float]


def build(folder: Path) -> None:
    """Compile the three programs that are not there yet or out of date."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("driver", "echo", "relay"):
        source, program = HERE / f"{name}.c", folder / name
        if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
            subprocess.run(["cc", "-O2", "-w", "-o", program, source], check=True)


def measure(programs: Path, mode: Mode, relay: list[str], order: str) -> Run | None:
    """One run; None, with a line on stderr, if it failed."""
    server = [str(programs / "echo"), "-o", order, *mode.server.split()]
    what, *options = mode.driver.split()
    command = [str(programs / "driver"), what, *options, "-o", order, "--", *relay, *server]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        print("failed:", shlex.join(relay), done.stderr[-300:], file=sys.stderr)
        return None
    found: Run = json.loads(done.stdout)
    return found


def ours() -> str:
    """The command of the environment that this runs in, else the one on the PATH."""
    beside = str(Path(sys.executable).parent)
    return shutil.which("nevermind", path=beside) or "nevermind"


def show(mode: str, order: str, rounds: list[dict[str, Run | None]]) -> None:
    """A table: a row per relay, a column per metric."""
    metrics = MODES[mode].metrics
    print(f"\n{mode}, ids {order}: median [x direct | x {BASE}]")
    print(" " * 14 + "".join(metric.rjust(28) for metric in metrics))
    for name in rounds[0]:
        cells = [_cell(rounds, name, metric) for metric in metrics]
        print(name.ljust(14) + "".join(cell.rjust(28) for cell in cells), flush=True)


def _cell(rounds: list[dict[str, Run | None]], name: str, metric: str) -> str:
    values = [run[metric] for one in rounds if (run := one[name])]
    if not values:
        return "-"
    ratios = "|".join(f"{_ratio(rounds, name, base, metric):6.2f}" for base in ("direct", BASE))
    return f"{statistics.median(values):,.2f} [{ratios}]"


def _ratio(rounds: list[dict[str, Run | None]], name: str, base: str, metric: str) -> float:
    pairs = [(one[name], one[base]) for one in rounds]
    ratios = [a[metric] / b[metric] for a, b in pairs if a and b and b[metric]]
    return statistics.median(ratios) if ratios else float("nan")


def main() -> None:
    """Read the arguments, run the rounds, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--modes", default=",".join(MODES), help="comma separated")
    parser.add_argument("--order", choices=["first", "last", "both"], default="both")
    parser.add_argument("--pin", type=int, metavar="CORE", help="run everything on one core")
    parser.add_argument("relays", nargs="*", metavar="NAME=COMMAND")
    options = parser.parse_args()
    programs = Path(tempfile.gettempdir()) / f"nevermind-bench-{os.getuid()}"
    build(programs)
    if options.pin is not None:
        os.sched_setaffinity(0, {options.pin})
    relays = {
        "direct": [],
        BASE: [str(programs / "relay")],
        "nevermind": [ours(), "run", "--"],
    }
    for given in options.relays:
        name, _, command = given.partition("=")
        relays[name] = shlex.split(command)
    for order in ("first", "last") if options.order == "both" else (options.order,):
        for mode in options.modes.split(","):
            rounds = []
            for number in range(options.rounds):
                names = list(relays)[:: -1 if number % 2 else 1]
                runs = {name: measure(programs, MODES[mode], relays[name], order) for name in names}
                rounds.append({name: runs[name] for name in relays})
            show(mode, order, rounds)
    print(f"\n{options.rounds} rounds, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
