// An image that a model completes from its first rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/experiment/experiment.h"
#include "core/tensor/tensor.h"

namespace attnscope {

// How the view "image" asks for it.
struct CompletionWish {
  Index rows = -1;     // that are given; -1: half
  bool draws = false;  // by the seed; else always the likeliest level
  std::uint64_t seed = 0;
  bool operator==(const CompletionWish&) const = default;
};
CompletionWish completion_wish(const ViewSettings& view);

struct Completion {
  Index width = 0, height = 0, levels = 0;
  Index given = 0;                  // pixels
  std::vector<std::int32_t> ids;    // all pixels' levels, row by row
  std::vector<std::int32_t> whole;  // those of the picture that it began with; empty: not known
  Tensor chances;                   // [height * width, levels] where a pixel was made; else 0
  std::string problem;              // why there is none
  // The mean difference in levels of made pixels from the picture's; NaN: not known.
  double mean_error() const;
};

}  // namespace attnscope
