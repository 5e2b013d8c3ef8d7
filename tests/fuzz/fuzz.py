"""`python tests/fuzz/fuzz.py TARGET [--seconds N]`: fuzzes one reader with atheris (the extra `fuzz`).

Starts from the kept corpus. New inputs that reach new code go to build/fuzz/TARGET, a finding beside them as
crash-HASH; the process then ends with a status that is not 0. After a finding is fixed, its input belongs in
tests/fuzz/corpus/TARGET, where the ordinary tests replay it.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import atheris

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

with atheris.instrument_imports(
    include=["conformance", "device_api.loading", "device_api.layers", "json", "tomllib"]
):
    from targets import TARGETS


def _words(sound: bytes) -> str:
    """The words of a sound input, as a dictionary of libFuzzer: keys need not be found letter by letter."""
    words = sorted({word.decode() for word in re.findall(rb"[A-Za-z_.][A-Za-z0-9_.-]+", sound)})
    return "".join(f'"{word}"\n' for word in words)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", choices=list(TARGETS))
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "fuzz")
    options = parser.parse_args()
    folder = options.work / options.target
    folder.mkdir(parents=True, exist_ok=True)
    corpus = Path(__file__).with_name("corpus") / options.target
    dictionary = options.work / f"{options.target}.dict"
    dictionary.write_text(_words((corpus / "sound").read_bytes()))
    arguments = [sys.argv[0], f"-max_total_time={options.seconds}", "-timeout=30", "-rss_limit_mb=2048"]
    arguments += [f"-artifact_prefix={folder}/", "-max_len=65536", f"-dict={dictionary}"]
    atheris.Setup([*arguments, str(folder), str(corpus)], TARGETS[options.target])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
