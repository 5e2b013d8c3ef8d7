/* A tiny plugin that can be made wrong in one place at a time.
 *
 * Built once; the variable STUB says what is wrong, in directives separated by spaces:
 *   poke=TABLE:OFFSET:BYTES:VALUE  writes VALUE over BYTES (4 or 8) bytes of a table before it is handed out
 *   hide=INTERFACE                 get_interface answers NULL
 *   query=null|misaligned|crash    what the exported symbol does
 *   initialize=fail|unavailable|hang|crash|exit|once   `once`: fails the first time
 *   shutdown=fail|hang
 * STUB_TRACE names a file that gets one line per call of query, initialize, open and shutdown.
 * Compile-time defects: STUB_NO_ENTRY, STUB_UNDEFINED (calls a function that nobody defines),
 * STUB_NEEDS_HELPER (calls a function of another library).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device_api/device_api.h"

#ifndef STUB_TYPE
#define STUB_TYPE "stub"
#endif

struct da_error {
  int32_t code;
  const char *message;
};
struct da_device {
  int unused;
};

static da_error fault = {DA_STATUS_INTERNAL, "the stub was told to fail"};
static da_error unavailable = {DA_STATUS_UNAVAILABLE, "no stub driver on this machine"};
static da_error unimplemented = {DA_STATUS_UNIMPLEMENTED, "the stub does nothing"};
static da_device the_device;
static int attempts;

static void trace(const char *event) {
  const char *path = getenv("STUB_TRACE");
  FILE *file = path ? fopen(path, "a") : NULL;
  if (file) {
    fprintf(file, "%s\n", event);
    fclose(file);
  }
}

static int told(const char *directive) {
  const char *all = getenv("STUB");
  const char *found = all ? strstr(all, directive) : NULL;
  size_t length = strlen(directive);
  return found && (found[length] == 0 || found[length] == ' ');
}

static int32_t error_code(const da_error *error) { return error->code; }
static const char *error_message(const da_error *error) { return error->message; }
static void error_destroy(da_error *error) { (void)error; }

static da_error *device_count(uint32_t *out_count) {
  *out_count = 2;
  return NULL;
}
static da_error *device_open(uint32_t index, da_device **out_device) {
  (void)index;
  trace("open");
  *out_device = &the_device;
  return NULL;
}
static da_error *device_close(da_device *device) {
  (void)device;
  trace("close");
  return NULL;
}
static da_error *device_properties(da_device *device, da_device_properties *out_properties) {
  (void)device;
  out_properties->name = "Stub 1";
  out_properties->total_memory = 1024;
  out_properties->max_rank = 8;
  out_properties->dl_device_type = 12;
  return NULL;
}

static da_error *allocate(da_device *device, int32_t kind, uint64_t bytes, void **out_handle) {
  (void)device;
  (void)kind;
  *out_handle = malloc(bytes ? bytes : 1);
  return *out_handle ? NULL : &fault;
}
static da_error *release(da_device *device, int32_t kind, void *handle) {
  (void)device;
  (void)kind;
  free(handle);
  return NULL;
}
static da_error *copy(da_device *device, da_stream *stream, const da_copy *what) {
  (void)device;
  (void)stream;
  if (what->bytes)
    memmove((char *)what->destination + what->destination_offset,
            (const char *)what->source + what->source_offset, what->bytes);
  return NULL;
}
static da_error *list(da_device *device, da_kernel_list *out_list) {
  (void)device;
  out_list->stride = sizeof(da_kernel);
  return NULL;
}
static da_error *custom_ops(da_custom_op_list *out_list) {
  out_list->stride = sizeof(da_custom_op);
  return NULL;
}
static da_error *random_bits(da_device *device, da_stream *stream, uint64_t seed, uint64_t offset,
                             void *handle, uint64_t byte_offset, uint64_t count) {
  (void)device;
  (void)stream;
  (void)seed;
  (void)offset;
  (void)handle;
  (void)byte_offset;
  (void)count;
  return &unimplemented;
}

/* Slots of tables that are only looked at, never called. */
static void never_called(void) { abort(); }

static da_error_interface errors = {sizeof errors, NULL, error_code, error_message, error_destroy};
static da_device_interface device = {sizeof device,     NULL, 1, 0, device_count, device_open, device_close,
                                     device_properties, NULL};
static da_memory_interface memory = {sizeof memory, NULL, 1,    0,    allocate, release,
                                     copy,          NULL, NULL, NULL, NULL};
static da_kernel_interface kernel = {sizeof kernel, NULL, 1, 0, list};
static da_random_interface random_table = {sizeof random_table, NULL, 1, 0, random_bits};
static da_custom_op_interface custom_op = {sizeof custom_op, NULL, 1, 0, custom_ops};
static da_stream_interface stream;
static da_collective_interface collective;
static da_graph_interface graph;
static da_profiler_interface profiler;
static da_capture_interface capture;

static da_error *initialize(const da_host *host);
static da_error *shutdown(void);
static const void *get_interface(const char *id, uint32_t min_version);

static da_layout_table layout;
static da_struct_layout structs[sizeof da_layout_structs / sizeof da_layout_structs[0]];
static uint32_t offsets[sizeof da_layout_of_da_plugin / sizeof(uint32_t)];
static da_plugin plugin = {sizeof plugin,
                           NULL,
                           DA_PLUGIN_MAGIC,
                           DA_ABI_MAJOR,
                           DA_ABI_MINOR,
                           0,
                           0,
                           "stub",
                           "Stub works",
                           "1.2.3",
                           STUB_TYPE,
                           0,
                           &layout,
                           &errors,
                           initialize,
                           shutdown,
                           get_interface};

static struct {
  const char *name;
  void *address;
} tables[] = {
    {"plugin", &plugin},     {"errors", &errors},       {"layout", &layout},         {"structs", structs},
    {"offsets", offsets},    {"device", &device},       {"memory", &memory},         {"kernel", &kernel},
    {"stream", &stream},     {"random", &random_table}, {"collective", &collective}, {"graph", &graph},
    {"profiler", &profiler}, {"capture", &capture},     {"custom_op", &custom_op},
};

static void *table(const char *name, size_t length) {
  size_t i;
  for (i = 0; i < sizeof tables / sizeof tables[0]; i++)
    if (strlen(tables[i].name) == length && strncmp(tables[i].name, name, length) == 0)
      return tables[i].address;
  return NULL;
}

/* Fills a table of the usual shape: header, version, then function pointers. */
static void fill(void *start, size_t size) {
  void (*function)(void) = never_called;
  uint64_t struct_size = size;
  uint32_t version = 1;
  size_t at;
  memset(start, 0, size);
  memcpy(start, &struct_size, 8);
  memcpy((char *)start + 16, &version, 4);
  for (at = 24; at < size; at += 8) memcpy((char *)start + at, &function, 8);
}

static void prepare(void) {
  const char *rest = getenv("STUB");
  fill(&stream, sizeof stream);
  fill(&collective, sizeof collective);
  fill(&graph, sizeof graph);
  fill(&profiler, sizeof profiler);
  fill(&capture, sizeof capture);
  layout = da_layout;
  memcpy(structs, da_layout_structs, sizeof structs);
  memcpy(offsets, da_layout_of_da_plugin, sizeof offsets);
  layout.structs = structs;
  for (size_t i = 0; i < sizeof structs / sizeof structs[0]; i++)
    if (strcmp(structs[i].name, "da_plugin") == 0) structs[i].offsets = offsets;
  while (rest && (rest = strstr(rest, "poke="))) {
    char name[32];
    unsigned long offset, bytes;
    unsigned long long value;
    rest += 5;
    if (sscanf(rest, "%31[a-z_]:%lu:%lu:%llu", name, &offset, &bytes, &value) == 4) {
      char *start = table(name, strlen(name));
      uint64_t wide = value;
      if (start) memcpy(start + offset, &wide, bytes);
    }
  }
}

static da_error *initialize(const da_host *host) {
  trace("initialize");
  if (told("initialize=fail")) return &fault;
  if (told("initialize=unavailable")) return &unavailable;
  if (told("initialize=hang"))
    for (;;) pause();
  if (told("initialize=crash")) abort();
  if (told("initialize=exit")) exit(7);
  if (told("initialize=once") && attempts++ == 0) return &fault;
  host->log(host->context, DA_LOG_INFO, "the stub is ready");
  return NULL;
}

static da_error *shutdown(void) {
  trace("shutdown");
  if (told("shutdown=fail")) return &fault;
  if (told("shutdown=hang"))
    for (;;) pause();
  return NULL;
}

static const void *get_interface(const char *id, uint32_t min_version) {
  const char *name = strrchr(id, '.') + 1;
  char hidden[64];
  snprintf(hidden, sizeof hidden, "hide=%s", name);
  return min_version > 1 || told(hidden) ? NULL : table(name, strlen(name));
}

#ifdef STUB_UNDEFINED
void stub_function_that_nobody_defines(void);
#endif
#ifdef STUB_NEEDS_HELPER
int stub_helper(void);
#endif

#ifdef STUB_NO_ENTRY
DA_EXPORT int stub_other_symbol(void) {
  prepare();
  return (int)plugin.struct_size;
}
#else
DA_EXPORT const da_plugin *device_api_plugin(const da_plugin_request *request) {
  (void)request;
  trace("query");
#ifdef STUB_UNDEFINED
  if (told("call-it")) stub_function_that_nobody_defines();
#endif
#ifdef STUB_NEEDS_HELPER
  if (told("call-it")) return stub_helper() ? &plugin : NULL;
#endif
  if (told("query=null")) return NULL;
  if (told("query=misaligned")) return (const da_plugin *)(const void *)((const char *)&plugin + 1);
  if (told("query=crash")) abort();
  prepare();
  return &plugin;
}
#endif
