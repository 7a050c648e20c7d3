// plain: one softmax over the whole vocabulary.
#include "core/model/output_softmax.h"

namespace attnscope {

OutputSoftmax plain_softmax() {
  OutputSoftmax s;
  s.id = "plain";
  s.label = "Softmax";
  s.group = "Output softmaxes";
  s.equation = "p = softmax(x W)";
  s.summary =
      "One softmax over all tokens. The rank of the matrix of all log-probabilities is limited by "
      "the model's width.";
  s.source = "Bridle, 1990, Training stochastic model recognition algorithms";
  s.complexity = "O(L·d·V)";
  return s;
}

}  // namespace attnscope
