// Products that decide between keys, in double precision, so that no choice hangs on rounding.
#pragma once

#include <vector>

#include "core/tensor/storage.h"
#include "core/tensor/tensor.h"

namespace attnscope {

// Many numbers in double precision, counted as arrays are.
using Doubles = StorageVector<double>;
// Throws Stopped: memory that is touched first takes its time.
Doubles zero_doubles(Index count);

double exact_dot(const float* a, const float* b, Index size);

// rows [n, size] scaled to length 1 in double precision; zero rows stay zero.
std::vector<double> exact_unit_rows(const float* rows, Index count, Index size);
double exact_dot(const double* a, const float* b, Index size);
double exact_dot(const double* a, const double* b, Index size);

// The first of the greatest numbers.
Index first_greatest(const std::vector<double>& numbers);

}  // namespace attnscope
