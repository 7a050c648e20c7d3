// Parts of stored tensors under names of their own: layouts that keep several matrices in one.
#pragma once

#include <string>

#include "core/checkpoint/format.h"

namespace attnscope {

// `repeats` runs of `count` rows each, the first from row `first` on, each `stride` rows after the
// one before; of a tensor that is seen as [rows, row].
struct RowRuns {
  Index first = 0, count = 0, stride = 0, repeats = 1;
};

// `part` is such rows of tensors[whole], as a tensor of this shape; one run shares the numbers.
// row: numbers in a row. InputError "PLACE: tensor NAME: ..." where the rows are not there.
void add_part(StoredTensors& tensors, const std::string& whole, const std::string& part, Index row,
              const RowRuns& runs, const Shape& shape, const std::string& place);

}  // namespace attnscope
