/* device_api/layout.h: what the compiler at hand made of the headers.
 * Written by `python -m device_api.abi.generate` from the headers; do not edit.
 *
 * `da_layout` goes into the plugin's descriptor; the host compares it with its own numbers before the first
 * call. DA_..._MIN_SIZE is the size a struct had when it was first released: a reader accepts any
 * `struct_size` from there on, and it never changes within a major. Attribute structs of ops are not listed:
 * they hold only 8-byte members, which no compiler lays out differently, and there is one for each op.
 */
#ifndef DEVICE_API_LAYOUT_H
#define DEVICE_API_LAYOUT_H

/* clang-format off */

#include "device_api/base.h"
#include "device_api/capture.h"
#include "device_api/collective.h"
#include "device_api/custom_op.h"
#include "device_api/device.h"
#include "device_api/graph.h"
#include "device_api/host.h"
#include "device_api/kernel.h"
#include "device_api/memory.h"
#include "device_api/plugin.h"
#include "device_api/profiler.h"
#include "device_api/random.h"
#include "device_api/stream.h"

#define DA_TENSOR_MIN_SIZE UINT64_C(72)
#define DA_ERROR_INTERFACE_MIN_SIZE UINT64_C(40)
#define DA_CAPTURE_INTERFACE_MIN_SIZE UINT64_C(64)
#define DA_UNIQUE_ID_MIN_SIZE UINT64_C(144)
#define DA_COMMUNICATOR_OPTIONS_MIN_SIZE UINT64_C(40)
#define DA_COLLECTIVE_INTERFACE_MIN_SIZE UINT64_C(176)
#define DA_OUTPUT_SHAPE_MIN_SIZE UINT64_C(280)
#define DA_CUSTOM_OP_MIN_SIZE UINT64_C(104)
#define DA_CUSTOM_OP_LIST_MIN_SIZE UINT64_C(40)
#define DA_CUSTOM_OP_INTERFACE_MIN_SIZE UINT64_C(32)
#define DA_DEVICE_PROPERTIES_MIN_SIZE UINT64_C(88)
#define DA_DEVICE_INTERFACE_MIN_SIZE UINT64_C(64)
#define DA_KERNEL_CONTEXT_MIN_SIZE UINT64_C(72)
#define DA_KERNEL_MIN_SIZE UINT64_C(104)
#define DA_KERNEL_LIST_MIN_SIZE UINT64_C(40)
#define DA_KERNEL_INTERFACE_MIN_SIZE UINT64_C(32)
#define DA_BYTES_MIN_SIZE UINT64_C(48)
#define DA_PASS_MIN_SIZE UINT64_C(48)
#define DA_PASS_LIST_MIN_SIZE UINT64_C(40)
#define DA_CLAIM_MIN_SIZE UINT64_C(40)
#define DA_CLAIM_LIST_MIN_SIZE UINT64_C(56)
#define DA_GRAPH_INTERFACE_MIN_SIZE UINT64_C(80)
#define DA_HOST_MIN_SIZE UINT64_C(64)
#define DA_COPY_MIN_SIZE UINT64_C(72)
#define DA_MEMORY_INTERFACE_MIN_SIZE UINT64_C(80)
#define DA_LAYOUT_TABLE_MIN_SIZE UINT64_C(32)
#define DA_PLUGIN_REQUEST_MIN_SIZE UINT64_C(24)
#define DA_PLUGIN_MIN_SIZE UINT64_C(120)
#define DA_ACTIVITY_MIN_SIZE UINT64_C(72)
#define DA_PROFILER_INTERFACE_MIN_SIZE UINT64_C(48)
#define DA_RANDOM_INTERFACE_MIN_SIZE UINT64_C(32)
#define DA_CALLBACK_MIN_SIZE UINT64_C(40)
#define DA_STREAM_INTERFACE_MIN_SIZE UINT64_C(128)

#if defined(__GNUC__) || defined(__clang__)
#define DA_MAYBE_UNUSED __attribute__((unused))
#else
#define DA_MAYBE_UNUSED
#endif

/* A negative array size where a struct is not what the contract says (64-bit targets). */
#define DA_LAYOUT_ASSERT(name, bytes) \
  typedef char da_layout_assert_##name[(sizeof(void *) != 8 || sizeof(name) == (bytes)) ? 1 : -1]

DA_LAYOUT_ASSERT(da_dl_device, 8);
DA_LAYOUT_ASSERT(da_dl_dtype, 4);
DA_LAYOUT_ASSERT(da_dl_tensor, 48);
DA_LAYOUT_ASSERT(da_tensor, 72);
DA_LAYOUT_ASSERT(da_error_interface, 40);
DA_LAYOUT_ASSERT(da_capture_interface, 64);
DA_LAYOUT_ASSERT(da_unique_id, 144);
DA_LAYOUT_ASSERT(da_communicator_options, 40);
DA_LAYOUT_ASSERT(da_collective_interface, 176);
DA_LAYOUT_ASSERT(da_output_shape, 280);
DA_LAYOUT_ASSERT(da_custom_op, 104);
DA_LAYOUT_ASSERT(da_custom_op_list, 40);
DA_LAYOUT_ASSERT(da_custom_op_interface, 32);
DA_LAYOUT_ASSERT(da_device_properties, 88);
DA_LAYOUT_ASSERT(da_device_interface, 64);
DA_LAYOUT_ASSERT(da_kernel_context, 72);
DA_LAYOUT_ASSERT(da_kernel, 104);
DA_LAYOUT_ASSERT(da_kernel_list, 40);
DA_LAYOUT_ASSERT(da_kernel_interface, 32);
DA_LAYOUT_ASSERT(da_bytes, 48);
DA_LAYOUT_ASSERT(da_pass, 48);
DA_LAYOUT_ASSERT(da_pass_list, 40);
DA_LAYOUT_ASSERT(da_claim, 40);
DA_LAYOUT_ASSERT(da_claim_list, 56);
DA_LAYOUT_ASSERT(da_graph_interface, 80);
DA_LAYOUT_ASSERT(da_host, 64);
DA_LAYOUT_ASSERT(da_copy, 72);
DA_LAYOUT_ASSERT(da_memory_interface, 80);
DA_LAYOUT_ASSERT(da_struct_layout, 24);
DA_LAYOUT_ASSERT(da_layout_table, 32);
DA_LAYOUT_ASSERT(da_plugin_request, 24);
DA_LAYOUT_ASSERT(da_plugin, 120);
DA_LAYOUT_ASSERT(da_activity, 72);
DA_LAYOUT_ASSERT(da_profiler_interface, 48);
DA_LAYOUT_ASSERT(da_random_interface, 32);
DA_LAYOUT_ASSERT(da_callback, 40);
DA_LAYOUT_ASSERT(da_stream_interface, 128);

static const uint32_t da_layout_of_da_dl_device[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_dl_device, type),
    (uint32_t)offsetof(da_dl_device, id)};
static const uint32_t da_layout_of_da_dl_dtype[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_dl_dtype, code),
    (uint32_t)offsetof(da_dl_dtype, bits),
    (uint32_t)offsetof(da_dl_dtype, lanes)};
static const uint32_t da_layout_of_da_dl_tensor[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_dl_tensor, data),
    (uint32_t)offsetof(da_dl_tensor, device),
    (uint32_t)offsetof(da_dl_tensor, ndim),
    (uint32_t)offsetof(da_dl_tensor, dtype),
    (uint32_t)offsetof(da_dl_tensor, shape),
    (uint32_t)offsetof(da_dl_tensor, strides),
    (uint32_t)offsetof(da_dl_tensor, byte_offset)};
static const uint32_t da_layout_of_da_tensor[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_tensor, struct_size),
    (uint32_t)offsetof(da_tensor, extension),
    (uint32_t)offsetof(da_tensor, dl),
    (uint32_t)offsetof(da_tensor, dtype),
    (uint32_t)offsetof(da_tensor, reserved)};
static const uint32_t da_layout_of_da_error_interface[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_error_interface, struct_size),
    (uint32_t)offsetof(da_error_interface, extension),
    (uint32_t)offsetof(da_error_interface, code),
    (uint32_t)offsetof(da_error_interface, message),
    (uint32_t)offsetof(da_error_interface, destroy)};
static const uint32_t da_layout_of_da_capture_interface[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_capture_interface, struct_size),
    (uint32_t)offsetof(da_capture_interface, extension),
    (uint32_t)offsetof(da_capture_interface, version),
    (uint32_t)offsetof(da_capture_interface, reserved),
    (uint32_t)offsetof(da_capture_interface, begin),
    (uint32_t)offsetof(da_capture_interface, end),
    (uint32_t)offsetof(da_capture_interface, is_capturing),
    (uint32_t)offsetof(da_capture_interface, replay),
    (uint32_t)offsetof(da_capture_interface, destroy)};
static const uint32_t da_layout_of_da_unique_id[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_unique_id, struct_size),
    (uint32_t)offsetof(da_unique_id, extension),
    (uint32_t)offsetof(da_unique_id, bytes)};
static const uint32_t da_layout_of_da_communicator_options[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_communicator_options, struct_size),
    (uint32_t)offsetof(da_communicator_options, extension),
    (uint32_t)offsetof(da_communicator_options, rank),
    (uint32_t)offsetof(da_communicator_options, rank_count),
    (uint32_t)offsetof(da_communicator_options, timeout_ns),
    (uint32_t)offsetof(da_communicator_options, id)};
static const uint32_t da_layout_of_da_collective_interface[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_collective_interface, struct_size),
    (uint32_t)offsetof(da_collective_interface, extension),
    (uint32_t)offsetof(da_collective_interface, version),
    (uint32_t)offsetof(da_collective_interface, reserved),
    (uint32_t)offsetof(da_collective_interface, unique_id),
    (uint32_t)offsetof(da_collective_interface, create),
    (uint32_t)offsetof(da_collective_interface, destroy),
    (uint32_t)offsetof(da_collective_interface, abort),
    (uint32_t)offsetof(da_collective_interface, async_error),
    (uint32_t)offsetof(da_collective_interface, split),
    (uint32_t)offsetof(da_collective_interface, all_reduce),
    (uint32_t)offsetof(da_collective_interface, reduce),
    (uint32_t)offsetof(da_collective_interface, broadcast),
    (uint32_t)offsetof(da_collective_interface, all_gather),
    (uint32_t)offsetof(da_collective_interface, reduce_scatter),
    (uint32_t)offsetof(da_collective_interface, all_to_all),
    (uint32_t)offsetof(da_collective_interface, gather),
    (uint32_t)offsetof(da_collective_interface, scatter),
    (uint32_t)offsetof(da_collective_interface, send),
    (uint32_t)offsetof(da_collective_interface, receive),
    (uint32_t)offsetof(da_collective_interface, barrier),
    (uint32_t)offsetof(da_collective_interface, group_start),
    (uint32_t)offsetof(da_collective_interface, group_end)};
static const uint32_t da_layout_of_da_output_shape[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_output_shape, struct_size),
    (uint32_t)offsetof(da_output_shape, extension),
    (uint32_t)offsetof(da_output_shape, dtype),
    (uint32_t)offsetof(da_output_shape, rank),
    (uint32_t)offsetof(da_output_shape, sizes)};
static const uint32_t da_layout_of_da_custom_op[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_custom_op, struct_size),
    (uint32_t)offsetof(da_custom_op, extension),
    (uint32_t)offsetof(da_custom_op, schema),
    (uint32_t)offsetof(da_custom_op, doc),
    (uint32_t)offsetof(da_custom_op, types),
    (uint32_t)offsetof(da_custom_op, gradient),
    (uint32_t)offsetof(da_custom_op, promotion),
    (uint32_t)offsetof(da_custom_op, amp),
    (uint32_t)offsetof(da_custom_op, ulp),
    (uint32_t)offsetof(da_custom_op, infer)};
static const uint32_t da_layout_of_da_custom_op_list[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_custom_op_list, struct_size),
    (uint32_t)offsetof(da_custom_op_list, extension),
    (uint32_t)offsetof(da_custom_op_list, first),
    (uint32_t)offsetof(da_custom_op_list, count),
    (uint32_t)offsetof(da_custom_op_list, stride)};
static const uint32_t da_layout_of_da_custom_op_interface[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_custom_op_interface, struct_size),
    (uint32_t)offsetof(da_custom_op_interface, extension),
    (uint32_t)offsetof(da_custom_op_interface, version),
    (uint32_t)offsetof(da_custom_op_interface, reserved),
    (uint32_t)offsetof(da_custom_op_interface, list)};
static const uint32_t da_layout_of_da_device_properties[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_device_properties, struct_size),
    (uint32_t)offsetof(da_device_properties, extension),
    (uint32_t)offsetof(da_device_properties, name),
    (uint32_t)offsetof(da_device_properties, driver_version),
    (uint32_t)offsetof(da_device_properties, runtime_version),
    (uint32_t)offsetof(da_device_properties, total_memory),
    (uint32_t)offsetof(da_device_properties, allocation_alignment),
    (uint32_t)offsetof(da_device_properties, flags),
    (uint32_t)offsetof(da_device_properties, dtypes),
    (uint32_t)offsetof(da_device_properties, max_rank),
    (uint32_t)offsetof(da_device_properties, compute_units),
    (uint32_t)offsetof(da_device_properties, dl_device_type),
    (uint32_t)offsetof(da_device_properties, reserved)};
static const uint32_t da_layout_of_da_device_interface[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_device_interface, struct_size),
    (uint32_t)offsetof(da_device_interface, extension),
    (uint32_t)offsetof(da_device_interface, version),
    (uint32_t)offsetof(da_device_interface, reserved),
    (uint32_t)offsetof(da_device_interface, count),
    (uint32_t)offsetof(da_device_interface, open),
    (uint32_t)offsetof(da_device_interface, close),
    (uint32_t)offsetof(da_device_interface, properties),
    (uint32_t)offsetof(da_device_interface, synchronize)};
static const uint32_t da_layout_of_da_kernel_context[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_kernel_context, struct_size),
    (uint32_t)offsetof(da_kernel_context, extension),
    (uint32_t)offsetof(da_kernel_context, device),
    (uint32_t)offsetof(da_kernel_context, stream),
    (uint32_t)offsetof(da_kernel_context, flags),
    (uint32_t)offsetof(da_kernel_context, random_seed),
    (uint32_t)offsetof(da_kernel_context, random_offset),
    (uint32_t)offsetof(da_kernel_context, host_context),
    (uint32_t)offsetof(da_kernel_context, scratch)};
static const uint32_t da_layout_of_da_kernel[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_kernel, struct_size),
    (uint32_t)offsetof(da_kernel, extension),
    (uint32_t)offsetof(da_kernel, op),
    (uint32_t)offsetof(da_kernel, dtypes),
    (uint32_t)offsetof(da_kernel, flags),
    (uint32_t)offsetof(da_kernel, priority),
    (uint32_t)offsetof(da_kernel, reserved),
    (uint32_t)offsetof(da_kernel, launch),
    (uint32_t)offsetof(da_kernel, prepare),
    (uint32_t)offsetof(da_kernel, release),
    (uint32_t)offsetof(da_kernel, supports)};
static const uint32_t da_layout_of_da_kernel_list[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_kernel_list, struct_size),
    (uint32_t)offsetof(da_kernel_list, extension),
    (uint32_t)offsetof(da_kernel_list, first),
    (uint32_t)offsetof(da_kernel_list, count),
    (uint32_t)offsetof(da_kernel_list, stride)};
static const uint32_t da_layout_of_da_kernel_interface[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_kernel_interface, struct_size),
    (uint32_t)offsetof(da_kernel_interface, extension),
    (uint32_t)offsetof(da_kernel_interface, version),
    (uint32_t)offsetof(da_kernel_interface, reserved),
    (uint32_t)offsetof(da_kernel_interface, list)};
static const uint32_t da_layout_of_da_bytes[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_bytes, struct_size),
    (uint32_t)offsetof(da_bytes, extension),
    (uint32_t)offsetof(da_bytes, data),
    (uint32_t)offsetof(da_bytes, size),
    (uint32_t)offsetof(da_bytes, owner),
    (uint32_t)offsetof(da_bytes, destroy)};
static const uint32_t da_layout_of_da_pass[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_pass, struct_size),
    (uint32_t)offsetof(da_pass, extension),
    (uint32_t)offsetof(da_pass, name),
    (uint32_t)offsetof(da_pass, description),
    (uint32_t)offsetof(da_pass, priority),
    (uint32_t)offsetof(da_pass, reserved),
    (uint32_t)offsetof(da_pass, run)};
static const uint32_t da_layout_of_da_pass_list[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_pass_list, struct_size),
    (uint32_t)offsetof(da_pass_list, extension),
    (uint32_t)offsetof(da_pass_list, first),
    (uint32_t)offsetof(da_pass_list, count),
    (uint32_t)offsetof(da_pass_list, stride)};
static const uint32_t da_layout_of_da_claim[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_claim, struct_size),
    (uint32_t)offsetof(da_claim, extension),
    (uint32_t)offsetof(da_claim, nodes),
    (uint32_t)offsetof(da_claim, node_count),
    (uint32_t)offsetof(da_claim, reason)};
static const uint32_t da_layout_of_da_claim_list[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_claim_list, struct_size),
    (uint32_t)offsetof(da_claim_list, extension),
    (uint32_t)offsetof(da_claim_list, first),
    (uint32_t)offsetof(da_claim_list, count),
    (uint32_t)offsetof(da_claim_list, stride),
    (uint32_t)offsetof(da_claim_list, owner),
    (uint32_t)offsetof(da_claim_list, destroy)};
static const uint32_t da_layout_of_da_graph_interface[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_graph_interface, struct_size),
    (uint32_t)offsetof(da_graph_interface, extension),
    (uint32_t)offsetof(da_graph_interface, version),
    (uint32_t)offsetof(da_graph_interface, reserved),
    (uint32_t)offsetof(da_graph_interface, passes),
    (uint32_t)offsetof(da_graph_interface, claim),
    (uint32_t)offsetof(da_graph_interface, compile),
    (uint32_t)offsetof(da_graph_interface, execute),
    (uint32_t)offsetof(da_graph_interface, serialise),
    (uint32_t)offsetof(da_graph_interface, deserialise),
    (uint32_t)offsetof(da_graph_interface, destroy)};
static const uint32_t da_layout_of_da_host[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_host, struct_size),
    (uint32_t)offsetof(da_host, extension),
    (uint32_t)offsetof(da_host, abi_major),
    (uint32_t)offsetof(da_host, abi_minor),
    (uint32_t)offsetof(da_host, context),
    (uint32_t)offsetof(da_host, log),
    (uint32_t)offsetof(da_host, trace_begin),
    (uint32_t)offsetof(da_host, trace_end),
    (uint32_t)offsetof(da_host, report_async_error)};
static const uint32_t da_layout_of_da_copy[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_copy, struct_size),
    (uint32_t)offsetof(da_copy, extension),
    (uint32_t)offsetof(da_copy, kind),
    (uint32_t)offsetof(da_copy, reserved),
    (uint32_t)offsetof(da_copy, destination),
    (uint32_t)offsetof(da_copy, destination_offset),
    (uint32_t)offsetof(da_copy, source),
    (uint32_t)offsetof(da_copy, source_offset),
    (uint32_t)offsetof(da_copy, bytes),
    (uint32_t)offsetof(da_copy, peer)};
static const uint32_t da_layout_of_da_memory_interface[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_memory_interface, struct_size),
    (uint32_t)offsetof(da_memory_interface, extension),
    (uint32_t)offsetof(da_memory_interface, version),
    (uint32_t)offsetof(da_memory_interface, reserved),
    (uint32_t)offsetof(da_memory_interface, allocate),
    (uint32_t)offsetof(da_memory_interface, free),
    (uint32_t)offsetof(da_memory_interface, copy),
    (uint32_t)offsetof(da_memory_interface, set),
    (uint32_t)offsetof(da_memory_interface, info),
    (uint32_t)offsetof(da_memory_interface, wrap),
    (uint32_t)offsetof(da_memory_interface, unwrap)};
static const uint32_t da_layout_of_da_struct_layout[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_struct_layout, name),
    (uint32_t)offsetof(da_struct_layout, size),
    (uint32_t)offsetof(da_struct_layout, field_count),
    (uint32_t)offsetof(da_struct_layout, offsets)};
static const uint32_t da_layout_of_da_layout_table[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_layout_table, struct_size),
    (uint32_t)offsetof(da_layout_table, extension),
    (uint32_t)offsetof(da_layout_table, structs),
    (uint32_t)offsetof(da_layout_table, struct_count)};
static const uint32_t da_layout_of_da_plugin_request[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_plugin_request, struct_size),
    (uint32_t)offsetof(da_plugin_request, extension),
    (uint32_t)offsetof(da_plugin_request, host_major),
    (uint32_t)offsetof(da_plugin_request, host_minor)};
static const uint32_t da_layout_of_da_plugin[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_plugin, struct_size),
    (uint32_t)offsetof(da_plugin, extension),
    (uint32_t)offsetof(da_plugin, magic),
    (uint32_t)offsetof(da_plugin, abi_major),
    (uint32_t)offsetof(da_plugin, abi_minor),
    (uint32_t)offsetof(da_plugin, min_host_minor),
    (uint32_t)offsetof(da_plugin, reserved),
    (uint32_t)offsetof(da_plugin, name),
    (uint32_t)offsetof(da_plugin, vendor),
    (uint32_t)offsetof(da_plugin, version),
    (uint32_t)offsetof(da_plugin, device_type),
    (uint32_t)offsetof(da_plugin, features),
    (uint32_t)offsetof(da_plugin, layout),
    (uint32_t)offsetof(da_plugin, errors),
    (uint32_t)offsetof(da_plugin, initialize),
    (uint32_t)offsetof(da_plugin, shutdown),
    (uint32_t)offsetof(da_plugin, get_interface)};
static const uint32_t da_layout_of_da_activity[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_activity, struct_size),
    (uint32_t)offsetof(da_activity, extension),
    (uint32_t)offsetof(da_activity, kind),
    (uint32_t)offsetof(da_activity, reserved),
    (uint32_t)offsetof(da_activity, name),
    (uint32_t)offsetof(da_activity, start_ns),
    (uint32_t)offsetof(da_activity, end_ns),
    (uint32_t)offsetof(da_activity, stream),
    (uint32_t)offsetof(da_activity, correlation),
    (uint32_t)offsetof(da_activity, bytes)};
static const uint32_t da_layout_of_da_profiler_interface[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_profiler_interface, struct_size),
    (uint32_t)offsetof(da_profiler_interface, extension),
    (uint32_t)offsetof(da_profiler_interface, version),
    (uint32_t)offsetof(da_profiler_interface, reserved),
    (uint32_t)offsetof(da_profiler_interface, start),
    (uint32_t)offsetof(da_profiler_interface, stop),
    (uint32_t)offsetof(da_profiler_interface, collect)};
static const uint32_t da_layout_of_da_random_interface[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_random_interface, struct_size),
    (uint32_t)offsetof(da_random_interface, extension),
    (uint32_t)offsetof(da_random_interface, version),
    (uint32_t)offsetof(da_random_interface, reserved),
    (uint32_t)offsetof(da_random_interface, bits)};
static const uint32_t da_layout_of_da_callback[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_callback, struct_size),
    (uint32_t)offsetof(da_callback, extension),
    (uint32_t)offsetof(da_callback, function),
    (uint32_t)offsetof(da_callback, user_data),
    (uint32_t)offsetof(da_callback, destroy)};
static const uint32_t da_layout_of_da_stream_interface[] DA_MAYBE_UNUSED = {
    (uint32_t)offsetof(da_stream_interface, struct_size),
    (uint32_t)offsetof(da_stream_interface, extension),
    (uint32_t)offsetof(da_stream_interface, version),
    (uint32_t)offsetof(da_stream_interface, reserved),
    (uint32_t)offsetof(da_stream_interface, create),
    (uint32_t)offsetof(da_stream_interface, destroy),
    (uint32_t)offsetof(da_stream_interface, synchronize),
    (uint32_t)offsetof(da_stream_interface, query),
    (uint32_t)offsetof(da_stream_interface, wait_event),
    (uint32_t)offsetof(da_stream_interface, add_callback),
    (uint32_t)offsetof(da_stream_interface, wrap),
    (uint32_t)offsetof(da_stream_interface, event_create),
    (uint32_t)offsetof(da_stream_interface, event_destroy),
    (uint32_t)offsetof(da_stream_interface, event_record),
    (uint32_t)offsetof(da_stream_interface, event_query),
    (uint32_t)offsetof(da_stream_interface, event_synchronize),
    (uint32_t)offsetof(da_stream_interface, event_elapsed)};

static const da_struct_layout da_layout_structs[] DA_MAYBE_UNUSED = {
    {"da_dl_device", (uint32_t)sizeof(da_dl_device), 2, da_layout_of_da_dl_device},
    {"da_dl_dtype", (uint32_t)sizeof(da_dl_dtype), 3, da_layout_of_da_dl_dtype},
    {"da_dl_tensor", (uint32_t)sizeof(da_dl_tensor), 7, da_layout_of_da_dl_tensor},
    {"da_tensor", (uint32_t)sizeof(da_tensor), 5, da_layout_of_da_tensor},
    {"da_error_interface", (uint32_t)sizeof(da_error_interface), 5, da_layout_of_da_error_interface},
    {"da_capture_interface", (uint32_t)sizeof(da_capture_interface), 9, da_layout_of_da_capture_interface},
    {"da_unique_id", (uint32_t)sizeof(da_unique_id), 3, da_layout_of_da_unique_id},
    {"da_communicator_options", (uint32_t)sizeof(da_communicator_options), 6, da_layout_of_da_communicator_options},
    {"da_collective_interface", (uint32_t)sizeof(da_collective_interface), 23, da_layout_of_da_collective_interface},
    {"da_output_shape", (uint32_t)sizeof(da_output_shape), 5, da_layout_of_da_output_shape},
    {"da_custom_op", (uint32_t)sizeof(da_custom_op), 10, da_layout_of_da_custom_op},
    {"da_custom_op_list", (uint32_t)sizeof(da_custom_op_list), 5, da_layout_of_da_custom_op_list},
    {"da_custom_op_interface", (uint32_t)sizeof(da_custom_op_interface), 5, da_layout_of_da_custom_op_interface},
    {"da_device_properties", (uint32_t)sizeof(da_device_properties), 13, da_layout_of_da_device_properties},
    {"da_device_interface", (uint32_t)sizeof(da_device_interface), 9, da_layout_of_da_device_interface},
    {"da_kernel_context", (uint32_t)sizeof(da_kernel_context), 9, da_layout_of_da_kernel_context},
    {"da_kernel", (uint32_t)sizeof(da_kernel), 11, da_layout_of_da_kernel},
    {"da_kernel_list", (uint32_t)sizeof(da_kernel_list), 5, da_layout_of_da_kernel_list},
    {"da_kernel_interface", (uint32_t)sizeof(da_kernel_interface), 5, da_layout_of_da_kernel_interface},
    {"da_bytes", (uint32_t)sizeof(da_bytes), 6, da_layout_of_da_bytes},
    {"da_pass", (uint32_t)sizeof(da_pass), 7, da_layout_of_da_pass},
    {"da_pass_list", (uint32_t)sizeof(da_pass_list), 5, da_layout_of_da_pass_list},
    {"da_claim", (uint32_t)sizeof(da_claim), 5, da_layout_of_da_claim},
    {"da_claim_list", (uint32_t)sizeof(da_claim_list), 7, da_layout_of_da_claim_list},
    {"da_graph_interface", (uint32_t)sizeof(da_graph_interface), 11, da_layout_of_da_graph_interface},
    {"da_host", (uint32_t)sizeof(da_host), 9, da_layout_of_da_host},
    {"da_copy", (uint32_t)sizeof(da_copy), 10, da_layout_of_da_copy},
    {"da_memory_interface", (uint32_t)sizeof(da_memory_interface), 11, da_layout_of_da_memory_interface},
    {"da_struct_layout", (uint32_t)sizeof(da_struct_layout), 4, da_layout_of_da_struct_layout},
    {"da_layout_table", (uint32_t)sizeof(da_layout_table), 4, da_layout_of_da_layout_table},
    {"da_plugin_request", (uint32_t)sizeof(da_plugin_request), 4, da_layout_of_da_plugin_request},
    {"da_plugin", (uint32_t)sizeof(da_plugin), 17, da_layout_of_da_plugin},
    {"da_activity", (uint32_t)sizeof(da_activity), 10, da_layout_of_da_activity},
    {"da_profiler_interface", (uint32_t)sizeof(da_profiler_interface), 7, da_layout_of_da_profiler_interface},
    {"da_random_interface", (uint32_t)sizeof(da_random_interface), 5, da_layout_of_da_random_interface},
    {"da_callback", (uint32_t)sizeof(da_callback), 5, da_layout_of_da_callback},
    {"da_stream_interface", (uint32_t)sizeof(da_stream_interface), 17, da_layout_of_da_stream_interface}};

static const da_layout_table da_layout DA_MAYBE_UNUSED = {
    sizeof(da_layout_table), NULL, da_layout_structs, 37};
/* clang-format on */

#endif
