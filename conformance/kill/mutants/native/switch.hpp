// What the mutated sources of a library share: which mutant is active, and which sites have been executed. It
// is included before the first line of each. The numbers are set from outside, by the names of these symbols.
#ifndef CONFORMANCE_KILL_MUTANTS_SWITCH_HPP
#define CONFORMANCE_KILL_MUTANTS_SWITCH_HPP

#include <type_traits>

extern "C" {
// The number of the active mutant; 0 for none.
extern int da_mutant_active;
// By number of a mutant: 1 once its place has been executed.
extern unsigned char da_mutant_reached[];
// By number of a mutant: 1 once it has been found not to compile with the types it met.
extern unsigned char da_mutant_invalid[];
}

namespace da_mutants {

// Notes that the site of the mutants first..last is executed; true when one of them is active. Written once
// only, so that threads share the line.
inline __attribute__((always_inline)) bool here(int first, int last) {
  if (__builtin_expect(da_mutant_reached[first] == 0, 0)) da_mutant_reached[first] = 1;
  return __builtin_expect(da_mutant_active >= first && da_mutant_active <= last, 0);
}

inline __attribute__((always_inline)) bool is(int id) { return da_mutant_active == id; }

#define DA_MUTANTS_FUNCTION(Name, sign)                     \
  struct Name {                                             \
    template <class A, class B>                             \
    auto operator()(A a, B b) const -> decltype(a sign b) { \
      return a sign b;                                      \
    }                                                       \
  };
DA_MUTANTS_FUNCTION(Plus, +)
DA_MUTANTS_FUNCTION(Minus, -)
DA_MUTANTS_FUNCTION(Times, *)
DA_MUTANTS_FUNCTION(Over, /)
DA_MUTANTS_FUNCTION(Modulo, %)
DA_MUTANTS_FUNCTION(And, &)
DA_MUTANTS_FUNCTION(Or, |)
DA_MUTANTS_FUNCTION(Xor, ^)
DA_MUTANTS_FUNCTION(Left, <<)
DA_MUTANTS_FUNCTION(Right, >>)
#undef DA_MUTANTS_FUNCTION

template <class New, class Old, class A, class B, class = void>
struct Fits : std::false_type {};
template <class New, class Old, class A, class B>
struct Fits<New, Old, A, B, std::enable_if_t<std::is_invocable_v<New, A, B>>>
    : std::is_same<std::invoke_result_t<New, A, B>, std::invoke_result_t<Old, A, B>> {};

// Kept out of the caller, whose code stays small; by address, because functions for different processors pass
// vectors differently.
template <class New, class Old, class A, class B, class R>
__attribute__((noinline)) void compute(int id, const A *a, const B *b, R *made) {
  if constexpr (Fits<New, Old, A, B>::value) {
    *made = New{}(*a, *b);
  } else {
    da_mutant_invalid[id] = 1;
    *made = Old{}(*a, *b);
  }
}

// a New b where that has a meaning and the type of a Old b; else a Old b, and a note that it is no mutant.
template <class New, class Old, class A, class B>
inline __attribute__((always_inline)) std::invoke_result_t<Old, A, B> instead(int id, New, Old, A a, B b) {
  std::invoke_result_t<Old, A, B> made;
  compute<New, Old>(id, &a, &b, &made);
  return made;
}

}  // namespace da_mutants

#endif
