// sequence: all tokens exit at the same layer, chosen in advance. Elbayad et al., 2020.
#include "core/model/exits.h"

namespace attnscope {

ExitRule sequence_exits() {
  ExitRule e = oracle_exits();
  e.id = "sequence";
  e.label = "Per sequence";
  e.equation = "q = softmax(x̄ W + b),   exit at arg maxₙ q(n)";
  e.summary =
      "One exit layer for the whole sequence, chosen before the first layer from the mean of the "
      "encoder output or, without an encoder, of the token vectors.";
  choose_layer_once(e, 0);
  return e;
}

}  // namespace attnscope
