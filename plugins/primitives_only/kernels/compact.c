/* compact: the positions of true in a mask, and how many they are. */
#include "walk.h"

LAUNCH(compact) {
  ANY_PARAMETER_MAY_BE_UNUSED;
  const uint8_t *mask = (const uint8_t *)first_element(inputs[0]);
  const int64_t length = inputs[0]->dl.shape[0];
  int64_t *index = (int64_t *)first_element(outputs[0]);
  int64_t *out_count = (int64_t *)first_element(outputs[1]);
  int64_t count = 0;
  for (int64_t i = 0; i < length; ++i) {
    if (mask[i] != 0) {
      index[count++] = i;
    }
  }
  *out_count = count;
  for (int64_t i = count; i < length; ++i) {
    index[i] = 0;
  }
  return NULL;
}
