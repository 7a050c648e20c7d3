// multinomial: each token chooses its exit layer after the first layer. Elbayad et al., 2020.
#include "core/model/exits.h"

namespace attnscope {

ExitRule multinomial_exits() {
  ExitRule e = oracle_exits();
  e.id = "multinomial";
  e.label = "Per token, once";
  e.equation = "q_t = softmax(x_t¹ W + b),   exit at arg maxₙ q_t(n)";
  e.summary = "Every token chooses its exit layer once, after the first layer.";
  choose_layer_once(e, 1);
  return e;
}

}  // namespace attnscope
