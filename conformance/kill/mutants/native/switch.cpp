// The storage behind switch.hpp. DA_MUTANT_COUNT is one more than the greatest number of a mutant.
extern "C" {
__attribute__((visibility("default"))) int da_mutant_active = 0;
__attribute__((visibility("default"))) extern const int da_mutant_count = DA_MUTANT_COUNT;
__attribute__((visibility("default"))) unsigned char da_mutant_reached[DA_MUTANT_COUNT];
__attribute__((visibility("default"))) unsigned char da_mutant_invalid[DA_MUTANT_COUNT];
}
