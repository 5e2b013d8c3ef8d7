"""Which of the plugins found may be loaded: safe mode, select and deny lists, trust in files, vetoes of
hooks.

Every refusal is a `PluginRefused` whose text names the rule and the variable that would change it. Trust
asks who could have written the file: a library or one of its folders that anybody may write, or that
belongs neither to root nor to the user, is not loaded in strict mode and warned about otherwise. Nothing
here opens a library.
"""

from __future__ import annotations

import hashlib
import os
import stat
import warnings
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from device_api.errors import PluginRefused
from device_api.loading import environment, hooks
from device_api.loading.records import PluginRecord

_WILD = frozenset("*?[")
_warned: set[Path] = set()


def selection(record: PluginRecord) -> PluginRefused | None:
    """Why safe mode, the select list, the deny list or a hook keeps `record` out; None when nothing does."""
    if record.origin != "builtin" and environment.flag("DEVICE_API_SAFE_MODE"):
        return _refused(
            record, "safe mode", "only the built-in plugin is allowed", "Unset DEVICE_API_SAFE_MODE."
        )
    select = environment.globs("DEVICE_API_PLUGINS")
    chosen = [pattern for pattern in select if _matches(record, pattern)]
    denied = [p for p in environment.globs("DEVICE_API_PLUGINS_DENY") if _matches(record, p)]
    # "Deny all, select one" works: a name spelled out beats a wildcard; otherwise deny wins.
    named = any(not _WILD & set(pattern) for pattern in chosen)
    if denied and not (named and all(_WILD & set(pattern) for pattern in denied)):
        return _refused(
            record, "deny list", f"pattern {denied[0]!r} denies it", "Change DEVICE_API_PLUGINS_DENY."
        )
    if select and not chosen:
        return _refused(
            record, "select list", f"it is not among {', '.join(select)}", "Change DEVICE_API_PLUGINS."
        )
    manager = hooks.active()
    if manager is not None and (reason := manager.hook.device_api_plugin_veto(record=record)):
        return _refused(record, "veto", str(reason), "Ask the program that registered the hook.")
    return None


def require_trust(record: PluginRecord) -> None:
    """Checks owner, mode and pinned digest of the library. Raises PluginRefused."""
    level = environment.choice("DEVICE_API_TRUST", ("strict", "warn", "off"), "warn")
    if environment.elevated():
        level = "strict"
    # A wheel's files are as trustworthy as the Python code that was installed with them.
    if level != "off" and record.origin in ("path", "registered"):
        doubts = list(_doubts(record.library))
        if record.manifest is not None:
            doubts += [doubt for doubt in _doubts(record.manifest) if doubt not in doubts]
        if doubts and level == "strict":
            raise _refused(record, "trust", doubts[0], "Correct the owner and mode, or move the file.")
        if doubts and record.library not in _warned:
            _warned.add(record.library)
            warnings.warn(
                f"plugin {record.library}: {doubts[0]}; DEVICE_API_TRUST=strict would refuse it",
                RuntimeWarning,
                stacklevel=2,
            )
    if record.sha256 is not None:
        _require_digest(record, record.sha256)


def _require_digest(record: PluginRecord, expected: str) -> None:
    try:
        with open(record.library, "rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return  # opening the library gives the better error
    if found != expected.lower():
        raise _refused(
            record,
            "sha256",
            f"its SHA-256 is {found}, the manifest or the caller expects {expected}",
            "Install the plugin again, or correct the digest.",
        )


def _matches(record: PluginRecord, pattern: str) -> bool:
    names = (record.name, record.device_type or "", record.library.name)
    return any(fnmatchcase(name.lower(), pattern) for name in names)


def _doubts(path: Path) -> Iterator[str]:
    """Who else could have written `path`, judged along the path as given and along the real one."""
    seen: set[Path] = set()
    trusted = {0, os.geteuid()} if hasattr(os, "geteuid") else None
    for start in (Path(os.path.abspath(path)), Path(os.path.realpath(path))):
        for place in (start, *start.parents):
            if place in seen:
                continue
            seen.add(place)
            try:
                status = place.stat()
            except OSError:
                continue
            sticky = stat.S_ISDIR(status.st_mode) and status.st_mode & stat.S_ISVTX
            if status.st_mode & stat.S_IWOTH and not sticky:
                yield f"{place} may be written by anybody (mode {stat.S_IMODE(status.st_mode):o})"
            elif trusted is not None and status.st_uid not in trusted:
                yield f"{place} belongs to user {status.st_uid}, neither root nor the user of this process"


def _refused(record: PluginRecord, rule: str, why: str, remedy: str) -> PluginRefused:
    return PluginRefused(
        f"plugin {record.name!r} is refused by {rule}",
        subject=record.library,
        why=why,
        remedy=remedy,
        path=str(record.library),
        rule=rule,
    )
