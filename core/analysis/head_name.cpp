#include "core/analysis/head_name.h"

namespace attnscope {

HeadName head_name(const HeadStatistics& s) {
  constexpr double kMajority = 0.5, kSubstantial = 0.35;
  constexpr double kNear = 4, kRecent = 10;  // tokens
  constexpr double kSharp = 2, kBroad = 4;   // bits
  if (s.previous_token >= kSubstantial)
    return {"previous token", "attends mostly to the previous token"};
  if (s.induction >= kSubstantial && s.induction >= s.first_token) {
    return {"induction", "attends to the token after an earlier occurrence of the current one"};
  }
  if (s.first_token >= kMajority) return {"first token", "attends mostly to the first token"};
  if (s.same_token >= kSubstantial)
    return {"same token", "attends to earlier copies of the same token"};
  if (s.entropy <= kSharp && s.distance > kNear) return {"sharp", "attends to single tokens"};
  if (s.distance <= kRecent) return {"nearby", "attends to the last few tokens"};
  if (s.entropy >= kBroad) return {"broad", "attends broadly, to many tokens at once"};
  return {"mixed", "attends to several tokens"};
}

}  // namespace attnscope
