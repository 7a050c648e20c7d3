// Compact masks: the runs of allowed columns of each row.
#pragma once

#include <string>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

// Runs of each row as [begin, end, begin, end, ...], end exclusive, ascending and separate:
// [0, 2, 5, 6] allows columns 0, 1 and 5.
using MaskRows = std::vector<std::vector<Index>>;

// Returns the runs of a mask [rows, columns], in which 0 means not allowed.
MaskRows mask_rows(const ByteTensor& mask);

// Returns the mask [queries, keys]. Clips runs at the last key; missing rows allow nothing.
ByteTensor mask_from_rows(const MaskRows& rows, Index queries, Index keys);

// Returns an error for invalid rows, "row 3: expected ..."; "" for valid rows.
std::string mask_error(const MaskRows& rows);

}  // namespace attnscope
