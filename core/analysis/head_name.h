// Names of heads by their behaviour.
#pragma once

#include <string>

#include "core/analysis/statistics.h"

namespace attnscope {

struct HeadName {
  std::string badge;  // "previous token": under a thumbnail
  std::string words;  // "attends mostly to the previous token": in a sentence
};

// Classifies a head by the first statistic that reaches its threshold: weight on the previous
// token, on the token after an earlier occurrence of the current one (induction; Olsson et al.,
// 2022), on the first token, or on earlier occurrences of the current token. If none does,
// classifies it by mean distance and entropy. Unknown statistics (NaN) are ignored.
HeadName head_name(const HeadStatistics& statistics);

}  // namespace attnscope
