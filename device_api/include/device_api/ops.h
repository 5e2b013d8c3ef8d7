/* device_api/ops.h: the attributes of each op, one struct per op. */
#ifndef DEVICE_API_OPS_H
#define DEVICE_API_OPS_H

#include "device_api/base.h"

#endif
