// sequence: all tokens exit at the same layer, chosen in advance. Elbayad et al., 2020.
#include "core/model/exits.h"

namespace attnscope {

ExitRule sequence_exits() {
  ExitRule rule = oracle_exits();
  rule.id = "sequence";
  rule.label = "Per sequence";
  rule.equation = "q = softmax(x̄ W + b),   exit at arg maxₙ q(n)";
  rule.summary =
      "One exit layer for the whole sequence, chosen before the first layer from the mean of the "
      "encoder output or, without an encoder, of the token vectors. In a decoder without an "
      "encoder this mean contains later tokens, so that the choice is not causal.";
  choose_layer_once(rule, 0);
  return rule;
}

}  // namespace attnscope
