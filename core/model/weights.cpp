#include "core/model/weights.h"

#include <algorithm>
#include <cmath>

#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/base/stop.h"
#include "core/model/architecture.h"
#include "core/model/exits.h"
#include "core/model/input_kind.h"
#include "core/model/losses.h"
#include "core/model/output_softmax.h"
#include "core/model/residual_connection.h"
#include "core/model/retrieval.h"
#include "core/model/separable_convolution.h"

namespace attnscope {
namespace {

constexpr double kDeviation = 0.02;
// Standard deviation of token vectors to which sinusoids of amplitude 1 are added: with a smaller
// deviation the model learns little beyond token frequencies. (The original Transformer multiplies
// token vectors by the square root of d instead.)
constexpr double kDeviationWithSinusoids = 0.2;

Tensor normal(const Shape& shape, double deviation, std::uint64_t seed) {
  Random random(seed);
  Tensor t(shape);
  for (Index n = 0; n < t.size(); ++n) {
    if (n % kGrain == 0) check_stop();
    t[n] = static_cast<float>(random.normal() * deviation);
  }
  return t;
}

Dimensions model_dimensions(const ModelConfig& config) {
  Dimensions dimensions = group_dimensions(config, {0, config.heads, 0, config.kv_heads});
  dimensions.layers = config.layers;
  dimensions.vocabulary = config.vocabulary;
  return dimensions;
}

}  // namespace

void WeightList::add(WeightSpec spec) {
  if (spec.owner.empty()) spec.owner = owner_;
  if (spec.help.empty()) spec.help = help_;
  specs_.push_back(std::move(spec));
}

void WeightList::constant(const std::string& name, const Shape& shape, float value) {
  add({name, shape, [shape, value](std::uint64_t) { return Tensor::full(shape, value); }});
}

void WeightList::matrix(const std::string& name, const Shape& shape, bool residual) {
  const double depth = std::sqrt(2.0 * static_cast<double>(config_.layers));
  random(name, shape, residual ? kDeviation / depth : kDeviation);
}

void WeightList::random(const std::string& name, const Shape& shape, double deviation) {
  add({name, shape,
       [shape, deviation](std::uint64_t seed) { return normal(shape, deviation, seed); }});
}

void WeightList::norm(const std::string& name, Index width) {
  if (config_.norm == Norm::None) return;
  const Index size = width > 0 ? width : config_.width;
  constant(name + ".weight", {size}, 1);
  if (config_.norm == Norm::LayerNorm && config_.model_options.norm_biases) {
    constant(name + ".bias", {size}, 0);
  }
}

void WeightList::linear(const std::string& prefix, const std::string& block,
                        const std::string& letter, const Shape& shape, bool bias) {
  const ResidualConnection& join = residual_connection(config_.residual_connection.id);
  const std::string name = prefix + "w" + letter;
  if (join.deviation) {
    random(name, shape, join.deviation(config_, {block, letter, shape[0]}));
  } else {
    matrix(name, shape, letter == "o" || letter == "_out");
  }
  if (bias) constant(prefix + "b" + letter, {shape[1]}, 0);
}

void WeightList::add_info(const Info& info, const Values& values, const Dimensions& dimensions,
                          const std::string& prefix) {
  for (const WeightInfo& weight : info.weights) {
    if (!info.uses(weight, values) || weight.file.state || weight.scope == WeightScope::Operation)
      continue;
    const Shape shape = weight.shape(dimensions, values);
    const std::string name = group_weight_name(weight, values, prefix);
    const bool is_shared = name.size() != prefix.size() + weight.name.size();
    if (is_shared && std::ranges::find(specs_, name, &WeightSpec::name) != specs_.end()) continue;
    WeightSpec spec{.name = name,
                    .shape = shape,
                    .optional = weight.file.optional,
                    .owner = info.id,
                    .constant = weight.training.constant,
                    .upper_bound = weight.training.max ? weight.training.max(values) : 0,
                    .help = weight.help};
    if (weight.initial) {
      spec.initial = [initial = weight.initial, shape, dimensions, values](std::uint64_t seed) {
        return initial(shape, dimensions, values, seed);
      };
    }
    add(std::move(spec));
  }
}

void WeightList::add_model_info(const Info& info, const Values& values) {
  add_info(info, values, model_dimensions(config_), "");
}

void WeightList::attention(const std::string& prefix, const std::string& name) {
  const Index width = config_.width;
  const Index queries = config_.heads * config_.head_size;
  const Index keys = config_.kv_heads * config_.head_size;
  const std::string previous_help = help_;
  if (name == "cross") help_ = "Cross-attention.";
  const ModelOptions& options = config_.model_options;
  const bool skips_norm = config_.embedding.first_norm && prefix == layer_prefix(0);
  if (options.output_norm != OutputNorm::Instead && !skips_norm) norm(prefix + name + "_norm");
  const std::string projection_prefix = prefix + name + ".";
  linear(projection_prefix, name, "q", {width, queries}, config_.attention_biases);
  linear(projection_prefix, name, "k", {width, keys}, config_.attention_biases);
  linear(projection_prefix, name, "v", {width, keys}, config_.attention_biases);
  if (options.query_key_norm != QueryKeyNorm::None) {
    const bool is_per_head = options.query_key_norm == QueryKeyNorm::Head;
    norm(projection_prefix + "q_norm", is_per_head ? config_.head_size : queries);
    norm(projection_prefix + "k_norm", is_per_head ? config_.head_size : keys);
  }
  linear(projection_prefix, name, "o", {queries, width}, has_output_bias(config_));
  if (options.attention_sinks) constant(projection_prefix + "sinks", {config_.heads}, 0);
  if (options.output_norm != OutputNorm::None) norm(prefix + name + "_output_norm");
  help_ = previous_help;
}

void WeightList::layer(const std::string& prefix, const std::vector<HeadGroup>& groups, bool cross,
                       bool owns_weights) {
  const auto add_residual_weights = [&](const std::string& block) {
    ResidualConnection join = residual_connection(config_.residual_connection.id);
    std::erase_if(join.weights, [&](const WeightInfo& weight) {
      return join.has_weight && !join.has_weight(block, weight.name);
    });
    add_info(join, config_.residual_connection.values, model_dimensions(config_),
             prefix + block + "_join.");
  };
  if (owns_weights) attention(prefix, "attn");
  const std::vector<HeadRange> ranges = head_ranges(config_, groups);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Dimensions dimensions = group_dimensions(config_, ranges[g]);
    const std::string group_name = prefix + "groups." + std::to_string(g) + ".";
    const Choice& encoding_choice = groups[g].encoding;
    add_info(variant(groups[g].variant.id), groups[g].variant.values, dimensions, group_name);
    const Encoding& position = encoding(encoding_choice.id);
    if (!position.embed) add_info(position, encoding_choice.values, dimensions, group_name);
  }
  if (!owns_weights) return;
  add_residual_weights("attn");
  if (cross) {
    attention(prefix, "cross");
    add_residual_weights("cross");
  }
  if (config_.hidden == 0) return;
  const ModelOptions& options = config_.model_options;
  if (options.output_norm != OutputNorm::Instead && !options.shared_norm) norm(prefix + "ffn_norm");
  const std::string ffn = prefix + "ffn.";
  if (has_experts(config_, prefix)) {
    matrix(ffn + "router", {config_.width, options.experts.count});
    if (options.experts.router_bias) constant(ffn + "router_bias", {options.experts.count}, 0);
    for (Index e = 0; e < options.experts.count; ++e) {
      feed_forward(ffn + "experts." + std::to_string(e) + ".", config_.hidden);
    }
    if (options.experts.shared_hidden > 0) {
      matrix(ffn + "shared_gate", {config_.width, 1});
      feed_forward(ffn + "shared.", options.experts.shared_hidden);
    }
  } else {
    feed_forward(ffn, options.experts.count > 0 ? options.experts.dense_hidden : config_.hidden);
  }
  if (options.output_norm != OutputNorm::None) norm(prefix + "ffn_output_norm");
  add_residual_weights("ffn");
}

void WeightList::feed_forward(const std::string& prefix, Index hidden) {
  const Index width = config_.width;
  const bool bias = config_.feed_forward_biases;
  if (config_.gated) linear(prefix, "ffn", "_gate", {width, hidden}, bias);
  linear(prefix, "ffn", "_in", {width, hidden}, bias);
  linear(prefix, "ffn", "_out", {hidden, width}, bias);
  if (has_separable_convolution(config_)) add_kernels(*this, prefix, hidden);
}

void WeightList::clusters(const std::string& prefix, const std::vector<VocabularyCluster>& clusters,
                          bool has_tables, bool omits_equal) {
  const bool is_output = prefix == "output.";
  for (std::size_t n = 0; n < clusters.size(); ++n) {
    const std::string path = prefix + "cluster." + std::to_string(n) + ".";
    const Index width = clusters[n].width;
    if (has_tables) random(path + "table", {clusters[n].count, width}, kDeviation);
    if (omits_equal && width == config_.width) continue;
    random(path + "project", is_output ? Shape{config_.width, width} : Shape{width, config_.width},
           1 / std::sqrt(static_cast<double>(is_output ? config_.width : width)));
  }
}

void WeightList::cluster_choice(Index width, Index count) {
  matrix("output.choice.w", {width, count});
  constant("output.choice.b", {count}, 0);
  if (config_.head.bias) constant("output.bias", {config_.vocabulary}, 0);
}

void WeightList::embedding() {
  if (!config_.embedding.adaptive.cutoffs.empty()) {
    return clusters("embed.", vocabulary_clusters(config_), true, false);
  }
  const Choice* input = input_encoding(config_);
  // Sinusoids, also with a learned base: no trained table of vectors.
  const bool is_sinusoidal =
      input && std::ranges::all_of(encoding(input->id).weights, [&](const WeightInfo& weight) {
        return weight.training.constant ||
               weight.shape(model_dimensions(config_), input->values).size() < 2;
      });
  random("embed.weight", {config_.vocabulary, table_width(config_)},
         is_sinusoidal ? kDeviationWithSinusoids : kDeviation);
}

void WeightList::positions(const std::string& stack,
                           const std::vector<std::vector<HeadGroup>>& groups) {
  const Choice* input = input_encoding(groups);
  if (!input) return;
  const Encoding& position = encoding(input->id);
  Dimensions dimensions = model_dimensions(config_);
  if (is_added_to_input(*input)) dimensions.model = table_width(config_);
  if (!is_added_per_layer(*input))
    return add_info(position, input->values, dimensions, stack + "embed.");
  for (std::size_t layer = 0; layer < groups.size(); ++layer) {
    add_info(position, input->values, dimensions,
             stack + layer_prefix(static_cast<Index>(layer)) + "embed.");
  }
}

void WeightList::after_positions(const std::string& stack) {
  const EmbeddingConfig& embedding = config_.embedding;
  const Index width = table_width(config_);
  if (embedding.types > 0) random("embed.type", {embedding.types, width}, kDeviation);
  if (embedding.norm) norm(stack + "embed.norm", width);
  if (embedding.width > 0 && embedding.adaptive.cutoffs.empty()) {
    matrix("embed.project.w", {width, config_.width});
    constant("embed.project.b", {config_.width}, 0);
  }
}

void WeightList::stack(const std::string& stack, const std::vector<std::vector<HeadGroup>>& groups,
                       bool cross) {
  if (!stack.empty()) help_ = "The encoder.";
  for (std::size_t n = 0; n < groups.size(); ++n) {
    const auto number = static_cast<Index>(n);
    const bool owns_weights = !stack.empty() || weights_of_layer(config_, number) == number;
    layer(stack + layer_prefix(number), groups[n], cross, owns_weights);
  }
  if (config_.pre_norm) norm(stack + "final_norm", state_width(config_));
  help_.clear();
}

void WeightList::output() {
  if (!config_.model_options.output_head) return;
  if (!config_.embedding.adaptive.cutoffs.empty()) {
    const auto ranges = vocabulary_clusters(config_);
    clusters("output.", ranges, !config_.tied_output, false);
    return cluster_choice(ranges[0].width, static_cast<Index>(ranges.size()) - 1);
  }
  const OutputSoftmax& softmax = output_softmax(config_.softmax.id);
  if (softmax.add_weights) softmax.add_weights(*this);
  if (!softmax.has_token_table) return;
  const Index width = config_.head.transform ? table_width(config_) : state_width(config_);
  if (config_.head.transform) {
    matrix("output.transform.w", {config_.width, width});
    constant("output.transform.b", {width}, 0);
    norm("output.transform.norm", width);
  }
  if (!config_.tied_output) matrix("output.weight", {width, config_.vocabulary});
  if (config_.head.bias) constant("output.bias", {config_.vocabulary}, 0);
}

std::string layer_prefix(Index layer) {
  return "layers." + std::to_string(layer) + ".";
}

std::string group_prefix(Index layer, Index group) {
  return layer_prefix(layer) + "groups." + std::to_string(group) + ".";
}

bool has_experts(const ModelConfig& config, const std::string& prefix) {
  const Experts& experts = config.model_options.experts;
  const auto is_prefix = [&](Index layer) { return layer_prefix(layer) == prefix; };
  return experts.count > 0 && std::ranges::none_of(experts.dense_layers, is_prefix);
}

namespace {

bool is_shared_by_layers(const WeightInfo& weight, const Values& values) {
  return weight.is_shared_by_layers && weight.is_shared_by_layers(values);
}

}  // namespace

std::string group_weight_name(const WeightInfo& weight, const Values& values,
                              const std::string& prefix) {
  if (!is_shared_by_layers(weight, values)) return prefix + weight.name;
  return prefix.substr(0, prefix.find("layers.")) + "shared." + weight.name;
}

NamedVars group_weights(const NamedVars& weights, const Choice& choice, const std::string& prefix) {
  NamedVars result = weights_below(weights, prefix);
  for (const WeightInfo& weight : variant(choice.id).weights) {
    if (!is_shared_by_layers(weight, choice.values)) continue;
    const auto stored = weights.find(group_weight_name(weight, choice.values, prefix));
    if (stored != weights.end()) result.insert_or_assign(weight.name, stored->second);
  }
  return result;
}

NamedVars weights_below(const NamedVars& weights, const std::string& prefix) {
  NamedVars result;
  for (auto entry = weights.lower_bound(prefix);
       entry != weights.end() && entry->first.starts_with(prefix); ++entry) {
    result.emplace(entry->first.substr(prefix.size()), entry->second);
  }
  return result;
}

std::vector<WeightSpec> weight_specs(const ModelConfig& config) {
  WeightList list(config);
  architecture(config.architecture.id).add_weights(list);
  const InputKind& input = input_kind(config.input.id);
  list.add_model_info(input, config.input.values);
  if (config.exits) {
    const ExitRule& rule = exit_rule(config.exits->id);
    list.add_model_info(rule, config.exits->values);
    add_exit_classifiers(list);
  }
  add_auxiliary_weights(list);
  add_retrieval_weights(list);
  return list.take();
}

Index parameter_count(const ModelConfig& config) {
  Index count = 0;
  for (const WeightSpec& spec : weight_specs(config)) {
    if (spec.initial) count += element_count(spec.shape);
  }
  return count;
}

std::set<std::string> constant_weight_names(const ModelConfig& config) {
  std::set<std::string> names;
  for (const WeightSpec& spec : weight_specs(config)) {
    if (spec.constant) names.insert(spec.name);
  }
  return names;
}

std::map<std::string, double> weight_upper_bounds(const ModelConfig& config) {
  std::map<std::string, double> bounds;
  for (const WeightSpec& spec : weight_specs(config)) {
    if (spec.upper_bound > 0) bounds.emplace(spec.name, spec.upper_bound);
  }
  return bounds;
}

}  // namespace attnscope
