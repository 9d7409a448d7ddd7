"""Real language servers behind the proxy: an editor's session, and nothing in it is different.

What goes in and out of the server is kept on both sides of the proxy. Servers that cannot be
installed here are skipped, with the reason.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from e2e.harness import nevermind
from e2e.harness.journal import read_events
from e2e.lsp.language_client import LanguageClient, Message, cancel, frame
from e2e.lsp.language_servers import SERVERS, LanguageServer
from e2e.peers.environments import UnavailableError

WIRETAP = str(Path(__file__).with_name("wiretap.py"))
CANCELLED = -32800

every_server = pytest.mark.parametrize("server", SERVERS, ids=lambda server: server.name)


class Session:
    """An editor with one file open, the proxy and a real server."""

    def __init__(self, server: LanguageServer, folder: Path, *options: str) -> None:
        try:
            command = server.install()
        except UnavailableError as error:
            pytest.skip(f"{server.name}: {error}")
        self.server = server
        self.records = folder / "records"
        self.records.mkdir()
        self.work = folder / "work"
        self.work.mkdir()
        file = self.work / server.file
        file.write_text(server.text, encoding="utf-8")
        self.uri = file.as_uri()
        self.document = {"textDocument": {"uri": self.uri}}
        words = ("--dialect", "lsp", "--log-format", "json", *options)
        tapped = [sys.executable, WIRETAP, str(self.records), *command]
        self.editor = LanguageClient(nevermind().line(words, tapped), str(self.work))
        self._version = 1

    def begins(self) -> None:
        """The handshake, and the file is opened."""
        capabilities: dict[str, Any] = {
            "textDocument": {"completion": {"completionItem": {"snippetSupport": True}}},
            "window": {"workDoneProgress": True},
            "workspace": {"configuration": True, "didChangeConfiguration": {}},
        }
        root = self.work.as_uri()
        hello = {
            "processId": None,
            "rootUri": root,
            "capabilities": capabilities,
            "workspaceFolders": [{"uri": root, "name": "work"}],
        }
        assert "capabilities" in self.editor.result_of("initialize", hello)
        self.editor.tell("initialized", {})
        document = {
            "uri": self.uri,
            "languageId": self.server.language,
            "version": 1,
            "text": self.server.text,
        }
        self.editor.tell("textDocument/didOpen", {"textDocument": document})

    def at(self, place: tuple[int, int]) -> Message:
        """The parameters of a question about a place in the file."""
        return {**self.document, "position": {"line": place[0], "character": place[1]}}

    def typed(self, letter: str, place: tuple[int, int]) -> Message:
        """The notification that says that a letter was typed."""
        self._version += 1
        position = {"line": place[0], "character": place[1]}
        change = {"range": {"start": position, "end": position}, "text": letter}
        document = {"uri": self.uri, "version": self._version}
        params = {"textDocument": document, "contentChanges": [change]}
        return {"jsonrpc": "2.0", "method": "textDocument/didChange", "params": params}

    @property
    def log(self) -> list[dict[str, Any]]:
        """What the proxy had to say."""
        return read_events(bytes(self.editor.stderr))

    def dropped(self) -> list[tuple[str, int]]:
        """What the proxy held back."""
        return [(event["what"], event["id"]) for event in self.log if event["event"] == "drop"]

    def expected_at_server(self) -> bytes:
        """What the editor wrote, but for the cancels that were not the first of their kind."""
        effective = {event["id"] for event in self.log if event["event"] == "cancel"}
        kept = []
        for message in self.editor.wrote:
            if message.get("method") == "$/cancelRequest":
                if message["params"]["id"] not in effective:
                    continue
                effective.remove(message["params"]["id"])
            kept.append(frame(message))
        return b"".join(kept)

    def at_server(self) -> tuple[bytes, bytes]:
        """What the server read and wrote."""
        return (self.records / "in").read_bytes(), (self.records / "out").read_bytes()


@every_server
def test_a_session_is_the_same_but_for_repeated_cancels(
    server: LanguageServer, tmp_path: Path
) -> None:
    session = Session(server, tmp_path)
    with session.editor as editor:
        session.begins()
        assert editor.result_of("textDocument/hover", session.at(server.call))
        assert editor.result_of("textDocument/documentSymbol", session.document)
        assert editor.result_of("textDocument/definition", session.at(server.call))
        asked = type_a_word(session, "upp")
        asked.append(give_up_thrice(session))
        for number in asked:
            answer = editor.answer_to(number)
            assert "result" in answer or answer["error"]["code"] == CANCELLED
        known = list(editor.answers)
        editor.send(*map(cancel, known))
        references = {**session.at(server.call), "context": {"includeDeclaration": True}}
        assert len(editor.result_of("textDocument/references", references)) >= 2
        assert editor.end() == 0

    assert all(len(answers) == 1 for answers in editor.answers.values())
    read, written = session.at_server()
    assert read == session.expected_at_server()
    assert bytes(editor.read) == written
    dropped = session.dropped()
    assert {what for what, _ in dropped} == {"redundant-cancel"}
    assert {number for _, number in dropped} == set(known)
    assert len(editor.wrote) == read.count(b"Content-Length: ") + len(dropped)


def type_a_word(session: Session, word: str) -> list[int]:
    """As an editor does: each letter asks for completions and gives up the question before."""
    line, character = session.server.member
    asked: list[int] = []
    for n, letter in enumerate(word):
        typed = session.typed(letter, (line, character + n))
        params = session.at((line, character + n + 1))
        number, question = session.editor.request("textDocument/completion", params)
        before = [cancel(asked[-1])] if asked else []
        session.editor.send(typed, *before, question)
        asked.append(number)
    return asked


def give_up_thrice(session: Session) -> int:
    """A question and its cancel, three times, faster than any server can answer."""
    params = session.at(session.server.member)
    number, question = session.editor.request("textDocument/completion", params)
    session.editor.send(question, cancel(number), cancel(number), cancel(number))
    return number


@every_server
def test_the_first_cancel_reaches_the_server_and_its_answer_the_editor(
    server: LanguageServer, tmp_path: Path
) -> None:
    session = Session(server, tmp_path)
    with session.editor as editor:
        session.begins()
        number = give_up_thrice(session)
        answer = editor.answer_to(number)
        assert "result" in answer or answer["error"]["code"] == CANCELLED
        assert editor.end() == 0

    read, _ = session.at_server()
    assert read.count(frame(cancel(number))) == 1
    assert session.dropped() == [("redundant-cancel", number)] * 2
    [summary] = [event for event in session.log if event["event"] == "summary"]
    assert (summary["cancelled"], summary["never_answered"]) == (1, 0)


@every_server
def test_who_does_not_want_the_answer_gets_none(server: LanguageServer, tmp_path: Path) -> None:
    """An editor that has forgotten what it cancelled may take the answer for a fault."""
    session = Session(server, tmp_path, "--late-response", "drop")
    with session.editor as editor:
        session.begins()
        number = give_up_thrice(session)
        assert editor.result_of("textDocument/hover", session.at(server.call))
        assert editor.end() == 0

    assert number not in editor.answers
    assert session.dropped().count(("late-response", number)) == 1


@every_server
def test_a_slow_server_feels_prompt(server: LanguageServer, tmp_path: Path) -> None:
    """Where we answer at once ourselves, that is the one answer; the server's own is dropped."""
    session = Session(server, tmp_path, "--answer-cancelled", "0")
    with session.editor as editor:
        session.begins()
        number = give_up_thrice(session)
        answer = editor.answer_to(number)
        assert answer["error"]["code"] == CANCELLED
        assert answer["error"]["data"]["answeredBy"] == "nevermind"
        assert editor.result_of("textDocument/hover", session.at(server.call))
        assert editor.end() == 0

    assert editor.answers[number] == [answer]
    assert session.dropped().count(("late-response", number)) == 1
    read, written = session.at_server()
    assert read == session.expected_at_server()
    assert b'"answeredBy"' not in written
