// What a head is called by what it does.
#pragma once

#include <string>

#include "core/analysis/statistics.h"

namespace attnscope {

struct HeadName {
  std::string badge;  // "previous token": under a thumbnail
  std::string words;  // "looks mostly at the token before": in a sentence
};

// By the clearest of its numbers, where these have much of the weight:
// on the token before, on the first token, on what followed the same token earlier (Olsson et al.,
// 2022), on earlier copies of the token; else by how far and how widely it looks. Unknown numbers
// (NaN) decide nothing.
HeadName head_name(const HeadStatistics& statistics);

}  // namespace attnscope
