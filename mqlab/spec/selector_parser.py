"""The grammar of message selectors (lark), and what becomes of each piece of one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lark import Lark, Token, Transformer, exceptions, v_args

from mqlab.errors import SelectorError
from mqlab.spec.condition import (
    FUNCTIONS,
    OtherType,
    arithmetic,
    both,
    compare,
    compare_converted,
    compare_strictly,
    condition,
    either,
    opposite,
    pattern,
    reckoned,
)

GRAMMAR = r"""
start: or_
?or_: and_ ("OR"i and_)*
?and_: not_ ("AND"i not_)*
?not_: NOT not_ -> negation | test
?test: sum
    | sum COMPARE sum -> compare
    | sum "IS"i "NULL"i -> is_null
    | sum "IS"i NOT "NULL"i -> is_null
    | sum "BETWEEN"i sum "AND"i sum -> between
    | sum NOT "BETWEEN"i sum "AND"i sum -> between
    | sum "IN"i "(" members ")" -> among
    | sum NOT "IN"i "(" members ")" -> among
    | sum "LIKE"i STRING ["ESCAPE"i STRING] -> like
    | sum NOT "LIKE"i STRING ["ESCAPE"i STRING] -> like
members: member ("," member)*
?member: STRING -> string | NAME -> name
?sum: product | sum PLUS product -> arithmetic
?product: unary | product TIMES unary -> arithmetic
?unary: PLUS unary -> sign | atom
?atom: "(" or_ ")" | STRING -> string | NUMBER -> number | BOOL -> boolean | NAME -> name
    | NAME "(" [or_ ("," or_)*] ")" -> call
NOT: /not(?![\w$])/i
COMPARE: "<>" | "<=" | ">=" | "=" | "<" | ">"
PLUS: "+" | "-"
TIMES: "*" | "/" | "%"
STRING: /'(?:[^']|'')*'/
NUMBER.2: /(0[xX][0-9a-fA-F]+|(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)[lLfFdD]?/
BOOL.3: /(true|false)(?![\w$])/i
NAME: /(?!(?:and|or|not|between|in|like|is|null|escape)(?![\w$]))[A-Za-z_$][\w$]*/i
%ignore /\s+/
%ignore /--[^\n]*/
%ignore /\/\*(.|\n)*?\*\//
"""

CONVERTS = "convert_string_expressions:"  # before a selector: strings may stand for numbers

Getter = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a selector: its value for a message, what it is, and where it stands.

    `type` is condition, name (of whatever type its property has), number or string; `constant`
    is the value of a literal, else None.
    """

    value: Callable[[Getter], object]
    type: str
    at: int
    constant: object = None


@lru_cache
def _parser(dialect: str, converts: bool, strict: bool) -> Lark:
    compared = compare_strictly if dialect == "openmq" else compare_converted if converts else compare
    build = (_OfOpenMQ if dialect == "openmq" else _Build)(dialect == "activemq-5.5", compared, strict)
    return Lark(GRAMMAR, parser="lalr", transformer=build)


@lru_cache(maxsize=1024)
def compiled(text: str, dialect: str, strict: bool) -> Callable[[Getter], object]:
    """Return what a selector's text comes to for a message; raises `SelectorError`."""
    converts = text.startswith(CONVERTS)
    body = " " * len(CONVERTS) + text[len(CONVERTS) :] if converts else text
    if not body.strip():
        return lambda get: True
    try:
        part: Part = _parser(dialect, converts, strict).parse(body)  # type: ignore[assignment]
    except exceptions.UnexpectedInput as error:
        place = error.pos_in_stream
        end = place is None or place < 0 or getattr(error, "token", Token("", "")).type == "$END"
        raise _error(text, len(text) if end else place or 0, "selector does not parse") from None
    except _Refused as error:
        raise _error(text, error.at, error.reason) from None
    try:
        part.value(lambda name: None)
    except OtherType:
        raise _error(text, 0, "selector compares values of different types") from None
    except RecursionError:
        raise SelectorError("selector: nested too deeply; simplify it") from None
    return part.value


def _error(text: str, place: int, reason: str) -> SelectorError:
    """Return the error with a caret under the place, in the line it is in."""
    before = text[:place].rpartition("\n")[2]
    line = text[place - len(before) :].partition("\n")[0]
    return SelectorError(f"{reason}, here:\n  {line}\n  {' ' * len(before)}^")


class _Refused(Exception):
    def __init__(self, at: int, reason: str) -> None:
        super().__init__(reason)
        self.at, self.reason = at, reason


def _condition(part: Part) -> Callable[[Getter], bool | None]:
    """Return the condition that stands here; a name may turn out to hold one."""
    if part.type not in ("condition", "name"):
        raise _Refused(part.at, f"a {part.type} is not a condition; compare it with a value")
    return lambda get: condition(part.value(get))


def _unquote(token: Token) -> str:
    return str(token)[1:-1].replace("''", "'")


def _number(text: str) -> float:
    text = text.lower()
    if text.startswith("0x"):
        return int(text.rstrip("l"), 16)
    digits = text.rstrip("dfl")
    if set(text) & set(".edf"):
        return float(digits)
    octal = len(digits) > 1 and digits[0] == "0" and not set(digits) - set("01234567")
    return int(digits, 8 if octal else 10)


Kids = list[Any]  # what lark gives: tokens, and what was made of them


def _taken_out(kids: Kids) -> tuple[bool, Kids]:
    """Return whether there is a NOT among the pieces, and the others."""
    rest = [kid for kid in kids if not (isinstance(kid, Token) and kid.type == "NOT")]
    return len(rest) < len(kids), rest


def _maybe_not(negated: bool, at: int, value: Callable[[Getter], bool | None]) -> Part:
    return Part((lambda get: opposite(value(get))) if negated else value, "condition", at)


@v_args(inline=False)
class _Build(Transformer):  # type: ignore[type-arg]
    """Turns each piece of the grammar into a `Part`."""

    def __init__(
        self, missing_differs: bool, compare: Callable[[str, object, object], bool | None], strict: bool
    ) -> None:
        super().__init__()
        self.missing_differs, self.compared, self.strict = missing_differs, compare, strict

    def start(self, kids: Kids) -> Part:
        return Part(_condition(kids[0]), "condition", kids[0].at)

    def string(self, kids: Kids) -> Part:
        value = _unquote(kids[0])
        return Part(lambda get: value, "string", kids[0].start_pos, value)

    def number(self, kids: Kids) -> Part:
        value = _number(str(kids[0]))
        return Part(lambda get: value, "number", kids[0].start_pos, value)

    def boolean(self, kids: Kids) -> Part:
        value = kids[0].lower() == "true"
        return Part(lambda get: value, "condition", kids[0].start_pos, value)

    def name(self, kids: Kids) -> Part:
        name = str(kids[0])
        return Part(lambda get: get(name), "name", kids[0].start_pos)

    def call(self, kids: Kids) -> Part:
        name, *arguments = [kid for kid in kids if kid is not None]
        if str(name) not in FUNCTIONS:
            raise _Refused(name.start_pos, f"no function {name}; there are {', '.join(FUNCTIONS)}")
        function, least, most, is_condition = FUNCTIONS[str(name)]
        if not least <= len(arguments) <= most:
            raise _Refused(name.start_pos, f"{name} takes {least} to {most} arguments")
        self._check_regex(str(name), arguments)
        return Part(
            lambda get: function(*(argument.value(get) for argument in arguments)),
            "condition" if is_condition else "string",
            name.start_pos,
        )

    def _check_regex(self, name: str, arguments: list[Part]) -> None:
        place = {"REGEX": 0, "SPLIT": 1, "REPLACE": 1}.get(name)
        if place is None or arguments[place].constant is None:
            return
        try:
            re.compile(str(arguments[place].constant))
        except re.error as error:
            raise _Refused(arguments[place].at, f"not a valid regular expression ({error})") from None

    def or_(self, kids: Kids) -> Part:
        parts = [_condition(kid) for kid in kids]
        return Part(lambda get: either(p(get) for p in parts), "condition", kids[0].at)

    def and_(self, kids: Kids) -> Part:
        parts = [_condition(kid) for kid in kids]
        return Part(lambda get: both(p(get) for p in parts), "condition", kids[0].at)

    def negation(self, kids: Kids) -> Part:
        return _maybe_not(True, kids[0].start_pos, _condition(kids[1]))

    def compare(self, kids: Kids) -> Part:
        a, sign, b = kids
        compared = self.compared
        if sign not in ("=", "<>"):
            self._check_order(str(sign), a, b)
        if isinstance(a.constant, bool) and b.constant is not None and b.type != "condition":
            raise _Refused(b.at, f"a {b.type} cannot be compared with a boolean")
        if sign == "<>" and self.missing_differs:
            return _maybe_not(False, a.at, lambda get: compared("<>", a.value(get), b.value(get)) is not False)
        sign = str(sign)
        return _maybe_not(False, a.at, lambda get: compared(sign, a.value(get), b.value(get)))

    def _check_order(self, sign: str, *parts: Part) -> None:
        """Refuse what is in no order: booleans, and if *strict* texts, too (ActiveMQ's "cannot be compared").

        Other brokers take texts, and select nothing by them (`peer_cases`, sel-0512).
        """
        for part in parts:
            if isinstance(part.constant, bool) or (self.strict and isinstance(part.constant, str)):
                what = "booleans" if isinstance(part.constant, bool) else "texts"
                raise _Refused(part.at, f"{what} cannot be ordered with {sign}")

    def arithmetic(self, kids: Kids) -> Part:
        a, sign, b = kids
        text = str(sign)
        return Part(lambda get: arithmetic(text, a.value(get), b.value(get)), "number", a.at)

    def sign(self, kids: Kids) -> Part:
        sign, a = kids
        factor = -1 if sign == "-" else 1
        return Part(lambda get: arithmetic("*", a.value(get), factor), a.type, sign.start_pos)

    def is_null(self, kids: Kids) -> Part:
        negated, (a,) = _taken_out(kids)
        return _maybe_not(negated, a.at, lambda get: a.value(get) is None)

    def between(self, kids: list[object]) -> Part:
        negated, (x, low, high) = _taken_out(kids)
        self._check_order("BETWEEN", x, low, high)
        compared = self.compared

        def within(get: Getter) -> bool | None:
            value = x.value(get)
            return both([compared(">=", value, low.value(get)), compared("<=", value, high.value(get))])

        return _maybe_not(negated, x.at, within)

    def members(self, kids: Kids) -> list[Part]:
        return kids

    def among(self, kids: list[object]) -> Part:
        negated, (x, members) = _taken_out(kids)

        def among(get: Getter) -> bool | None:
            value = x.value(get)
            return either([compare("=", value, member.value(get)) for member in members])

        return _maybe_not(negated, x.at, among)

    def like(self, kids: list[object]) -> Part:
        negated, (x, wanted, escape) = _taken_out(kids)
        if escape is not None and len(_unquote(escape)) != 1:
            raise _Refused(escape.start_pos, f"ESCAPE takes one character, not {escape}")
        known = pattern(_unquote(wanted), _unquote(escape) if escape else None)

        def alike(get: Getter) -> bool | None:
            value = x.value(get)
            return None if value is None else isinstance(value, str) and bool(known.match(value))

        return _maybe_not(negated, x.at, alike)


class _OfOpenMQ(_Build):
    """The same of OpenMQ: conditions are true or false more often, and fail over a value of another type.

    IN, LIKE and BETWEEN are false of what is missing, NOT BETWEEN is true. There are no functions, and no `%`
    (`Selector.match`, `Selector.tokenize` of 6.5.0; OpenMQ rule 1.13).
    """

    def start(self, kids: Kids) -> Part:
        part = super().start(kids)

        def value(get: Getter) -> object:
            if not isinstance(found := kids[0].value(get), bool) and found is not None:
                raise OtherType  # a name alone, whose property is no truth value
            return found

        return Part(value, part.type, part.at)

    def call(self, kids: Kids) -> Part:
        raise _Refused(kids[0].start_pos, "OpenMQ has no functions")

    def arithmetic(self, kids: Kids) -> Part:
        a, sign, b = kids
        text = str(sign)
        if text == "%":
            raise _Refused(sign.start_pos, "OpenMQ has no %")

        def value(get: Getter) -> object:
            one, other = a.value(get), b.value(get)
            reckoned(one, other)
            whole = text == "/" and other and isinstance(one, int) and isinstance(other, int)
            return int(one / other) if whole else arithmetic(text, one, other)

        return Part(value, "number", a.at)

    def between(self, kids: Kids) -> Part:
        part = super().between(_taken_out(kids)[1])
        return _maybe_not(_taken_out(kids)[0], part.at, lambda get: part.value(get) is True)

    def among(self, kids: Kids) -> Part:
        return self._of_text(super().among(kids), _taken_out(kids)[1][0])

    def like(self, kids: Kids) -> Part:
        return self._of_text(super().like(kids), _taken_out(kids)[1][0])

    def _of_text(self, part: Part, asked: Part) -> Part:
        def value(get: Getter) -> bool:
            found = asked.value(get)
            if not (found is None or isinstance(found, str)):
                raise OtherType
            return found is not None and part.value(get) is True

        return Part(value, "condition", part.at)
