"""Reads the C headers and describes them as data.

The headers are the only source of the contract: declarations for cffi, the layout table, the golden
snapshot and the reference pages are all made from what this module returns. It understands the C that the
headers are written in (typedefs, structs, enums, constants, and the bracket rules behind function slots)
and refuses anything else, so that a declaration can not be overlooked. Used when generating and testing,
never at run time; it knows nothing of files that are generated from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HEADERS = Path(__file__).resolve().parent.parent / "include" / "device_api"

# Made from this description, or a list of the other headers.
DERIVED = ("layout.h", "device_api.h")
# Attribute structs, made from the op set.
OPS = "ops.h"


class HeaderError(ValueError):
    """A header holds something that this module does not understand, or a rule is missing."""


@dataclass(frozen=True)
class Rules:
    """The bracket rules of one function slot."""

    mandatory: bool
    thread: str  # "thread-safe" or "sync: X"
    order: str
    owner: str
    zero: str


@dataclass(frozen=True)
class Field:
    """One member of a struct; `function` is true for function pointers, `rules` is set where they have
    rules.
    """

    name: str
    declaration: str
    doc: str
    function: bool = False
    rules: Rules | None = None


@dataclass(frozen=True)
class Struct:
    """A struct with its members in order. `growable`: it opens with `struct_size`, so it may be appended
    to.
    """

    name: str
    header: str
    doc: str
    fields: tuple[Field, ...]

    @property
    def growable(self) -> bool:
        return bool(self.fields) and self.fields[0].name == "struct_size"


@dataclass(frozen=True)
class Enum:
    name: str
    header: str
    doc: str
    values: tuple[tuple[str, int, str], ...]  # name, number, comment


@dataclass(frozen=True)
class Interface:
    """An interface table: "memory" -> id "device_api.memory", struct "da_memory_interface"."""

    name: str
    id: str
    version: int
    struct: str
    header: str


@dataclass
class Contract:
    """All headers as data, in the order of declaration."""

    version: tuple[int, int] = (0, 0)
    handles: list[str] = field(default_factory=list)
    functions: dict[str, str] = field(default_factory=dict)  # function typedef -> declaration
    structs: dict[str, Struct] = field(default_factory=dict)
    enums: dict[str, Enum] = field(default_factory=dict)
    constants: dict[str, int | str] = field(default_factory=dict)
    interfaces: dict[str, Interface] = field(default_factory=dict)
    declarations: list[str] = field(default_factory=list)  # C text without comments, ready for cffi

    def slots(self, struct: str) -> tuple[Field, ...]:
        """The function slots of a struct that carry rules."""
        return tuple(item for item in self.structs[struct].fields if item.rules is not None)


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    line: int


_TOKEN = re.compile(
    r"""(?P<comment>/\*.*?\*/)|(?P<directive>^[ \t]*\#(?:\\\n|[^\n])*)|(?P<string>"(?:\\.|[^"\\])*")"""
    r"""|(?P<assertion>^DA_\w*ASSERT\([^;]*;)|(?P<word>[A-Za-z_]\w*)|(?P<number>\d\w*)"""
    r"""|(?P<mark>[{}()\[\];,*=&|<>~+\-])|(?P<space>\s+)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_RULE = re.compile(r"\[(mandatory|optional|thread-safe|(?:sync|order|owner|zero): [^\]]*)\]")
_DEFINE = re.compile(r"\s*#\s*define\s+(\w+)(\(?)(.*)", re.DOTALL)
_NUMBER = re.compile(r"(?:UINT64_C\((\w+)\)|(\d\w*))(?:\s*<<\s*(\d+))?$")


def describe(folder: Path = HEADERS) -> Contract:
    """Reads every header of `folder` in the order in which they include each other."""
    contract = Contract()
    seen: set[str] = set()

    def visit(name: str) -> None:
        if name in seen or name in DERIVED:
            return
        seen.add(name)
        path = folder / name
        text = path.read_text(encoding="utf-8")
        for included in re.findall(r'#include "device_api/(\w+\.h)"', text):
            visit(included)
        _Reader(name, text, contract).read()

    for path in sorted(folder.glob("*.h")):
        visit(path.name)
    major, minor = contract.constants.get("DA_ABI_MAJOR"), contract.constants.get("DA_ABI_MINOR")
    if not isinstance(major, int) or not isinstance(minor, int):
        raise HeaderError(f"{folder}: DA_ABI_MAJOR and DA_ABI_MINOR are not defined")
    contract.version = (major, minor)
    _find_interfaces(contract)
    return contract


def _find_interfaces(contract: Contract) -> None:
    for constant, value in contract.constants.items():
        match = re.fullmatch(r"DA_(\w+)_INTERFACE", constant)
        if match is None or not isinstance(value, str):
            continue
        name = match[1].lower()
        struct = contract.structs.get(f"da_{name}_interface")
        version = contract.constants.get(f"{constant}_VERSION")
        if struct is None or not isinstance(version, int):
            raise HeaderError(f"{constant}: an interface needs da_{name}_interface and {constant}_VERSION")
        contract.interfaces[name] = Interface(name, value, version, struct.name, struct.header)


class _Reader:
    """Reads one header into a contract."""

    def __init__(self, header: str, text: str, contract: Contract) -> None:
        self._header = header
        self._contract = contract
        self._tokens = list(self._scan(text))
        self._at = 0

    def _scan(self, text: str) -> Iterator[_Token]:
        at, line = 0, 1
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise HeaderError(f"{self._header}:{line}: cannot read {text[at : at + 20]!r}")
            assert match.lastgroup is not None
            if match.lastgroup not in ("space", "assertion"):
                yield _Token(match.lastgroup, match[0], line)
            line += match[0].count("\n")
            at = match.end()

    def read(self) -> None:
        doc = ""
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token.kind == "comment":
                doc = _prose(token.text)
                self._at += 1
                continue
            if token.kind == "directive":
                self._define(token)
                self._at += 1
            elif token.text == "typedef":
                self._typedef(doc)
            elif token.text == "enum":
                self._enum(doc)
            else:
                self._fail(token, f"unexpected {token.text!r}")
            doc = ""

    def _fail(self, token: _Token, why: str) -> None:
        raise HeaderError(f"{self._header}:{token.line}: {why}")

    def _define(self, token: _Token) -> None:
        match = _DEFINE.match(token.text)
        if match is None or match[2]:
            return
        value = re.sub(r"/\*.*?\*/", "", match[3]).strip()
        if value.startswith('"') and value.endswith('"'):
            self._contract.constants[match[1]] = value[1:-1]
        elif value == "UINT64_MAX":
            self._contract.constants[match[1]] = 2**64 - 1
        elif number := _NUMBER.match(value[1:-1] if value.startswith("(") else value):
            self._contract.constants[match[1]] = int(number[1] or number[2], 0) << int(number[3] or 0)

    def _until(self, end: str) -> list[_Token]:
        """Tokens up to `end` at depth 0; `end` itself is consumed."""
        taken: list[_Token] = []
        depth = 0
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            self._at += 1
            if depth == 0 and token.text == end:
                return taken
            depth += {"{": 1, "(": 1, "[": 1, "}": -1, ")": -1, "]": -1}.get(token.text, 0)
            taken.append(token)
        raise HeaderError(f"{self._header}: missing {end!r} at the end")

    def _typedef(self, doc: str) -> None:
        tokens = self._until(";")
        code = [token for token in tokens if token.kind != "comment"]
        if code[1].text == "struct" and code[3].text == "{":
            self._struct(doc, tokens)
        elif code[1].text == "struct" and len(code) == 4:
            self._contract.handles.append(code[2].text)
            self._contract.declarations.append(self._text(code) + ";")
        else:
            name = _function_name(code)
            if name is None:
                self._fail(tokens[0], "a typedef must be a struct, an opaque handle or a function pointer")
                return
            self._contract.functions[name] = self._text(code)
            self._contract.declarations.append(self._text(code) + ";")

    def _struct(self, doc: str, tokens: list[_Token]) -> None:
        code = [token for token in tokens if token.kind != "comment"]
        name = code[2].text
        if code[-1].text != name:
            self._fail(code[-1], f"struct {name} must be named {name}")
        start = next(i for i, token in enumerate(tokens) if token.text == "{") + 1
        end = max(i for i, token in enumerate(tokens) if token.text == "}")
        fields = tuple(self._fields(tokens[start:end]))
        self._contract.structs[name] = Struct(name, self._header, doc, fields)
        self._contract.declarations.append(self._text(code) + ";")

    def _fields(self, tokens: list[_Token]) -> Iterator[Field]:
        before = ""
        code: list[_Token] = []
        for i, token in enumerate(tokens):
            if token.kind == "comment":
                if not code and not (i and tokens[i - 1].line == token.line and tokens[i - 1].text == ";"):
                    before = _prose(token.text)
            elif token.text == ";" and _depth(code) == 0:
                after = tokens[i + 1] if i + 1 < len(tokens) else None
                trailing = after is not None and after.kind == "comment" and after.line == token.line
                yield self._field(code, _prose(after.text) if trailing and after is not None else before)
                before, code = "", []
            else:
                code.append(token)

    def _field(self, code: list[_Token], doc: str) -> Field:
        name = _function_name(code)
        function = name is not None
        if name is None:
            words = [token.text for token in code[: _index(code, "[")] if token.kind == "word"]
            name = words[-1]
            function = len(words) == 2 and words[0] in self._contract.functions
        rules = None
        marks = _RULE.findall(doc)
        if marks:
            if not function:
                self._fail(code[0], f"{name} has rules but is not a function")
            rules = self._rules(code[0], name, marks)
            doc = _RULE.sub("", doc).strip()
        return Field(name, self._text(code), re.sub(r"\s+", " ", doc), function, rules)

    def _rules(self, token: _Token, name: str, marks: list[str]) -> Rules:
        thread = [mark for mark in marks if mark == "thread-safe" or mark.startswith("sync: ")]
        need = [mark for mark in marks if mark in ("mandatory", "optional")]
        pairs = dict(mark.split(": ", 1) for mark in marks if ": " in mark)
        if (
            len(marks) != 5
            or len(thread) != 1
            or len(need) != 1
            or not {"order", "owner", "zero"} <= pairs.keys()
        ):
            self._fail(
                token, f"{name} needs [mandatory|optional], a thread rule, [order], [owner] and [zero]"
            )
        return Rules(need[0] == "mandatory", thread[0], pairs["order"], pairs["owner"], pairs["zero"])

    def _enum(self, doc: str) -> None:
        tokens = self._until(";")
        code = [token for token in tokens if token.kind != "comment"]
        name, values, number = code[1].text, [], -1
        body = tokens[_index(tokens, "{") + 1 : _index(tokens, "}")]
        for i, token in enumerate(body):
            if token.kind != "word":
                continue
            plain = [item for item in body[i:] if item.kind != "comment"]
            if len(plain) < 3 or plain[1].text != "=":
                self._fail(token, f"{token.text} needs an explicit value")
            number = int(plain[2].text, 0)
            rest = body[body.index(plain[2]) + 1 :]
            comment = next((t for t in rest if t.kind != "mark"), None)
            text = _prose(comment.text) if comment is not None and comment.kind == "comment" else ""
            values.append((token.text, number, text))
        self._contract.enums[name] = Enum(name, self._header, doc, tuple(values))
        self._contract.declarations.append(self._text(code) + ";")

    def _text(self, code: list[_Token]) -> str:
        """C text of tokens, with integer constants replaced by their numbers."""
        words = []
        for token in code:
            value = self._contract.constants.get(token.text) if token.kind == "word" else None
            words.append(str(value) if isinstance(value, int) else token.text)
        text = re.sub(r"([(*\[])\s+", r"\1", " ".join(words))
        return re.sub(r"\s+([,;)\]\[])", r"\1", text).replace(") (", ")(")


def _prose(comment: str) -> str:
    """The words of a comment on one line."""
    lines = comment[2:-2].splitlines()
    return " ".join(line.strip().lstrip("*").strip() for line in lines).strip()


def _depth(code: list[_Token]) -> int:
    return sum({"(": 1, "{": 1, ")": -1, "}": -1}.get(token.text, 0) for token in code)


def _index(code: list[_Token], mark: str) -> int:
    """Position of the first `mark`, or the length when there is none."""
    return next((i for i, token in enumerate(code) if token.text == mark), len(code))


def _function_name(code: list[_Token]) -> str | None:
    """The name in `result (*name)(...)`; None when the declaration is no function pointer."""
    at = _index(code, "(")
    if at + 2 < len(code) and code[at + 1].text == "*" and code[at + 2].kind == "word":
        return code[at + 2].text
    return None
