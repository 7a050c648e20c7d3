// Whether what is written follows what is read, or crosses it.
#pragma once

#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

// weights: [L, L_source]. The source token that gets the most of each row, of equal ones the first;
// -1 where a row has no number above 0.
std::vector<Index> strongest_sources(const Tensor& weights);

// Of all pairs of rows i < j of the first `rows` whose strongest source tokens differ: the share
// whose first looks behind where the second looks. 0: what is written follows the source's order,
// 1: it runs the other way; 0.5: neither. NaN where all rows look at the same token.
double crossing(const Tensor& weights, Index rows);

}  // namespace attnscope
