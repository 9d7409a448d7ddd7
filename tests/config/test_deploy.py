"""The examples for operators say what the command understands.

(The load balancers' are tested with the real programs, in ``tests/e2e``.)
"""

from __future__ import annotations

import configparser
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from nevermind_cli.arguments import Arguments, read_arguments
from nevermind_cli.network_rules import check_network

DEPLOY = Path(__file__).parents[2] / "config" / "deploy"


def understood(words: list[str]) -> Arguments:
    """What ``nevermind`` makes of these words."""
    assert words[:1] == ["run"]
    arguments = read_arguments(words[1:], {})
    check_network(arguments)
    assert arguments.command
    return arguments


class TestSystemd:
    def unit(self) -> configparser.RawConfigParser:
        parser = configparser.RawConfigParser(strict=False)
        parser.optionxform = str  # type: ignore[assignment,method-assign]
        parser.read(DEPLOY / "nevermind@.service")
        return parser

    def words(self) -> list[str]:
        line = self.unit()["Service"]["ExecStart"].replace("%i", "8765").replace("%d", "/run/c")
        return shlex.split(line)

    def test_the_command_is_understood_and_asks_for_a_token(self) -> None:
        command, *words = self.words()
        assert Path(command).name == "nevermind"
        arguments = understood(words)
        assert arguments.values["listen"] == "ws://127.0.0.1:8765/mcp"
        assert arguments.values["token_file"] == "/run/c/token"

    def test_it_may_take_as_long_to_stop_as_sessions_have_and_a_little_more(self) -> None:
        service = self.unit()["Service"]
        grace = understood(self.words()[1:]).values["grace"]
        assert isinstance(grace, float)
        assert int(service["TimeoutStopSec"]) >= grace + 5
        assert service["KillMode"] == "mixed"

    def test_systemd_takes_it(self, tmp_path: Path) -> None:
        analyze = shutil.which("systemd-analyze")
        if analyze is None:
            pytest.skip("there is no systemd here")
        unit = tmp_path / "nevermind@.service"
        text = (DEPLOY / unit.name).read_text()
        unit.write_text(text.replace("/usr/local/bin/nevermind", sys.executable))
        done = subprocess.run([analyze, "verify", str(unit)], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


class TestKubernetes:
    def documents(self) -> dict[str, Any]:
        text = (DEPLOY / "kubernetes.yaml").read_text()
        return {document["kind"]: document for document in yaml.safe_load_all(text)}

    def test_the_command_is_understood(self) -> None:
        pod = self.documents()["Deployment"]["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        assert container["command"] == ["nevermind"]
        values = understood(container["args"]).values
        assert [variable["name"] for variable in container["env"]] == [values["token_env"]]
        ports = {port["name"]: port["containerPort"] for port in container["ports"]}
        assert str(values["listen"]).startswith(f"ws://0.0.0.0:{ports['mcp']}/")
        assert values["admin_listen"] == f"tcp://0.0.0.0:{ports['admin']}"
        assert container["readinessProbe"]["httpGet"]["path"] == values["health_path"]
        assert isinstance(values["grace"], float)
        assert pod["terminationGracePeriodSeconds"] >= values["grace"] + 5

    def test_the_service_finds_the_pods(self) -> None:
        documents = self.documents()
        labels = documents["Deployment"]["spec"]["template"]["metadata"]["labels"]
        assert documents["Service"]["spec"]["selector"].items() <= labels.items()
        assert documents["Service"]["spec"]["ports"][0]["targetPort"] == "mcp"


@pytest.mark.parametrize("name", ["haproxy.cfg", "nginx.conf"])
def test_the_commands_beside_a_load_balancer_are_understood(name: str) -> None:
    text = (DEPLOY / name).read_text()
    lines = [line.lstrip("# ") for line in text.splitlines() if "nevermind run " in line]
    for line in lines:
        assert "grace" in understood(shlex.split(line)[1:]).origins
    assert "8765" in text
    assert "8766" in text
