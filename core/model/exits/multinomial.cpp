// multinomial: each token chooses its layer behind the first. Elbayad et al., 2020.
#include "core/model/exits.h"

namespace attnscope {

Exits multinomial_exits() {
  Exits e = oracle_exits();
  e.id = "multinomial";
  e.label = "By token, at once";
  e.equation = "q_t = softmax(x_t¹ W + b),   exit at arg maxₙ q_t(n)";
  e.summary =
      "Every token decides after the first layer, once and for all, how many layers it will pass.";
  choose_once(e, 1);
  return e;
}

}  // namespace attnscope
