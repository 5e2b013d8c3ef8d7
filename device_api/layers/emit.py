"""Writes the C++ that is made from the contract: slots, their arguments, and one interposer per interface.

`slots.hpp` gives every slot a number, a struct of arguments and a way to visit them; `<interface>.cpp` holds
the functions that stand in a layer's table. A table function has no argument that tells whose it is, so each
exists once per instance of a layer, as a template. Files and commands belong to `generate`.
"""

from __future__ import annotations

from device_api.abi.describe import Contract
from device_api.layers.signatures import Parameter, Slot, attribute_pointers

NOTE = "Written by `python -m device_api.layers.generate` from the headers; do not edit."
HEAD = f"// {NOTE}\n// clang-format off\n"
NAMESPACE = "device_api::layers"

# Handles whose numbers a trace maps when it is replayed.
_HANDLES = {
    f"{name} *": name.removeprefix("da_")
    for name in ("da_device", "da_stream", "da_event", "da_capture", "da_communicator", "da_executable")
}
_STRUCTS = ("da_copy", "da_callback", "da_kernel_context", "da_communicator_options", "da_host")
_LENGTHS = {"graph": "graph_bytes", "bytes": "size"}

# What an interposer does beside calling down: before, and after a success.
_BEFORE = {
    "graph.execute": "Scratch scratch(self, nullptr, arguments.context);\n  arguments.context = "
    "scratch.context();",
}
_AFTER = {
    "kernel.list": "if (arguments.result == nullptr) arguments.result = replace_kernels(self, arguments);",
    "graph.passes": "if (arguments.result == nullptr) replace_passes(self, arguments);",
    "custom_op.list": "if (arguments.result == nullptr) replace_custom_ops(self, arguments);",
}


def slots_header(contract: Contract, slots: list[Slot]) -> str:
    """The text of slots.hpp."""
    lines = [
        HEAD + "#ifndef DEVICE_API_LAYERS_SLOTS_HPP",
        "#define DEVICE_API_LAYERS_SLOTS_HPP",
        "",
        "#include <cstdint>",
        "",
        '#include "device_api/device_api.h"',
        "",
        f"namespace {NAMESPACE} {{",
        "",
        "struct KernelEntry;",
        "struct PassEntry;",
        "struct CustomOpEntry;",
        "",
        "enum class Slot : uint32_t {",
        *(f"  {slot.constant}," for slot in slots),
        "};",
        f"constexpr uint32_t kSlots = {len(slots)};",
        "",
        "struct SlotFacts {",
        "  const char *name;",
        "  const char *group;",
        "  bool fallible;",
        "};",
        "constexpr SlotFacts kSlotFacts[kSlots] = {",
        *(
            f'    {{"{slot.title}", "{slot.group}", {str(slot.result == "da_error *").lower()}}},'
            for slot in slots
        ),
        "};",
        "",
        "// The tables of one plugin or of one layer, each of full size.",
        "struct InterfaceTables {",
        *(f"  {item.struct} {name};" for name, item in contract.interfaces.items()),
        "};",
    ]
    for slot in slots:
        lines += ["", *_arguments(slot)]
    lines += ["", *_dispatch(slots), "", f"}}  // namespace {NAMESPACE}", "", "#endif", ""]
    return "\n".join(lines)


def _arguments(slot: Slot) -> list[str]:
    lines = [f"struct {slot.type} {{", f"  static constexpr Slot slot = Slot::{slot.constant};"]
    if slot.result != "void":
        lines.append(f"  {_declare(slot.result, 'result')}{{}};")
    lines += [f"  {parameter.declaration};" for parameter in slot.parameters]
    entry = {"kernel": "KernelEntry", "pass": "PassEntry", "custom": "CustomOpEntry"}.get(slot.group)
    if entry and slot.title != "kernel.list":
        lines.append(f"  const {entry} *entry;")
    lines += [
        "  // The object on which calls must not overlap; `plugin` stands for the whole plugin.",
        f"  const void *synchronised([[maybe_unused]] const void *plugin) const {{ return "
        f"{slot.synchronised_on or 'nullptr'}; }}",
        "  template <class V>",
        "  void each([[maybe_unused]] V &&visit) const {",
        *(f"    {text}" for text in _visits(slot)),
        "  }",
        "};",
    ]
    return lines


def _visits(slot: Slot) -> list[str]:
    names = {parameter.name for parameter in slot.parameters}
    done: set[str] = set()
    lines = []
    for item in slot.parameters:
        if item.name in done:
            continue
        lines.append(_visit(item, names, done))
    return lines


def _visit(item: Parameter, names: set[str], done: set[str]) -> str:
    name = item.name
    if item.is_output:
        return f'visit.out("{name}", {name});'
    if item.type == "function":
        return f'visit.function("{name}");'
    if item.type in _HANDLES:
        return f'visit.handle("{name}", {name});'
    if item.type == "const da_tensor *const *":
        count = f"{name.rstrip('s')}_count"
        done.add(count)
        return f'visit.tensors("{name}", {name}, {count if count in names else "0"});'
    if item.type == "const da_tensor *":
        return f'visit.tensor("{name}", {name});'
    if item.type == "const char *":
        return f'visit.text("{name}", {name});'
    if item.type == "const uint8_t *" and _LENGTHS.get(name) in names:
        done.add(_LENGTHS[name])
        return f'visit.bytes("{name}", {name}, {_LENGTHS[name]});'
    if name == "attributes":
        return f'visit.attributes("{name}", {name}, entry);'
    if item.type in ("const da_kernel *", "const da_pass *", "const da_custom_op *"):
        return f'visit.entry("{name}", entry);'
    if any(item.type == f"const {struct} *" for struct in _STRUCTS):
        return f'visit.structure("{name}", {name});'
    if "*" in item.type:
        return f'visit.pointer("{name}", {name});'
    return f'visit.number("{name}", {name});'


def _dispatch(slots: list[Slot]) -> list[str]:
    return [
        "// Calls visitor(arguments) with the arguments in their own type.",
        "template <class V>",
        "auto dispatch(Slot slot, void *arguments, V &&visitor) {",
        "  switch (slot) {",
        *(
            f"    case Slot::{slot.constant}: return visitor(*static_cast<{slot.type} *>(arguments));"
            for slot in slots[:-1]
        ),
        f"    case Slot::{slots[-1].constant}: break;",
        "  }",
        f"  return visitor(*static_cast<{slots[-1].type} *>(arguments));",
        "}",
    ]


def interposer(contract: Contract, name: str, slots: list[Slot]) -> str:
    """The text of <interface>.cpp."""
    interface = contract.interfaces[name]
    lines = [HEAD, '#include "../interpose.hpp"', "", f"namespace {NAMESPACE} {{", "namespace {"]
    for slot in slots:
        lines += ["", *_function(slot)]
    lines += [
        "",
        "template <size_t N>",
        "struct Shims {",
    ]
    for slot in slots:
        arguments = ", ".join(["*instances[N]", *(item.name for item in slot.parameters)])
        parameters = ", ".join(item.declaration for item in slot.parameters)
        result = _declare(slot.result, slot.name)
        lines.append(f"  static {result}({parameters}) {{ return {slot.constant}({arguments}); }}")
    lines += [
        f"  static void fill(const {interface.struct} &below, {interface.struct} *above) {{",
        *(
            f"    above->{slot.name} = below.{slot.name} == nullptr ? nullptr : {slot.name};"
            for slot in slots
        ),
        "  }",
        "};",
        "",
        "}  // namespace",
        "",
        f"const void *interpose_{name}(Instance &self, const void *table) {{",
        f"  return interpose_table<Shims>(self, static_cast<const {interface.struct} *>(table), "
        f"&self.below.{name}, &self.above.{name});",
        "}",
        "",
        f"}}  // namespace {NAMESPACE}",
        "",
    ]
    return "\n".join(lines)


def _function(slot: Slot) -> list[str]:
    parameters = ", ".join(["Instance &self", *(item.declaration for item in slot.parameters)])
    values = ", ".join(["{}", *(item.name for item in slot.parameters)])
    passed = ", ".join(f"arguments.{item.name}" for item in slot.parameters)
    lines = [
        f"{_declare(slot.result, slot.constant)}({parameters}) {{",
        f"  {slot.type} arguments{{{values}}};",
        f"  Call call(self, Slot::{slot.constant}, &arguments, &arguments.result);",
    ]
    if slot.title in _BEFORE:
        lines.append(f"  {_BEFORE[slot.title]}")
    lines += [
        f"  if (self.layer->before(call)) arguments.result = self.below.{slot.group}.{slot.name}({passed});",
        "  self.layer->after(call);",
    ]
    if slot.title in _AFTER:
        lines.append(f"  {_AFTER[slot.title]}")
    return [*lines, "  return arguments.result;", "}"]


def interfaces_header(contract: Contract) -> str:
    """The text of interfaces.hpp: id -> the function that interposes that interface."""
    lines = [
        HEAD + "#ifndef DEVICE_API_LAYERS_INTERFACES_HPP",
        "#define DEVICE_API_LAYERS_INTERFACES_HPP",
        "",
        f"namespace {NAMESPACE} {{",
        "",
        "struct Instance;",
        "",
        *(
            f"const void *interpose_{name}(Instance &self, const void *table);"
            for name in contract.interfaces
        ),
        "",
        "struct InterfaceFacts {",
        "  const char *id;",
        "  const char *name;",
        "  const void *(*interpose)(Instance &self, const void *table);",
        "};",
        "constexpr InterfaceFacts kInterfaceFacts[] = {",
        *(f'    {{"{item.id}", "{name}", interpose_{name}}},' for name, item in contract.interfaces.items()),
        "};",
        "",
        f"}}  // namespace {NAMESPACE}",
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def attributes_header(contract: Contract) -> str:
    """The text of attributes.hpp: the pointers in the attribute struct of each op."""
    rows = []
    for struct, field, count in attribute_pointers(contract):
        op = struct.removeprefix("da_attributes_")
        at = f"offsetof({struct}, {count})" if count else "-1"
        rows.append(f'    {{"{op}", offsetof({struct}, {field}), {at}}},')
    return "\n".join(
        [
            HEAD + "#ifndef DEVICE_API_LAYERS_ATTRIBUTES_HPP",
            "#define DEVICE_API_LAYERS_ATTRIBUTES_HPP",
            "",
            "#include <cstddef>",
            "#include <cstdint>",
            "",
            '#include "device_api/ops.h"',
            "",
            f"namespace {NAMESPACE} {{",
            "",
            "// A pointer in an attribute struct: to `count` 8-byte numbers, or to text where count is -1.",
            "struct AttributePointer {",
            "  const char *op;",
            "  uint64_t offset;",
            "  int64_t count_offset;",
            "};",
            "constexpr AttributePointer kAttributePointers[] = {",
            *rows,
            "};",
            "",
            f"}}  // namespace {NAMESPACE}",
            "",
            "#endif",
            "",
        ]
    )


def _declare(kind: str, name: str) -> str:
    return f"{kind}{name}" if kind.endswith("*") else f"{kind} {name}"
