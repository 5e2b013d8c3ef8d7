"""get_interface, the tables it gives, and errors."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from conformance import raw
from conformance.case import case, require
from conformance.memory import allocated
from conformance.target import Target
from device_api.abi import _tables, constants
from device_api.abi._declarations import ffi

MANDATORY = ("device", "memory", "kernel")


def _tables_of(target: Target) -> dict[str, Any]:
    """The interfaces that the plugin implements, by name."""
    descriptor = raw.descriptor(target)
    found = {}
    for name, (identifier, _, struct) in _tables.INTERFACES.items():
        pointer = descriptor.get_interface(identifier.encode(), 1)
        if pointer != ffi.NULL:
            found[name] = ffi.cast(f"const {struct} *", pointer)
    return found


@case("abi.interfaces.mandatory")
def mandatory(target: Target, rng: np.random.Generator) -> None:
    """Device, memory and kernel interfaces exist."""
    missing = [name for name in MANDATORY if name not in _tables_of(target)]
    require(not missing, f"the mandatory interfaces {', '.join(missing)} are missing")


@case("abi.interfaces.slots")
def slots(target: Target, rng: np.random.Generator) -> None:
    """Every mandatory slot of every interface that exists is filled, and the tables are large enough."""
    for name, table in _tables_of(target).items():
        struct = _tables.INTERFACES[name][2]
        size = int(table.struct_size)
        require(size >= _tables.MINIMUM_SIZES[struct], f"{struct}.struct_size is {size}")
        require(table.version >= 1, f"{struct}.version is {table.version}")
        for slot, needed in _tables.SLOTS[struct].items():
            require(not needed or getattr(table, slot) != ffi.NULL, f"{struct}.{slot} is mandatory and NULL")


@case("abi.interfaces.unknown")
def unknown(target: Target, rng: np.random.Generator) -> None:
    """Ids that nobody knows give NULL."""
    descriptor = raw.descriptor(target)
    known = _tables.INTERFACES["memory"][0]
    strange = [
        "",
        "memory",
        "device_api",
        "device_api.",
        known.upper(),
        known + ".",
        known[:-1],
        "x" * 10_000,
    ]
    for identifier in (*strange, "device_api.time_travel", "vendor.private", "\u00e9\u4e16"):
        answer = descriptor.get_interface(identifier.encode(), 1)
        require(answer == ffi.NULL, f"get_interface({identifier[:40]!r}) gave a table")


@case("abi.interfaces.future_version")
def future_version(target: Target, rng: np.random.Generator) -> None:
    """A version that does not exist yet gives NULL, so that a newer host sees it is missing."""
    descriptor = raw.descriptor(target)
    for name, table in _tables_of(target).items():
        identifier = _tables.INTERFACES[name][0].encode()
        for version in (table.version + 1, 2**32 - 1):
            answer = descriptor.get_interface(identifier, version)
            require(answer == ffi.NULL, f"get_interface({name!r}, {version}) gave version {table.version}")
        require(descriptor.get_interface(identifier, 0) != ffi.NULL, f"version 0 of {name} is refused")


@case("abi.interfaces.stable")
def stable(target: Target, rng: np.random.Generator) -> None:
    """The same table each time, from any thread, before and after initialize."""
    before = _tables_of(target)
    target.started  # noqa: B018 - starting it is the point
    with ThreadPoolExecutor(8) as pool:
        for tables in pool.map(lambda _: _tables_of(target), range(32)):
            require(tables == before, "get_interface gives different tables at different times")


def _provoke(target: Target) -> Any:
    """An error that every plugin must give: opening a device that does not exist."""
    out = target.ffi.new("da_device **")
    error = target.devices.open(target.count + 1, out)
    require(error != target.ffi.NULL, "opening a device that does not exist succeeds")
    return error


@case("abi.errors.content")
def content(target: Target, rng: np.random.Generator) -> None:
    """An error has a code that exists and a message in UTF-8; reading twice gives the same."""
    errors, error = target.plugin.descriptor.errors, _provoke(target)
    code, message = int(errors.code(error)), raw.text(errors.message(error))
    again = int(errors.code(error)), raw.text(errors.message(error))
    errors.destroy(error)
    known = constants.DA_STATUS_INVALID < code <= constants.DA_STATUS_FAILED_PRECONDITION
    require(known or code >= constants.DA_STATUS_VENDOR, f"the code {code} is no status")
    require(message, "the message is empty")
    require(again == (code, message), "reading the error again gives something else")


@case("abi.errors.destroy_null")
def destroy_null(target: Target, rng: np.random.Generator) -> None:
    """destroy(NULL) does nothing."""
    target.plugin.descriptor.errors.destroy(target.ffi.NULL)


@case("abi.errors.independent")
def independent(target: Target, rng: np.random.Generator) -> None:
    """Many errors at once keep their own contents; destroying one leaves the others."""
    errors = target.plugin.descriptor.errors
    alive = [_provoke(target) for _ in range(64)]
    contents = {(int(errors.code(error)), raw.text(errors.message(error))) for error in alive}
    for error in alive[::2]:
        errors.destroy(error)
    for error in alive[1::2]:
        require((int(errors.code(error)), raw.text(errors.message(error))) in contents, "an error changed")
        errors.destroy(error)


@case("abi.errors.threads")
def threads(target: Target, rng: np.random.Generator) -> None:
    """Errors made, read and destroyed on eight threads at once."""

    def work(_: int) -> bool:
        errors = target.plugin.descriptor.errors
        for _number in range(50):
            error = _provoke(target)
            good = errors.code(error) > 0 and bool(raw.text(errors.message(error)))
            errors.destroy(error)
            if not good:
                return False
        return True

    assert target.count >= 0
    with ThreadPoolExecutor(8) as pool:
        require(all(pool.map(work, range(8))), "an error made on one of several threads is broken")


@case("abi.errors.leak")
def leak(target: Target, rng: np.random.Generator) -> None:
    """100,000 errors made and destroyed leave no memory behind."""
    errors = target.plugin.descriptor.errors

    def make(count: int) -> None:
        for _ in range(count):
            errors.destroy(_provoke(target))

    make(2000)
    before = resident_bytes()
    # So many that memory which was free before cannot take them in.
    make(100_000)
    grown = resident_bytes() - before
    require(grown < 1 << 20, f"100,000 errors left {grown} bytes behind", bytes=grown)


def resident_bytes() -> int:
    """Memory of this process; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096
    except OSError:
        return 0


@case("abi.errors.after_failure")
def after_failure(target: Target, rng: np.random.Generator) -> None:
    """After a failed call the device works as before."""
    target.plugin.descriptor.errors.destroy(_provoke(target))
    with allocated(target, 64) as memory:
        data = rng.integers(0, 256, 64).astype(np.uint8)
        memory.write(data)
        require(np.array_equal(memory.read(), data), "after a failed call, a copy is wrong")
