#include "core/model/config.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/strict_json.h"

namespace attnscope {

using nlohmann::json;

namespace {

// Beyond these a file is hostile or a mistake; they keep products of sizes far from overflow.
constexpr Index kMostTokens = Index{1} << 22;
constexpr Index kMostWidth = Index{1} << 16;
constexpr Index kMostLayers = 1024;
constexpr Index kMostHeads = 1024;

const std::vector<std::string> kNorms = {"layer", "rms"};  // as Norm counts
const std::vector<std::string> kActivations = {"relu", "gelu", "gelu_tanh", "silu"};

bool uniform(const ModelConfig& config) {
  for (const auto& layer : config.groups) {
    if (layer.size() != 1 || layer[0] != config.groups[0][0]) return false;
  }
  return !config.groups.empty();
}

std::vector<HeadGroup> layer_groups_from_json(const json& list, const std::string& path) {
  if (!list.is_array()) throw InputError(path + ": expected a list, found " + shortened(list));
  std::vector<HeadGroup> groups;
  for (std::size_t g = 0; g < list.size(); ++g) {
    JsonObject object(list[g], path + "[" + std::to_string(g) + "]");
    HeadGroup group;
    group.heads = object.integer("heads", 1, kMostHeads);
    if (object.has("variant")) {
      group.variant = variant_from_json(object.any("variant"), object.path_of("variant"));
    }
    if (object.has("position")) {
      group.encoding = encoding_from_json(object.any("position"), object.path_of("position"));
    }
    object.finish();
    groups.push_back(std::move(group));
  }
  return groups;
}

void read_groups(JsonObject& object, ModelConfig& config) {
  if (!object.has("groups")) {
    Choice variant = default_variant(), encoding = default_encoding();
    if (object.has("variant")) {
      variant = variant_from_json(object.any("variant"), object.path_of("variant"));
    }
    if (object.has("position")) {
      encoding = encoding_from_json(object.any("position"), object.path_of("position"));
    }
    config.groups = uniform_groups(config, variant, encoding);
    return;
  }
  const json& layers = object.array("groups");
  for (std::size_t l = 0; l < layers.size(); ++l) {
    config.groups.push_back(layer_groups_from_json(
        layers[l], object.path_of("groups") + "[" + std::to_string(l) + "]"));
  }
}

}  // namespace

std::vector<std::vector<HeadGroup>> uniform_groups(const ModelConfig& config, const Choice& variant,
                                                   const Choice& encoding) {
  return std::vector<std::vector<HeadGroup>>(static_cast<std::size_t>(config.layers),
                                             {HeadGroup{config.heads, variant, encoding}});
}

std::vector<HeadRange> head_ranges(const ModelConfig& config, Index layer) {
  const Index shared = config.heads / config.kv_heads;
  std::vector<HeadRange> ranges;
  Index first = 0;
  for (const HeadGroup& group : config.groups[static_cast<std::size_t>(layer)]) {
    const Index last = first + group.heads - 1;
    ranges.push_back({first, group.heads, first / shared, last / shared - first / shared + 1});
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

const Choice* input_encoding(const ModelConfig& config) {
  const Choice* common = &config.groups.at(0).at(0).encoding;
  bool any = false, all = true;
  for (const auto& layer : config.groups) {
    for (const HeadGroup& group : layer) {
      if (encoding(group.encoding.id).embed) any = true;
      if (group.encoding != *common) all = false;
    }
  }
  if (!any) return nullptr;
  if (!all) {
    throw InputError("position: an encoding of the input (" + common->id +
                     ") acts on all heads of all layers, so all groups must name the same");
  }
  return common;
}

namespace {

void check_layer(const ModelConfig& config, Index layer, const std::string& at) {
  const Index shared = config.heads / config.kv_heads;
  const auto& groups = config.groups[static_cast<std::size_t>(layer)];
  Index heads = 0;
  for (const HeadGroup& group : groups) heads += group.heads;
  if (heads != config.heads) {
    throw InputError(at + "groups: layer " + std::to_string(layer) + " has " +
                     std::to_string(heads) + " heads, expected " + std::to_string(config.heads));
  }
  const std::vector<HeadRange> ranges = head_ranges(config, layer);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const HeadRange& range = ranges[g];
    if (range.key_heads > 1 && (range.first % shared != 0 || range.count % shared != 0)) {
      throw InputError(at + "groups: layer " + std::to_string(layer) + " has a group of " +
                       std::to_string(range.count) + " heads, but " + std::to_string(shared) +
                       " share one key-value head");
    }
    const std::string reason = refusal(groups[g].variant, groups[g].encoding, config.causal,
                                       group_dimensions(config, range), 0, 0);
    if (!reason.empty()) throw InputError(at + reason);
  }
}

}  // namespace

void check(const ModelConfig& config, std::string_view path) {
  const std::string at = std::string(path) + ": ";
  if (config.heads % config.kv_heads != 0) {
    throw InputError(at + "heads: expected a multiple of kv_heads " +
                     std::to_string(config.kv_heads) + ", found " + std::to_string(config.heads));
  }
  if (static_cast<Index>(config.groups.size()) != config.layers) {
    throw InputError(at + "groups: expected a list for each of " + std::to_string(config.layers) +
                     " layers, found " + std::to_string(config.groups.size()));
  }
  for (Index layer = 0; layer < config.layers; ++layer) check_layer(config, layer, at);
  input_encoding(config);
}

ModelConfig model_config_from_json(const json& value, std::string_view path) {
  JsonObject object(value, path);
  ModelConfig config;
  object.ignore("model_type");
  config.vocabulary = object.integer("vocabulary", 1, kMostTokens);
  config.context = object.integer("context", 1, kMostTokens);
  config.width = object.integer("width", 1, kMostWidth);
  config.layers = object.integer("layers", 1, kMostLayers);
  config.heads = object.integer("heads", 1, kMostHeads);
  config.kv_heads = object.integer_or("kv_heads", config.heads, 1, kMostHeads);
  config.head_size = object.integer_or("head_size", std::max<Index>(config.width / config.heads, 1),
                                       1, kMostWidth);
  config.hidden = object.integer("hidden", 0, 8 * kMostWidth);
  config.norm = static_cast<Norm>(object.choice_or("norm", 1, kNorms));
  config.norm_epsilon = object.number_or("norm_epsilon", config.norm_epsilon, 0, 1);
  config.pre_norm = object.flag_or("pre_norm", config.pre_norm);
  config.activation = static_cast<Activation>(object.choice_or("activation", 3, kActivations));
  config.gated = object.flag_or("gated", config.gated);
  config.attention_biases = object.flag_or("attention_biases", false);
  config.feed_forward_biases = object.flag_or("feed_forward_biases", false);
  config.tied_output = object.flag_or("tied_output", config.tied_output);
  config.causal = object.flag_or("causal", config.causal);
  config.dropout = object.number_or("dropout", 0, 0, 0.95);
  read_groups(object, config);
  object.finish();
  check(config, path);
  return config;
}

json to_json(const ModelConfig& config) {
  json object = {{"model_type", "attnscope"},
                 {"vocabulary", config.vocabulary},
                 {"context", config.context},
                 {"width", config.width},
                 {"layers", config.layers},
                 {"heads", config.heads},
                 {"kv_heads", config.kv_heads},
                 {"head_size", config.head_size},
                 {"hidden", config.hidden},
                 {"norm", kNorms[static_cast<std::size_t>(config.norm)]},
                 {"norm_epsilon", config.norm_epsilon},
                 {"pre_norm", config.pre_norm},
                 {"activation", kActivations[static_cast<std::size_t>(config.activation)]},
                 {"gated", config.gated},
                 {"attention_biases", config.attention_biases},
                 {"feed_forward_biases", config.feed_forward_biases},
                 {"tied_output", config.tied_output},
                 {"causal", config.causal},
                 {"dropout", config.dropout}};
  if (uniform(config)) {
    object["variant"] = to_json(config.groups[0][0].variant);
    object["position"] = to_json(config.groups[0][0].encoding);
    return object;
  }
  json& layers = object["groups"] = json::array();
  for (const auto& layer : config.groups) {
    json list = json::array();
    for (const HeadGroup& group : layer) {
      list.push_back({{"heads", group.heads},
                      {"variant", to_json(group.variant)},
                      {"position", to_json(group.encoding)}});
    }
    layers.push_back(std::move(list));
  }
  return object;
}

}  // namespace attnscope
