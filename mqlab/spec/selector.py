"""Message selectors: the SQL-92 subset of JMS, read by a lark grammar.

Three-valued: a missing property is unknown, an unknown condition selects nothing
(reference/activemq-dispatch.md, section 14). Strings are not numbers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from lark import Lark, Token, Transformer, exceptions

from mqlab.errors import SelectorError, UnknownName

GRAMMAR = r"""
?start: or_
?or_: and_ ("OR"i and_)*
?and_: not_ ("AND"i not_)*
?not_: "NOT"i not_ -> negation | test
?test: sum
    | sum COMPARE sum -> compare
    | sum "IS"i "NULL"i -> is_null
    | sum "IS"i "NOT"i "NULL"i -> is_not_null
    | sum "BETWEEN"i sum "AND"i sum -> between
    | sum "NOT"i "BETWEEN"i sum "AND"i sum -> not_between
    | sum "IN"i "(" texts ")" -> in_
    | sum "NOT"i "IN"i "(" texts ")" -> not_in
    | sum "LIKE"i STRING ["ESCAPE"i STRING] -> like
    | sum "NOT"i "LIKE"i STRING ["ESCAPE"i STRING] -> not_like
texts: STRING ("," STRING)*
?sum: product | sum PLUS product -> arithmetic
?product: unary | product TIMES unary -> arithmetic
?unary: PLUS unary -> sign | atom
?atom: "(" or_ ")" | STRING -> string | NUMBER -> number | BOOL -> boolean | NAME -> name
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

DIALECTS = ("activemq", "activemq-5.5")  # in 5.5 a missing property is unlike anything (<>)

Getter = Callable[[str], Any]
Node = Callable[[Getter], Any]


class Selector:
    """A compiled selector.

    >>> Selector("region = 'us' AND price > 3").selects({}, {"region": "us", "price": 4})
    True
    """

    def __init__(self, text: str, dialect: str = "activemq") -> None:
        if dialect not in DIALECTS:
            raise UnknownName.of("selector dialect", dialect, DIALECTS)
        self.text, self.dialect = text, dialect
        self.node = _compile(text, dialect)

    def __repr__(self) -> str:
        return f"Selector({self.text!r})"

    def __deepcopy__(self, memo: dict[int, Any]) -> Selector:
        return self  # nothing in it changes

    def __reduce__(self) -> tuple[type[Selector], tuple[str, str]]:
        return Selector, (self.text, self.dialect)

    def selects(self, headers: Mapping[str, Any], properties: Mapping[str, Any]) -> bool:
        """Whether a message with these headers and properties is selected."""

        def get(name: str) -> Any:
            return properties[name] if name in properties else headers.get(name)

        return self.node(get) is True


@lru_cache(maxsize=len(DIALECTS))
def _parser(dialect: str) -> Lark:
    return Lark(GRAMMAR, parser="lalr", transformer=_Build(dialect))


@lru_cache(maxsize=1024)
def _compile(text: str, dialect: str) -> Node:
    try:
        node: Node = _parser(dialect).parse(text)  # type: ignore[assignment]
    except exceptions.UnexpectedInput as error:
        place = getattr(error, "column", 1)
        place = place - 1 if isinstance(place, int) and place > 0 else len(text)
        raise SelectorError(f"selector does not parse here:\n  {text}\n  {' ' * place}^") from None
    except exceptions.VisitError as error:
        raise SelectorError(f"selector {text!r}: {error.orig_exc}") from None
    return node


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _compare(sign: str, a: Any, b: Any) -> bool | None:
    if a is None or b is None:
        return None
    alike = (_number(a) and _number(b)) or type(a) is type(b)
    if sign in ("=", "<>"):
        return (alike and a == b) == (sign == "=") if alike else False
    if not (_number(a) and _number(b)):
        return False
    return bool({"<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b}[sign])


def _not(value: Any) -> bool | None:
    return (not value) if isinstance(value, bool) else None


def _arithmetic(sign: str, a: Any, b: Any) -> Any:
    if not (_number(a) and _number(b)):
        return None
    if sign in "/%" and b == 0:
        return None
    if sign == "/" and isinstance(a, int) and isinstance(b, int):
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return {"+": a + b, "-": a - b, "*": a * b, "/": b and a / b, "%": b and a % b}[sign]


def _unquote(token: Token) -> str:
    return str(token)[1:-1].replace("''", "'")


def _pattern(text: str, escape: str | None) -> re.Pattern[str]:
    parts, escaped = [], False
    for char in text:
        if escaped or (char not in "%_" and char != escape):
            parts.append(re.escape(char))
            escaped = False
        elif char == escape:
            escaped = True
        else:
            parts.append(".*" if char == "%" else ".")
    return re.compile("".join(parts) + r"\Z", re.DOTALL)


class _Build(Transformer):  # type: ignore[type-arg]
    """Turns each piece of the grammar into a function of the message."""

    def __init__(self, dialect: str) -> None:
        super().__init__()
        self.missing_differs = dialect == "activemq-5.5"

    def string(self, kids: list[Any]) -> Node:
        value = _unquote(kids[0])
        return lambda get: value

    def number(self, kids: list[Any]) -> Node:
        text = str(kids[0]).lower()
        if text.startswith("0x"):
            value: float = int(text.rstrip("l"), 16)
        elif set(text) & set(".ed"):
            value = float(text.rstrip("dfl"))
        else:
            digits = text.rstrip("dfl")
            octal = len(digits) > 1 and digits[0] == "0" and not set(digits) - set("01234567")
            value = float(digits) if text[-1] in "df" else int(digits, 8 if octal else 10)
        return lambda get: value

    def boolean(self, kids: list[Any]) -> Node:
        value = kids[0].lower() == "true"
        return lambda get: value

    def name(self, kids: list[Any]) -> Node:
        name = str(kids[0])
        return lambda get: get(name)

    def or_(self, kids: list[Any]) -> Node:
        def any_of(get: Getter) -> bool | None:
            values = [kid(get) for kid in kids]
            return True if True in values else None if None in values else False

        return any_of

    def and_(self, kids: list[Any]) -> Node:
        def all_of(get: Getter) -> bool | None:
            values = [kid(get) for kid in kids]
            return False if False in values else None if None in values else True

        return all_of

    def negation(self, kids: list[Any]) -> Node:
        return lambda get: _not(kids[0](get))

    def compare(self, kids: list[Any]) -> Node:
        a, sign, b = kids
        if sign == "<>" and self.missing_differs:
            return lambda get: _compare("<>", a(get), b(get)) is not False
        return lambda get: _compare(str(sign), a(get), b(get))

    def arithmetic(self, kids: list[Any]) -> Node:
        a, sign, b = kids
        return lambda get: _arithmetic(str(sign), a(get), b(get))

    def sign(self, kids: list[Any]) -> Node:
        sign, a = kids
        return lambda get: _arithmetic("*", a(get), -1 if sign == "-" else 1)

    def is_null(self, kids: list[Any]) -> Node:
        return lambda get: kids[0](get) is None

    def is_not_null(self, kids: list[Any]) -> Node:
        return lambda get: kids[0](get) is not None

    def between(self, kids: list[Any]) -> Node:
        x, low, high = kids

        def within(get: Getter) -> bool | None:
            both = (_compare(">=", x(get), low(get)), _compare("<=", x(get), high(get)))
            return False if False in both else None if None in both else True

        return within

    def not_between(self, kids: list[Any]) -> Node:
        inside = self.between(kids)
        return lambda get: _not(inside(get))

    def texts(self, kids: list[Any]) -> set[str]:
        return {_unquote(kid) for kid in kids}

    def in_(self, kids: list[Any]) -> Node:
        x, known = kids

        def among(get: Getter) -> bool | None:
            value = x(get)
            return None if value is None else value in known

        return among

    def not_in(self, kids: list[Any]) -> Node:
        among = self.in_(kids)
        return lambda get: _not(among(get))

    def like(self, kids: list[Any]) -> Node:
        x, wanted, escape = kids
        pattern = _pattern(_unquote(wanted), _unquote(escape) if escape else None)

        def alike(get: Getter) -> bool | None:
            value = x(get)
            return None if value is None else isinstance(value, str) and bool(pattern.match(value))

        return alike

    def not_like(self, kids: list[Any]) -> Node:
        alike = self.like(kids)
        return lambda get: _not(alike(get))
