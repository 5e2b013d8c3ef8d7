// Element types: sizes, their DLPack form, and the bytes of one element made from a host scalar.
#ifndef DEVICE_API_CORE_DTYPE_HPP
#define DEVICE_API_CORE_DTYPE_HPP

#include <cstdint>

#include "device_api/base.h"

namespace device_api {

constexpr int32_t kDtypeCount = 18;

inline bool known_dtype(int64_t code) { return code > DA_DTYPE_INVALID && code < kDtypeCount; }
uint32_t item_size(int32_t code);
const char *dtype_name(int32_t code);
da_dl_dtype dl_dtype(int32_t code);

inline bool is_integer(int32_t code) { return code >= DA_INT8 && code <= DA_UINT64; }
inline bool is_signed_integer(int32_t code) { return code >= DA_INT8 && code <= DA_INT64; }
inline bool is_floating(int32_t code) { return code >= DA_FLOAT16 && code <= DA_FLOAT64; }
inline bool is_complex(int32_t code) { return code == DA_COMPLEX64 || code == DA_COMPLEX128; }

// The bytes of one element, as the attribute structs carry them: the value, then zeros.
struct Element {
  uint64_t words[2];
};

// Rounds to nearest even; `code` is a real floating type, float8 included.
Element encode_real(int32_t code, double value);
Element encode_complex(int32_t code, double real, double imaginary);
// Wraps nothing: false when the value does not fit. `code` is an integer type.
bool encode_signed(int32_t code, int64_t value, Element *out);
bool encode_unsigned(int32_t code, uint64_t value, Element *out);

}  // namespace device_api

#endif
