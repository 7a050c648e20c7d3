// spalm: a gate mixes in the tokens that followed the nearest contexts. Yogatama et al., 2021.
//
//   m = sum of softmax_i(y_i · r) y_i over the neighbours' values y_i,   g = σ(r · w)
//   z = (1 − g) m + g r,   logits z Eᵀ
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/model/losses.h"
#include "core/model/pass.h"
#include "core/model/retrieval.h"

namespace attnscope {
namespace {

RetrievalOutput mix_spalm(Pass& pass, const Values&, const RetrievalInput& retrieved) {
  const Var& r = retrieved.state;  // [n, d]
  const Index rows = r.dim(0), width = r.dim(1);
  IntTensor values(retrieved.neighbours.index.shape());
  for (Index n = 0; n < values.size(); ++n) {
    values[n] = retrieved.store.values[retrieved.neighbours.index[n]];
  }
  const Var y = pass.token_vectors(values);                               // [n, k, d]
  const Var scores = matmul_transposed(reshape(r, {rows, 1, width}), y);  // [n, 1, k]
  const Var m = reshape(matmul(softmax(scores), y), {rows, width});       // [n, d]
  const Var w = pass.has("spalm.w") ? pass.weight("spalm.w") : Var(Tensor::zeros({width}));
  const Var g = sigmoid(matmul(r, reshape(w, {width, 1})));  // [n, 1]
  const Var z = add(m, multiply(g, subtract(r, m)));         // [n, d]
  const Var logits = pass.logits(z);                         // [n, vocabulary]
  RetrievalOutput mixture;
  mixture.log_probabilities = log_softmax(Var(logits.value())).value();
  mixture.gate = g.value().reshaped({rows});
  if (retrieved.targets.defined()) mixture.loss = language_model_loss(logits, retrieved.targets);
  return mixture;
}

}  // namespace

RetrievalHead spalm_retrieval_head() {
  RetrievalHead head;
  head.id = "spalm";
  head.label = "Gated memory (SPALM)";
  head.group = "Retrieval";
  head.equation = "m = Σ softmaxᵢ(yᵢ·r) yᵢ,   g = σ(r·w),   z = (1 − g) m + g r";
  head.summary =
      "The model's final state attends to the tokens that followed the nearest contexts, and a "
      "learned gate controls, token by token, their share of the prediction.";
  head.source = "Yogatama et al., 2021, Adaptive semiparametric language models, arXiv:2102.02557";
  head.complexity = "O(L·n·d) for a store of n contexts";
  head.parameters = {neighbours_parameter()};
  head.weights = {{.name = "spalm.w",
                   .help = "Weights of the gate on the final state.",
                   .shape = [](const Dimensions& n, const Values&) -> Shape { return {n.model}; },
                   .file = {.optional = true}}};
  head.refusal = [](const ModelConfig& config) -> std::string {
    if (config.tied_output) return "";
    return "retrieval: expected tied_output true for spalm, which uses the token vectors, found "
           "false";
  };
  head.mix = mix_spalm;
  return head;
}

}  // namespace attnscope
