// The innermost loops of elementwise kernels, as templates over an operation. A loop sees contiguous memory
// only: the driver (elementwise.hpp) brings strided, broadcast and 16-bit operands into that form, so that
// each operation and dtype needs one loop. Memory may have any alignment.
#ifndef REFERENCE_CPU_LOOPS_HPP
#define REFERENCE_CPU_LOOPS_HPP

#include <complex>
#include <cstddef>
#include <cstdint>

#include "device_api/base.h"

// Compiles a function for several levels of x86-64 and picks one when the library is opened. Not under
// sanitizers: the choice runs before their start-up.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(REFERENCE_CPU_SANITIZED)
#define REFERENCE_CPU_HAS_CLONES
#define REFERENCE_CPU_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define REFERENCE_CPU_CLONES
#endif

// An operand may be the output itself, element for element; nothing else overlaps.
#if defined(__clang__)
#define REFERENCE_CPU_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define REFERENCE_CPU_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace reference_cpu {

// operands[0] is the output, then come the inputs; each holds n elements without gaps.
using Loop = void (*)(char *const *operands, int64_t n);

struct LoopEntry {
  const char *op;
  int32_t dtype;   // of the inputs (of the second one where the first is a condition)
  int32_t weight;  // cost of an element; an addition is 1
  Loop loop;
};

struct LoopTable {
  const LoopEntry *first;
  size_t count;

  const LoopEntry *begin() const { return first; }
  const LoopEntry *end() const { return first + count; }
};

// A value at an address of any alignment, which may alias values of other types.
template <class T>
struct __attribute__((packed, may_alias)) Cell {
  T value;
  T get() const { return value; }
  void set(T made) { value = made; }
};

template <class T>
struct __attribute__((packed, may_alias)) Cell<std::complex<T>> {
  T real, imaginary;
  std::complex<T> get() const { return {real, imaginary}; }
  void set(std::complex<T> made) {
    real = made.real();
    imaginary = made.imag();
  }
};

template <class T>
Cell<T> *cells(char *address) {
  return reinterpret_cast<Cell<T> *>(address);
}

namespace {  // each family has its own copies: the chosen clone of a function is private to its file

template <class Op, class R, class A>
REFERENCE_CPU_CLONES void unary_clones(char *const *operands, int64_t n) {
  Cell<R> *out = cells<R>(operands[0]);
  const Cell<A> *a = cells<A>(operands[1]);
  REFERENCE_CPU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) out[i].set(static_cast<R>(Op::apply(a[i].get())));
}

template <class Op, class R, class A>
REFERENCE_CPU_CLONES void binary_clones(char *const *operands, int64_t n) {
  Cell<R> *out = cells<R>(operands[0]);
  const Cell<A> *a = cells<A>(operands[1]);
  const Cell<A> *b = cells<A>(operands[2]);
  REFERENCE_CPU_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) out[i].set(static_cast<R>(Op::apply(a[i].get(), b[i].get())));
}

// The same without clones, for operations that call a library function for each element anyway.
template <class Op, class R, class A>
void unary_plain(char *const *operands, int64_t n) {
  Cell<R> *out = cells<R>(operands[0]);
  const Cell<A> *a = cells<A>(operands[1]);
  for (int64_t i = 0; i < n; ++i) out[i].set(static_cast<R>(Op::apply(a[i].get())));
}

template <class Op, class R, class A>
void binary_plain(char *const *operands, int64_t n) {
  Cell<R> *out = cells<R>(operands[0]);
  const Cell<A> *a = cells<A>(operands[1]);
  const Cell<A> *b = cells<A>(operands[2]);
  for (int64_t i = 0; i < n; ++i) out[i].set(static_cast<R>(Op::apply(a[i].get(), b[i].get())));
}

}  // namespace
}  // namespace reference_cpu

#endif
