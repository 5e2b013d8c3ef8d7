// The operations of binary kernels that are one or two instructions, for numbers of any type.
#ifndef REFERENCE_CPU_ARITHMETIC_HPP
#define REFERENCE_CPU_ARITHMETIC_HPP

namespace reference_cpu::arithmetic {

struct Add {
  template <class T>
  static T apply(T a, T b) {
    return a + b;
  }
};
struct Subtract {
  template <class T>
  static T apply(T a, T b) {
    return a - b;
  }
};
struct Multiply {
  template <class T>
  static T apply(T a, T b) {
    return a * b;
  }
};
struct Divide {
  template <class T>
  static T apply(T a, T b) {
    return a / b;
  }
};

// A NaN in either operand is the result; for integers the second comparison is never true.
struct Maximum {
  template <class T>
  static T apply(T a, T b) {
    return a >= b || a != a ? a : b;
  }
};
struct Minimum {
  template <class T>
  static T apply(T a, T b) {
    return a <= b || a != a ? a : b;
  }
};

}  // namespace reference_cpu::arithmetic

#endif
