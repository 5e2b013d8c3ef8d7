/* A good plugin whose kernel of `sqrt` behaves as the variable ROUGH says: ways to hurt the process, and the
 * machine, that it runs in. Everything else is the plugin template's, whose entry is compiled as
 * `good_plugin`. */
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "device_api/device_api.h"

extern "C" const da_plugin *good_plugin(const da_plugin_request *request);

namespace {

std::vector<da_kernel> kernels;
da_plugin descriptor;
da_kernel_interface kernel_interface;
const da_plugin *good;

void corrupt_the_heap() {
  std::vector<char *> blocks;
  for (int i = 0; i < 64; ++i) blocks.push_back(static_cast<char *>(std::malloc(40)));
  for (char *block : blocks) std::memset(block - 64, 0xfe, 65536);
  for (char *block : blocks) std::free(block);
}

/* In the first process that comes here, and in no later one. */
void crash_once() {
  const std::string mark = std::string(std::getenv("ROUGH_FOLDER")) + "/crashed";
  if (access(mark.c_str(), F_OK) == 0) return;
  std::fclose(std::fopen(mark.c_str(), "w"));
  std::raise(SIGSEGV);
}

/* As a log without end does. */
void fill_the_disk() {
  std::FILE *file = std::fopen((std::string(std::getenv("ROUGH_FOLDER")) + "/endless.log").c_str(), "w");
  const std::string line(1 << 16, 'x');
  while (std::fwrite(line.data(), 1, line.size(), file) == line.size()) {
  }
}

void print_without_end() {
  const std::string line(4095, 'x');
  for (;;) std::puts(line.c_str());
}

/* Descriptors that are open by accident are a plugin's to find. */
void write_everywhere() {
  const char text[] = "{\"result\": 5}\nnot json\n";
  for (int descriptor = 3; descriptor < 64; ++descriptor) {
    if (write(descriptor, text, sizeof text - 1) < 0) continue;
  }
}

da_error *rough(void *, const da_kernel_context *, const da_tensor *const *, uint32_t,
                const da_tensor *const *, uint32_t, const void *) {
  const std::string how = std::getenv("ROUGH") ? std::getenv("ROUGH") : "";
  if (how == "segfault") std::raise(SIGSEGV);
  if (how == "once") crash_once();
  if (how == "hang") {
    for (;;) sleep(1);
  }
  if (how == "exit") std::exit(0);
  if (how == "throw") throw std::runtime_error("across the border");
  if (how == "heap") corrupt_the_heap();
  if (how == "disk") fill_the_disk();
  if (how == "log") print_without_end();
  if (how == "answers") write_everywhere();
  return nullptr;
}

da_error *list(da_device *, da_kernel_list *out_list) {
  out_list->first = kernels.data();
  out_list->count = kernels.size();
  out_list->stride = sizeof(da_kernel);
  return nullptr;
}

const void *get_interface(const char *id, uint32_t min_version) {
  if (std::strcmp(id, DA_KERNEL_INTERFACE) != 0) return good->get_interface(id, min_version);
  return min_version > 1 ? nullptr : &kernel_interface;
}

}  // namespace

DA_EXPORT const da_plugin *device_api_plugin(const da_plugin_request *request) {
  good = good_plugin(request);
  descriptor = *good;
  descriptor.get_interface = get_interface;
  const auto *table = static_cast<const da_kernel_interface *>(good->get_interface(DA_KERNEL_INTERFACE, 1));
  kernel_interface = *table;
  kernel_interface.list = list;
  da_kernel_list found = {};
  found.struct_size = sizeof found;
  table->list(nullptr, &found);
  kernels.assign(found.first, found.first + found.count);
  for (da_kernel &kernel : kernels) {
    if (std::strcmp(kernel.op, "sqrt") == 0) kernel.launch = rough;
  }
  return &descriptor;
}
