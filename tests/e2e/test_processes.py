"""Starting, ending and signals, as hosts do them and as servers answer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.harness import (
    PLAIN_PIPE,
    Conversation,
    Server,
    log_message,
    nevermind,
    request,
    result,
)

WRAPPER = (
    sys.executable,
    "-c",
    "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))",
)
"""A launcher that starts the proxy as a child: the proxy is no group leader then."""

STATUS = ["grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"]
FILES = [sys.executable, "-c", "import os; print(sorted(os.listdir('/proc/self/fd')))"]


class TestStart:
    """The server is started as the host would have started it."""

    def test_arguments_folder_and_environment_are_the_hosts(self, tmp_path: Path) -> None:
        arguments = ("a b", "--", "-x", "--shield", "", "é'\"$HOME", "*")
        with Conversation(
            server=Server(arguments=arguments),
            folder=str(tmp_path),
            environment={"SERVER_TOKEN": "1 2\n3"},
        ) as wire:
            assert wire.hello["arguments"] == list(arguments)
            assert wire.hello["folder"] == str(tmp_path)
            assert wire.hello["environment"]["SERVER_TOKEN"] == "1 2\n3"

    def test_nothing_is_added_to_the_environment(self) -> None:
        with Conversation(proxy=PLAIN_PIPE) as wire:
            bare = wire.hello["environment"]
        with Conversation() as wire:
            proxied = wire.hello["environment"]
        assert {k: v for k, v in proxied.items() if k != "_"} == {
            k: v for k, v in bare.items() if k != "_"
        }

    def test_the_server_is_in_our_process_group_and_session(self) -> None:
        """A host that kills its group reaches the server."""
        with Conversation() as wire:
            assert wire.hello["group"] == wire.process.pid
            assert wire.hello["session"] == wire.process.pid
            assert wire.hello["parent"] == wire.process.pid

    @pytest.mark.parametrize("command", [STATUS, FILES], ids=["signals", "files"])
    def test_the_server_inherits_what_it_would_have_without_us(self, command: list[str]) -> None:
        """Python ignores SIGPIPE for itself; a server that expects to die of it must be able to."""
        bare = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
        proxied = subprocess.run(
            nevermind().line(("--log-level", "off"), command),
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
        assert proxied.returncode == 0
        assert proxied.stdout == bare.stdout != b""

    def test_no_shared_file_is_made_non_blocking(self) -> None:
        """With 2>&1 our stdout is the server's stderr: a write there would fail with EAGAIN."""
        merged = ("sh", "-c", 'exec "$@" 2>&1', "sh")
        with Conversation(
            launcher=merged, log_format="text", options=("--log-level", "off")
        ) as wire:
            wire.passes_to_server(request(1))
            wire.passes_to_client(result(1))
            wire.server_has_written()
            assert wire.link.last("done")["blocking"] == [True, True, True]

    def test_a_server_may_speak_before_it_is_asked(self) -> None:
        with Conversation() as wire:
            wire.passes_to_client(log_message("ready"))


class TestHostCloses:
    """The end of the host's output: the server gets everything, its end, and time."""

    def test_the_end_reaches_the_server(self) -> None:
        with Conversation() as wire:
            wire.passes_to_server(request(1))
            wire.client_closes()
            wire.server_sees_end()
            wire.proxy_exits(0)

    def test_everything_that_was_said_comes_first(self) -> None:
        large = request(1, blob="A" * 4_000_000)
        with Conversation() as wire:
            wire.server_stops_reading()
            wire.client_sends(large, b'{"half":')
            wire.client_closes()
            wire.server_reads_on()
            wire.server_receives(large, b'{"half":')
            wire.server_sees_end()

    def test_an_answer_is_delivered_after_it(self) -> None:
        with Conversation(server=Server(stays=True)) as wire:
            wire.passes_to_server(request(1))
            wire.client_closes()
            wire.server_sees_end()
            wire.passes_to_client(result(1))
            wire.server_exits(0)
            wire.client_sees_end()
            wire.proxy_exits(0)

    def test_an_answer_that_is_owed_makes_the_grace_longer(self) -> None:
        with Conversation(("--grace", "0.2"), server=Server(stays=True)) as wire:
            wire.passes_to_server(request(1))
            wire.client_closes()
            wire.server_sees_end()
            wire.nothing_moves()
            assert wire.link.signals == []
            wire.passes_to_client(result(1))
            wire.server_got_signal("SIGTERM")
            wire.proxy_exits(143)

    def test_a_host_that_no_longer_reads_has_closed(self) -> None:
        with Conversation(server=Server(stays=True), options=("--grace", "0.2")) as wire:
            wire.passes_to_server(request(1))
            wire.client_closes_its_reading_end()
            wire.server_sees_end()
            wire.server_is_gone()
            wire.proxy_exits(143)

    def test_also_while_more_waits_for_it_than_fits(self) -> None:
        with Conversation(
            server=Server(stays=True), options=("--grace", "0.2"), leftovers=True
        ) as wire:
            wire.client_stops_reading()
            wire.server_sends(*[log_message("x" * 1_000_000)] * 30)
            wire.server_is_stuck()
            wire.client_closes_its_reading_end()
            wire.server_sees_end()
            wire.server_is_gone()


class TestServerEnds:
    """The end of the server is our end, with its code, once what it wrote is delivered."""

    @pytest.mark.parametrize("code", [0, 1, 3, 127, 255])
    def test_its_code_is_ours(self, code: int) -> None:
        with Conversation() as wire:
            wire.passes_to_server(request(1))
            wire.server_exits(code)
            wire.client_sees_end()
            wire.proxy_exits(code)

    @pytest.mark.parametrize(("name", "code"), [("SIGKILL", 137), ("SIGSEGV", 139)])
    def test_a_signal_is_128_and_its_number(self, name: str, code: int) -> None:
        with Conversation() as wire:
            wire.server_dies_of(name)
            wire.client_sees_end()
            wire.proxy_exits(code)

    def test_a_slow_reader_gets_the_last_words(self) -> None:
        words = log_message("x" * 5_000_000)
        with Conversation() as wire:
            wire.passes_to_server(request(1))
            wire.client_stops_reading()
            wire.server_sends(words, result(1))
            wire.server_exits(7)
            wire.server_is_gone()
            wire.client_reads_on()
            wire.client_receives(words, result(1))
            wire.client_sees_end()
            wire.proxy_exits(7)

    def test_a_line_without_an_end_is_delivered(self) -> None:
        with Conversation() as wire:
            wire.server_sends(b'{"jsonrpc":"2.0","method":"notifications/mess')
            wire.server_exits(1)
            wire.client_receives(b'{"jsonrpc":"2.0","method":"notifications/mess')
            wire.client_sees_end()
            wire.proxy_exits(1)

    def test_a_helper_that_holds_the_pipe_does_not_hold_us(self) -> None:
        """Nor is it ended: the server went of its own accord."""
        with Conversation() as wire:
            helper = wire.helper_starts(holds_pipe=True)
            wire.server_exits(0)
            wire.client_sees_end()
            wire.proxy_exits(0)
            os.kill(helper, 0)

    def test_a_server_that_closes_its_stdout_still_listens(self) -> None:
        with Conversation() as wire:
            wire.server_sends(log_message("last"))
            wire.server_closes_stdout()
            wire.client_receives(log_message("last"))
            wire.client_sees_end()
            wire.passes_to_server(request(1), request(2))
            wire.client_closes()
            wire.server_sees_end()
            wire.proxy_exits(0)

    def test_orphans_are_reaped(self) -> None:
        """What loses its parent while the server lives falls to us, and leaves no zombie."""
        with Conversation() as wire:
            orphan = wire.orphan_starts()
            wire.is_reaped(orphan)
            wire.passes_to_server(request(1))


class TestSignals:
    """SIGTERM and SIGHUP end both of us in the time that hosts give; SIGINT is the server's."""

    @pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
    def test_both_end(self, name: str, code: int) -> None:
        with Conversation(server=Server(stays=True)) as wire:
            wire.passes_to_server(request(1))
            wire.proxy_gets_signal(name)
            wire.server_got_signal("SIGTERM")
            wire.server_is_gone()
            wire.proxy_exits(code)

    def test_a_tree_that_ignores_sigterm_is_killed(self) -> None:
        stubborn = Server(stays=True, ignores=("SIGTERM",), behind_shell=True)
        with Conversation(server=stubborn) as wire:
            helper = wire.helper_starts(ignores=("SIGTERM", "SIGHUP"))
            wire.proxy_gets_signal("SIGTERM")
            wire.server_is_gone()
            wire.is_gone(helper, "helper")
            wire.proxy_exits(143)

    def test_a_host_that_does_not_read_does_not_hold_us(self) -> None:
        with Conversation(server=Server(stays=True), leftovers=True) as wire:
            wire.client_stops_reading()
            wire.server_sends(log_message("x" * 3_000_000))
            wire.proxy_gets_signal("SIGTERM")
            wire.server_is_gone()
            wire.proxy_exits(143)

    def test_sigint_is_handed_on_and_ends_us_with_the_server(self) -> None:
        with Conversation() as wire:
            wire.proxy_gets_signal("SIGINT")
            wire.server_got_signal("SIGINT")
            wire.client_sees_end()
            wire.proxy_exits(130)

    def test_a_server_that_survives_sigint_keeps_its_host(self) -> None:
        with Conversation(server=Server(ignores=("SIGINT",))) as wire:
            wire.proxy_gets_signal("SIGINT")
            wire.server_got_signal("SIGINT")
            wire.passes_to_server(request(1))
            wire.passes_to_client(result(1))

    def test_when_we_are_killed_the_server_is_too(self) -> None:
        with Conversation(server=Server(stays=True)) as wire:
            wire.proxy_gets_signal("SIGKILL")
            wire.server_is_gone()

    def test_the_hosts_group_is_not_ours_to_signal(self) -> None:
        """Under a launcher our group is the host's: whoever is in it goes on."""
        with Conversation(server=Server(stays=True), launcher=WRAPPER) as wire:
            wire.proxy_gets_signal("SIGTERM")
            wire.server_is_gone()
            wire.proxy_exits(143)

    def test_a_host_that_ends_its_whole_group_ends_us_and_the_server(self) -> None:
        with Conversation(server=Server(stays=True)) as wire:
            wire.group_gets_signal("SIGTERM")
            wire.server_is_gone()
            wire.proxy_exits(143)


class TestNoSuchServer:
    """A command that cannot be started: one line, no output, and the shell's code."""

    @pytest.mark.parametrize(
        ("command", "code"), [("no-such-server", 127), ("/no/such/server", 127), ("/etc", 126)]
    )
    def test_the_host_learns_why(self, command: str, code: int) -> None:
        done = subprocess.run(
            nevermind().line((), [command]), stdin=subprocess.DEVNULL, capture_output=True
        )
        assert done.returncode == code
        assert done.stdout == b""
        assert done.stderr.count(b"\n") == 1
        assert command.encode() in done.stderr
