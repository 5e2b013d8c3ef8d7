/* A kernel of a custom op in C, for the test that compiles it into the plugin. Its attribute struct is what
 * the schema says: "acme.swish(x: T, *, beta: float = 1.0, shift: float? = None) -> out: T".
 */
#include <math.h>

#include "walk.h"

typedef struct attributes_swish {
  uint64_t struct_size;
  const void *extension;
  double beta;
  int64_t has_shift;
  double shift;
} attributes_swish;

LAUNCH(swish);

LAUNCH(swish) {
  ANY_PARAMETER_MAY_BE_UNUSED;
  const attributes_swish *swish = (const attributes_swish *)attributes;
  const float *x = (const float *)first_element(inputs[0]);
  float *result = (float *)first_element(outputs[0]);
  for (int64_t i = 0; i < element_count(outputs[0]); ++i) {
    const double moved = swish->has_shift ? x[i] + swish->shift : x[i];
    result[i] = (float)(moved / (1 + exp(-swish->beta * moved)));
  }
  return NULL;
}
