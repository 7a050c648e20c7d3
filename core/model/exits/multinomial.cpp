// multinomial: each token chooses its exit layer after the first layer. Elbayad et al., 2020.
#include "core/model/exits.h"

namespace attnscope {

ExitRule multinomial_exits() {
  ExitRule rule = oracle_exits();
  rule.id = "multinomial";
  rule.label = "Per token, once";
  rule.equation = "q_t = softmax(x_t¹ W + b),   exit at arg maxₙ q_t(n)";
  rule.summary = "Every token chooses its exit layer once, after the first layer.";
  choose_layer_once(rule, 1);
  return rule;
}

}  // namespace attnscope
