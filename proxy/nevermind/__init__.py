"""A transparent JSON-RPC cancellation proxy: the engine.

Five nouns, in the order in which bytes meet them:

* a *frame* is one message with the bytes that delimit it, exactly as they came;
* an *envelope* is what can be told of a frame without reading its payload:
  request, response, notification, cancel, progress, batch or opaque;
* the *ledger* knows, per issuer, which request ids are in flight, cancelled
  (a *tombstone*) or answered;
* a *verdict* says what becomes of one frame: forward, drop, translate;
* an *outbox* is what one peer has yet to be sent, in order.

The core (all but ``nevermind.shell``) is sans-I/O: it never awaits, never
reads a clock and never touches a file descriptor.  Its values are frozen
structs of msgspec's: a frozen dataclass takes seven times as long to make
(measured on a note), and ``dataclasses`` is not imported for a run over stdio.
"""
