// Approximation error of estimated softmax weights, as a function of the number of features or
// rows: as in figure 4 of Choromanski et al., 2020 (arXiv:2009.14794) and figure 1 of Wang et al.,
// 2020 (arXiv:2006.04768). Every point runs the variant's own operation on the head's queries and
// keys, with other parameters and seeds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

// Reason why a head has no error study; empty if it has one.
std::string error_study_refusal(const AttentionTap& tap);

// Range of the errors over all seeds. An error is |A − Ã| / |A| in the Frobenius norm: 0 if the
// weights Ã equal the softmax weights A, 1 if they are no better than zero weights.
struct ErrorSpread {
  double least = 0, median = 0, most = 0;
};

struct ErrorCurve {
  std::string label;                // "positive, orthogonal"
  bool is_own = false;              // uses the head's own settings
  bool drawn = true;                // random, so that seeds differ
  std::vector<ErrorSpread> errors;  // per size
};

struct ErrorStudy {
  std::string size;          // "features m"
  std::vector<Index> sizes;  // ascending
  Index own_size = 0;        // the head's own
  Index seeds = 0;
  std::vector<ErrorCurve> curves;
  std::vector<double> singular;  // singular values of the softmax weights, descending
  // Fraction of the sum of squared singular values in the first `rank`.
  double kept(Index rank) const;
};

// Throws std::logic_error if refused. `head`: within the tap's group; `model`: the width d.
ErrorStudy error_study(const AttentionTap& tap, Index head, Index model,
                       const std::function<void(std::size_t done, std::size_t all)>& progress);

}  // namespace attnscope
