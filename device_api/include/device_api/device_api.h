/* device_api/device_api.h: everything. The contract every plugin must meet is plugin.h, device.h, memory.h
 * and kernel.h; the rest is there for hardware that has it.
 */
#ifndef DEVICE_API_DEVICE_API_H
#define DEVICE_API_DEVICE_API_H

#include "device_api/base.h"
#include "device_api/capture.h"
#include "device_api/collective.h"
#include "device_api/custom_op.h"
#include "device_api/device.h"
#include "device_api/graph.h"
#include "device_api/host.h"
#include "device_api/kernel.h"
#include "device_api/layout.h"
#include "device_api/memory.h"
#include "device_api/ops.h"
#include "device_api/plugin.h"
#include "device_api/profiler.h"
#include "device_api/random.h"
#include "device_api/stream.h"

#endif
