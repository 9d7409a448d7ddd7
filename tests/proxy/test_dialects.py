"""The shipped dialects at work: each protocol's own words for a cancel, each its own rules."""

from __future__ import annotations

import pytest

from nevermind.dialects import MCP, Dialect
from nevermind.notes import What
from nevermind.policy import Fate, LateResponse, Policy
from nevermind_config.dialects import dialect
from proxy.header_frames import frame
from proxy.messages import answer, call, cancel, error, initialize, note, progress, task
from proxy.playbook import End, Heard, Held, Said, Script, client, held, play, server

LSP, BSP, ACP, JSONRPC = (dialect(name, {}) for name in ("lsp", "bsp", "acp", "jsonrpc"))
OWED = (LSP, BSP, ACP)

owed = pytest.mark.parametrize("spoken", OWED, ids=lambda spoken: spoken.name)
both = pytest.mark.parametrize(
    ("asker", "worker"), [(client, server), (server, client)], ids=["client asks", "server asks"]
)


class Talk:
    """The steps of one dialect, framed as it frames its messages."""

    def __init__(self, spoken: Dialect) -> None:
        self.spoken = spoken

    def wire(self, message: bytes) -> bytes:
        if self.spoken.header_framed:
            return frame(message)
        return message + b"\n"

    def says(self, end: End, message: bytes) -> Said:
        return end.raw(self.wire(message))

    def hears(self, end: End, message: bytes) -> Heard:
        return end.hears_raw(self.wire(message))

    def passes(self, end: End, *messages: bytes) -> Script:
        """Each is said and heard as it is."""
        other = End(end.peer.other)
        return [
            step
            for message in messages
            for step in (self.says(end, message), self.hears(other, message))
        ]

    def loses(self, end: End, what: What, *messages: bytes) -> Script:
        """Each is said and held back as ``what``."""
        return [step for message in messages for step in (self.says(end, message), Held(what))]

    def cancel(self, id: int | str | bytes) -> bytes:
        return cancel(id, dialect=self.spoken)


@owed
class TestOwed:
    @both
    @pytest.mark.parametrize(
        "first", [answer(1), error(1, -32800), answer(1, None), error(1, -32801)]
    )
    def test_one_answer_to_a_cancelled_request_passes(
        self, spoken: Dialect, asker: End, worker: End, first: bytes
    ) -> None:
        """LSP 3.17: a cancelled request "still needs to return from the server"."""
        talk = Talk(spoken)
        play(
            talk.passes(asker, call(1), talk.cancel(1)),
            talk.passes(worker, first),
            talk.loses(worker, What.LATE_RESPONSE, answer(1), error(1, -32800)),
            talk.loses(asker, What.REDUNDANT_CANCEL, talk.cancel(1)),
            talk.passes(asker, call(1)),
            talk.passes(worker, answer(1)),
            dialect=spoken,
        )

    @both
    def test_repeated_cancels_are_dropped(self, spoken: Dialect, asker: End, worker: End) -> None:
        """Also one that comes when the answer has been given."""
        talk = Talk(spoken)
        play(
            talk.passes(asker, call(1), call(2), talk.cancel(1)),
            talk.loses(asker, What.REDUNDANT_CANCEL, talk.cancel(1), talk.cancel(b"1.0")),
            talk.passes(worker, answer(1), answer(2)),
            talk.loses(asker, What.REDUNDANT_CANCEL, talk.cancel(1), talk.cancel(2)),
            dialect=spoken,
        )

    def test_a_cancel_of_an_unknown_or_of_no_id_passes(self, spoken: Dialect) -> None:
        talk = Talk(spoken)
        passing = talk.passes(client, talk.cancel(9), talk.cancel(9), talk.cancel(b"null"))
        play(passing, dialect=spoken)

    def test_the_first_request_is_never_cancelled(self, spoken: Dialect) -> None:
        """Nothing may be sent before its answer has come (LSP 3.17, "Initialize")."""
        talk = Talk(spoken)
        hello = call(0, method="build/initialize") if spoken is BSP else initialize(0)
        play(
            talk.passes(client, hello),
            talk.loses(client, What.INITIALIZE_CANCEL, talk.cancel(0)),
            talk.passes(server, answer(0)),
            dialect=spoken,
        )

    def test_a_further_answer_that_creates_a_task_passes(self, spoken: Dialect) -> None:
        talk = Talk(spoken)
        play(
            talk.passes(client, call(1), talk.cancel(1)),
            talk.passes(server, answer(1), task(1)),
            talk.loses(server, What.LATE_RESPONSE, answer(1)),
            dialect=spoken,
        )

    def test_whoever_wants_none_gets_none(self, spoken: Dialect) -> None:
        talk = Talk(spoken)
        play(
            talk.passes(client, call(1), talk.cancel(1)),
            talk.loses(server, What.LATE_RESPONSE, answer(1), error(1)),
            dialect=spoken,
            policy=Policy(late_response=LateResponse.DROP),
        )


class TestLsp:
    talk = Talk(LSP)

    @pytest.mark.parametrize("member", [b"workDoneToken", b"partialResultToken"])
    def test_partial_results_after_a_cancel_are_of_use(self, member: bytes) -> None:
        asked = call(1).replace(b'"name"', b'"%b":"t","name"' % member)
        shown = progress("t", dialect=LSP)
        play(
            self.talk.passes(client, asked, self.talk.cancel(1)),
            self.talk.passes(server, shown, answer(1), shown),
            dialect=LSP,
        )

    @pytest.mark.parametrize("member", [b"workDoneToken", b"partialResultToken"])
    def test_but_may_be_dropped(self, member: bytes) -> None:
        asked = call(1).replace(b'"name"', b'"%b":"t","name"' % member)
        shown = progress("t", dialect=LSP)
        play(
            self.talk.passes(client, asked),
            self.talk.passes(server, shown),
            self.talk.passes(client, self.talk.cancel(1)),
            self.talk.loses(server, What.LATE_PROGRESS, shown),
            self.talk.passes(server, answer(1), progress("other", dialect=LSP)),
            dialect=LSP,
            policy=Policy(late_progress=Fate.DROP),
        )

    def test_progress_by_position_belongs_to_nobody(self) -> None:
        shown = b'{"jsonrpc":"2.0","method":"$/progress","params":["t",{"kind":"end"}]}'
        asked = call(1).replace(b'"name"', b'"workDoneToken":"t","name"')
        play(
            self.talk.passes(client, asked, self.talk.cancel(1)),
            self.talk.passes(server, shown),
            dialect=LSP,
            policy=Policy(late_progress=Fate.DROP),
        )

    def test_the_cancel_of_a_token_of_the_servers_is_no_cancel(self) -> None:
        ends = b'{"jsonrpc":"2.0","method":"window/workDoneProgress/cancel","params":{"token":1}}'
        play(
            self.talk.passes(client, call(1), ends, ends),
            self.talk.passes(server, answer(1)),
            dialect=LSP,
        )

    def test_no_result_is_a_result(self) -> None:
        """``shutdown`` is answered with null."""
        play(
            self.talk.passes(client, call(1, method="shutdown")),
            self.talk.passes(server, answer(1, None)),
            self.talk.loses(client, What.REDUNDANT_CANCEL, self.talk.cancel(1)),
            dialect=LSP,
        )


class TestBsp:
    talk = Talk(BSP)

    @pytest.mark.parametrize("kind", ["taskStart", "taskProgress", "taskFinish"])
    def test_every_task_that_starts_is_owed_its_finish(self, kind: str) -> None:
        """BSP 2.2: whatever the switches say of progress, these are none."""
        params = '{"taskId":{"id":"t"},"originId":"o","dataKind":"compile-report"}'
        told = f'{{"jsonrpc":"2.0","method":"build/{kind}","params":{params}}}'.encode()
        asked = call(1, method="buildTarget/compile").replace(b'"name"', b'"originId":"o","name"')
        play(
            self.talk.passes(client, asked, self.talk.cancel(1)),
            self.talk.passes(server, told, answer(1, {"statusCode": 3}), told),
            dialect=BSP,
            policy=Policy(late_progress=Fate.DROP, stale_progress=Fate.DROP),
        )


class TestAcp:
    talk = Talk(ACP)

    def test_the_end_of_a_turn_is_no_cancel_of_a_request(self) -> None:
        """session/cancel names a session, and is answered by the prompt's own answer."""
        end = b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}'
        play(
            self.talk.passes(client, call(1, method="session/prompt"), end, end),
            self.talk.passes(server, note(), answer(1, {"stopReason": "cancelled"})),
            dialect=ACP,
        )

    def test_the_old_name_of_the_cancel_is_none(self) -> None:
        play(
            self.talk.passes(client, call(1), cancel(1, dialect=LSP), cancel(1, dialect=LSP)),
            dialect=ACP,
        )

    def test_an_id_may_be_null_and_is_then_nobodys(self) -> None:
        null = call(b"null")
        play(
            self.talk.passes(client, null, self.talk.cancel(b"null"), null),
            self.talk.passes(server, answer(b"null"), answer(b"null")),
            dialect=ACP,
        )


class TestPlain:
    def test_everything_passes(self) -> None:
        """JSON-RPC 2.0 has no cancel; what looks like one is somebody else's notification."""
        cancels = [cancel(1, dialect=other) for other in (MCP, LSP, ACP)]
        play(
            client.passes(call(1, token=1), *cancels, *cancels, call(1)),
            server.passes(progress(1), answer(1), answer(1), error(1), answer(7), progress(1)),
            client.passes(*cancels),
            dialect=JSONRPC,
        )


def test_in_mcp_the_cancels_of_others_are_none() -> None:
    for other in OWED:
        play(
            client.passes(call(1), cancel(1, dialect=other), cancel(1, dialect=other)),
            server.passes(answer(1)),
        )


def test_what_is_held_back_is_held_back_for_its_own_reason() -> None:
    talk = Talk(LSP)
    play(
        talk.passes(client, call(1), talk.cancel(1)),
        talk.says(client, talk.cancel(1)),
        held(What.REDUNDANT_CANCEL, id=1, issuer=client.peer),
        dialect=LSP,
    )
