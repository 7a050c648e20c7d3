// What variants and encodings say of themselves. The only place where these things are said:
// sliders, command-line help, JSON checking, checkpoint names, the explanation panel and the
// tests read it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/autodiff/var.h"
#include "core/base/parameter.h"

namespace attnscope {

// Sizes that the shapes of weights depend on. A negative one is free: any size of at least 1 will
// do, the same wherever that number appears (see free_dimensions()).
struct Dimensions {
  Index model = 0;                   // d
  Index heads = 0;                   // h
  Index kv_heads = 0;                // h_kv
  Index key = 0;                     // d_k
  Index value = 0;                   // d_v
  Index context = 0;                 // L_max: the longest sequence the weights must serve
  Index queries = 0, keys = 0;       // L_q, L_k of one operation; 0 in a model
  Index inner = 0;                   // a, f: hidden sizes of a variant's own; 0: as it likes
  Index batch = 1;                   // B, of which every item has a state of its own
  Index memory = 0, old_memory = 0;  // M, M_old; may be 0
  Index layers = 0, vocabulary = 0;  // of the model, for what belongs to all of it
  bool memory_given = false;         // M is all that there will be, as a case of `attend` has it
  // Of a head group: where its heads begin in their layer, and how many that has; 0: no others.
  Index first_head = 0, layer_heads = 0;

  // For weights that fit one length exactly; in a model L_max, of which shorter sequences use the
  // first part.
  Index query_length() const { return queries != 0 ? queries : context; }
  Index key_length() const { return keys != 0 ? keys : context; }
  Index inner_or(Index usual) const { return inner != 0 ? inner : usual; }
  Index all_heads() const { return layer_heads != 0 ? layer_heads : heads; }
  // Where the group's own begin in a list that has one entry for each head, of the group or of
  // the layer; -1 when `count` is neither.
  Index offset_in_list(Index count) const {
    if (count == heads) return 0;
    return count == all_heads() ? first_head : -1;
  }
};

constexpr Index kFreeModel = -1, kFreeContext = -2, kFreeQueries = -3, kFreeKeys = -4,
                kFreeInner = -5, kFreeMemory = -6, kFreeOldMemory = -7;  // the last two may be 0

// Everything free but what only a caller knows: heads, key and value sizes.
Dimensions free_dimensions(Index heads, Index kv_heads, Index key, Index value);

// What is known where a choice is judged; 0 where unknown.
struct Situation {
  Dimensions dimensions;
  Index queries = 0, keys = 0;  // L_q, L_k of the operation
  bool causal = false;          // by request or by definition
};

// A tensor that a variant or encoding needs beside q, k, v. In a checkpoint it is stored under the
// layer's prefix and this name.
struct WeightInfo {
  std::string name{};  // "pos.bias"
  std::string help{};
  std::function<Shape(const Dimensions&, const Values&)> shape{};
  // What an untrained model starts from, deterministic in the seed. Empty where a model goes
  // without: the operation then draws its own from a seed parameter, or needs none.
  std::function<Tensor(const Shape&, const Dimensions&, const Values&, std::uint64_t seed)>
      initial{};
  // What a person is shown who puts this into a trained model, where that says more of it than what
  // training starts from; of a weight for one length the entries beyond the present one, the
  // situation's keys (0: not known, then L_max), do not matter. Empty: `initial`.
  std::function<Tensor(const Shape&, const Situation&, const Values&)> shown{};
  bool optional = false;  // a file may leave it out
  // Not trained: painted masks and graphs, drawn directions and rotations, given frequencies, what
  // was used how much, and centroids (training moves these by what it sees, not by gradients).
  bool constant = false;
  // Training keeps it from 0 to this, and moves it in shares of this, as it moves weights that are
  // about 1: spans of hundreds of tokens. Empty: as all others.
  std::function<double(const Values&)> most{};
  // Comes with the call and not from a checkpoint: memories of what was before. A file must hold
  // it whatever `optional` says; an operation goes without where its caller has none.
  bool state = false;
  bool of_operation = false;                  // of one operation alone: models go without
  bool of_model = false;                      // of whole models: one operation goes without
  bool bytes = false;                         // uint8 in files; 0 or 1 here
  bool per_head = false;                      // an axis [h] may come before the shape
  std::function<bool(const Values&)> used{};  // whether these parameters use it; empty: always
};

// Starting values for `initial`.
using Initial = decltype(WeightInfo::initial);
Initial initial_zeros();
Initial initial_ones();
Initial initial_normal(double deviation);
Initial initial_projection();  // normal, deviation 1 / sqrt(rows): for [.., rows, columns]

using NamedVars = std::map<std::string, Var, std::less<>>;

struct Info {
  std::string id;        // "local": in JSON, on the command line, in checkpoints
  std::string label;     // "Local window"
  std::string group;     // "Fixed patterns": heading in lists
  std::string equation;  // plain text with Unicode symbols
  std::string summary;   // one paragraph
  std::string source;    // "Child et al., 2019, arXiv:1904.10509"
  std::string cost;      // "O(L w d)"
  std::vector<Parameter> parameters;
  std::vector<WeightInfo> weights;
  // Why these values have no meaning here, beyond the ranges of the parameters: "buckets: ...".
  // Empty when they have, or when not enough is known.
  std::function<std::string(const Values&, const Situation&)> objection;

  bool uses(const WeightInfo& weight, const Values& values) const {
    return !weight.used || weight.used(values);
  }
};

// Checks every weight that `values` use: there unless optional, and of its shape. InputError
// "pos.bias: missing", "pos.bias: expected shape [4, 9], found [4, 7]".
void check_weights(const Info& info, const Values& values, const Dimensions& dimensions,
                   const NamedVars& weights, bool state_required = false);

// `weights[name]`. InputError "pos.bias: missing".
const Var& weight(const NamedVars& weights, std::string_view name);
// Null when there is none.
const Var* find_weight(const NamedVars& weights, std::string_view name);

// "[4, any]": a shape with free sizes.
std::string to_text(const Shape& shape_with_free_sizes);

}  // namespace attnscope
