"""A host and a server made for tests, and a way to write down what they say to each other."""

from e2e.harness.conversation import Conversation
from e2e.harness.messages import (
    INITIALIZE,
    INITIALIZE_RESULT,
    INITIALIZED,
    ROOTS_CHANGED,
    Wire,
    cancel,
    encode,
    error,
    log_message,
    progress,
    request,
    result,
)
from e2e.harness.proxy_command import PLAIN_PIPE, ProxyCommand, nevermind
from e2e.harness.stage import ConversationError, Server

__all__ = [
    "INITIALIZE",
    "INITIALIZED",
    "INITIALIZE_RESULT",
    "PLAIN_PIPE",
    "ROOTS_CHANGED",
    "Conversation",
    "ConversationError",
    "ProxyCommand",
    "Server",
    "Wire",
    "cancel",
    "encode",
    "error",
    "log_message",
    "nevermind",
    "progress",
    "request",
    "result",
]
