"""One tree of errors: where, what came, what was expected, what to write instead.

Every leaf also inherits the built-in exception that a caller would already catch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import SequenceMatcher, get_close_matches
from typing import TYPE_CHECKING, Any

# Of two names, 0 to 1: at 0.5 "load" was suggested for "Explode", and "stopping" for "king".
ALIKE = 0.61
BEGUN_ALIKE = 0.8  # of a name and the beginning of a longer one


def shown(value: object) -> str:
    """Return a value as errors show it: as Python writes it, and not too much of it.

    >>> shown("TEST.FOO"), len(shown("x" * 1000))
    ("'TEST.FOO'", 60)
    """
    # What is too large to be written (or was made to refuse it) is told by its kind.
    try:
        text = repr(value[:80]) if isinstance(value, str) else repr(value)
    except (RecursionError, ValueError):
        text = f"a {type(value).__name__} that is too large"
    return text if len(text) <= 60 else text[:56] + "..." + text[-1]


def nearest(given: object, names: Iterable[str]) -> str | None:
    """Return the name that was probably meant: one that begins with *given*, or almost, or is spelt much alike.

    Capitals and signs between words do not count.

    >>> nearest("conduit", ["consumer_ttl", "conduit_subscriptions"]), nearest("nonsense", ["unsafe:nfs3"])
    ('conduit_subscriptions', None)
    >>> nearest("conduitt", ["consumer_ttl", "conduit_subscriptions"])
    'conduit_subscriptions'
    """
    text, known = _letters(str(given)[:80]), {_letters(name): name for name in reversed(list(names))}
    begun = [letters for letters in reversed(known) if len(text) > 3 and letters.startswith(text)]
    if begun:
        return known[begun[0]]
    # Beginnings of longer names, too; where both are as much alike, the whole name is meant.
    heads = {letters[: len(text)]: letters for letters in known} if len(text) > 3 else {}
    whole = get_close_matches(text, [*reversed(known)], n=1, cutoff=ALIKE)
    head = get_close_matches(text, [*heads], n=1, cutoff=BEGUN_ALIKE)
    if head and (not whole or _likeness(head[0], text) > _likeness(whole[0], text)):
        return known[heads[head[0]]]
    return known[whole[0]] if whole else None


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other).ratio()


def _letters(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "").replace(" ", "")


def no_attribute(
    owner: object, name: str, known: Iterable[str], instead: Mapping[str, Call] | None = None
) -> AttributeError:
    """Return the error for a name that a module, or a value, does not have, with the nearest one that it has.

    *instead* has what is written for names of others, in small letters.

    >>> print(no_attribute("mqlab", "Que", ["Queue", "Topic"]))
    module 'mqlab' has no attribute 'Que'; did you mean 'Queue'?
    >>> print(no_attribute("mqlab", "run_network", ["Network", "run"]))
    module 'mqlab' has no attribute 'run_network'; did you mean 'run'?
    """
    public = [one for one in known if one[:1] != "_"]
    first, more, _ = name.partition("_")  # of what is put together, such as run_network, the first word
    near = first if more and first in public else nearest(name, public) if first else None
    hint = f"; did you mean {near!r}?" if near else ""
    if instead and name.lower() in instead:
        hint = f"; use {instead[name.lower()]}"
    told = f"module {owner!r}" if isinstance(owner, str) else f"{type(owner).__name__!r} object"
    return AttributeError(f"{told} has no attribute {name!r}{hint}")


class Suggests:
    """The base of what answers a name that it does not have with the nearest one that it has."""

    __slots__ = ()

    if not TYPE_CHECKING:  # who checks types finds a wrong name

        def __getattr__(self, name):
            """Raise `AttributeError` with what was probably meant."""
            raise no_attribute(self, name, () if name.startswith("_") else dir(self))


class Call:
    """What to write, as a value: a noun with what it is given. Each face prints it in its own words.

    >>> one = Call("Consumer", "C", on="A", reads=Call("Queue", "Q"))
    >>> print(one, one.option(), sep="; ")
    mq.Consumer('C', on='A', reads=mq.Queue('Q')); --do "Consumer C on=A reads=queue://Q"
    """

    def __init__(self, noun: str, *given: object, **named: object) -> None:
        self.noun, self.given, self.named = noun, given, named

    def __repr__(self) -> str:
        named = (f"{name}={value!r}" for name, value in self.named.items())
        return f"mq.{self.noun}({', '.join((*map(repr, self.given), *named))})"

    def option(self) -> str:
        """Return the option of the command line that adds it; a destination's is its text."""
        if self.noun in ("Queue", "Topic"):
            return f"{self.noun.lower()}://{self.given[0]}"
        words = {
            name: value.option() if isinstance(value, Call) else value for name, value in self.named.items()
        }
        named = (f"{name}={value}" for name, value in words.items())
        return f'--do "{" ".join((self.noun.rpartition(".")[2], *map(str, self.given), *named))}"'


def in_options(text: str, calls: Iterable[Call]) -> str:
    """Return a text in which the *calls* that it names are options of the command line."""
    for call in calls:
        text = text.replace(str(call), call.option())
    return text


class MqlabError(Exception):
    """The base of all errors that mqlab raises on purpose; `calls` are those that its text names."""

    def __init__(self, *args: object, calls: tuple[Call, ...] = ()) -> None:
        super().__init__(*args)
        self.calls = calls

    def _render_traceback_(self) -> list[str]:
        """Return what a notebook shows: the words, not the way through mqlab to them."""
        return [f"{type(self).__name__}: {self}"]


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, or a notebook's Stop, ended a run: `trace` is what has happened until then.

    Where it ended many runs, `outcomes` is what came of those that were over, and there is no `trace`.
    """

    def __init__(self, trace: object = None, outcomes: object = None) -> None:
        told = f"the run was interrupted; its trace so far is {trace!r}, the error's `trace`"
        if outcomes is not None:
            told = f"the runs were interrupted; the outcomes so far, the error's `outcomes`:\n{outcomes}"
        super().__init__(told)
        self.trace: Any = trace
        self.outcomes: Any = outcomes

    _render_traceback_ = MqlabError._render_traceback_


class UnknownName(MqlabError, LookupError):
    """A name that stands for nothing: a figure, an option, a broker, an edition."""

    @classmethod
    def of(
        cls, what: str, given: object, known: Iterable[str], where: str = "", near: str | None = None
    ) -> UnknownName:
        """Return the error for *given*, naming the nearest of the *known* names, or *near*.

        >>> print(UnknownName.of("broker", "AA", ["A", "B"]))
        unknown broker 'AA'; did you mean 'A'? Known: A, B.
        >>> print(UnknownName.of("broker", "Q", (f"B{n}" for n in range(1, 51))))
        unknown broker 'Q'. Known: B1, B2, B3, B4, B5, B6, B7, B8, B9, B10, B11, B12 and 38 more.
        """
        names = [str(name) for name in known]
        near = near or nearest(given, names)
        hint = f"; did you mean {near!r}?" if near else "."
        some = ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
        listed = f"Known: {some}." if names else "None exist."
        return cls(f"{where + ': ' if where else ''}unknown {what} {shown(given)}{hint} {listed}")


class UnknownKey(UnknownName, KeyError):
    """A key that a mapping does not have."""

    __str__ = Exception.__str__  # KeyError's is the repr of the text


class UnknownRow(UnknownName, IndexError):
    """A place in a trace beyond its events."""


class BadValue(MqlabError, ValueError):
    """A value outside of what an option, a name or an action accepts."""


class BadFile(MqlabError, ValueError):
    """A file that is not what its name or place promises."""


# Characters: up to so many an address is shown whole, of a longer text what is around the place.
WHOLE, AROUND = 8192, 60


class UriError(MqlabError, ValueError):
    """A broker URI that does not parse; the text shows the place with a caret."""

    @classmethod
    def at(cls, text: str, place: int, expected: str) -> UriError:
        """Return the error for *text*, pointing at index *place*."""
        start, end = (0, len(text)) if len(text) <= WHOLE else (max(0, place - AROUND), place + AROUND)
        return cls(f"broker URI: {expected}\n  {text[start:end]}\n  {' ' * (place - start)}^")


class SelectorError(MqlabError, ValueError):
    """A message selector that does not parse."""


class CannotRun(MqlabError):
    """A scenario that asks for a feature which this runtime does not have."""


class MissingExtra(MqlabError, ImportError):
    """A heavy room was entered and the packages it needs are not installed."""

    @classmethod
    def of(cls, package: str, extra: str) -> MissingExtra:
        """Return the error that tells how to install *package* through its *extra*."""
        return cls(f"{package} is not installed; write: pip install 'mqlab[{extra}]'")

    @classmethod
    @contextmanager
    def told(cls, extra: str) -> Iterator[None]:
        """Raise that *extra* has the package that an import lacks; one of mqlab itself is a mistake of ours."""
        try:
            yield
        except ImportError as error:
            if error.name is None or error.name.startswith("mqlab"):
                raise
            raise cls.of(error.name.partition(".")[0], extra) from None
