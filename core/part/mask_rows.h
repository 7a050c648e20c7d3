// Masks in a compact form: of each row where runs of allowed columns begin and end.
#pragma once

#include <string>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

// Row by row [begin, end, begin, end, ...], ends excluded, runs in order and apart: [0, 2, 5, 6]
// allows columns 0, 1 and 5.
using MaskRows = std::vector<std::vector<Index>>;

// mask: [rows, columns], 0: not allowed.
MaskRows mask_rows(const ByteTensor& mask);

// [queries, keys]; runs that begin or end beyond are cut. Rows that `rows` lacks allow nothing.
ByteTensor mask_of(const MaskRows& rows, Index queries, Index keys);

// What is wrong with them: "row 3: expected ..."; empty: nothing.
std::string objection(const MaskRows& rows);

}  // namespace attnscope
