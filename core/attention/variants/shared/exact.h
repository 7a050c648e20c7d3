// Double-precision arithmetic, for selections of keys that must not depend on rounding.
#pragma once

#include <vector>

#include "core/tensor/storage.h"
#include "core/tensor/tensor.h"

namespace attnscope {

// Array in double precision that counts towards the memory budget.
using Doubles = StorageVector<double>;
// Array of zeros. Throws Stopped after a stop request, because writing much new memory is slow.
Doubles zero_doubles(Index count);

double exact_dot(const float* a, const float* b, Index size);

// Rows [count, size] scaled to length 1 in double precision; zero rows stay zero.
std::vector<double> exact_unit_rows(const float* rows, Index count, Index size);
double exact_dot(const double* a, const float* b, Index size);
double exact_dot(const double* a, const double* b, Index size);

// Index of the first maximum.
Index first_maximum(const std::vector<double>& numbers);

}  // namespace attnscope
