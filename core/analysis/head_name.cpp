#include "core/analysis/head_name.h"

namespace attnscope {

HeadName head_name(const HeadStatistics& s) {
  constexpr double kMajority = 0.5, kMuch = 0.4;
  constexpr double kNear = 4;                 // tokens
  constexpr double kSharp = 1.5, kBroad = 4;  // bits
  if (s.previous_token >= kMajority) return {"previous token", "looks mostly at the token before"};
  if (s.induction >= kMuch && s.induction >= s.first_token) {
    return {"induction", "looks at what followed the same token earlier"};
  }
  if (s.first_token >= kMajority) return {"first token", "rests on the first token"};
  if (s.same_token >= kMuch) return {"same token", "looks at earlier copies of the same token"};
  if (s.distance <= kNear) return {"nearby", "looks at the few tokens before"};
  if (s.entropy <= kSharp) return {"sharp", "picks out single tokens"};
  if (s.entropy >= kBroad) return {"broad", "looks widely, at many tokens at once"};
  return {"mixed", "spreads over some tokens"};
}

}  // namespace attnscope
