"""``--noise``: lines of a server that are no messages."""

from __future__ import annotations

import pytest

from nevermind.notes import What
from nevermind.policy import Noise, Policy
from proxy.messages import answer, call, cancel, note
from proxy.playbook import Diverts, client, held, play, server

LATE = What.LATE_RESPONSE
NOISE = [
    b"Server listening on 3000",
    b"",
    b"   ",
    b"\r",
    b"\t\r",
    b"42",
    b"null",
    b'"text"',
    b"[1,2]",
    b"[INFO] ready",
    b"[",
    b"]",
    b"\xef\xbb\xbfhello",
    b"\xff\xfe",
    b"\x00",
]
NO_NOISE = [
    b"{bad",
    b"{",
    b"[]",
    b" [ ]",
    b"[[]]",
    b"[ [1] ]",
    b"[{bad",
    b" [ {",
    b"\xef\xbb\xbf {",
    b"\t[\t{}\t]",
]


class TestNoise:
    """A server's line that is no JSON object or array of them."""

    @pytest.mark.parametrize("line", NOISE, ids=repr)
    def test_it_passes(self, line: bytes) -> None:
        """By default it is not ours to judge."""
        play(server.passes(line), client.passes(line))

    @pytest.mark.parametrize("line", NOISE, ids=repr)
    def test_to_stderr(self, line: bytes) -> None:
        """Byte-exact, with its newline."""
        play(
            server >> line,
            held(What.NOISE),
            Diverts(line + b"\n"),
            server.passes(note()),
            client.passes(line),
            policy=Policy(noise=Noise.STDERR),
        )

    @pytest.mark.parametrize("line", NOISE, ids=repr)
    def test_dropped(self, line: bytes) -> None:
        """And noted; only the server's."""
        play(
            server.loses(What.NOISE, line),
            server.passes(note()),
            client.passes(line),
            policy=Policy(noise=Noise.DROP),
        )

    @pytest.mark.parametrize("line", NO_NOISE, ids=repr)
    def test_no_noise(self, line: bytes) -> None:
        """What begins like a message may be one."""
        play(server.passes(line), policy=Policy(noise=Noise.DROP))

    def test_the_shield_means_stderr(self) -> None:
        """Where ``--noise`` is not given."""
        play(
            server >> b"hello",
            held(What.NOISE),
            Diverts(b"hello\n"),
            policy=Policy(shield=True),
        )
        play(server.passes(b"hello"), policy=Policy(shield=True, noise=Noise.FORWARD))
        play(
            server.loses(What.NOISE, b"hello"),
            policy=Policy(shield=True, noise=Noise.DROP),
        )

    def test_among_messages(self) -> None:
        """What is around it is judged as ever."""
        play(
            client.passes(call(1), cancel(1)),
            server >> b"hello",
            held(What.NOISE),
            server.loses(LATE, answer(1)),
            server >> b"",
            held(What.NOISE),
            server.passes(note()),
            policy=Policy(noise=Noise.DROP),
        )
