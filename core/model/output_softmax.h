// Output softmax types (spec-models.md, section 10): distributions over the vocabulary from the
// final state. Each type has a file in output_softmaxes/.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/model.h"

namespace attnscope {

class WeightList;

struct OutputSoftmax : Info {
  // Reason why a model cannot have this softmax ("softmax: ..."); empty if it can.
  std::function<std::string(const ModelConfig&)> refusal;
  bool has_token_table = true;  // false: add_weights() replaces output.weight and output.bias
  std::function<void(WeightList&)> add_weights;  // empty: no further weights
  // Logits, or log-probabilities, from the final state: [n, d] -> [n, vocabulary]. token_logits:
  // the logits of the token table. Empty: the result is token_logits(x).
  std::function<Var(const Model& model, const Var& x,
                    const std::function<Var(const Var& x)>& token_logits)>
      logits;
  // Multiply-adds of a row; empty: d V.
  std::function<Index(const ModelConfig&)> multiply_adds;
  // Title and note of the output's box in a diagram; empty: those of a linear layer.
  std::function<std::string(const ModelConfig&)> title, note;
};

const std::vector<OutputSoftmax>& output_softmaxes();      // "plain" first
const OutputSoftmax& output_softmax(std::string_view id);  // InputError "softmax.type: ..."

OutputSoftmax plain_softmax();
OutputSoftmax mixture_softmax();
OutputSoftmax adaptive_softmax();

// Log-probabilities of tokens in clusters (Grave et al., 2016): log p(cluster) + log p(token |
// cluster). Tokens of the first cluster and the other clusters share one softmax. table_prefix:
// "output.cluster." or "embed.cluster.", whose C.table has the vectors of cluster C. Without a
// weight output.cluster.C.project the state is used as it is.  [n, d] -> [n, vocabulary]
Var cluster_logits(const Model& model, const Var& x, const std::vector<VocabularyCluster>& clusters,
                   const std::string& table_prefix);

}  // namespace attnscope
