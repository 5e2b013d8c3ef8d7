// Plugins that break the border: versions, sizes, layouts, texts, tables, errors, and a query that does work.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>

#include "device_api/layout.h"
#include "faults.hpp"

namespace faulty {
namespace {

// What get_interface would answer, and the fault that stands before it.
const void *(*known)(const char *id, uint32_t min_version);
void stand_before_interfaces(const void *(*answer)(const char *id, uint32_t min_version)) {
  known = given.plugin.get_interface;
  given.plugin.get_interface = answer;
}

// ---- the descriptor

FAULT(cpu, descriptor_size_is_zero) { given.plugin.struct_size = 0; }
FAULT(cpu, descriptor_is_too_small) { given.plugin.struct_size -= 8; }
FAULT(cpu, descriptor_size_is_odd) { given.plugin.struct_size += 4; }
FAULT(cpu, descriptor_has_another_magic) { given.plugin.magic += 1; }
FAULT(cpu, built_for_another_major) { given.plugin.abi_major += 7; }
FAULT(cpu, asks_for_a_newer_host_than_itself) { given.plugin.min_host_minor = given.plugin.abi_minor + 1; }
FAULT(cpu, has_no_layout_table) { given.plugin.layout = nullptr; }
FAULT(cpu, has_no_error_interface) { given.plugin.errors = nullptr; }
FAULT(cpu, name_has_capitals) { given.plugin.name = "Acme NPU"; }
FAULT(cpu, device_type_has_a_colon) { given.plugin.device_type = "npu:0"; }
FAULT(cpu, version_is_empty) { given.plugin.version = ""; }
FAULT(cpu, vendor_is_not_utf8) { given.plugin.vendor = "M\xFCller"; }
FAULT(cpu, denies_its_streams) { given.plugin.features = 0; }
FAULT(cpu, claims_collectives_that_it_lacks) { given.plugin.features |= DA_FEATURE_COLLECTIVES; }

// A layout table in which one struct was changed.
template <class Change>
void change_layout(const char *name, Change change) {
  static std::vector<da_struct_layout> structs;
  static std::vector<uint32_t> offsets;
  static da_layout_table table;
  table = *good.plugin.layout;
  structs.assign(table.structs, table.structs + table.struct_count);
  for (da_struct_layout &each : structs) {
    if (std::strcmp(each.name, name) != 0) continue;
    offsets.assign(each.offsets, each.offsets + each.field_count);
    each.offsets = offsets.data();
    change(each, offsets);
  }
  table.structs = structs.data();
  given.plugin.layout = &table;
}

FAULT(cpu, two_slots_have_changed_places) {
  change_layout("da_memory_interface",
                [](da_struct_layout &, auto &offsets) { std::swap(offsets[4], offsets[5]); });
}
FAULT(cpu, fields_are_packed) {
  change_layout("da_tensor", [](da_struct_layout &each, auto &offsets) {
    offsets.back() -= 4;
    each.size -= 8;
  });
}
FAULT(cpu, layout_table_lacks_a_struct) {
  change_layout("da_kernel", [](da_struct_layout &each, auto &) { each.name = "acme_kernel"; });
}

// ---- the query

#define ENTRY []([[maybe_unused]] const da_plugin_request *request)->const da_plugin *

FAULT(cpu, refuses_newer_hosts) {
  entry = ENTRY { return request->host_minor > DA_ABI_MINOR ? nullptr : &given.plugin; };
}
FAULT(cpu, wants_requests_of_its_own_size) {
  entry = ENTRY { return request->struct_size == sizeof(*request) ? &given.plugin : nullptr; };
}
FAULT(cpu, reads_what_lies_behind_the_request) {
  entry = ENTRY {
    // A field of a later version, taken to be there because the size has grown.
    const auto *later = reinterpret_cast<const char *const *>(request + 1);
    if (request->struct_size > sizeof(*request) && **later == 'x') return nullptr;
    return &given.plugin;
  };
}
FAULT(cpu, refuses_the_hosts_it_says_it_takes) {
  entry = ENTRY { return request->host_minor == 9 ? &given.plugin : nullptr; };
  given.plugin.min_host_minor = 5;
  given.plugin.abi_minor = 9;
}
FAULT(cpu, gives_rubbish_to_other_majors) {
  entry = ENTRY {
    static const da_plugin rubbish{};
    return request->host_major == DA_ABI_MAJOR ? &given.plugin : &rubbish;
  };
}
FAULT(cpu, makes_a_descriptor_for_each_query) {
  entry = ENTRY { return new da_plugin(given.plugin); };
}
FAULT(cpu, query_prints) {
  entry = ENTRY {
    std::puts("ACME driver 1.2.3, all rights reserved");
    std::fflush(stdout);
    return &given.plugin;
  };
}
FAULT(cpu, query_starts_a_thread) {
  entry = ENTRY {
    std::thread([] { pause(); }).detach();
    return &given.plugin;
  };
}
FAULT(cpu, query_opens_a_file) {
  entry = ENTRY {
    if (open("/dev/zero", O_RDONLY) < 0) std::abort();
    return &given.plugin;
  };
}
FAULT(cpu, query_crashes) {
  entry = ENTRY { std::abort(); };
}
FAULT(cpu, exports_more_symbols) {}  // this and the next: in how libdevice_api_faulty_link.so is linked
FAULT(cpu, wants_a_symbol_of_the_host) {}

// ---- interfaces

FAULT(cpu, lacks_a_mandatory_interface) {
  stand_before_interfaces([](const char *id, uint32_t version) {
    return std::strcmp(id, DA_KERNEL_INTERFACE) == 0 ? nullptr : known(id, version);
  });
}
FAULT(cpu, answers_unknown_ids) {
  stand_before_interfaces([](const char *id, uint32_t version) {
    const void *table = known(id, version);
    return table != nullptr || std::strncmp(id, "device_api.", 11) == 0 ? table : &given.memory;
  });
}
FAULT(cpu, compares_the_beginning_of_ids) {
  stand_before_interfaces([](const char *id, uint32_t version) {
    const bool memory = std::strncmp(id, DA_MEMORY_INTERFACE, std::strlen(DA_MEMORY_INTERFACE)) == 0;
    return memory ? &given.memory : known(id, version);
  });
}
FAULT(cpu, ignores_the_wanted_version) {
  stand_before_interfaces([](const char *id, uint32_t) { return known(id, 1); });
}
FAULT(cpu, makes_a_table_for_each_request) {
  stand_before_interfaces([](const char *id, uint32_t version) -> const void * {
    const void *table = known(id, version);
    return table == &given.memory ? new da_memory_interface(given.memory) : table;
  });
}
FAULT(cpu, has_interfaces_only_once_started) {
  static std::atomic<bool> started{false};
  given.plugin.initialize = [](const da_host *host) -> da_error * {
    started = true;
    return good.plugin.initialize(host);
  };
  stand_before_interfaces(
      [](const char *id, uint32_t version) { return started ? known(id, version) : nullptr; });
}
FAULT(cpu, table_size_is_zero) { given.memory.struct_size = 0; }
FAULT(cpu, table_version_is_zero) { given.device.version = 0; }
FAULT(cpu, copy_is_null) { given.memory.copy = nullptr; }
FAULT(cpu, open_is_null) { given.device.open = nullptr; }
FAULT(cpu, list_is_null) { given.kernel.list = nullptr; }
FAULT(cpu, event_record_is_null) { given.stream.event_record = nullptr; }
FAULT(cpu, destroy_of_errors_is_null) { given.errors.destroy = nullptr; }

// ---- errors

FAULT(cpu, errors_have_no_code) {
  given.errors.code = [](const da_error *) -> int32_t { return 0; };
}
FAULT(cpu, errors_have_codes_of_the_driver) {
  given.errors.code = [](const da_error *) -> int32_t { return 719; };
}
FAULT(cpu, errors_have_no_message) {
  given.errors.message = [](const da_error *) -> const char * { return nullptr; };
}
FAULT(cpu, errors_have_an_empty_message) {
  given.errors.message = [](const da_error *) -> const char * { return ""; };
}
FAULT(cpu, errors_are_not_utf8) {
  given.errors.message = [](const da_error *) -> const char * { return "Ger\xE4t nicht da"; };
}
FAULT(cpu, reading_an_error_uses_it_up) {
  given.errors.code = [](const da_error *error) -> int32_t {
    static std::mutex lock;
    static const da_error *last;
    std::lock_guard<std::mutex> guard(lock);
    if (last == error) return DA_STATUS_INTERNAL;
    last = error;
    return good.errors.code(error);
  };
}
FAULT(cpu, messages_share_one_buffer) {
  given.device.open = [](uint32_t index, da_device **out) -> da_error * {
    return index == 0 ? good.device.open(index, out)
                      : make_error(DA_STATUS_INVALID_ARGUMENT, std::string(20 + index % 3, 'x'));
  };
  given.errors.message = [](const da_error *error) -> const char * {
    static char buffer[32];
    static std::atomic<const da_error *> last{nullptr};
    // As a static buffer does: what it holds is the text of the error that came last.
    std::snprintf(buffer, sizeof(buffer), "error %p", static_cast<const void *>(last.exchange(error)));
    return buffer;
  };
}
FAULT(cpu, messages_dangle) {
  given.errors.message = [](const da_error *error) -> const char * {
    // The text is gone before its reader sees it. Here its memory is kept, with what a reader would find
    // there, so that the fault shows in the same way each time.
    static thread_local std::string gone;
    gone.assign(std::strlen(good.errors.message(error)), '\xDD');
    return gone.c_str();
  };
}
FAULT(cpu, errors_leak) {
  given.errors.destroy = [](da_error *) {};
}
FAULT(cpu, destroying_no_error_crashes) {
  given.errors.destroy = [](da_error *error) {
    *reinterpret_cast<volatile char *>(error) = 0;
    good.errors.destroy(error);
  };
}
FAULT(cpu, errors_are_one_object) {
  // One static error for the whole plugin, which the next failure writes over.
  given.device.open = [](uint32_t index, da_device **out) -> da_error * {
    static std::atomic<da_error *> only{nullptr};
    da_error *error = good.device.open(index, out);
    if (error == nullptr) return nullptr;
    if (only == nullptr) return only = error;
    good.errors.destroy(error);
    return only;
  };
}
FAULT(cpu, errors_of_threads_are_mixed_up) {
  given.errors.message = [](const da_error *error) -> const char * {
    static std::atomic<int> inside{0};
    const bool alone = ++inside == 1;
    for (int i = 0; i < 50; ++i) std::this_thread::yield();
    const char *text = alone && inside == 1 ? good.errors.message(error) : "";
    --inside;
    return text;
  };
}
FAULT(cpu, failure_breaks_the_device) {
  static std::atomic<bool> broken{false};
  given.device.open = [](uint32_t index, da_device **out) -> da_error * {
    da_error *error = good.device.open(index, out);
    if (error != nullptr) broken = true;
    return error;
  };
  given.memory.copy = [](da_device *device, da_stream *stream, const da_copy *order) -> da_error * {
    return broken ? make_error(DA_STATUS_INTERNAL, "sticky error") : good.memory.copy(device, stream, order);
  };
}

}  // namespace
}  // namespace faulty
