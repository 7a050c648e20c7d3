// Self-description of variants, encodings and other components (Info), and of their weights.
//
// Sliders, command-line help, JSON checks, checkpoint names, the explanation panel and the tests
// are derived from Info.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/autodiff/var.h"
#include "core/base/parameter.h"

namespace attnscope {

// Sizes that determine the shapes of weights. A negative number is a free size, which matches any
// size of at least 1. Equal negative numbers match equal sizes (see free_dimensions()).
struct Dimensions {
  Index model = 0;                   // d
  Index heads = 0;                   // h
  Index kv_heads = 0;                // h_kv
  Index key = 0;                     // d_k
  Index value = 0;                   // d_v
  Index context = 0;                 // L_max: the longest supported sequence
  Index queries = 0, keys = 0;       // L_q, L_k of one operation; 0 in a model
  Index inner = 0;                   // a or f: hidden size of a variant; 0: the variant's default
  Index batch = 1;                   // B; each batch item has its own state
  Index memory = 0, old_memory = 0;  // M, M_old; may be 0
  Index layers = 0, vocabulary = 0;  // numbers of layers and tokens of a whole model
  bool is_memory_final = false;      // M does not grow (command `attend`)
  // Head group: index of its first head; number of heads of its layer, 0 if the group is the layer.
  Index first_head = 0, layer_heads = 0;

  // Lengths of weights with one entry per query or key; L_max in models. Short texts use a part.
  Index query_length() const { return queries != 0 ? queries : context; }
  Index key_length() const { return keys != 0 ? keys : context; }
  Index inner_or(Index fallback) const { return inner != 0 ? inner : fallback; }
  Index all_heads() const { return layer_heads != 0 ? layer_heads : heads; }
  // Index of the group's first head in a list of `count` entries, one per head of the group or of
  // the layer; -1 if `count` is neither number of heads.
  Index offset_in_list(Index count) const {
    if (count == heads) return 0;
    return count == all_heads() ? first_head : -1;
  }
};

constexpr Index kFreeModel = -1, kFreeContext = -2, kFreeQueries = -3, kFreeKeys = -4,
                kFreeInner = -5, kFreeMemory = -6, kFreeOldMemory = -7;  // the last two may be 0

// Returns Dimensions whose sizes are free, except for the arguments.
Dimensions free_dimensions(Index heads, Index kv_heads, Index key, Index value);

// Context in which a choice is validated. Unknown sizes are 0.
struct Situation {
  Dimensions dimensions;
  Index queries = 0, keys = 0;  // L_q, L_k of the operation
  bool causal = false;          // by the user's choice or the variant's definition
};

// Storage of a weight.
struct WeightFile {
  bool optional = false;  // may be missing in a file
  // Memory of earlier segments: passed by the caller, not read from a checkpoint. An operation may
  // run without a memory, but input files of `attend` must contain it.
  bool state = false;
  bool bytes = false;     // uint8 in files; floats 0 or 1 in memory
  bool per_head = false;  // the shape may have a leading axis [h]
};

struct WeightTraining {
  // Not trained by gradients: drawn masks and graphs, random directions and rotations, fixed
  // frequencies, usage counts, and centroids (updated from their inputs).
  bool constant = false;
  // Upper limit during training; the lower limit is 0. Updates are multiplied by the upper limit,
  // because a weight such as a span can be hundreds of tokens. Empty: no limit, factor 1.
  std::function<double(const Values&)> max{};
};

enum class WeightScope { Everywhere, Operation, Model };  // Everywhere: operations and models

// Description of a tensor that a variant or encoding needs besides q, k, v. A checkpoint stores the
// tensor under the layer's prefix and `name`.
struct WeightInfo {
  std::string name{};  // "pos.bias"
  std::string help{};
  std::function<Shape(const Dimensions&, const Values&)> shape{};
  // Initial value of an untrained model, deterministic in the seed. Empty: models do not store this
  // weight; the operation draws it from a seed parameter or runs without it.
  std::function<Tensor(const Shape&, const Dimensions&, const Values&, std::uint64_t seed)>
      initial{};
  // Illustrative value, for a model that was not trained with the variant or encoding. Empty if
  // `initial` is as illustrative. Only the first Situation::keys entries of a weight of fixed
  // length matter (all entries if keys is 0).
  std::function<Tensor(const Shape&, const Situation&, const Values&)> illustrative{};
  WeightFile file{};
  WeightTraining training{};
  WeightScope scope = WeightScope::Everywhere;
  std::function<bool(const Values&)> used{};  // true if the values need the weight; empty: always
  // True if all layers of a stack share one tensor, "shared.NAME"; empty: never. Its shape must not
  // depend on the heads.
  std::function<bool(const Values&)> is_shared_by_layers{};
};

// Common functions for WeightInfo::initial.
using Initial = decltype(WeightInfo::initial);
Initial initial_zeros();
Initial initial_ones();
Initial initial_normal(double deviation);
Initial initial_projection();  // normal; deviation 1 / sqrt(rows) for shape [.., rows, columns]

using NamedVars = std::map<std::string, Var, std::less<>>;

struct Info {
  std::string id;          // "local": in JSON, on the command line, in checkpoints
  std::string label;       // "Local window"
  std::string group;       // "Fixed patterns": heading in lists
  std::string equation;    // plain text with Unicode symbols
  std::string summary;     // one paragraph
  std::string source;      // "Child et al., 2019, arXiv:1904.10509"
  std::string complexity;  // "O(L w d)"
  std::vector<Parameter> parameters;
  std::vector<WeightInfo> weights;
  // Returns an error ("buckets: ...") for values within their parameters' ranges that are invalid
  // in this situation. Returns "" for valid values and if a necessary size is unknown.
  std::function<std::string(const Values&, const Situation&)> objection;

  bool uses(const WeightInfo& weight, const Values& values) const {
    return !weight.used || weight.used(values);
  }
};

// Checks that each weight that `values` need is present (unless optional) and has its shape. If
// `requires_state`, states (WeightFile::state) must be present, too. InputErrors: "pos.bias:
// missing", "pos.bias: expected shape [4, 9], found [4, 7]".
void check_weights(const Info& info, const Values& values, const Dimensions& dimensions,
                   const NamedVars& weights, bool requires_state = false);

// `weights[name]`. Throws InputError "pos.bias: missing".
const Var& weight(const NamedVars& weights, std::string_view name);
// Null if the weight is missing.
const Var* find_weight(const NamedVars& weights, std::string_view name);

// "[4, any]": text of a shape with free sizes.
std::string to_text(const Shape& shape_with_free_sizes);

}  // namespace attnscope
