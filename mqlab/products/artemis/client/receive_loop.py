"""What a consumer that receives everything does with each message: it takes its time, then commits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from mqlab.engine.completion import Completion
from mqlab.products.artemis.client.requests import Request

if TYPE_CHECKING:
    from mqlab.products.artemis.client.consumers import Consumer


class LoopCall(Request):
    """A call of the loop, which goes on with the next message behind it."""

    def __init__(self, consumer: Consumer, what: str) -> None:
        super().__init__(consumer, what)
        self.consumer = consumer

    def on_answered(self, _: object = None) -> None:
        """Go on with the next message."""
        super().on_answered()
        _end(self.consumer)


class CommitEach(LoopCall):
    """A commit after each message; one that fails ends the loop, and nobody is told."""

    def act(self) -> None:
        """Commit, where there is a transaction."""
        consumer = self.consumer
        if consumer.transacted and consumer.state == "connected" and not consumer.rollback_only:
            consumer.settle()
            consumer.worked = False
            return
        consumer.receiving = False
        if consumer.transacted:
            consumer.roll_back()


class RollBack(LoopCall):
    """What follows an acknowledgement that is refused: the session is stopped, then it is rolled back.

    What comes between the two calls goes to others (`ClientSessionImpl.rollback` of 2.4.0).
    """

    stopped = False

    def act(self) -> None:
        """Stop, or roll back."""
        if self.stopped:
            self.consumer.full = self.consumer.flow.balance <= 0
            self.consumer.roll_back()
        else:
            self.consumer.full = True

    def on_answered(self, _: object = None) -> None:
        """Go on with the second call, or with the next message."""
        if self.stopped:
            super().on_answered()
        else:
            self.stopped = True
            self.make()


def roll_back(consumer: Consumer) -> None:
    """The acknowledgement of a message that was taken is refused."""
    consumer.busy = True
    RollBack(consumer, "rollback").make()


def work(consumer: Consumer) -> None:
    """A consumer has taken a message: the next one is only taken after its delay, and its commit."""
    consumer.busy = True
    consumer.lab.later(consumer.delay, _worked, consumer)


def _worked(consumer: Consumer) -> None:
    if consumer.busy and consumer.commits_each:
        CommitEach(consumer, "commit").make()
    else:
        _end(consumer)


def _end(consumer: Consumer) -> None:
    consumer.busy = False
    consumer.go_on()


def finish(consumer: Consumer) -> None:
    """A call of the program comes behind what the loop is at: its one thread commits first."""
    if consumer.busy and consumer.commits_each and consumer.state == "connected" and not consumer.rollback_only:
        consumer.settle()
    consumer.busy = False


class CallBehind(NamedTuple):
    """A call of a consumer's program that waits until its loop has ended."""

    consumer: Consumer
    call: Callable[[Any], Completion]
    argument: object

    def can_begin(self) -> bool:
        """Whether the loop has ended."""
        return not self.consumer.last_call and not self.consumer.busy

    def begin(self) -> None:
        """Make the call."""
        self.consumer.lab.under_way = self.call(self.argument)


def behind(consumer: Consumer, call: Callable[[Any], Completion], argument: object) -> Completion:
    """Make a call of a consumer's program, behind its loop if it has one: that ends with what it is at."""
    if not consumer.receiving or consumer.state != "connected":
        return call(argument)
    consumer.go_on()
    consumer.end_loop()
    return Completion(CallBehind.can_begin, CallBehind(consumer, call, argument), then=CallBehind.begin)
