"""The exported symbol and the descriptor it returns."""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np

from conformance import raw
from conformance.case import NotSupported, case, require
from conformance.elf_symbols import read_symbols
from conformance.target import Target
from device_api.abi import _tables, constants, versions
from device_api.abi._declarations import ffi

_NAME = re.compile(r"[a-z0-9_-]+")
_DEVICE_TYPE = re.compile(r"[a-z][a-z0-9_]*")


@case("abi.entry.one_symbol")
def one_symbol(target: Target, rng: np.random.Generator) -> None:
    """The library exports the entry symbol and nothing else, so that two vendors never collide."""
    symbols = read_symbols(target.library_path)
    if symbols is None:
        raise NotSupported("the symbols of this kind of file cannot be read")
    extra = sorted(symbols.exported - {constants.DA_PLUGIN_ENTRY})
    require(constants.DA_PLUGIN_ENTRY in symbols.exported, f"{constants.DA_PLUGIN_ENTRY} is not exported")
    require(not extra, f"{len(extra)} more symbols are exported: {', '.join(extra[:5])}", extra=extra[:50])


@case("abi.entry.no_host_symbols")
def no_host_symbols(target: Target, rng: np.random.Generator) -> None:
    """The library wants nothing from the host's side of the border."""
    symbols = read_symbols(target.library_path)
    if symbols is None:
        raise NotSupported("the symbols of this kind of file cannot be read")
    wanted = sorted(name for name in symbols.undefined if name.startswith(("da_", "device_api", "Py", "_Py")))
    require(not wanted, f"undefined symbols of the host: {', '.join(wanted)}")


@case("abi.entry.loads")
def loads(target: Target, rng: np.random.Generator) -> None:
    """The loader accepts the library: versions, sizes, texts, layout table, mandatory slots."""
    require(target.plugin.descriptor.magic == constants.DA_PLUGIN_MAGIC, "the magic number is wrong")


@case("abi.open")
def opens(target: Target, rng: np.random.Generator) -> None:
    """The plugin starts, its device opens, and says what it is and which kernels it has."""
    require(target.facts()["device_type"], "the plugin has no device type")


@case("abi.entry.same_answer")
def same_answer(target: Target, rng: np.random.Generator) -> None:
    """Asking again, and from several threads at once, gives the same descriptor."""
    first = raw.descriptor(target)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: raw.ask(target), range(64)))
    require(all(answer == first for answer in answers), "the entry does not always give one descriptor")


@case("abi.entry.pure", own_process=True)
def pure(target: Target, rng: np.random.Generator) -> None:
    """The query starts no thread, opens no file and no library, and prints nothing."""
    entry = raw.entry(target)
    before = _process_state()
    with _captured() as printed:
        request = ffi.new("da_plugin_request *")
        request.struct_size = ffi.sizeof("da_plugin_request")
        request.host_major, request.host_minor = versions.HOST
        entry(request)
    after = _process_state()
    for what, (old, new) in zip(
        ("threads", "open files", "libraries"), zip(before, after, strict=True), strict=True
    ):
        require(new <= old, f"the query changed the process's {what}: {', '.join(sorted(new - old))}")
    require(not printed, f"the query printed {bytes(printed[:200])!r}")


def _process_state() -> tuple[set[str], set[str], set[str]]:
    """Threads, open files and mapped files of this process; empty sets where the system does not tell."""
    if not Path("/proc/self/task").is_dir():
        raise NotSupported("this system does not tell the threads and files of a process")
    threads = set(os.listdir("/proc/self/task"))
    files = set()
    for descriptor in os.listdir("/proc/self/fd"):
        try:
            files.add(os.readlink(f"/proc/self/fd/{descriptor}"))
        except FileNotFoundError:
            continue
    maps = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "/" in line}
    return threads, files, maps


class _captured:
    """Catches what C code writes to stdout and stderr."""

    def __enter__(self) -> bytearray:
        self._printed = bytearray()
        self._read, write = os.pipe()
        os.set_blocking(self._read, False)
        self._saved = [(number, os.dup(number)) for number in (1, 2)]
        for number, _ in self._saved:
            os.dup2(write, number)
        os.close(write)
        return self._printed

    def __exit__(self, *exception: object) -> None:
        for number, saved in self._saved:
            os.dup2(saved, number)
            os.close(saved)
        with suppress(BlockingIOError):
            self._printed += os.read(self._read, 4096)
        os.close(self._read)


@case("abi.entry.newer_host")
def newer_host(target: Target, rng: np.random.Generator) -> None:
    """Hosts of later minor versions of the same major are accepted, with a request that has grown."""
    major, minor = versions.HOST
    for later in (minor + 1, minor + 90):
        for tail in (0, 8, 64):
            answer = raw.ask(target, (major, later), tail=tail)
            require(answer != ffi.NULL, f"a host of ABI {major}.{later} is refused")
            require(answer.magic == constants.DA_PLUGIN_MAGIC, "the descriptor changed for a newer host")


@case("abi.entry.older_host")
def older_host(target: Target, rng: np.random.Generator) -> None:
    """Hosts down to min_host_minor are accepted; below it the plugin may refuse, and says so by NULL."""
    descriptor = raw.descriptor(target)
    major, least = int(descriptor.abi_major), int(descriptor.min_host_minor)
    require(least <= descriptor.abi_minor, f"min_host_minor {least} is newer than the plugin's own headers")
    for minor in range(least, versions.HOST[1] + 1):
        require(raw.ask(target, (major, minor)) != ffi.NULL, f"a host of ABI {major}.{minor} is refused")
    for minor in range(least):
        answer = raw.ask(target, (major, minor))
        require(answer == ffi.NULL or answer == descriptor, f"nonsense for a host of ABI {major}.{minor}")


@case("abi.entry.foreign_major")
def foreign_major(target: Target, rng: np.random.Generator) -> None:
    """A host of another major version gets NULL or the plain descriptor, never a crash."""
    for major in (versions.HOST[0] + 1, 2**32 - 1):
        answer = raw.ask(target, (major, 0))
        require(
            answer == ffi.NULL or answer.magic == constants.DA_PLUGIN_MAGIC,
            f"a host of major {major} got something that is no descriptor",
        )


@case("abi.descriptor.texts")
def texts(target: Target, rng: np.random.Generator) -> None:
    """Name and device type keep to their alphabets; vendor and version say something."""
    descriptor = raw.descriptor(target)
    for field, pattern in (("name", _NAME), ("device_type", _DEVICE_TYPE)):
        value = raw.text(getattr(descriptor, field))
        require(value and pattern.fullmatch(value), f"descriptor.{field} is {value!r}, not {pattern.pattern}")
    for field in ("vendor", "version"):
        require(raw.text(getattr(descriptor, field)), f"descriptor.{field} is empty")


@case("abi.descriptor.sizes")
def sizes(target: Target, rng: np.random.Generator) -> None:
    """struct_size of the descriptor and of what hangs on it: at least the released size, a multiple of 8."""
    descriptor = raw.descriptor(target)
    parts = {"da_plugin": descriptor, "da_error_interface": descriptor.errors}
    parts["da_layout_table"] = descriptor.layout
    for struct, pointer in parts.items():
        require(pointer != ffi.NULL, f"the descriptor has no {struct}")
        size, least = int(pointer.struct_size), _tables.MINIMUM_SIZES[struct]
        require(size >= least, f"{struct}.struct_size is {size}; the released size is {least}")
        require(size % 8 == 0, f"{struct}.struct_size is {size}, not a multiple of 8")


@case("abi.descriptor.version")
def version(target: Target, rng: np.random.Generator) -> None:
    """The plugin was built with headers of this host's major version."""
    descriptor = raw.descriptor(target)
    require(
        descriptor.abi_major == versions.HOST[0],
        f"built for major {descriptor.abi_major}, this suite is for {versions.HOST[0]}",
    )


@case("abi.descriptor.layout")
def layout(target: Target, rng: np.random.Generator) -> None:
    """The plugin's compiler laid out every struct as this host does, field by field."""
    table = raw.descriptor(target).layout
    require(table != ffi.NULL and table.struct_count > 0, "there is no layout table")
    seen = set()
    for number in range(table.struct_count):
        struct = table.structs[number]
        name = raw.text(struct.name)
        if name not in _tables.MINIMUM_SIZES:
            continue
        seen.add(name)
        kind = ffi.typeof(name)
        offsets = [field.offset for _, field in kind.fields]
        theirs = [int(struct.offsets[i]) for i in range(min(struct.field_count, len(offsets)))]
        require(theirs == offsets[: len(theirs)], f"the fields of {name} are at {theirs}, not at {offsets}")
        same = struct.field_count == len(offsets)
        require(not same or struct.size == ffi.sizeof(name), f"{name} has {struct.size} bytes in the plugin")
    mandatory = {"da_plugin", "da_tensor", "da_kernel", "da_kernel_context", "da_memory_interface"}
    require(mandatory <= seen, f"the layout table lacks {', '.join(sorted(mandatory - seen))}")


@case("abi.descriptor.features")
def features(target: Target, rng: np.random.Generator) -> None:
    """Feature bits and interfaces agree."""
    descriptor = raw.descriptor(target)
    for bit, interface in (
        (constants.DA_FEATURE_ASYNCHRONOUS, "stream"),
        (constants.DA_FEATURE_COLLECTIVES, "collective"),
        (constants.DA_FEATURE_GRAPHS, "graph"),
    ):
        identifier = _tables.INTERFACES[interface][0].encode()
        present = descriptor.get_interface(identifier, 1) != ffi.NULL
        require(
            present == bool(descriptor.features & bit),
            f"the {interface} interface is {'there' if present else 'missing'}; its feature bit differs",
        )
