// Names of heads by their behaviour.
#pragma once

#include <string>

#include "core/analysis/statistics.h"

namespace attnscope {

struct HeadName {
  std::string badge;  // "previous token": above a thumbnail; empty: no name
  std::string word;   // "previous": a shorter badge
  // Predicate of a sentence: "attends mostly to the previous token: 62%, at equal attention 16% ±
  // 9%". Without numbers in head_names().
  std::string description;
};

// Classifies a head by its weight on the previous token, on the token after an earlier occurrence
// of the current one (induction; Olsson et al., 2022), on the first token, or on earlier
// occurrences of the current token, or else by its mean distance.
//
// A statistic names the head only if it reaches a fixed threshold (60% or 35% of the weight;
// half the baseline's distance), differs from the baseline by at least kNameSpreads standard
// deviations and is measured on at least kNameRows rows. The name induction also
// requires that the weight on the first token is not larger. Few heads with random weights
// therefore have a name. Unknown statistics (NaN) are ignored.
HeadName head_name(const HeadStatistics& statistics, const HeadBaseline& baseline);

constexpr double kNameSpreads = 4;
constexpr double kNameRows = 5;

// The names that heads can have, in a fixed order.
const std::vector<HeadName>& head_names();

}  // namespace attnscope
