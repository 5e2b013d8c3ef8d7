// OpenBLAS, found at run time. The plugin is not linked with it: `libscipy_openblas.so` (the scipy-openblas32
// wheel) is opened at the first large matrix product. It is looked for at DEVICE_API_CPU_BLAS (a path), else
// beside this plugin in ../scipy_openblas32/lib, else in the site-packages that this process has loaded other
// extension modules from, which serves a plugin used from its source tree. Without it the plugin's own loops
// do the work, more slowly, and the host's log says so once.
#ifndef REFERENCE_CPU_BLAS_HPP
#define REFERENCE_CPU_BLAS_HPP

#include "device_api/host.h"

namespace reference_cpu {

enum BlasOrder { kRowMajor = 101 };
enum BlasTranspose { kNoTranspose = 111, kTranspose = 112 };

// cblas_?gemm with 32-bit integers. Real alpha and beta are values, complex ones pointers.
template <class T>
using RealGemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k, T alpha,
                          const T *a, int lda, const T *b, int ldb, T beta, T *c, int ldc);
using ComplexGemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k,
                             const void *alpha, const void *a, int lda, const void *b, int ldb,
                             const void *beta, void *c, int ldc);

struct Blas {
  RealGemm<float> sgemm;
  RealGemm<double> dgemm;
  ComplexGemm cgemm;
  ComplexGemm zgemm;
};

// NULL when there is none. The library is limited to one thread: the plugin's pool shares out the work.
const Blas *blas();

// Where the one message about a missing library goes; NULL: nowhere.
void set_blas_log(const da_host *host);

}  // namespace reference_cpu

#endif
