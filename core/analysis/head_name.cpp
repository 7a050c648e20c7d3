#include "core/analysis/head_name.h"

namespace attnscope {

HeadName head_name(const HeadStatistics& s) {
  constexpr double kMajority = 0.5, kMuch = 0.35;
  constexpr double kNear = 4, kRecent = 10;  // tokens
  constexpr double kSharp = 2, kBroad = 4;   // bits
  if (s.previous_token >= kMuch) return {"previous token", "looks mostly at the token before"};
  if (s.induction >= kMuch && s.induction >= s.first_token) {
    return {"induction", "looks at what followed the same token earlier"};
  }
  if (s.first_token >= kMajority) return {"first token", "rests on the first token"};
  if (s.same_token >= kMuch) return {"same token", "looks at earlier copies of the same token"};
  if (s.entropy <= kSharp && s.distance > kNear) return {"sharp", "picks out single tokens"};
  if (s.distance <= kRecent) return {"nearby", "looks at the last few tokens"};
  if (s.entropy >= kBroad) return {"broad", "looks widely, at many tokens at once"};
  return {"mixed", "spreads over some tokens"};
}

}  // namespace attnscope
