"""Mutants: which there are, the switch among them, what is reached, and a report that cannot be empty."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("tree_sitter_cpp", reason="the parser of C++ is in the extra device_api[kill]")

from conformance.kill.__main__ import main
from conformance.kill.faults import FaultReport
from conformance.kill.mutants import campaign, explained
from conformance.kill.mutants.build import build
from conformance.kill.mutants.execute import Listed, Reach
from conformance.kill.mutants.flags import BuildFailure, flags, kept
from conformance.kill.mutants.judging import order, thinned, within
from conformance.kill.mutants.library import Switch
from conformance.kill.mutants.page import markdown
from conformance.kill.mutants.parse import attribute_macros, parse
from conformance.kill.mutants.report import Explained, Judged, MutantReport
from conformance.kill.mutants.schemata import Mutant, places, sample, switched
from conformance.kill.mutants.scope import LEFT_OUT, NoSources, is_mutated
from conformance.verdict import EXIT_FAILED

ROOT = Path(__file__).parents[3]
HEADERS = ROOT / "device_api" / "include"


def mutants_of(text: str) -> list[Mutant]:
    source = parse("x.cpp", text.encode(), attribute_macros([text.encode()]))
    assert source.faults() == []
    return [mutant for place in places(source) for mutant in place.mutants]


def changes(text: str, operator: str) -> list[str]:
    """What an operator makes of a text."""
    return [each.after for each in mutants_of(text) if each.operator == operator]


@contextmanager
def silent(what: str, total: int) -> Iterator[Callable[[], None]]:
    yield lambda: None


# --- which mutants there are ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("statement", "operator", "expected"),
    [
        ("return a < b;", "relation", ["a <= b", "a >= b"]),
        ("return a != b;", "relation", ["a == b"]),
        ("return a * b;", "arithmetic", ["a / b"]),
        ("return a << b;", "bits", ["a >> b"]),
        ("return a && b;", "logic", ["a || b"]),
        ("return std::min(a, b);", "extreme", ["std::max(a, b)"]),
        ("return 7;", "constant", ["8", "6"]),
        ("return 0x10u;", "constant", ["17u", "15u"]),
        ("return 0;", "constant", ["1"]),
        ("return 2.5f;", "constant", ["2.5f + 1", "2.5f - 1"]),
        ("return -0x1p40;", "constant", ["-0x1p40 + 1", "-0x1p40 - 1"]),
        ("a += b;", "compound", ["a -= b"]),
        ("a = b;", "delete", [""]),
        ("++a;", "step", ["--a"]),
        ("if (f(a)) return b;", "condition", ["!(f(a))"]),
        ("return !a;", "negation", ["a"]),
    ],
)
def test_an_operator_changes_what_it_is_for(statement: str, operator: str, expected: list[str]) -> None:
    assert changes(f"int f(int a, int b) {{ {statement} }}", operator) == expected


@pytest.mark.parametrize(
    "text",
    [
        "constexpr int f(int a) { return a + 1; }",
        "int f() { constexpr int n = 3 + 4; return sizeof(int[n]); }",
        "const int table[] = {1, 2, 3};",
        "template <int n> struct S {}; S<3> f(S<4> x) { return S<3>{}; }",
        'int f(int a) { static_assert(sizeof(a) == 4, ""); return a; }',
        "template <class T> int f(T a) { if constexpr (sizeof(T) < 4) return a; else return a; }",
        'int f(int a) { throw Failure(3, "a" + std::to_string(a)); }',
        "struct P { virtual void run() const = 0; };",
        "struct Row { int n = 3; };\nconstexpr Row row() { return {}; }",
    ],
)
def test_what_only_the_compiler_reads_has_no_mutants(text: str) -> None:
    assert [mutant.key for mutant in mutants_of(text)] == []


def test_a_case_label_is_left_alone_and_its_statements_are_not() -> None:
    found = mutants_of("int f(int a) { switch (a) { case 1: return 5; default: return 9; } }")
    assert {mutant.before for mutant in found} == {"5", "9"}


def test_macros_that_stand_for_attributes_do_not_hide_a_function() -> None:
    macros = "#define FAST inline __attribute__((always_inline))\n#define GUARD\n"
    assert changes(macros + "FAST int f(int a) { return a + 1; }\n", "arithmetic") == ["a - 1"]


def test_a_key_names_the_function_and_counts_equal_changes() -> None:
    keys = [mutant.key for mutant in mutants_of("struct S { int f(int a) { return a ? 0 : 0; } };")]
    assert keys[-2:] == ["x.cpp S::f [constant] 0 -> 1", "x.cpp S::f [constant] 0 -> 1 #2"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for (int i = 0; i < a; ++i) { a += 7; }", "a += 7;"),
        ("for (int i = 0; i < 7; ++i) { a += i; }", "for (int i = 0; i < 7; ++i)"),
        ("if (a < 7) { return a; }", "if (a < 7)"),
        ("while (a > 7) --a;", "while (a > 7)"),
        ("const auto f = [&] { return a + 7; }; f();", "return a + 7;"),
        ("int b = // seven\n 7; a = b;", "int b = 7;"),
    ],
)
def test_a_mutant_knows_the_statement_around_it(body: str, expected: str) -> None:
    found = mutants_of(f"int f(int a) {{ {body} return a; }}")
    assert {each.within for each in found if each.before == "7"} == {expected}


def test_lines_above_a_mutant_change_neither_its_key_nor_its_rank_in_the_sample() -> None:
    plain = mutants_of("int f(int a) { return a + 1; }")
    moved = mutants_of("\n// more\nint g;\nint f(int a) { return a + 1; }")
    assert [(each.key, each.rank(3)) for each in plain] == [(each.key, each.rank(3)) for each in moved]


def test_a_larger_sample_holds_the_smaller_one_and_another_seed_gives_another() -> None:
    found = mutants_of("int f(int a, int b) { return a * 3 + b / 7 - (a < b) * 11; }")
    assert sample(found, 3, 0) == sample(found, 6, 0)[:3]
    assert sample(found, None, 0) != sample(found, None, 1)


def test_every_file_of_the_reference_plugin_is_understood() -> None:
    code = campaign.read_code(ROOT / "reference_cpu")
    assert [each.name for each in code.sources if each.name in code.places and each.faults()] == []
    assert {"matmul.cpp", "reduce.cpp", "elementwise.cpp", "types.hpp"} <= set(code.places)
    keys = [mutant.key for mutant in code.mutants]
    assert len(keys) == len(set(keys)) > 1000


def test_a_file_that_is_left_out_exists_and_a_new_file_is_in() -> None:
    names = [path.name for path in (ROOT / "reference_cpu").glob("*.?pp")]
    assert [glob for glob in LEFT_OUT if not any(Path(name).match(glob) for name in names)] == []
    assert is_mutated("convolution.cpp")
    assert is_mutated("deeper/pooling.hpp")
    assert not is_mutated("pool.cpp")


# --- the switch -------------------------------------------------------------------------------------------

SMALL = b"""extern "C" __attribute__((visibility("default"))) int at_least(int a, int b) {
  int made = 0;
  if (a >= b) made = a + b;
  return made;
}
"""


class Small:
    """A library of one function with all its mutants."""

    def __init__(self, folder: Path) -> None:
        source = parse("small.cpp", SMALL, frozenset())
        found = places(source)
        mutants = [mutant for place in found for mutant in place.mutants]
        self.numbers = {mutant.key: number for number, mutant in enumerate(mutants, 1)}
        texts = {source.name: switched(source, found, self.numbers)}
        built = build(lambda dropped: texts, len(mutants) + 1, HEADERS, folder, 1, {})
        self.switch = Switch(built.library)
        self._function = ctypes.CDLL(str(built.library)).at_least

    def number(self, change: str) -> int:
        return next(number for key, number in self.numbers.items() if key.endswith(change))

    def __call__(self, a: int, b: int, mutant: str = "") -> int:
        """What the function gives under the mutant whose key ends so."""
        self.switch.activate(self.number(mutant) if mutant else 0)
        try:
            return int(self._function(a, b))
        finally:
            self.switch.activate(0)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Small:
    return Small(tmp_path_factory.mktemp("mutants"))


def test_one_library_gives_the_original_and_each_mutant(small: Small) -> None:
    assert [small(5, 3), small(3, 3), small(2, 3)] == [8, 6, 0]
    assert small(3, 3, "a >= b -> a > b") == 0
    assert small(2, 3, "a >= b -> a < b") == 5
    assert small(5, 3, "a + b -> a - b") == 2
    assert small(5, 3, "[delete] made = a + b;") == 0
    assert small(2, 3, "[constant] 0 -> 1") == 1
    assert small(5, 3) == 8


def test_a_place_is_reached_when_it_is_executed_and_only_then(small: Small) -> None:
    sums = small.number("a + b -> a - b")
    small.switch.forget()
    small(2, 3)
    assert sums not in small.switch.reached()
    small(3, 3)
    assert sums in small.switch.reached()


def test_a_mutant_that_does_not_compile_costs_its_line_only(tmp_path: Path) -> None:
    text = b"""struct S { int v; };
bool operator<(S a, S b) { return a.v < b.v; }
bool f(S a, S b) { return a < b; }
int g(int a) { return a + 1; }
"""
    source = parse("s.cpp", text, frozenset())
    found = places(source)
    mutants = [mutant for place in found for mutant in place.mutants]

    def texts(dropped: frozenset[tuple[str, int]]) -> dict[str, bytes]:
        kept = {m.key: n for n, m in enumerate(mutants, 1) if (m.file, m.line) not in dropped}
        return {source.name: switched(source, found, kept)}

    assert build(texts, len(mutants) + 1, HEADERS, tmp_path, 1, {}).dropped == {("s.cpp", 3)}


def test_the_flags_are_those_of_the_project_s_build(tmp_path: Path) -> None:
    by_unit = flags(ROOT / "reference_cpu", tmp_path)
    assert {path.name for path in (ROOT / "reference_cpu").glob("*.cpp")} == set(by_unit)
    assert "-ffp-contract=off" in by_unit["reduce_sum.cpp"]
    assert by_unit["matmul.cpp"].index("-ffp-contract=fast") > by_unit["matmul.cpp"].index(
        "-ffp-contract=off"
    )


def test_a_source_that_the_build_does_not_name_is_told(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.24)\nproject(p CXX)\nadd_subdirectory(kernels)\n"
    )
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    (kernels / "CMakeLists.txt").write_text("add_library(k a.cpp)\n")
    for name in ("a.cpp", "b.cpp"):
        (kernels / name).write_text("int x;\n")
    with pytest.raises(BuildFailure, match=r"does not build b\.cpp"):
        flags(kernels, tmp_path / "work")


def test_flags_of_files_folders_warnings_and_levels_are_not_kept() -> None:
    given = "-DA=1 -Ifolder -O3 -Wall -Werror -std=c++17 -fPIC -mavx2 -MD -MF x.d -o x.o -c x.cpp".split()
    assert kept(given) == ("-DA=1", "-std=c++17", "-fPIC", "-mavx2")


# --- the order of cases -----------------------------------------------------------------------------------


def test_a_mutant_meets_each_op_and_group_first_and_the_quickest_of_them() -> None:
    seconds = {"ops.add.float32.sizes": 3.0, "ops.add.int8.sizes": 1.0, "ops.exp.float32.sizes": 2.0}
    reached = Reach(seconds=seconds, cases={4: list(seconds)})
    ordered = order(reached, 4, at_opening=False)
    assert ordered == ["ops.add.int8.sizes", "ops.exp.float32.sizes", "ops.add.float32.sizes"]
    assert list(within(ordered, reached, 3.5)) == ordered[:2]
    assert list(within(ordered, reached, 0.1)) == ordered[:1]


def test_a_thinned_choice_has_the_plainest_case_of_all_dtypes_and_every_group_once() -> None:
    plainest = {"ops.add.int8.claim", "ops.add.int64.claim", "ops.list_is_stable"}
    names = [*plainest, "ops.add.int8.sizes", "ops.add.int64.sizes"]
    chosen = {each.name for each in thinned([Listed(name, True, False) for name in names])}
    assert plainest < chosen
    assert len(chosen) == 4
    assert thinned([Listed("ops.add.int8.claim", False, False)]) == []


# --- explanations -----------------------------------------------------------------------------------------


def entry(**fields: str) -> explained.Entry:
    given = dict.fromkeys(explained.Entry.__slots__, "*") | {"kind": "same", "reason": "x"} | fields
    return explained.Entry(**given)


def test_an_explanation_that_matches_no_mutant_is_stale() -> None:
    found = mutants_of("int f(int a) { return a + 1; }")
    good, old = entry(file="x.cpp", before="a + 1"), entry(file="x.cpp", before="a + 2")
    known, stale = explained.match([good, old], found)
    assert list(known) == ["x.cpp f [arithmetic] a + 1 -> a - 1"]
    assert stale == [old]


TWICE = "int f(int a, int b) { if (a < 1) a = 1; for (; b < 1;) b = 1; return a + b; }"


def test_an_explanation_may_speak_of_one_statement_of_a_function() -> None:
    known, stale = explained.match([entry(before="1", after="2", within="for (; b < 1;)")], mutants_of(TWICE))
    assert list(known) == ["x.cpp f [constant] 1 -> 2 #3"]
    assert stale == []


def test_one_of_several_equal_changes_is_stale_once_there_are_more() -> None:
    third = entry(before="1", after="2", number="3/4")
    known, stale = explained.match([third], mutants_of(TWICE))
    assert (list(known), stale) == (["x.cpp f [constant] 1 -> 2 #3"], [])
    grown = mutants_of(TWICE.replace("return a", "b += 1; return a"))
    assert explained.match([third], grown) == ({}, [third])


def test_brackets_of_code_are_plain_text_in_an_explanation() -> None:
    found = mutants_of("int f(int *a, int b) { return a[b] < 5; }")
    known, _ = explained.match([entry(before="a[b] < *", after="a[b] <= 5")], found)
    assert list(known) == ["x.cpp f [relation] a[b] < 5 -> a[b] <= 5"]


def test_the_list_in_the_repository_is_well_formed_and_not_stale() -> None:
    entries = explained.read()
    _, stale = explained.match(entries, campaign.read_code(ROOT / "reference_cpu").mutants)
    assert [str(each) for each in stale] == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('file="a"\nfunction="f"\nkind="same"', "without a reason"),
        ('file="a"\nfunction="f"\nkind="luck"\nreason="x"', "kind 'luck'"),
        ('file="a"\nkind="same"\nreason="x"', "names a file and a function"),
        (
            'file="a"\nfunction="f"\nkind="same"\nreason="x"\nchanges=[["a","b","2"]]',
            "'2' is no number of one of several",
        ),
        ('file="a"\nfunction="f"\nline="3"\nkind="same"\nreason="x"', "unknown line"),
    ],
)
def test_a_malformed_explanation_is_told_with_its_number(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "explained.toml"
    path.write_text(f"[[mutant]]\n{text}\n")
    with pytest.raises(explained.ListFault, match=f"entry 1: .*{what}"):
        explained.read(path)


# --- the report -------------------------------------------------------------------------------------------


def report(states: dict[str, int], problems: list[str] | None = None) -> MutantReport:
    mutant = Mutant("x.cpp", 1, "f", "relation", "a < b", "a <= b", 1)
    judged = [Judged(mutant, state) for state, count in states.items() for _ in range(count)]
    return MutantReport(len(judged), 0, False, 10, judged, problems or [])


def test_nothing_to_kill_is_a_failure() -> None:
    assert not report({}).good
    assert not report({"explained": 5, "invalid": 2}).good
    assert report({}).to_json()["problems"] == ["no mutant exists: nothing was proved"]


def test_the_share_counts_unreached_mutants_as_alive_and_leaves_explained_ones_out() -> None:
    made = report({"killed": 95, "survived": 3, "unreached": 2, "explained": 50, "invalid": 7})
    assert made.share == 0.95
    assert made.good
    assert not report({"killed": 94, "survived": 6}).good
    assert len(made.to_json()["survivors"]) == 5


def test_a_problem_makes_the_report_bad_whatever_was_killed() -> None:
    assert not report({"killed": 100}, ["an entry is false"]).good


def test_the_page_shows_survivors_with_their_statement_and_reasons_with_their_numbers() -> None:
    mutant = Mutant("x.cpp", 3, "f", "logic", "a || b", "a && b", 1, within="if (a || b)")
    made = MutantReport(
        2, 0, False, 10, [Judged(mutant, "survived", ran=4, reaching=9), Judged(mutant, "explained")]
    )
    made.explanations = [Explained("x.cpp", "g", "speed", "any size covers all", 5, 1)]
    text = markdown(made.to_json())
    assert r"| `x.cpp f [logic] a \|\| b -> a && b` | `if (a \|\| b)` | 4 of 9 |" in text
    assert "| `x.cpp g` | speed | any size covers all | 5 | 1 |" in text


def test_one_command_prints_one_document_of_both_parts_and_writes_their_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    faults = FaultReport(tmp_path)
    monkeypatch.setattr("conformance.kill.faults.run", lambda *given, **named: faults)
    monkeypatch.setattr("conformance.kill.mutants.run", lambda *given: report({"killed": 9, "survived": 1}))
    assert main(["--json", "--pages", str(tmp_path / "pages")]) == EXIT_FAILED
    document = json.loads(capsys.readouterr().out)
    assert (document["good"], document["mutants"]["killed_share"]) == (False, 0.9)
    assert {"faults", "mutants"} <= set(document)
    written = {path.name for path in (tmp_path / "pages").iterdir()}
    assert written == {"kill-table.md", "mutants.md"}


# --- a whole run ------------------------------------------------------------------------------------------


def test_a_folder_without_sources_is_told(tmp_path: Path) -> None:
    with pytest.raises(NoSources, match="run from a checkout"):
        campaign.run(True, 1, silent, folder=tmp_path, entries=[], work=tmp_path)


def test_a_stale_entry_and_no_mutant_at_all_make_a_run_bad(tmp_path: Path) -> None:
    (tmp_path / "empty.cpp").write_text("int nothing;\n")
    made = campaign.run(True, 1, silent, folder=tmp_path, entries=[entry(file="gone.cpp")], work=tmp_path)
    assert not made.good
    assert any("the entry is stale" in problem for problem in made.problems)
    assert "no mutant exists: nothing was proved" in made.problems
