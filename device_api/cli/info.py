"""`device-api info`: one device, its plugin, its properties, and what every op of the op set is there."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer

from device_api.cli.output import bytes_text, print_json, print_table

if TYPE_CHECKING:
    from device_api.loading import Plugin


def describe(spec: str) -> dict[str, Any]:
    """All facts about a device, as the JSON output has them; opens the device."""
    import device_api as da
    from device_api import dtypes
    from device_api.cli.capabilities import custom_op_facts, implementations
    from device_api.loading import load_plugin
    from device_api.ops.op_registry import all_specs

    opened = da.device(spec)
    plugin = load_plugin(opened.type)
    properties = dict(plugin.properties(opened.index))
    mask = int(properties.get("dtypes") or 0)
    properties["dtypes"] = list(dtypes.names(dtypes.from_mask(mask)))
    families = {op.name: (op.family, op.level) for op in all_specs()}
    return {
        "device": str(opened),
        "plugin": _plugin(plugin),
        "properties": properties,
        "interfaces": [name for name in _INTERFACES if plugin.table_address(name)],
        "ops": {
            name: {
                "family": families[name][0],
                "level": families[name][1],
                "dtypes": [dtype for dtype, how in by_dtype.items() if how != "unsupported"],
                "implementation": by_dtype,
            }
            for name, by_dtype in implementations(opened).items()
        },
        "custom_ops": custom_op_facts(opened),
    }


_INTERFACES = (
    "device",
    "memory",
    "kernel",
    "stream",
    "random",
    "collective",
    "graph",
    "capture",
    "profiler",
    "custom_op",
)


def _plugin(plugin: Plugin) -> dict[str, Any]:
    return {
        "name": plugin.name,
        "vendor": plugin.vendor,
        "version": plugin.version,
        "device_type": plugin.device_type,
        "library": str(plugin.path),
        "abi": f"{plugin.abi[0]}.{plugin.abi[1]}",
        "features": plugin.features,
        "layout_digest": plugin.layout_digest,
    }


def command(
    device: Annotated[str, typer.Argument(help="Device string, for example npu:0.")],
    modules: Annotated[
        list[str] | None,
        typer.Option("--import", help="Import a module first, for the Python kernels that it registers."),
    ] = None,
    ops: Annotated[bool, typer.Option("--ops", help="List every op, not only counts by family.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Show a device: its plugin, its properties, and how each op runs on it."""
    for module in modules or ():
        import_module(module)
    facts = describe(device)
    if as_json:
        print_json(facts)
        return
    plugin, properties = facts["plugin"], facts["properties"]
    rows = [
        ("name", str(properties.get("name"))),
        ("plugin", f"{plugin['name']} {plugin['version']} by {plugin['vendor']}, ABI {plugin['abi']}"),
        ("library", plugin["library"]),
        ("driver", str(properties.get("driver_version"))),
        ("runtime", str(properties.get("runtime_version"))),
        ("memory", bytes_text(int(properties.get("total_memory") or 0))),
        ("element types", ", ".join(properties["dtypes"])),
        ("interfaces", ", ".join(facts["interfaces"])),
    ]
    print_table(facts["device"], ("fact", "value"), rows)
    if facts["custom_ops"]:
        headings = ("op", "declared in", "inputs", "outputs", "gradient", "by dtype")
        print_table("Custom ops", headings, _custom_rows(facts["custom_ops"]))
    if ops:
        print_table("Ops", ("op", "family", "by dtype"), _op_rows(facts["ops"]))
    else:
        print_table("Ops by family (op and dtype pairs)", ("family", *_KINDS), _family_rows(facts["ops"]))


_KINDS = ("native", "python", "decomposed", "view", "unsupported")


def _family_rows(ops: dict[str, dict[str, Any]]) -> list[tuple[str, ...]]:
    counts: dict[str, Counter[str]] = {}
    for facts in ops.values():
        counts.setdefault(facts["family"], Counter()).update(facts["implementation"].values())
    return [(family, *(str(count[kind] or "") for kind in _KINDS)) for family, count in counts.items()]


def _custom_rows(ops: dict[str, dict[str, Any]]) -> list[tuple[str, ...]]:
    return [
        (
            name,
            facts["declared_in"],
            _typed(facts["inputs"]),
            _typed(facts["outputs"]),
            facts["gradient"] or ("yes" if facts["differentiable"] else "none"),
            _ways(facts["implementation"]),
        )
        for name, facts in ops.items()
    ]


def _typed(names: dict[str, str]) -> str:
    return ", ".join(f"{name}: {kind}" for name, kind in names.items())


def _ways(implementation: dict[str, str]) -> str:
    """As "native: float32, float64; python: float16"."""
    by_kind: dict[str, list[str]] = {}
    for dtype, kind in implementation.items():
        by_kind.setdefault(kind, []).append(dtype)
    return "; ".join(f"{kind}: {', '.join(names)}" for kind, names in by_kind.items())


def _op_rows(ops: dict[str, dict[str, Any]]) -> list[tuple[str, ...]]:
    return [(name, facts["family"], _ways(facts["implementation"])) for name, facts in ops.items()]
