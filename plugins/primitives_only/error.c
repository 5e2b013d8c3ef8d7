/* Errors: a code and a message, allocated when something fails and destroyed by the host. */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct da_error {
  int32_t code;
  char message[252];
};

/* Failing must never need memory. */
static da_error out_of_memory = {DA_STATUS_OUT_OF_MEMORY, "no host memory left to describe an error"};

da_error *make_error(int32_t code, const char *format, ...) {
  da_error *error = (da_error *)malloc(sizeof(da_error));
  if (error == NULL) {
    return &out_of_memory;
  }
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error->message, sizeof(error->message), format, arguments);
  va_end(arguments);
  error->code = code;
  return error;
}

static int32_t error_code(const da_error *error) { return error->code; }

static const char *error_message(const da_error *error) { return error->message; }

static void error_destroy(da_error *error) {
  if (error != &out_of_memory) {
    free(error);
  }
}

const da_error_interface errors = {
    sizeof(da_error_interface), NULL, error_code, error_message, error_destroy,
};
