"""All sentences that mqlab shows to a person, each with where it stands, and what is wrong with one.

``python -m tests.sentences [--counts | --pattern NAME | --draw N --seed S] [--under PATH]``

Without an option it prints every sentence. Placeholders are shown in braces, as the source writes them.
What a pattern may still find is in `sentences.toml`; `test_sentences.py` holds that it only becomes less.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import inspect
import json
import random
import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mqlab.reference.glossary import glossary

ROOT = Path(__file__).parents[1]
LIMITS = ROOT / "tests" / "sentences.toml"
LONGEST = 30  # words of a sentence
DOCUMENTS = ("README.md", "CHANGELOG.md", "binder/README.md")
# Values of these keys are no prose: code, names, patterns.
CODE_KEYS = {
    "code",
    "cell",
    "solution",
    "setup",
    "id",
    "name",
    "kind",
    "source",
    "instead_of",
    "test",
    "checks",
    "of",
}
_WORD = re.compile(r"[A-Za-z][\w'-]*")
_FENCE = re.compile(r"```.*?```", re.DOTALL)
_DOCTEST = re.compile(r"^[ \t]*>>>.*?(?:\n[ \t]*\n|\Z)", re.MULTILINE | re.DOTALL)
_END = re.compile(
    r"(?<!e\.g\.)(?<!i\.e\.)(?:(?<=[.?!])|(?<=[.?!][\"')*])|(?<=[.?!]\*\*))\s+(?=[A-Z\d\"'`({*]|[a-z]+\d|mqlab\b)"
    r"|\n\s*\n|\n(?=\s*(?:[-*|#]|\d+\.) )"
)
_CODE = re.compile(r"\{[^{}]*\}|`[^`]*`|\S*[/\\<>=]\S*")
_HTML_OR_STYLE = re.compile(r"</?\w+[^>]*>|[{};]\s*\n|:\s*\S+;|^\s*[.#@]\w|(?m:^\s*\??\w+: .*->)")


@dataclass(frozen=True)
class Sentence:
    """A text, and the file and line where it begins."""

    file: str
    line: int
    text: str
    kind: str  # text, docstring, table, document, notebook, script

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


def sentences(under: str = "", suffix: str = "") -> Iterator[Sentence]:
    """Yield each sentence below a path of the repository, all without one; of files that end so."""
    for path in sorted(_files()):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(under) and name.endswith(suffix):
            yield from _of(path, name)


def _files() -> Iterator[Path]:
    for pattern in ("*.py", "*.toml", "*.js", "*.json", "*.md"):
        yield from (ROOT / "mqlab").rglob(pattern)
    yield from (ROOT / "notebooks").rglob("*.ipynb")
    yield from (path for path in map(ROOT.joinpath, DOCUMENTS) if path.exists())


@cache
def _of(path: Path, name: str) -> tuple[Sentence, ...]:
    if "/zh/" in name or ".zh." in name or name.endswith("jsconfig.json"):
        return ()
    text = path.read_text(encoding="utf-8")
    read = {
        ".py": _python,
        ".toml": _toml,
        ".js": _script,
        ".json": _json,
        ".md": _markdown,
        ".ipynb": _notebook,
    }
    return tuple(
        Sentence(name, line, sentence, kind)
        for line, kind, found in read[path.suffix](text)
        for sentence in split(found)
    )


def split(text: str) -> Iterator[str]:
    """Yield the sentences of a text: at least two words of prose each."""
    for part in _END.split(text):
        sentence = re.sub(r"\s*\n\s*", " ", part.strip())
        if len(_WORD.findall(_CODE.sub(" ", sentence))) >= 2:
            yield sentence


# --- Where texts are


def _python(text: str) -> Iterator[tuple[int, str, str]]:
    nodes = [*ast.walk(ast.parse(text))]
    docs, inside = set(), set()
    for node in nodes:
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            doc = node.body[0] if node.body else None
            if (
                isinstance(doc, ast.Expr)
                and isinstance(doc.value, ast.Constant)
                and isinstance(doc.value.value, str)
            ):
                docs.add(id(doc.value))
                if inspect.cleandoc(doc.value.value) in public():
                    shown = _DOCTEST.sub("\n", _FENCE.sub("\n", doc.value.value))
                    yield doc.lineno, "docstring", re.sub(r"(?m)^.*\S {2,}\S.*$", "", shown)  # no columns
        elif isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Call) and _called(node) in NOT_PROSE):
            inside |= {id(part) for part in ast.walk(node) if part is not node}
    for node in nodes:
        if id(node) in docs or id(node) in inside:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = node.value
        elif isinstance(node, ast.JoinedStr):
            found = "".join(map(_part, node.values))
        else:
            continue
        if is_prose(found):
            yield node.lineno, "text", found


@cache
def public() -> frozenset[str]:
    """Return the docstrings of all public names: what `mqlab` and its modules list, and their members."""
    found, left = set[str](), [importlib.import_module("mqlab")]
    seen = set[int]()
    while left:
        one = left.pop()
        if id(one) in seen or not getattr(one, "__module__", getattr(one, "__name__", "")).startswith("mqlab"):
            continue
        seen.add(id(one))
        found.add(inspect.getdoc(one) or "")
        if inspect.ismodule(one):
            left += [getattr(one, name) for name in getattr(one, "__all__", ())]
        elif inspect.isclass(one):
            own = (value for name, value in vars(one).items() if not name.startswith("_"))
            left += [getattr(value, "fget", None) or getattr(value, "__func__", value) for value in own]
    return frozenset(filter(None, found))


NOT_PROSE = {
    "compile",
    "sub",
    "match",
    "fullmatch",
    "search",
    "CustomJS",
    "TypeVar",
    "namedtuple",
    "setattr",
    "getattr",
}


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _part(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    assert isinstance(node, ast.FormattedValue)
    return "{" + re.sub(r"[{}]", "", ast.unparse(node.value)) + "}"


def is_prose(text: str) -> bool:
    """Whether a string reads as words: no style sheet, markup, pattern, path or list of names."""
    bare = re.sub(r"\{[^{}]*\}", " x ", text)
    words = re.findall(r"(?<![\w/.:=<-])[A-Za-z][a-z'-]+(?![\w/=(<>-])", bare)
    if re.match(r"\s*(?:select|with \w+ as|java\.|AMQ\d)", text):  # SQL, or an error as a product has it
        return False
    if len(words) < 2 or _HTML_OR_STYLE.search(bare) or " " not in text.strip():
        return False
    return any(word.lower() in COMMON for word in words)


# Words of which a sentence has at least one; a list of names of columns has none.
COMMON = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "by",
        "can",
        "cannot",
        "do",
        "does",
        "for",
        "from",
        "has",
        "have",
        "if",
        "in",
        "is",
        "it",
        "its",
        "may",
        "more",
        "must",
        "no",
        "not",
        "of",
        "on",
        "one",
        "only",
        "or",
        "other",
        "that",
        "the",
        "their",
        "them",
        "there",
        "they",
        "this",
        "to",
        "use",
        "was",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "why",
        "will",
        "with",
        "without",
        "write",
        "set",
        "add",
        "remove",
    ]
)


def _toml(text: str) -> Iterator[tuple[int, str, str]]:
    lines = text.splitlines()
    for key, value in _values(tomllib.loads(text)):
        if key not in CODE_KEYS and is_prose(value):
            first = value.strip().splitlines()[0][:40]
            line = next((no for no, one in enumerate(lines, 1) if first in one), 1)
            for form in value.split(" | "):  # singular and plural
                yield line, "table", _FENCE.sub("\n", form)


def _values(node: object, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(node, str):
        yield key, node
    elif isinstance(node, dict):
        for name, value in node.items():
            if name != "zh":
                yield from _values(value, name)
    elif isinstance(node, list):
        for value in node:
            yield from _values(value, key)


JSON_KEYS = {"title", "question", "answer", "real", "guide_says", "note", "text", "says", "about"}


def _json(text: str) -> Iterator[tuple[int, str, str]]:
    for key, value in _values(json.loads(text)):
        if key in JSON_KEYS and is_prose(value):
            place = text.find(json.dumps(value, ensure_ascii=False)[1:40])
            yield text.count("\n", 0, max(place, 0)) + 1, "table", value


_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`')


def _script(text: str) -> Iterator[tuple[int, str, str]]:
    bare = re.sub(r"(?<!:)//.*|/\*.*?\*/", lambda m: " " * len(m[0]), text)
    for found in _STRING.finditer(bare):
        value = found[0][1:-1]
        while (bare_value := re.sub(r"\$\{[^{}]*\}", "_", value)) != value:
            value = bare_value
        if "${" not in value and "import " not in value and len(_WORD.findall(value)) > 2 and is_prose(value):
            yield text.count("\n", 0, found.start()) + 1, "script", value


_ALT = re.compile(r"</?[a-z][^<>]*?(?:alt=\"([^\"]*)\"[^<>]*)?>")  # of an image its description is read


def _markdown(text: str) -> Iterator[tuple[int, str, str]]:
    bare = _FENCE.sub(lambda m: "\n" * m[0].count("\n"), text)
    line, paragraph = 1, list[str]()
    for no, one in enumerate([*bare.splitlines(), ""], 1):
        if one.startswith("|"):
            for cell in one.strip("|").split("|"):
                yield no, "document", cell.strip()
        elif one.strip() and not re.match(r"\s*([-*#]|\d+\.) ", one):
            line = line if paragraph else no
            paragraph.append(_ALT.sub(r"\1", one.strip()))
            continue
        if paragraph:
            yield line, "document", " ".join(paragraph)
            paragraph = []
        if one.strip() and not one.startswith("|"):
            paragraph, line = [one.strip().lstrip("#*- ")], no


def _notebook(text: str) -> Iterator[tuple[int, str, str]]:
    for no, cell in enumerate(json.loads(text)["cells"], 1):
        if cell["cell_type"] == "markdown":
            yield from ((no, "notebook", found) for _, _, found in _markdown("".join(cell["source"])))


# --- What is wrong with one


def _plain(text: str) -> str:
    """Return a sentence without code, placeholders and quoted names."""
    return re.sub(r"`[^`]*`|\{[^{}]*\}|'[^' ]+'", "x", text)


@cache
def _banned() -> re.Pattern[str]:
    words = sorted((w for one in glossary() for w in one.instead_of), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, words))})\b", re.IGNORECASE)


_IS_NO = re.compile(
    r"(?<![Tt]here )\b(?:is|are|was|were) no (?!longer\b|more\b|less\b|fewer\b|later\b|earlier\b)[a-z]"
)
_DOUBLE = re.compile(
    r"\b(?:not|never|no|nothing|cannot|none)\b(?! only)(?:[\s]+(?!and\b|or\b|but\b)[\w'-]+){0,5}?\s+"
    r"(?:not|never|nothing|none|without|unless)\b",
    re.IGNORECASE,
)
NOUNS = "|".join(
    [
        "messages",
        "events",
        "brokers",
        "consumers",
        "producers",
        "connectors",
        "clients",
        "runs",
        "outcomes",
        "steps",
        "files",
        "lines",
        "columns",
        "hops",
        "copies",
        "options",
        "problems",
        "changes",
        "places",
        "attempts",
        "bytes",
        "minutes",
        "seconds",
        "votes",
        "levels",
        "values",
        "texts",
    ]
)
_PLURAL = re.compile(
    rf"\{{(?!counted|\d|[A-Z_]+\}})[^{{}}]*\}} (?:more |such )*(?:{NOUNS})\b|\b1 (?:{NOUNS})\b"
)
_UNITS = re.compile(
    r"\b(?:msecs?|millisecs?|secs|usecs?|kilobytes?|megabytes?|kbytes?)\b|\b\d+(?:KB|kB|MB|GB)\b"
)
_INTERNAL = re.compile(r"(?<![\w`'\"./-])_[a-z]\w+|\bmqlab(?:\.\w+)*\._\w+")


@cache
def _recordings() -> frozenset[str]:
    found = (ROOT / "mqlab").rglob("recordings/**/*.json")
    return frozenset(path.stem for path in found if path.stem.count("_") > 1)


def _is_internal(text: str) -> bool:
    return bool(_INTERNAL.search(_plain(text))) or any(
        word in _recordings() for word in re.findall(r"\b[a-z]\w+_\w+\b", text)
    )


def _is_long(text: str) -> bool:
    return len(_WORD.findall(re.sub(r"\([^()]*\)", "", _plain(text)))) > LONGEST


def _is_ill_quoted(text: str) -> bool:
    bare = re.sub(r"\\.|\{[^{}]*\}", "", text)
    return (
        bool(re.search("[\u201c\u201d\u2018\u2019\u201e]", bare))
        or bare.count('"') % 2 == 1
        or bare.count("`") % 2 == 1
    )


PATTERNS: dict[str, Callable[[str], object]] = {
    "banned": lambda text: _banned().search(_plain(text)),
    "is-no": lambda text: _IS_NO.search(_plain(text)),
    "double-negation": lambda text: _DOUBLE.search(_plain(text)),
    "long": _is_long,
    "plural": _PLURAL.search,
    "unit": lambda text: _UNITS.search(_plain(text)),
    "internal": _is_internal,
    "spaces": lambda text: re.search(r"[^\s.:|]  +[^\s#|]", text),
    "quotes": _is_ill_quoted,
}


def wrong(pattern: str, under: str = "") -> list[Sentence]:
    """Return the sentences that a pattern finds; `script` finds every sentence that stands in a script."""
    if pattern == "script":
        return [*sentences(under, ".js")]
    return [one for one in sentences(under) if PATTERNS[pattern](one.text)]


NAMES = (*PATTERNS, "script")


def better(pattern: str, text: str) -> str:
    """Return what a sentence has and what the glossary has for it, such as ` (nobody: broker, client)`."""
    if pattern != "banned" or not (found := _banned().search(_plain(text))):
        return ""
    terms = (one.name for one in glossary() if found[0].lower() in map(str.lower, one.instead_of))
    return f" ({found[0]}: {next(terms)})"


def counts(under: str = "") -> dict[str, int]:
    """Return pattern -> how many sentences it finds."""
    return {name: len(wrong(name, under)) for name in NAMES}


def limits() -> dict[str, int]:
    """Return pattern -> how many sentences it may find; one that is not named may find none."""
    return tomllib.loads(LIMITS.read_text(encoding="utf-8"))


def main(arguments: list[str] | None = None) -> None:
    """Print what is asked for."""
    asked = argparse.ArgumentParser(prog="python -m tests.sentences", description=__doc__.splitlines()[0])
    asked.add_argument("--counts", action="store_true", help="how many sentences each pattern finds")
    asked.add_argument("--pattern", choices=NAMES, help="the sentences that a pattern finds")
    asked.add_argument("--draw", type=int, help="so many sentences, drawn at random")
    asked.add_argument("--seed", type=int, default=0, help="the seed of the draw")
    asked.add_argument("--under", default="", help="only below this path, such as mqlab/explain")
    given = asked.parse_args(arguments)
    found = wrong(given.pattern, given.under) if given.pattern else list(sentences(given.under))
    if given.counts:
        print(f"{len(found):6} sentences")
        print("\n".join(f"{count:6} {name}" for name, count in counts(given.under).items()))
        return
    if given.draw:
        found = random.Random(given.seed).sample(found, min(given.draw, len(found)))
    print("\n".join(map(str, found)))


if __name__ == "__main__":
    main()
