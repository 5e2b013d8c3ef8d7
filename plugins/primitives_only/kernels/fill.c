/* fill: one element, everywhere. */
#include "walk.h"

LAUNCH(fill) {
  ANY_PARAMETER_MAY_BE_UNUSED;
  const da_attributes_fill *fill = (const da_attributes_fill *)attributes;
  const int64_t bytes = element_bytes(outputs[0]->dtype);
  move_elements(bytes, element_count(outputs[0]), first_element(outputs[0]), bytes, (const char *)fill->value,
                0);
  return NULL;
}
