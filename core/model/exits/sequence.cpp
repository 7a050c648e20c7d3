// sequence: all tokens leave at the same layer, chosen beforehand. Elbayad et al., 2020.
#include "core/model/exits.h"

namespace attnscope {

Exits sequence_exits() {
  Exits e = oracle_exits();
  e.id = "sequence";
  e.label = "By sequence";
  e.equation = "q = softmax(x̄ W + b),   exit at arg maxₙ q(n)";
  e.summary =
      "One decision for the whole sequence, made before the first layer: the mean of what the "
      "encoder found, or of the tokens' vectors, says how many layers this text deserves.";
  choose_once(e, 0);
  return e;
}

}  // namespace attnscope
