/* How this plugin makes errors. */
#ifndef PRIMITIVES_ONLY_ERROR_H
#define PRIMITIVES_ONLY_ERROR_H

#include "device_api/base.h"

/* A new error with a printf-style message; it belongs to the host, which destroys it through `errors`. Never
 * returns NULL: when memory is out, a static error is returned instead. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
da_error *make_error(int32_t code, const char *format, ...);

extern const da_error_interface errors;

#endif
