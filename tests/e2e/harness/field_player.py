"""Plays a field case through a proxy: each step of its script in the words of a conversation."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from e2e.harness.conversation import Conversation
from e2e.harness.field_cases import Arrow, FieldCase, Happening, Id, Said, framed
from e2e.harness.messages import ROOTS_CHANGED, Message, encode, log_message
from e2e.harness.processes import resident_mib
from e2e.harness.stage import Server

LONE_HOST = (sys.executable, str(Path(__file__).with_name("lone_host.py")))


class FieldPlayer:
    """One case on its way through one conversation."""

    def __init__(self, wire: Conversation, framing: str = "lines") -> None:
        self._wire = wire
        self._framing = framing
        self._fresh_id: object = None
        self._helper = 0
        self._held: list[Said] | None = None
        self.drops = 0

    def play(self, steps: list[Said | Happening]) -> None:
        for step in steps:
            match step:
                case Said():
                    self._say(step)
                case Happening(text=text):
                    self._let_happen(text)
        for said in self._held or []:
            self._arrives(said)

    # ------------------------------------------------------------------ messages

    def _say(self, said: Said) -> None:
        self.drops += said.arrow.is_drop
        from_client = said.arrow in (Arrow.TO_SERVER, Arrow.KEPT_FROM_SERVER)
        send = self._wire.client_sends if from_client else self._wire.server_sends
        data = said.data
        if said.id is Id.FOR_FRESH:
            data = encode(json.loads(data) | {"id": self._fresh_id})
        for piece in [data[i : i + 1] for i in range(len(data))] if said.byte_by_byte else [data]:
            send(piece)
        if said.cut:
            self._wire.client_closes()
        if self._held is not None:
            self._held.append(said)
        else:
            self._arrives(said)

    def _arrives(self, said: Said) -> None:
        match said.arrow:
            case Arrow.TO_SERVER if said.id is Id.MADE_FRESH:
                self._reaches_server_under_a_fresh_id(said)
            case Arrow.TO_SERVER:
                self._wire.server_receives(said.data)
            case Arrow.TO_CLIENT if said.id is Id.FOR_FRESH:
                received = json.loads(self._wire.line_at_client())
                if received != json.loads(said.data):
                    self._wire.fails(f"the client should have received {said.data!r}")
            case Arrow.TO_CLIENT:
                self._wire.client_receives(said.data)
            case Arrow.KEPT_FROM_SERVER:
                self._wire.passes_to_server(self._fence(ROOTS_CHANGED))
            case Arrow.KEPT_FROM_CLIENT:
                self._wire.passes_to_client(self._fence(log_message()))
        if said.cut:
            self._wire.server_sees_end()

    def _fence(self, message: Message) -> bytes:
        """What is received next, because nothing that was sent before has been."""
        return framed(encode(message)[:-1], self._framing)

    def _reaches_server_under_a_fresh_id(self, said: Said) -> None:
        sent, received = json.loads(said.data), json.loads(self._wire.line_at_server())
        fresh = received.pop("id")
        own = sent.pop("id")
        if received != sent:
            self._wire.fails("more than the id has been changed")
        if fresh == own or type(fresh) is not type(own):
            self._wire.fails(f"{fresh!r} should be another id than {own!r}, of the same type")
        self._fresh_id = fresh

    # ------------------------------------------------------------------ events

    def _let_happen(self, text: str) -> None:
        if not (self._is_done(text) or self._holds(text)):
            raise ValueError(f"unknown event {text!r}")

    def _is_done(self, text: str) -> bool:
        """Something that the host, the server or a user does."""
        wire = self._wire
        match text.split():
            case ["both", "at", "once"]:
                self._held = []
            case ["host", "closes"]:
                wire.client_closes()
                wire.server_sees_end()
            case ["host", "is", "killed"]:
                wire.host_is_killed()
            case ["server", "exits", code]:
                wire.server_exits(int(code))
                wire.client_sees_end()
                wire.proxy_exits(int(code))
            case ["server", "ends", "by", "itself"]:
                wire.server_exits(0)
            case ["server", "writes", count, "bytes", "to", "stderr"]:
                wire.server_writes_stderr(b"x" * int(count))
            case ["server", "writes", count, "bytes", "to", "stdout"]:
                line = encode(log_message("unread"))
                wire.server_sends(line * (int(count) // len(line)))
            case ["helper", "starts,", "ignoring", name]:
                self._helper = wire.helper_starts(ignores=(name,))
            case [name] if re.fullmatch("SIG[A-Z]+", name):
                wire.proxy_gets_signal(name)
            case _:
                return False
        return True

    def _holds(self, text: str) -> bool:
        """Something that can be seen of the proxy or of what it started."""
        wire = self._wire
        match text.split():
            case ["logged" | "dropped", *_]:
                self._is_in_log(text)
            case ["server", "gets", name]:
                wire.server_got_signal(name)
            case ["server", "got", "no", "signal"]:
                if wire.link.signals:
                    wire.fails(f"the server got {wire.link.signals}")
            case ["server", "gone"]:
                wire.server_is_gone()
            case ["helper", "gone"]:
                wire.is_gone(self._helper, "helper")
            case ["shell", "gone"]:
                wire.is_gone(wire.hello["parent"], "shell")
            case ["proxy", "gone"]:
                wire.is_gone(wire.proxy_pid, "proxy")
            case ["proxy", "exits", code]:
                wire.proxy_exits(int(code))
            case ["memory", "below", limit, "MiB"]:
                used = resident_mib(wire.proxy_pid)
                if used > int(limit):
                    wire.fails(f"the proxy uses {used:.0f} MiB")
            case _:
                return False
        return True

    def _is_in_log(self, text: str) -> None:
        if not self._wire.proxy.takes_options:
            return  # A plain pipe keeps no log; what it lets through has to fail by itself.
        what, _, members = text.partition(" ")
        if what == "logged":
            self._wire.logs(**json.loads(members))
        else:
            check_evidence(self._wire, self._wire.logs(event="drop", **json.loads(members)))


def check_evidence(wire: Conversation, drop: dict[str, object]) -> None:
    """What has to stand in the log of a drop: whoever reads it has nothing else."""
    times = ["since_request_s"]
    if drop["what"] == "late-response":
        times.append("since_cancel_s")
    for name in times:
        seconds = drop.get(name)
        if not isinstance(seconds, float | int) or seconds < 0:
            wire.fails(f"{name} is no time: {seconds!r}")
    if not drop.get("bytes"):
        wire.fails("the log does not say how large the message was")


def conversation_for(case: FieldCase, options: str) -> Conversation:
    """The conversation in which the case is played."""
    return Conversation(
        options=(*case.options.split(), *options.split()),
        server=Server(stays=case.stays, ignores=case.ignores, behind_shell=case.behind_shell),
        launcher=LONE_HOST if case.alone else (),
    )


def play(case: FieldCase, options: str, wire: Conversation) -> None:
    """Play the case to its end; each message that was held back must have left a line."""
    player = FieldPlayer(wire, case.framing)
    player.play(case.steps(options))
    if wire.proxy.takes_options:
        wire.logs_drops(player.drops)
