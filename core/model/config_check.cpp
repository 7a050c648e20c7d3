#include <map>

#include "core/base/error.h"
#include "core/model/architecture.h"
#include "core/model/config.h"
#include "core/model/exits.h"
#include "core/model/input_kind.h"
#include "core/model/losses.h"
#include "core/model/output_softmax.h"
#include "core/model/residual_connection.h"

namespace attnscope {
namespace {

// Rejects variant parameters that need segments in a model without segments.
void check_segments(const ModelConfig& config, const HeadGroup& group, const std::string& prefix) {
  const Variant& v = variant(group.variant.id);
  if (config.segment > 0) return;
  for (const Parameter& parameter : v.parameters) {
    if (!parameter.scope.segments || !group.variant.values.has(parameter.key)) continue;
    throw InputError(prefix + "variant." + parameter.key +
                     ": expected a model with segments, found a model without segments");
  }
}

void check_layer(const ModelConfig& config, const std::vector<HeadGroup>& groups, Index layer,
                 bool causal, const std::string& prefix) {
  const Index heads_per_kv = config.heads / config.kv_heads;
  Index heads = 0;
  for (const HeadGroup& group : groups) heads += group.heads;
  if (heads != config.heads) {
    throw InputError(prefix + "groups: layer " + std::to_string(layer) + " has " +
                     std::to_string(heads) + " heads, expected " + std::to_string(config.heads));
  }
  const std::vector<HeadRange> ranges = head_ranges(config, groups);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const HeadRange& range = ranges[g];
    if (range.key_heads > 1 &&
        (range.first % heads_per_kv != 0 || range.count % heads_per_kv != 0)) {
      throw InputError(prefix + "groups: layer " + std::to_string(layer) + " has a group of " +
                       std::to_string(range.count) + " heads, but " + std::to_string(heads_per_kv) +
                       " share one key-value head");
    }
    Dimensions dimensions = group_dimensions(config, range);
    if (variant(groups[g].variant.id).memory.remember && config.segment > 0) {
      const Values& values = groups[g].variant.values;
      dimensions.memory = values.has("memory") ? values.integer("memory") : config.segment;
      dimensions.is_memory_final = true;
    }
    const std::string reason =
        refusal(groups[g].variant, groups[g].encoding, causal, dimensions, 0, 0);
    if (!reason.empty()) throw InputError(prefix + reason);
    check_segments(config, groups[g], prefix);
  }
}

// Rejects layers that share a weight, but need different shapes of it.
void check_shared_weights(const ModelConfig& config,
                          const std::vector<std::vector<HeadGroup>>& layers,
                          const std::string& prefix) {
  std::map<std::string, Shape> shapes;
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    const std::vector<HeadRange> ranges = head_ranges(config, layers[layer]);
    for (std::size_t g = 0; g < layers[layer].size(); ++g) {
      const Variant& v = variant(layers[layer][g].variant.id);
      const Values& values = layers[layer][g].variant.values;
      for (const WeightInfo& weight : v.weights) {
        if (!weight.is_shared_by_layers || !weight.is_shared_by_layers(values)) continue;
        const Shape shape = weight.shape(group_dimensions(config, ranges[g]), values);
        const Shape& first = shapes.emplace(weight.name, shape).first->second;
        if (shape == first) continue;
        throw InputError(prefix + "layer " + std::to_string(layer) + ": " + weight.name +
                         ": expected shape " + to_string(first) +
                         ", as in the layers that share it, found " + to_string(shape));
      }
    }
  }
}

void check_encoder(const ModelConfig& config, const std::string& prefix) {
  Index layer = 0;
  for (const auto& groups : encoder_groups(config)) {
    for (const HeadGroup& group : groups) {
      if (!variant(group.variant.id).causality.by_definition) continue;
      throw InputError(prefix +
                       "architecture.encoder_variant: expected a bidirectional variant, found " +
                       group.variant.id + " (" + variant(group.variant.id).label +
                       " is causal by definition, but an encoder reads in both directions)");
    }
    check_layer(config, groups, layer++, false, prefix + "architecture.encoder: ");
  }
  check_shared_weights(config, encoder_groups(config), prefix + "architecture.encoder: ");
}

// Rejects absolute encodings with memory, because memory rows have distances but no positions.
void check_memory_positions(const ModelConfig& config, const std::string& prefix) {
  if (config.segment == 0) return;
  for (const auto& layer : config.groups) {
    for (const HeadGroup& group : layer) {
      if (!variant(group.variant.id).memory.remember || !encoding(group.encoding.id).absolute)
        continue;
      throw InputError(prefix + "position: expected a relative encoding, found " +
                       group.encoding.id + " (" + group.encoding.id +
                       " encodes absolute positions, but the memory of " + group.variant.id +
                       " has distances only)");
    }
  }
}

void check_choice(const Info& info, const Choice& choice, const char* name,
                  const std::string& reason, const std::string& prefix) {
  check_values(info, choice.values, prefix + name);
  if (!reason.empty()) throw InputError(prefix + reason);
}

void check_choices(const ModelConfig& config, const std::string& prefix) {
  const Architecture& architecture = attnscope::architecture(config.architecture.id);
  check_choice(architecture, config.architecture, "architecture",
               architecture.refusal ? architecture.refusal(config) : "", prefix);
  const ResidualConnection& residual_connection =
      attnscope::residual_connection(config.residual_connection.id);
  check_choice(residual_connection, config.residual_connection, "join",
               residual_connection.refusal ? residual_connection.refusal(config) : "", prefix);
  const OutputSoftmax& softmax = output_softmax(config.softmax.id);
  check_choice(softmax, config.softmax, "softmax", softmax.refusal ? softmax.refusal(config) : "",
               prefix);
  const InputKind& input = input_kind(config.input.id);
  check_choice(input, config.input, "input", input.refusal ? input.refusal(config) : "", prefix);
  if (config.exits) {
    check_choice(exit_rule(config.exits->id), *config.exits, "exits", exits_refusal(config),
                 prefix);
  }
  if (config.segment > 0 && !architecture.has_segments) {
    throw InputError(prefix + "segment: expected no segment for " + architecture.id + ", found " +
                     std::to_string(config.segment));
  }
  const std::string auxiliary = auxiliary_refusal(config);
  if (!auxiliary.empty()) throw InputError(prefix + auxiliary);
}

void check_adaptive(const ModelConfig& config, const std::string& prefix) {
  const AdaptiveVocabulary& adaptive = config.embedding.adaptive;
  if (adaptive == AdaptiveVocabulary{}) return;
  if (adaptive.cutoffs.empty()) {
    throw InputError(prefix + "embedding.narrowing: expected embedding.cutoffs, found none");
  }
  for (const VocabularyCluster& cluster : vocabulary_clusters(config)) {
    if (cluster.count < 1) {
      throw InputError(prefix + "embedding.cutoffs: expected rising ids between 0 and " +
                       std::to_string(config.vocabulary));
    }
    if (cluster.width < 1) {
      throw InputError(prefix + "embedding.narrowing: expected a smaller number, found " +
                       std::to_string(adaptive.narrowing) +
                       " (the last cluster would have width 0)");
    }
  }
  const bool is_supported = config.architecture.id == default_architecture().id &&
                            input_kind(config.input.id).is_text && !config.exits &&
                            config.auxiliary == Auxiliary{} && !config.head.transform &&
                            !residual_connection(config.residual_connection.id).run_layers;
  if (is_supported) return;
  throw InputError(prefix +
                   "embedding.cutoffs: expected a text decoder without exits, auxiliary "
                   "losses, head.transform and reversible layers");
}

// Checks options of the embedding, the output head and shared layer weights.
void check_embedding_and_head(const ModelConfig& config, const std::string& prefix) {
  const std::string& type = config.architecture.id;
  const Reads reads = architecture(type).reads;
  const bool is_single_stack = type == default_architecture().id;
  const bool is_encoder_decoder = reads == Reads::SourceAndTarget && architecture(type).has_encoder;
  const bool is_trajectory = reads == Reads::Trajectories;
  const bool is_text = input_kind(config.input.id).is_text;
  const bool is_text_or_patches = is_text || input_kind(config.input.id).uses_patches;
  const EmbeddingConfig& embedding = config.embedding;
  const auto refuse = [&](const std::string& key, const std::string& reason) {
    throw InputError(prefix + key + ": " + reason);
  };
  if (embedding.types > 0 && (!is_single_stack || !is_text)) {
    refuse("embedding.types", "expected a text decoder (or encoder), found " + type);
  }
  if (embedding.types > 0 && config.segment > 0) {
    refuse("embedding.types", "expected no segments, found segments");
  }
  if (embedding.norm &&
      ((!is_single_stack && !is_encoder_decoder && !is_trajectory) || !is_text_or_patches)) {
    refuse("embedding.norm",
           "expected decoder or encoder_decoder, of text or image patches, or trajectory, found " +
               type);
  }
  if (config.norm == Norm::None && (embedding.norm || config.head.transform)) {
    refuse(embedding.norm ? "embedding.norm" : "head.transform",
           "expected norm \"layer\" or \"rms\", found \"none\"");
  }
  if (embedding.first_norm && (!is_single_stack || !embedding.norm || !has_input_norm(config) ||
                               config.model_options.shared_norm ||
                               config.residual_connection != default_residual_connection())) {
    refuse(
        "embedding.first_norm",
        "expected a decoder (or encoder) with embedding.norm, pre_norm true and join \"residual\"");
  }
  if (embedding.width > 0) {
    if (!is_single_stack || !is_text) {
      refuse("embedding.width", "expected a text decoder (or encoder), found " + type);
    }
    const Choice* choice = input_encoding(config);
    if (choice && !is_added_to_input(*choice)) {
      refuse(
          "embedding.width",
          "expected input encodings that are added once, or none (positions added in layers have "
          "the model's width)");
    }
  }
  if (embedding.width > 0 && embedding.adaptive.cutoffs.empty() && config.tied_output &&
      !config.head.transform && config.model_options.output_head) {
    refuse(
        "embedding.width",
        "expected tied_output false, or head.transform, which converts the width (the tied token "
        "table is not as wide as the model)");
  }
  if (config.softmax != default_softmax() && config.exits &&
      config.exits->values.choice("classifier") == "own") {
    refuse("softmax", "expected exits with shared classifiers (classifier \"shared\")");
  }
  if (config.softmax != default_softmax() && state_width(config) > config.width) {
    refuse("softmax", "expected join.end \"mean\", found \"both\"");
  }
  const bool has_head_options = config.head != HeadConfig{};
  if (has_head_options && !is_single_stack && !is_encoder_decoder &&
      !(is_trajectory && !config.head.transform)) {
    refuse("head", "expected decoder or encoder_decoder, found " + type);
  }
  if (has_head_options && config.exits && config.exits->values.choice("classifier") == "own") {
    refuse("head", "expected exits with shared classifiers (classifier \"shared\")");
  }
  if (config.own_layers > config.layers) {
    refuse("own_layers", "expected at most the " + std::to_string(config.layers) +
                             " layers, found " + std::to_string(config.own_layers));
  }
  if (config.own_layers > 0 && !is_single_stack) {
    refuse("own_layers", "expected architecture decoder, found " + type);
  }
  if (config.own_layers > 0 && residual_connection(config.residual_connection.id).run_layers) {
    refuse("own_layers",
           "join " + config.residual_connection.id + " does not support shared layer weights");
  }
}

}  // namespace

void check(const ModelConfig& config, std::string_view path) {
  const std::string prefix = std::string(path) + ": ";
  if (config.heads % config.kv_heads != 0) {
    throw InputError(prefix + "heads: expected a multiple of kv_heads " +
                     std::to_string(config.kv_heads) + ", found " + std::to_string(config.heads));
  }
  if (static_cast<Index>(config.groups.size()) != config.layers) {
    throw InputError(prefix + "groups: expected a list for each of " +
                     std::to_string(config.layers) + " layers, found " +
                     std::to_string(config.groups.size()));
  }
  const std::string reason = model_options_refusal(config);
  if (!reason.empty()) throw InputError(prefix + reason);
  check_choices(config, prefix);
  input_encoding(config);
  check_embedding_and_head(config, prefix);
  check_adaptive(config, prefix);
  for (Index layer = 0; layer < config.layers; ++layer) {
    check_layer(config, config.groups[static_cast<std::size_t>(layer)], layer, config.causal,
                prefix);
  }
  check_shared_weights(config, config.groups, prefix);
  check_encoder(config, prefix);
  check_memory_positions(config, prefix);
}

}  // namespace attnscope
