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

// Sizes that the shapes of weights depend on; 0 where unknown.
struct Dimensions {
  Index model = 0;     // d
  Index heads = 0;     // h
  Index kv_heads = 0;  // h_kv
  Index key = 0;       // d_k
  Index value = 0;     // d_v
  Index context = 0;   // L_max: the longest sequence the weights must serve
};

// A tensor that a variant or encoding needs beside q, k, v. In a checkpoint it is stored under the
// layer's prefix and this name.
struct WeightInfo {
  std::string name;  // "pos.bias"
  std::string help;
  std::function<Shape(const Dimensions&, const Values&)> shape;
  // What an untrained model starts from. Deterministic in the seed.
  std::function<Tensor(const Shape&, const Dimensions&, const Values&, std::uint64_t seed)> initial;
  bool optional = false;
};

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
};

// `weights[name]`, checked. InputError "pos.bias: missing" / "pos.bias: expected [4, 9], found [4,
// 7]".
const Var& weight(const NamedVars& weights, std::string_view name, const Shape& shape);

}  // namespace attnscope
