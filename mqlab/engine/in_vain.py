"""What an action asks of a session that is closed, paused, or has nothing for it: done, it changes nothing.

One rule for all products, held against what the session is when the action begins.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mqlab.spec.action import Acknowledge, Action, Close, Pause, Resume
from mqlab.spec.naming import bare, called
from mqlab.spec.plural import counted
from mqlab.spec.session_names import ENDS
from mqlab.spec.values import duration

if TYPE_CHECKING:
    from mqlab.engine.lab import Lab

CLOSED = "the consumer was closed already"
RECEIVES = ("Receive", "ReceiveOnce")  # by name, as products have their own
STOPS_PAUSED = "the broker was paused, and a real one ends only when it is resumed; mqlab ends it at once"
OF_CONSUMERS = (*RECEIVES, "KillClient", "Recover", "WaitForReceived")
_ENDS = {"Commit": "commit", "Rollback": "roll back", "Acknowledge": "acknowledge", "Recover": "recover"}

_OPEN = "{} in a transaction that was not committed"
ENDED_BY = {  # mode -> what has not come to an end, and the action that ends it
    "transacted": (f"{_OPEN}; add {{}}", "Commit"),
    "xa": (f"{_OPEN}; end, prepare and commit its branch with Xa", ""),
    "client": ("received and never acknowledged; add {1}", "Acknowledge"),
    "individual": ("received and never acknowledged; add {1}", "Acknowledge"),
}


@dataclass(frozen=True, slots=True)
class SessionState:
    """What the session of a consumer, or of a producer that stays, is at a moment.

    `gone` says why nothing can be done with it any more (empty: it is open), `receiving` whether a consumer
    takes all by itself (None for a producer), `waits` whether it acknowledges or commits only when told to,
    `held` how many messages it has for that.
    """

    gone: str
    receiving: bool | None
    mode: str
    waits: bool
    held: int


class InVain:
    """What was asked for and changed nothing; `acting` is what of the script has begun last, or goes on."""

    in_vain: list[dict[str, str]]
    named: dict[str, None]  # what was opened, or sent, by that name
    acting: Any = None
    told_of: Any = None  # what of the script was told of last
    only_if = ""  # what a session must have besides its mode to wait until it is told to acknowledge

    def tell_in_vain(self, what: str, why: str) -> None:
        """Note what was asked for and changed nothing."""
        self.in_vain.append({"what": what, "why": why})

    def tell(self: Lab, why: str, acting: Any = None) -> None:  # type: ignore[misc]
        """Note why what of the script begins, or goes on, changed nothing: the first reason is enough."""
        scripted = self.acting if acting is None else acting
        if scripted is not self.told_of:
            self.told_of = scripted
            self.tell_in_vain(called(self.action_of(scripted)), why)

    def tell_received(self: Lab, got: int, asked: int, consumer: str, acting: Any = None) -> None:  # type: ignore[misc]
        """Note that a consumer received fewer messages than it was asked for."""
        if got < asked:
            self.tell(f"{consumer} received {got} of the {asked} asked for", acting)

    @abstractmethod
    def session_state(self, name: str, session: str | None = None) -> SessionState | None:
        """Return what the session of a consumer or producer is now; None if there is none of that name."""

    def judge(self: Lab, scripted: Any) -> None:  # type: ignore[misc]
        """Tell what is about to be done in vain."""
        self.acting, self.told_of, action = scripted, None, bare(self.action_of(scripted))
        if hasattr(action, "name"):
            self.named[action.name] = None
        if getattr(action, "at_most", None) is not None and _never_quiet(action):
            self.tell("at_most ends before quiet can have passed, so it always ends by that limit")
        if not isinstance(action, (Pause, Resume, Close, *ENDS)) and type(action).__name__ not in OF_CONSUMERS:
            return
        name = str(getattr(action, "consumer", None) or getattr(action, "who", ""))
        if isinstance(action, (Pause, Resume)) and action.kind != "consumer" and name in self.network.names:
            return
        state = self.session_state(name, getattr(action, "session", None))
        why = "" if state is None else _why(action, name, state, self.only_if)
        if why:
            self.tell(why)


def _never_quiet(action: Any) -> bool:
    """Whether what waits for quiet, at most for a time, asks for more of it than that time."""
    quiet = getattr(action, "quiet", None)
    return quiet is not None and duration(action.at_most) < duration(quiet)


def _why(action: Action, name: str, state: SessionState, only_if: str) -> str:
    """Return why an action changes nothing of a session that is in a state; empty if it changes something."""
    kind = type(action).__name__
    if isinstance(action, Close) or kind == "KillClient":  # what has no connection may be closed, too
        ends = state.gone == CLOSED and not getattr(action, "unsubscribe", False)
        return CLOSED if ends else ""
    if state.gone:
        return state.gone
    if isinstance(action, Pause):
        return "" if state.receiving else "the consumer was paused already"
    if isinstance(action, Resume):
        return "the consumer was not paused" if state.receiving else ""
    if kind in RECEIVES:
        return "it receives all by itself; open it with receiving=False" if state.receiving else ""
    return _ends(action, name, state, only_if) if kind in _ENDS else ""


def _ends(action: Action, name: str, state: SessionState, only_if: str) -> str:
    """Return why there is nothing that a session could commit, give back or acknowledge."""
    modes = ENDS.get(type(action), ("client", "dups_ok"))
    if state.receiving is None:
        if not state.waits:
            return f"{name} is not transacted, so each message took effect at once"
    elif not state.waits:
        remedy = f"with ack_mode={modes[0]!r}{only_if} it waits for this"
        return f"{name} had acknowledged all at once; {remedy}"
    elif state.mode not in modes:
        told = " or ".join(map(repr, modes))
        return f"{name} has ack_mode={state.mode!r}; this action needs ack_mode={told}"
    asked = getattr(action, "count", None)
    if isinstance(action, Acknowledge) and asked is not None and asked > state.held:
        return f"it asked for {asked}, and the consumer held {counted(state.held, 'message')}"
    return "" if state.held else f"{name} held nothing to {_ENDS[type(action).__name__]}"
