"""Real language servers of exact versions, installed on demand, and something to ask them about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from e2e.peers.environments import node_with, python_with

if TYPE_CHECKING:
    from collections.abc import Callable

PYTHON = """\
import os


def greet(name: str) -> str:
    path = os.path.join("a", name)
    return path.upper()


greet("ü語🦊")
"""
TYPESCRIPT = """\
import * as path from "path";

export function greet(name: string): string {
  const joined = path.join("a", name);
  return joined.toUpperCase();
}

greet("ü語🦊");
"""


@dataclass(frozen=True, slots=True)
class LanguageServer:
    """A server, and a text of its language.

    ``call`` is where the text calls its function (line and character), ``member`` where a member
    is about to be named, which is what completion is for.
    """

    name: str
    install: Callable[[], list[str]]
    file: str
    language: str
    text: str
    call: tuple[int, int]
    member: tuple[int, int]


def _pylsp() -> list[str]:
    packages = ("python-lsp-server==1.12.0", "python-lsp-jsonrpc==1.1.2", "jedi==0.19.2")
    return [str(python_with(*packages) / "pylsp")]


def _pyright() -> list[str]:
    folder = node_with("pyright@1.1.414")
    return [str(folder / "node_modules" / ".bin" / "pyright-langserver"), "--stdio"]


def _typescript() -> list[str]:
    folder = node_with("typescript-language-server@5.3.0", "typescript@5.9.3")
    return [str(folder / "node_modules" / ".bin" / "typescript-language-server"), "--stdio"]


SERVERS = (
    LanguageServer("python-lsp-server", _pylsp, "a.py", "python", PYTHON, (8, 2), (5, 16)),
    LanguageServer("pyright", _pyright, "a.py", "python", PYTHON, (8, 2), (5, 16)),
    LanguageServer(
        "typescript-language-server", _typescript, "a.ts", "typescript", TYPESCRIPT, (7, 2), (4, 16)
    ),
)
