#include "core/tensor/row_kernels.h"

#include "core/tensor/block_decoders.h"

namespace attnscope::cpu {

extern const RowKernels row_kernels_baseline;
extern const BlockFormats block_formats_baseline;
#ifdef ATTNSCOPE_X86
extern const RowKernels row_kernels_avx2, row_kernels_avx512;
extern const BlockFormats block_formats_avx2, block_formats_avx512;
#endif

#ifdef ATTNSCOPE_X86
namespace {

// Clang before version 18 does not know the level names: test the features of each level.
#if defined(__clang__) && __clang_major__ < 18
bool has_level_3() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}
bool has_level_4() {
  return has_level_3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}
#else
bool has_level_3() {
  return __builtin_cpu_supports("x86-64-v3");
}
bool has_level_4() {
  return __builtin_cpu_supports("x86-64-v4");
}
#endif

}  // namespace
#endif

RowKernelList all_row_kernels() {
  static const RowKernels* tables[3];
  static const RowKernels** const last = [] {
    const RowKernels** next = tables;
    *next++ = &row_kernels_baseline;
#ifdef ATTNSCOPE_X86
    __builtin_cpu_init();
    if (has_level_3()) *next++ = &row_kernels_avx2;
    if (has_level_4()) *next++ = &row_kernels_avx512;
#endif
    return next;
  }();
  return {tables, last};
}

const RowKernels& row_kernels() {
  static const RowKernels& widest = *all_row_kernels().last[-1];
  return widest;
}

const BlockFormats& block_formats([[maybe_unused]] const RowKernels& kernels) {
#ifdef ATTNSCOPE_X86
  if (&kernels == &row_kernels_avx512) return block_formats_avx512;
  if (&kernels == &row_kernels_avx2) return block_formats_avx2;
#endif
  return block_formats_baseline;
}

}  // namespace attnscope::cpu
