// Image completed by a model that reads the image's first rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

struct Completion {
  Index width = 0, height = 0, levels = 0;
  Index given = 0;                  // number of leading pixels that were given
  std::vector<std::int32_t> ids;    // levels of all pixels, row by row
  std::vector<std::int32_t> whole;  // levels of the original image; empty if unknown
  Tensor probabilities;             // [height * width, levels], zero for given pixels
  std::string problem;              // reason for a missing completion; empty on success
  // Mean absolute difference in levels between generated and original pixels; NaN if unknown.
  double mean_error() const;
};

}  // namespace attnscope
