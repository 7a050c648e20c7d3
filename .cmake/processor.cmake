# Instruction set of the compiled code. The levels x86-64-v4 and x86-64-v3 are tested explicitly,
# since -march=native misidentifies processors that are newer than the compiler.
include(CheckCXXSourceRuns)

set(ATTNSCOPE_MACHINE_FLAGS "")
if(NOT ATTNSCOPE_PORTABLE AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  check_cxx_source_runs("int main() {
    __builtin_cpu_init();
    return __builtin_cpu_supports(\"avx512f\") && __builtin_cpu_supports(\"avx512bw\") &&
           __builtin_cpu_supports(\"avx512cd\") && __builtin_cpu_supports(\"avx512dq\") &&
           __builtin_cpu_supports(\"avx512vl\") ? 0 : 1; }" ATTNSCOPE_HAS_AVX512)
  check_cxx_source_runs("int main() {
    __builtin_cpu_init();
    return __builtin_cpu_supports(\"avx2\") && __builtin_cpu_supports(\"fma\") &&
           __builtin_cpu_supports(\"bmi2\") ? 0 : 1; }" ATTNSCOPE_HAS_AVX2)
  if(ATTNSCOPE_HAS_AVX512)
    set(ATTNSCOPE_MACHINE_FLAGS -march=x86-64-v4 -mprefer-vector-width=512)
  elseif(ATTNSCOPE_HAS_AVX2)
    set(ATTNSCOPE_MACHINE_FLAGS -march=x86-64-v3)
  endif()
endif()
