#include "core/model/weights.h"

#include <algorithm>
#include <cmath>

#include "core/base/random.h"

namespace attnscope {

namespace {

constexpr double kDeviation = 0.02;
// Of token vectors to which fixed waves of amplitude 1 are added: smaller ones would drown, and the
// model would learn how often tokens occur and no more. (The original Transformer multiplies its
// token vectors by the square root of d for that.)
constexpr double kBesideWaves = 0.2;

Tensor normal(const Shape& shape, double deviation, std::uint64_t seed) {
  Random random(seed);
  Tensor t(shape);
  for (float& x : t) x = static_cast<float>(random.normal() * deviation);
  return t;
}

// Collects the specs of a model in the order in which they are used.
class Specs {
 public:
  explicit Specs(const ModelConfig& config) : config_(config) {}
  std::vector<WeightSpec> take() { return std::move(specs_); }

  void constant(const std::string& name, const Shape& shape, float value) {
    add({name, shape, [shape, value](std::uint64_t) { return Tensor::full(shape, value); }, false,
         ""});
  }
  // Deviations as in GPT-2: 0.02, and for what is added to the residual stream less with depth.
  void matrix(const std::string& name, const Shape& shape, bool residual = false) {
    const double depth = std::sqrt(2.0 * static_cast<double>(config_.layers));
    random(name, shape, residual ? kDeviation / depth : kDeviation);
  }
  void random(const std::string& name, const Shape& shape, double deviation) {
    add({name, shape,
         [shape, deviation](std::uint64_t seed) { return normal(shape, deviation, seed); }, false,
         ""});
  }
  void norm(const std::string& name) {
    constant(name + ".weight", {config_.width}, 1);
    if (config_.norm == Norm::LayerNorm) constant(name + ".bias", {config_.width}, 0);
  }
  void linear(const std::string& prefix, const std::string& letter, Index in, Index out, bool bias,
              bool residual = false) {
    matrix(prefix + "w" + letter, {in, out}, residual);
    if (bias) constant(prefix + "b" + letter, {out}, 0);
  }
  void of(const Info& info, const Values& values, const Dimensions& dimensions,
          const std::string& prefix) {
    for (const WeightInfo& weight : info.weights) {
      if (weight.used && !weight.used(values)) continue;
      const Shape shape = weight.shape(dimensions, values);
      WeightSpec spec{prefix + weight.name, shape, {}, weight.optional, info.id};
      if (weight.initial) {
        spec.initial = [initial = weight.initial, shape, dimensions, values](std::uint64_t seed) {
          return initial(shape, dimensions, values, seed);
        };
      }
      add(std::move(spec));
    }
  }

 private:
  void add(WeightSpec spec) { specs_.push_back(std::move(spec)); }
  const ModelConfig& config_;
  std::vector<WeightSpec> specs_;
};

void add_layer(Specs& specs, const ModelConfig& config, Index layer) {
  const std::string prefix = layer_prefix(layer);
  const Index width = config.width;
  const Index queries = config.heads * config.head_size, keys = config.kv_heads * config.head_size;
  specs.norm(prefix + "attn_norm");
  const std::string attn = prefix + "attn.";
  specs.linear(attn, "q", width, queries, config.attention_biases);
  specs.linear(attn, "k", width, keys, config.attention_biases);
  specs.linear(attn, "v", width, keys, config.attention_biases);
  specs.linear(attn, "o", queries, width, config.attention_biases, true);
  const auto& groups = config.groups[static_cast<std::size_t>(layer)];
  const std::vector<HeadRange> ranges = head_ranges(config, layer);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const HeadGroup& group = groups[g];
    const Dimensions dimensions = group_dimensions(config, ranges[g]);
    const std::string group_name = group_prefix(layer, static_cast<Index>(g));
    specs.of(variant(group.variant.id), group.variant.values, dimensions, group_name);
    const Encoding& position = encoding(group.encoding.id);
    if (!position.embed) specs.of(position, group.encoding.values, dimensions, group_name);
  }
  if (config.hidden == 0) return;
  specs.norm(prefix + "ffn_norm");
  const std::string ffn = prefix + "ffn.";
  if (config.gated) specs.linear(ffn, "_gate", width, config.hidden, config.feed_forward_biases);
  specs.linear(ffn, "_in", width, config.hidden, config.feed_forward_biases);
  specs.linear(ffn, "_out", config.hidden, width, config.feed_forward_biases, true);
}

}  // namespace

std::string layer_prefix(Index layer) {
  return "layers." + std::to_string(layer) + ".";
}

std::string group_prefix(Index layer, Index group) {
  return layer_prefix(layer) + "groups." + std::to_string(group) + ".";
}

std::vector<WeightSpec> weight_specs(const ModelConfig& config) {
  Specs specs(config);
  const Choice* input = input_encoding(config);
  const bool waves =
      input && std::ranges::all_of(encoding(input->id).weights, &WeightInfo::constant);
  specs.random("embed.weight", {config.vocabulary, config.width},
               waves ? kBesideWaves : kDeviation);
  if (input) {
    const Dimensions dimensions{config.width,     config.heads,     config.kv_heads,
                                config.head_size, config.head_size, config.context};
    specs.of(encoding(input->id), input->values, dimensions, "embed.");
  }
  for (Index layer = 0; layer < config.layers; ++layer) add_layer(specs, config, layer);
  if (config.pre_norm) specs.norm("final_norm");
  if (!config.tied_output) specs.matrix("output.weight", {config.width, config.vocabulary});
  return specs.take();
}

Index parameter_count(const ModelConfig& config) {
  Index count = 0;
  for (const WeightSpec& spec : weight_specs(config)) count += element_count(spec.shape);
  return count;
}

}  // namespace attnscope
