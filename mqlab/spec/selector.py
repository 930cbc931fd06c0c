"""Message selectors: the SQL-92 subset of JMS with ActiveMQ's functions, read by a lark grammar.

Three-valued: a missing property is unknown, an unknown condition selects nothing
(ActiveMQ rule 27.8). What the operators mean is in `condition`.
"""

from __future__ import annotations

from collections.abc import Mapping

from mqlab.errors import SelectorError, UnknownName, shown

# In 5.5 a missing property is unlike anything (<>); for OpenMQ see its rule 1.13.
DIALECTS = ("activemq", "activemq-5.5", "openmq")


class Selector:
    """A compiled selector; an empty one selects everything. Raises `SelectorError`.

    A *strict* one may not order texts, which ActiveMQ's parser refuses when a consumer opens.

    >>> Selector("region = 'us' AND price > 3").selects({}, {"region": "us", "price": 4})
    True
    >>> [Selector("region <> 'us'", dialect).selects({}, {}) for dialect in DIALECTS]
    [False, True, True]
    """

    def __init__(self, text: str, dialect: str = "activemq", *, strict: bool = False) -> None:
        if dialect not in DIALECTS:
            raise UnknownName.of("selector dialect", dialect, DIALECTS)
        if not isinstance(text, str):
            raise SelectorError(f'selector: {shown(text)} is not a string; use e.g. "n > 3"')
        self.text, self.dialect = text, dialect
        from mqlab.spec.selector_parser import compiled  # its grammar is only loaded when needed

        self.value = compiled(text, dialect, strict)

    def __repr__(self) -> str:
        return f"Selector({self.text!r})"

    def __deepcopy__(self, memo: dict[int, object]) -> Selector:
        return self  # nothing in it changes

    def __reduce__(self) -> tuple[type[Selector], tuple[str, str]]:
        return Selector, (self.text, self.dialect)

    def names(self) -> set[str]:
        """Return the properties and headers that it asks for.

        >>> sorted(Selector("region = 'us' AND price > 3").names())
        ['price', 'region']
        """
        asked: set[str] = set()
        self.value(asked.add)
        return asked

    def selects(self, headers: Mapping[str, object], properties: Mapping[str, object]) -> bool:
        """Whether a message with these headers and properties is selected."""

        def get(name: str) -> object:
            return properties[name] if name in properties else headers.get(name)

        return self.value(get) is True
