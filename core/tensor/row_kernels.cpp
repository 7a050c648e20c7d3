#include "core/tensor/row_kernels.h"

namespace attnscope::cpu {

extern const RowKernels row_kernels_baseline;
#ifdef ATTNSCOPE_X86
extern const RowKernels row_kernels_avx2, row_kernels_avx512;
#endif

RowKernelList all_row_kernels() {
  static const RowKernels* tables[3];
  static const RowKernels** const last = [] {
    const RowKernels** next = tables;
    *next++ = &row_kernels_baseline;
#ifdef ATTNSCOPE_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v3")) *next++ = &row_kernels_avx2;
    if (__builtin_cpu_supports("x86-64-v4")) *next++ = &row_kernels_avx512;
#endif
    return next;
  }();
  return {tables, last};
}

const RowKernels& row_kernels() {
  static const RowKernels& widest = *all_row_kernels().last[-1];
  return widest;
}

}  // namespace attnscope::cpu
