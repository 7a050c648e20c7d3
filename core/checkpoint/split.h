// Views of parts of stored tensors under their own names, for layouts that fuse several matrices.
#pragma once

#include <string>

#include "core/checkpoint/format.h"

namespace attnscope {

// `repeats` runs of `count` rows each; the first starts at row `first`, each next one `stride` rows
// later. The tensor is regarded as [rows, row].
struct RowRuns {
  Index first = 0, count = 0, stride = 0, repeats = 1;
};

// Adds these rows of tensors[whole] as tensors[part] with the given shape; a single run shares the
// numbers. row: numbers per row. Throws InputError "PLACE: tensor NAME: ..." if rows are missing.
void add_part(StoredTensors& tensors, const std::string& whole, const std::string& part, Index row,
              const RowRuns& runs, const Shape& shape, const std::string& place);

}  // namespace attnscope
