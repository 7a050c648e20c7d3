// Approximation error of estimated softmax weights, as a function of the number of features or
// rows: as in figure 4 of Choromanski et al., 2020 (arXiv:2009.14794) and figure 1 of Wang et al.,
// 2020 (arXiv:2006.04768). Every point runs the variant's operation on the head's queries and keys
// with other parameters and seeds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

// Reason why a head has no error study; empty if it has one.
std::string error_study_refusal(const AttentionTap& tap);

// Range of the errors over all seeds. An error is |A − Ã| / |A| in the Frobenius norm: 0 if the
// weights Ã equal the softmax weights A, 1 if Ã is no better than zero weights. Seeds with NaN
// weights are omitted; NaN if all are.
struct ErrorSpread {
  double min = 0, median = 0, max = 0;
};

struct ErrorCurve {
  std::string label;                // "positive, orthogonal"
  bool is_own = false;              // uses the head's own settings
  bool is_random = true;            // the error depends on a seed
  std::vector<ErrorSpread> errors;  // one per size
};

struct ErrorStudy {
  std::string size;          // "random features m"
  std::vector<Index> sizes;  // ascending
  Index used_size = 0;       // size in the head's settings
  Index seeds = 0;
  std::vector<ErrorCurve> curves;
  std::vector<double> singular_values;  // of the softmax weights, descending
  // Sum of the first `rank` squared singular values, as a fraction of the sum of all.
  double explained_by(Index rank) const;
};

// Throws std::logic_error if error_study_refusal() gives a reason. `head`: within the tap's group;
// `model`: the width d.
ErrorStudy error_study(const AttentionTap& tap, Index head, Index model,
                       const std::function<void(std::size_t done, std::size_t total)>& progress);

}  // namespace attnscope
