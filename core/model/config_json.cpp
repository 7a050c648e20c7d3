// Conversion between configurations and JSON.
#include <algorithm>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/strict_json.h"
#include "core/model/architecture.h"
#include "core/model/config.h"
#include "core/model/exits.h"
#include "core/model/input_kind.h"
#include "core/model/output_softmax.h"
#include "core/model/residual_connection.h"

namespace attnscope {
namespace {

// Upper limits, like kMaxModelTokens (config.h).
constexpr Index kMaxLayers = 1024;
constexpr Index kMaxHeads = 1024;

const std::vector<std::string> kNorms = {"layer", "rms", "none"};  // in the order of Norm

// Adds the parameters that the image size determines.
Json with_image_sizes(const Json& json, const std::string& path,
                      const std::vector<Parameter>& parameters, const ModelConfig& config) {
  const InputKind& input = input_kind(config.input.id);
  if (!input.pattern_size) return json;
  Json full_json = json;
  for (const Parameter& parameter : parameters) {
    if (parameter.scope.image.empty()) continue;
    const Index size = input.pattern_size(config.input.values, parameter.scope.image);
    if (!full_json.contains(parameter.key)) full_json[parameter.key] = size;
    const bool matches = full_json[parameter.key] == size;
    if (parameter.key == parameter.scope.image && !matches) {
      throw InputError(path + "." + parameter.key + ": expected the image's " +
                       std::to_string(size) + ", found " + shortened(full_json[parameter.key]));
    }
  }
  return full_json;
}

Choice read_variant(JsonObject& object, const ModelConfig& config) {
  const std::string path = object.path_of("variant");
  const Json& json = object.any("variant");
  const std::vector<Parameter>& parameters = variant(type_of(json, path)).parameters;
  return variant_from_json(with_image_sizes(json, path, parameters, config), path);
}

Choice read_encoding(JsonObject& object, const ModelConfig& config) {
  const std::string path = object.path_of("position");
  const Json& json = object.any("position");
  const std::vector<Parameter>& parameters = encoding(type_of(json, path)).parameters;
  return encoding_from_json(with_image_sizes(json, path, parameters, config), path);
}

std::vector<HeadGroup> layer_groups_from_json(const Json& list, const std::string& path,
                                              const ModelConfig& config) {
  if (!list.is_array()) throw InputError(path + ": expected a list, found " + shortened(list));
  std::vector<HeadGroup> groups;
  for (std::size_t g = 0; g < list.size(); ++g) {
    JsonObject object(list[g], path + "[" + std::to_string(g) + "]");
    HeadGroup group;
    group.heads = object.integer("heads", 1, kMaxHeads);
    if (object.has("variant")) group.variant = read_variant(object, config);
    if (object.has("position")) {
      group.encoding = read_encoding(object, config);
    }
    object.finish();
    groups.push_back(std::move(group));
  }
  return groups;
}

void read_groups(JsonObject& object, ModelConfig& config) {
  if (!object.has("groups")) {
    Choice variant = default_variant(), encoding = default_encoding();
    if (object.has("variant")) variant = read_variant(object, config);
    if (object.has("position")) {
      encoding = read_encoding(object, config);
    }
    config.groups = uniform_groups(config, variant, encoding);
    return;
  }
  const Json& layers = object.array("groups");
  for (std::size_t l = 0; l < layers.size(); ++l) {
    config.groups.push_back(layer_groups_from_json(
        layers[l], object.path_of("groups") + "[" + std::to_string(l) + "]", config));
  }
}

// Reads an architecture; its object also contains the encoder's variant and position encoding.
void read_architecture(JsonObject& object, ModelConfig& config) {
  const std::string path = object.path_of("architecture");
  Json value = object.any("architecture");
  const Architecture& architecture = attnscope::architecture(type_of(value, path));
  const auto extract = [&](const char* key) {
    Json member = value.contains(key) && architecture.has_encoder ? value[key] : Json();
    if (architecture.has_encoder) value.erase(key);
    return member;
  };
  const Json encoder_variant = extract("encoder_variant"), position = extract("encoder_position");
  if (!encoder_variant.is_null()) {
    config.encoder_variant = variant_from_json(encoder_variant, path + ".encoder_variant");
  }
  if (!position.is_null()) {
    config.encoder_encoding = encoding_from_json(position, path + ".encoder_position");
  }
  config.architecture = choice_from_json(architecture, value, path);
}

void read_auxiliary(JsonObject& object, ModelConfig& config) {
  JsonObject auxiliary(object.any("auxiliary"), object.path_of("auxiliary"));
  config.auxiliary.layers = auxiliary.flag_or("layers", false);
  config.auxiliary.future = auxiliary.integer_or("future", 0, 0, kMaxLayers);
  auxiliary.finish();
}

void read_embedding_and_head(JsonObject& object, ModelConfig& config) {
  if (object.has("embedding")) {
    JsonObject embedding(object.any("embedding"), object.path_of("embedding"));
    config.embedding.width = embedding.integer_or("width", 0, 0, kMaxModelWidth);
    config.embedding.types = embedding.integer_or("types", 0, 0, kMaxModelWidth);
    config.embedding.norm = embedding.flag_or("norm", false);
    config.embedding.first_norm = embedding.flag_or("first_norm", false);
    config.embedding.adaptive.narrowing = embedding.integer_or("narrowing", 1, 1, kMaxModelWidth);
    if (embedding.has("cutoffs")) {
      for (const Json& cutoff : embedding.array("cutoffs")) {
        if (!cutoff.is_number_integer()) embedding.fail("cutoffs", "ids in rising order");
        config.embedding.adaptive.cutoffs.push_back(cutoff.get<Index>());
      }
    }
    embedding.finish();
  }
  if (object.has("head")) {
    JsonObject head(object.any("head"), object.path_of("head"));
    config.head.transform = head.flag_or("transform", false);
    std::vector<std::string> ids;
    for (const ActivationFunction& f : activations()) ids.push_back(f.id);
    config.head.activation = static_cast<Activation>(
        head.choice_or("activation", static_cast<std::size_t>(config.head.activation), ids));
    config.head.bias = head.flag_or("bias", false);
    head.finish();
  }
  config.own_layers = object.integer_or("own_layers", 0, 0, kMaxLayers);
}

// The id of a gated form ("swiglu") implies `gated`.
void read_activation(JsonObject& object, ModelConfig& config) {
  config.gated = object.flag_or("gated", config.gated);
  if (!object.has("activation")) return;
  const ActivationChoice choice = activation_choice(object.choice("activation", activation_ids()));
  if (choice.gated && !config.gated) {
    throw InputError(object.path_of("gated") + ": expected true for activation \"" +
                     activation(choice.type).gated_id + "\", found false");
  }
  config.activation = choice.type;
}

// Reads the options with a `type`, segments and auxiliary losses.
void read_choices(JsonObject& object, ModelConfig& config) {
  if (object.has("architecture")) read_architecture(object, config);
  config.residual_connection =
      choice_member(residual_connection, object, "join").value_or(config.residual_connection);
  config.softmax = choice_member(output_softmax, object, "softmax").value_or(config.softmax);
  config.exits = choice_member(exit_rule, object, "exits");
  config.input = choice_member(input_kind, object, "input").value_or(config.input);
  config.segment = object.has("segment") ? object.integer("segment", 1, kMaxModelTokens) : 0;
  if (object.has("auxiliary")) read_auxiliary(object, config);
}

}  // namespace

const std::string& norm_name(Norm norm) {
  return kNorms[static_cast<std::size_t>(norm)];
}

ModelConfig model_config_from_json(const Json& value, std::string_view path) {
  JsonObject object(value, path);
  ModelConfig config;
  object.ignore("model_type");
  config.vocabulary = object.integer("vocabulary", 1, kMaxModelTokens);
  config.context = object.integer("context", 1, kMaxModelTokens);
  config.width = object.integer("width", 1, kMaxModelWidth);
  config.layers = object.integer("layers", 1, kMaxLayers);
  config.heads = object.integer("heads", 1, kMaxHeads);
  config.kv_heads = object.integer_or("kv_heads", config.heads, 1, kMaxHeads);
  config.head_size = object.integer_or("head_size", std::max<Index>(config.width / config.heads, 1),
                                       1, kMaxModelWidth);
  config.hidden = object.integer("hidden", 0, 8 * kMaxModelWidth);
  config.norm = static_cast<Norm>(object.choice_or("norm", 1, kNorms));
  config.norm_epsilon = object.number_or("norm_epsilon", config.norm_epsilon, 0, 1);
  config.pre_norm = object.flag_or("pre_norm", config.pre_norm);
  read_activation(object, config);
  config.attention_biases = object.flag_or("attention_biases", false);
  config.feed_forward_biases = object.flag_or("feed_forward_biases", false);
  config.tied_output = object.flag_or("tied_output", config.tied_output);
  config.causal = object.flag_or("causal", config.causal);
  config.dropout = object.number_or("dropout", 0, 0, 0.95);
  read_model_options(object, config.model_options);
  read_embedding_and_head(object, config);
  read_choices(object, config);
  read_groups(object, config);
  object.finish();
  check(config, path);
  return config;
}

namespace {

Json architecture_to_json(const ModelConfig& config) {
  Json object = to_json(config.architecture);
  if (config.encoder_variant) object["encoder_variant"] = to_json(*config.encoder_variant);
  if (config.encoder_encoding) object["encoder_position"] = to_json(*config.encoder_encoding);
  return object;
}

// Adds members with non-default values.
void add_embedding_and_head(const ModelConfig& config, Json& object) {
  const EmbeddingConfig& embedding = config.embedding;
  if (embedding != EmbeddingConfig{}) {
    object["embedding"] = {{"width", embedding.width},
                           {"types", embedding.types},
                           {"norm", embedding.norm},
                           {"first_norm", embedding.first_norm}};
    if (embedding.adaptive != AdaptiveVocabulary{}) {
      object["embedding"]["cutoffs"] = embedding.adaptive.cutoffs;
      object["embedding"]["narrowing"] = embedding.adaptive.narrowing;
    }
  }
  if (config.head != HeadConfig{}) {
    object["head"] = {{"transform", config.head.transform},
                      {"activation", activation(config.head.activation).id},
                      {"bias", config.head.bias}};
  }
  if (config.own_layers > 0) object["own_layers"] = config.own_layers;
}

void add_choices(const ModelConfig& config, Json& object) {
  if (config.architecture != default_architecture()) {
    object["architecture"] = architecture_to_json(config);
  }
  if (config.residual_connection != default_residual_connection())
    object["join"] = to_json(config.residual_connection);
  if (config.softmax != default_softmax()) object["softmax"] = to_json(config.softmax);
  if (config.exits) object["exits"] = to_json(*config.exits);
  if (config.input != default_input()) object["input"] = to_json(config.input);
  if (config.segment > 0) object["segment"] = config.segment;
  if (config.auxiliary != Auxiliary{}) {
    object["auxiliary"] = {{"layers", config.auxiliary.layers},
                           {"future", config.auxiliary.future}};
  }
}

}  // namespace

Json to_json(const ModelConfig& config) {
  Json object = {{"model_type", "attnscope"},
                 {"vocabulary", config.vocabulary},
                 {"context", config.context},
                 {"width", config.width},
                 {"layers", config.layers},
                 {"heads", config.heads},
                 {"kv_heads", config.kv_heads},
                 {"head_size", config.head_size},
                 {"hidden", config.hidden},
                 {"norm", norm_name(config.norm)},
                 {"norm_epsilon", config.norm_epsilon},
                 {"pre_norm", config.pre_norm},
                 {"activation", activation(config.activation).id},
                 {"gated", config.gated},
                 {"attention_biases", config.attention_biases},
                 {"feed_forward_biases", config.feed_forward_biases},
                 {"tied_output", config.tied_output},
                 {"causal", config.causal},
                 {"dropout", config.dropout}};
  add_model_options(config.model_options, object);
  add_embedding_and_head(config, object);
  add_choices(config, object);
  if (is_uniform(config)) {
    object["variant"] = to_json(config.groups[0][0].variant);
    object["position"] = to_json(config.groups[0][0].encoding);
    return object;
  }
  Json& layers = object["groups"] = Json::array();
  for (const auto& layer : config.groups) {
    Json list = Json::array();
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
