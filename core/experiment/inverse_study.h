// Inverse of reversible layers: their inputs, computed again from their outputs.
#pragma once

#include <string>
#include <vector>

#include "core/base/index.h"

namespace attnscope {

// Layer n; errors are the largest absolute differences of recomputed and original numbers.
struct InverseRow {
  Index layer = 0;
  double error1 = 0, error2 = 0;      // of the streams x1 and x2 before the layer
  double largest1 = 0, largest2 = 0;  // largest magnitudes of the original streams
  double relative() const;            // larger of the two relative errors
};

struct InverseStudy {
  std::string problem{};         // reason for missing numbers; empty on success
  Index tokens = 0, width = 0;   // shape of a stream
  std::vector<InverseRow> rows;  // in the order of the layers
};

}  // namespace attnscope
