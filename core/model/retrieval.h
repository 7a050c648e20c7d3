// Predicting with the help of what a store of contexts holds (SPEC-MODELS section 6): what followed
// the contexts nearest to the present one. One file each in mixers/; mixers() is their ordered
// list.
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

// Contexts as the last layer's feed-forward saw them, and the tokens that followed.
struct Store {
  Tensor keys;       // [n, d]
  IntTensor values;  // [n]
  IntTensor places;  // [n, 2] text and position of the key
};

// From and to safetensors with tensors of these names; keys as F32 or F16. InputErrors begin with
// the file's name.
Store load_store(const std::filesystem::path& path);
SafetensorsFile store_file(const Store& store, bool half);
// Where a store lies: a bundled one (assets/stores/NAME.safetensors) where there is one of this
// name, else the file that is named.
std::filesystem::path store_path(const std::string& name);
// Whether a file has tensors of these names, whatever is in them.
bool is_store(const std::filesystem::path& path);

// The nearest keys of each row.
struct Neighbours {
  IntTensor index;  // [rows, k]
  Tensor distance;  // [rows, k] squared, nearest first, of equals the lowest index
};
// Exact. x: [rows, d]; k at most the number of keys.
Neighbours nearest_keys(const Store& store, const Tensor& x, Index k, const Stop& stop);

// What a mixer makes of what was retrieved.
struct Retrieved {
  const Store& store;
  const Neighbours& neighbours;
  Var query;          // [n, d] what was searched with
  Var state;          // [n, d] the final state r
  Var logits;         // [n, vocabulary] the model's
  IntTensor targets;  // [n], -1: none; undefined: no loss is wanted
};
struct Mixed {
  Tensor log_probabilities;  // [n, vocabulary]
  Var loss;                  // [] of the targets; undefined without
  Tensor gate;               // [n], where there is one
};

struct Mixer : Info {
  // Why a model cannot have it: "retrieval: ..."; empty: it can.
  std::function<std::string(const ModelConfig&)> refusal;
  std::function<Mixed(Pass&, const Values&, const Retrieved&)> mix;
};

const std::vector<Mixer>& mixers();       // "knn" first
const Mixer& mixer(std::string_view id);  // InputError "retrieval.type: ..."

Mixer knn_mixer();
Mixer spalm_mixer();
Parameter neighbours_parameter();

// A mixer with its parameters, and the store's file.
struct RetrievalChoice {
  Choice mixer;
  std::string store;
  bool operator==(const RetrievalChoice&) const = default;
};

// Why a model can make no datastore and retrieve nothing; empty: it can.
std::string retrieval_refusal(const ModelConfig& config);
// Why it cannot have this mixer.
std::string retrieval_refusal(const ModelConfig& config, const Mixer& mixer);

class Retrieval {
 public:
  // InputError where the model, the store and the choice do not go together.
  Retrieval(const RetrievalChoice& choice, std::shared_ptr<const Store> store,
            const ModelConfig& config);
  // Records what was retrieved, and has the loss be that of the mixture.
  void mix(Pass& pass, const Batch& batch, Output& output) const;

 private:
  Choice choice_;
  std::shared_ptr<const Store> store_;
};

// Weights that mixers of this model may have: spalm.w.
void add_retrieval_weights(WeightList& list);

}  // namespace attnscope
