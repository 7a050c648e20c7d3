// Views of parts of stored tensors, for layouts that fuse several matrices.
#pragma once

#include <string>

#include "core/checkpoint/format.h"

namespace attnscope {

// `repeats` runs of `count` rows of a tensor [rows, row_size]; run n starts at row
// first + n * stride.
struct RowRuns {
  Index first = 0, count = 0, stride = 0, repeats = 1;
};

// Adds the rows `runs` of tensors[whole] as tensors[part] of shape `shape`. A single run becomes a
// view; several are copied. Throws InputError "PLACE: tensor NAME: ..." if rows are missing.
void add_part(StoredTensors& tensors, const std::string& whole, const std::string& part,
              Index row_size, const RowRuns& runs, const Shape& shape, const std::string& place);

}  // namespace attnscope
