// How far estimated weights are from a softmax's, by how many features or rows they are made of:
// as in figure 4 of Choromanski et al., 2020 (arXiv:2009.14794) and figure 1 of Wang et al., 2020
// (arXiv:2006.04768). Every point is the variant's own operation, carried out on the head's queries
// and keys with other parameters and seeds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/base/stop.h"
#include "core/trace/trace.h"

namespace attnscope {

// Why a head has none; empty: it has.
std::string no_error_study(const AttentionTap& tap);

// Of the errors of all seeds. An error is |A − Ã| / |A| in Frobenius' norm: 0 where the weights Ã
// are the softmax's, 1 where they are as wrong as no weights at all.
struct ErrorSpread {
  double least = 0, median = 0, most = 0;
};

struct ErrorCurve {
  std::string label;                // "positive, orthogonal"
  bool own = false;                 // made as the head makes them
  bool drawn = true;                // at random, so that there is a spread
  std::vector<ErrorSpread> errors;  // by size
};

struct ErrorStudy {
  std::string size;          // "features m"
  std::vector<Index> sizes;  // rising
  Index own_size = 0;        // the head's
  Index seeds = 0;
  std::vector<ErrorCurve> curves;
  std::vector<double> singular;  // values of the softmax's weights, falling
  // The share of the sum of squared singular values that the first `rank` have.
  double kept(Index rank) const;
};

// std::logic_error where there is none. `head`: within the tap's group; `model`: the width d.
ErrorStudy error_study(const AttentionTap& tap, Index head, Index model,
                       const std::function<void(std::size_t done, std::size_t all)>& progress,
                       const Stop& stop);

}  // namespace attnscope
