#include "core/model/config.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/model/architecture.h"
#include "core/model/input_kind.h"
#include "core/model/output_softmax.h"
#include "core/model/residual_connection.h"

namespace attnscope {

std::vector<VocabularyCluster> vocabulary_clusters(Index vocabulary, Index first_width,
                                                   const AdaptiveVocabulary& adaptive) {
  std::vector<VocabularyCluster> clusters;
  Index first = 0, width = first_width;
  for (std::size_t n = 0; n <= adaptive.cutoffs.size(); ++n) {
    const Index end = n < adaptive.cutoffs.size() ? adaptive.cutoffs[n] : vocabulary;
    clusters.push_back({first, end - first, width});
    first = end;
    width /= adaptive.narrowing;
  }
  return clusters;
}

std::vector<VocabularyCluster> vocabulary_clusters(const ModelConfig& config) {
  const EmbeddingConfig& embedding = config.embedding;
  return vocabulary_clusters(
      config.vocabulary, embedding.width > 0 ? embedding.width : config.width, embedding.adaptive);
}

Index table_width(const ModelConfig& config) {
  const EmbeddingConfig& embedding = config.embedding;
  const bool is_narrower = embedding.width > 0 && embedding.adaptive.cutoffs.empty();
  return is_narrower ? embedding.width : config.width;
}

bool has_attention_norm(const ModelConfig& config, Index layer) {
  return has_input_norm(config) && !(config.embedding.first_norm && layer == 0);
}

Index weights_of_layer(const ModelConfig& config, Index layer) {
  if (config.own_layers == 0) return layer;
  const Index weight_set = layer * config.own_layers / config.layers;
  // First layer of the set.
  return (weight_set * config.layers + config.own_layers - 1) / config.own_layers;
}

Choice default_architecture() {
  return default_choice(architectures().front());
}
Choice default_residual_connection() {
  return default_choice(residual_connections().front());
}
Choice default_softmax() {
  return default_choice(output_softmaxes().front());
}
Choice default_input() {
  return default_choice(input_kinds().front());
}

std::vector<std::vector<HeadGroup>> uniform_groups(const ModelConfig& config, const Choice& variant,
                                                   const Choice& encoding) {
  return std::vector<std::vector<HeadGroup>>(static_cast<std::size_t>(config.layers),
                                             {HeadGroup{config.heads, variant, encoding}});
}

std::vector<HeadRange> head_ranges(const ModelConfig& config, Index layer) {
  return head_ranges(config, config.groups[static_cast<std::size_t>(layer)]);
}

std::vector<HeadRange> head_ranges(const ModelConfig& config,
                                   const std::vector<HeadGroup>& groups_of_layer) {
  const Index heads_per_kv = config.heads / config.kv_heads;
  std::vector<HeadRange> ranges;
  Index first = 0;
  for (const HeadGroup& group : groups_of_layer) {
    const Index last = first + group.heads - 1;
    ranges.push_back(
        {first, group.heads, first / heads_per_kv, last / heads_per_kv - first / heads_per_kv + 1});
    first += group.heads;
  }
  return ranges;
}

Dimensions group_dimensions(const ModelConfig& config, const HeadRange& range) {
  Dimensions dimensions{config.width,     range.count,      range.key_heads,
                        config.head_size, config.head_size, config.context};
  dimensions.first_head = range.first;
  dimensions.layer_heads = config.heads;
  return dimensions;
}

const Choice* input_encoding(const std::vector<std::vector<HeadGroup>>& groups) {
  if (groups.empty()) return nullptr;
  const Choice* common = &groups.at(0).at(0).encoding;
  bool has_input_encoding = false, is_common = true;
  for (const auto& layer : groups) {
    for (const HeadGroup& group : layer) {
      if (encoding(group.encoding.id).embed) has_input_encoding = true;
      if (group.encoding != *common) is_common = false;
    }
  }
  if (!has_input_encoding) return nullptr;
  if (!is_common) {
    throw InputError(
        "position: expected the same encoding in all groups, found several (an input encoding "
        "affects all heads of all layers)");
  }
  return common;
}

const Choice* input_encoding(const ModelConfig& config) {
  return input_encoding(config.groups);
}

bool is_masked_model(const ModelConfig& config) {
  const Values& values = config.architecture.values;
  return values.has("masked") && values.real("masked") > 0;
}

std::int32_t mask_id(const ModelConfig& config) {
  const Values& values = config.architecture.values;
  return is_masked_model(config) && values.has("mask")
             ? static_cast<std::int32_t>(values.integer("mask"))
             : -1;
}

bool is_added_per_layer(const Choice& encoding) {
  return encoding.values.has("every_layer") && encoding.values.flag("every_layer");
}

bool is_added_to_values(const Choice& encoding) {
  return !encoding.values.has("values") || encoding.values.flag("values");
}

bool is_added_to_input(const Choice& encoding) {
  return !is_added_per_layer(encoding) && is_added_to_values(encoding);
}

bool is_uniform(const ModelConfig& config) {
  for (const auto& layer : config.groups) {
    if (layer.size() != 1 || layer[0] != config.groups[0][0]) return false;
  }
  return !config.groups.empty();
}

std::vector<std::vector<HeadGroup>> encoder_groups(const ModelConfig& config) {
  if (!architecture(config.architecture.id).has_encoder) return {};
  HeadGroup group{config.heads, default_variant(), default_encoding()};
  if (is_uniform(config)) group = config.groups[0][0];
  if (config.encoder_variant) group.variant = *config.encoder_variant;
  if (config.encoder_encoding) group.encoding = *config.encoder_encoding;
  return std::vector<std::vector<HeadGroup>>(
      static_cast<std::size_t>(config.architecture.values.integer("encoder_layers")), {group});
}

bool leaks_future(const ModelConfig& config) {
  const auto leaks = [](const HeadGroup& group) {
    return !variant(group.variant.id).causality.by_definition;
  };
  return !config.causal && architecture(config.architecture.id).has_self_attention &&
         std::ranges::any_of(config.groups,
                             [&](const auto& layer) { return std::ranges::any_of(layer, leaks); });
}

}  // namespace attnscope
