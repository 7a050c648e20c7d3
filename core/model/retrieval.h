// Retrieval-augmented prediction (spec-models.md, section 6).
//
// A store contains contexts with the tokens that followed them. A retrieval head combines the
// tokens that followed the nearest contexts with the model's prediction. Each head has a file in
// retrieval_heads/.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/batch.h"
#include "core/model/config.h"
#include "core/tensor/safetensors.h"

namespace attnscope {

class Pass;
class WeightList;

// Contexts, as inputs of the last layer's feed-forward, and the tokens that followed them.
struct Store {
  Tensor keys;       // [n, d] contexts
  IntTensor values;  // [n] tokens that followed
  IntTensor places;  // [n, 2] index of the text, position in the text
};

// Reads and writes safetensors with the tensors "keys" (F32, or F16 if `half`), "values" and
// "places". InputErrors begin with the file name.
Store load_store(const std::filesystem::path& path);
SafetensorsFile store_file(const Store& store, bool half);
// Path of the bundled store assets/stores/`name`.safetensors if it exists, otherwise `name` itself.
std::filesystem::path store_path(const std::string& name);
// True if a file has the tensors of a store; does not check their contents.
bool is_store(const std::filesystem::path& path);

// Nearest keys of each row.
struct Neighbours {
  IntTensor index;  // [rows, k] indices of keys
  Tensor distance;  // [rows, k] squared distances, nearest first; ties: lowest index first
};
// Exact search. x: [rows, d]; k: at most the number of keys.
Neighbours nearest_keys(const Store& store, const Tensor& x, Index k);

struct RetrievalInput {
  const Store& store;
  const Neighbours& neighbours;
  Var query;          // [n, d] query of the search
  Var state;          // [n, d] final state r
  Var logits;         // [n, vocabulary] logits of the model
  IntTensor targets;  // [n], -1: none; undefined: no loss is computed
};
struct RetrievalOutput {
  Tensor log_probabilities;  // [n, vocabulary]
  Var loss;                  // [] loss of the targets; undefined without targets
  Tensor gate;               // [n] weight of the final state; undefined without a gate
};

struct RetrievalHead : Info {
  // Reason why a model cannot have this head ("retrieval: ..."); empty if it can.
  std::function<std::string(const ModelConfig&)> refusal;
  std::function<RetrievalOutput(Pass&, const Values&, const RetrievalInput&)> mix;
};

const std::vector<RetrievalHead>& retrieval_heads();       // "knn" first
const RetrievalHead& retrieval_head(std::string_view id);  // InputError "retrieval.type: ..."

RetrievalHead knn_retrieval_head();
RetrievalHead spalm_retrieval_head();
Parameter neighbours_parameter();

// A retrieval head with its parameters, and the file of the store.
struct RetrievalChoice {
  Choice retrieval_head;
  std::string store;
  bool operator==(const RetrievalChoice&) const = default;
};

// Reason why a model supports neither datastores nor retrieval; empty if it supports both.
std::string retrieval_refusal(const ModelConfig& config);
// Reason why a model cannot have this retrieval head; empty if it can.
std::string retrieval_refusal(const ModelConfig& config, const RetrievalHead& retrieval_head);

class Retrieval {
 public:
  // Throws InputError if model, store and choice do not match.
  Retrieval(const RetrievalChoice& choice, std::shared_ptr<const Store> store,
            const ModelConfig& config);
  // Records the retrieved neighbours, and replaces the language model loss by the mixture loss.
  void mix(Pass& pass, const Batch& batch, Output& output) const;

 private:
  Choice choice_;
  std::shared_ptr<const Store> store_;
};

// Adds optional weights of retrieval heads: spalm.w.
void add_retrieval_weights(WeightList& list);

}  // namespace attnscope
