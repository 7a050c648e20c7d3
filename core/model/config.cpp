#include "core/model/config.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/strict_json.h"
#include "core/model/architecture.h"
#include "core/model/exits.h"
#include "core/model/input_kind.h"
#include "core/model/join.h"
#include "core/model/losses.h"

namespace attnscope {

namespace {

// As kMostModelTokens and kMostModelWidth.
constexpr Index kMostLayers = 1024;
constexpr Index kMostHeads = 1024;

const std::vector<std::string> kNorms = {"layer", "rms"};  // as Norm counts
const std::vector<std::string> kActivations = {"relu", "gelu",       "gelu_tanh",
                                               "silu", "quick_gelu", "squared_relu"};

bool uniform(const ModelConfig& config) {
  for (const auto& layer : config.groups) {
    if (layer.size() != 1 || layer[0] != config.groups[0][0]) return false;
  }
  return !config.groups.empty();
}

// A variant's object, with the sizes that it leaves to the image.
Choice variant_of(JsonObject& object, const ModelConfig& config) {
  const std::string path = object.path_of("variant");
  const Json& given = object.any("variant");
  const InputKind& input = input_kind(config.input.id);
  if (!input.size_of) return variant_from_json(given, path);
  Json filled = given;
  for (const Parameter& parameter : variant(type_of(given, path)).parameters) {
    if (parameter.of_image.empty()) continue;
    const Index size = input.size_of(config.input.values, parameter.of_image);
    if (!filled.contains(parameter.key)) filled[parameter.key] = size;
    const bool same = filled[parameter.key] == size;
    if (parameter.key == parameter.of_image && !same) {
      throw InputError(path + "." + parameter.key + ": expected the image's " +
                       std::to_string(size) + ", found " + shortened(filled[parameter.key]));
    }
  }
  return variant_from_json(filled, path);
}

std::vector<HeadGroup> layer_groups_from_json(const Json& list, const std::string& path,
                                              const ModelConfig& config) {
  if (!list.is_array()) throw InputError(path + ": expected a list, found " + shortened(list));
  std::vector<HeadGroup> groups;
  for (std::size_t g = 0; g < list.size(); ++g) {
    JsonObject object(list[g], path + "[" + std::to_string(g) + "]");
    HeadGroup group;
    group.heads = object.integer("heads", 1, kMostHeads);
    if (object.has("variant")) {
      group.variant = variant_of(object, config);
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
      variant = variant_of(object, config);
    }
    if (object.has("position")) {
      encoding = encoding_from_json(object.any("position"), object.path_of("position"));
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

// Its object also says what an encoder of layers does.
void read_architecture(JsonObject& object, ModelConfig& config) {
  const std::string path = object.path_of("architecture");
  Json value = object.any("architecture");
  const Architecture& of = architecture(type_of(value, path));
  const auto taken = [&](const char* key) {
    Json member = value.contains(key) && of.has_encoder ? value[key] : Json();
    if (of.has_encoder) value.erase(key);
    return member;
  };
  const Json encoder_variant = taken("encoder_variant"), position = taken("encoder_position");
  if (!encoder_variant.is_null()) {
    config.encoder_variant = variant_from_json(encoder_variant, path + ".encoder_variant");
  }
  if (!position.is_null()) {
    config.encoder_encoding = encoding_from_json(position, path + ".encoder_position");
  }
  config.architecture = choice_from_json(of, value, path);
}

void read_auxiliary(JsonObject& object, ModelConfig& config) {
  JsonObject auxiliary(object.any("auxiliary"), object.path_of("auxiliary"));
  config.auxiliary.layers = auxiliary.flag_or("layers", false);
  config.auxiliary.future = auxiliary.integer_or("future", 0, 0, kMostLayers);
  auxiliary.finish();
}

void read_ends(JsonObject& object, ModelConfig& config) {
  if (object.has("embedding")) {
    JsonObject embedding(object.any("embedding"), object.path_of("embedding"));
    config.embedding.width = embedding.integer_or("width", 0, 0, kMostModelWidth);
    config.embedding.types = embedding.integer_or("types", 0, 0, kMostModelWidth);
    config.embedding.norm = embedding.flag_or("norm", false);
    config.embedding.first_norm = embedding.flag_or("first_norm", false);
    config.embedding.adaptive.narrowing = embedding.integer_or("narrowing", 1, 1, kMostModelWidth);
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
    config.head.activation = static_cast<Activation>(head.choice_or(
        "activation", static_cast<std::size_t>(config.head.activation), kActivations));
    config.head.bias = head.flag_or("bias", false);
    head.finish();
  }
  config.own_layers = object.integer_or("own_layers", 0, 0, kMostLayers);
}

// What is chosen of lists that have Infos.
void read_choices(JsonObject& object, ModelConfig& config) {
  if (object.has("architecture")) read_architecture(object, config);
  config.join = choice_member(join, object, "join").value_or(config.join);
  config.exits = choice_member(exit_rule, object, "exits");
  config.input = choice_member(input_kind, object, "input").value_or(config.input);
  config.segment = object.has("segment") ? object.integer("segment", 1, kMostModelTokens) : 0;
  if (object.has("auxiliary")) read_auxiliary(object, config);
}

}  // namespace

std::vector<VocabularyCluster> vocabulary_clusters(const ModelConfig& config) {
  const AdaptiveVocabulary& adaptive = config.embedding.adaptive;
  std::vector<VocabularyCluster> clusters;
  Index first = 0, width = config.embedding.width > 0 ? config.embedding.width : config.width;
  for (std::size_t n = 0; n <= adaptive.cutoffs.size(); ++n) {
    const Index end = n < adaptive.cutoffs.size() ? adaptive.cutoffs[n] : config.vocabulary;
    clusters.push_back({first, end - first, width});
    first = end;
    width /= adaptive.narrowing;
  }
  return clusters;
}

Index table_width(const ModelConfig& config) {
  const EmbeddingConfig& embedding = config.embedding;
  const bool narrow = embedding.width > 0 && embedding.adaptive.cutoffs.empty();
  return narrow ? embedding.width : config.width;
}

bool has_attention_norm(const ModelConfig& config, Index layer) {
  return norm_before(config) && !(config.embedding.first_norm && layer == 0);
}

Index weights_of_layer(const ModelConfig& config, Index layer) {
  if (config.own_layers == 0) return layer;
  const Index own = layer * config.own_layers / config.layers;
  return (own * config.layers + config.own_layers - 1) /
         config.own_layers;  // the first that has it
}

Choice default_architecture() {
  return default_choice(architectures().front());
}
Choice default_join() {
  return default_choice(joins().front());
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
  const Index shared = config.heads / config.kv_heads;
  std::vector<HeadRange> ranges;
  Index first = 0;
  for (const HeadGroup& group : groups_of_layer) {
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

const Choice* input_encoding(const std::vector<std::vector<HeadGroup>>& groups) {
  if (groups.empty()) return nullptr;
  const Choice* common = &groups.at(0).at(0).encoding;
  bool any = false, all = true;
  for (const auto& layer : groups) {
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

const Choice* input_encoding(const ModelConfig& config) {
  return input_encoding(config.groups);
}

bool fills_in(const ModelConfig& config) {
  const Values& values = config.architecture.values;
  return values.has("masked") && values.real("masked") > 0;
}

std::int32_t mask_id(const ModelConfig& config) {
  const Values& values = config.architecture.values;
  return fills_in(config) && values.has("mask") ? static_cast<std::int32_t>(values.integer("mask"))
                                                : -1;
}

bool in_every_layer(const Choice& encoding) {
  return encoding.values.has("every_layer") && encoding.values.flag("every_layer");
}

bool adds_to_values(const Choice& encoding) {
  return !encoding.values.has("values") || encoding.values.flag("values");
}

bool added_to_input(const Choice& encoding) {
  return !in_every_layer(encoding) && adds_to_values(encoding);
}

std::vector<std::vector<HeadGroup>> encoder_groups(const ModelConfig& config) {
  if (!architecture(config.architecture.id).has_encoder) return {};
  HeadGroup group{config.heads, default_variant(), default_encoding()};
  if (uniform(config)) group = config.groups[0][0];
  if (config.encoder_variant) group.variant = *config.encoder_variant;
  if (config.encoder_encoding) group.encoding = *config.encoder_encoding;
  return std::vector<std::vector<HeadGroup>>(
      static_cast<std::size_t>(config.architecture.values.integer("encoder_layers")), {group});
}

namespace {

// What only segments give a meaning, and encodings that have none for what is remembered.
void check_segments(const ModelConfig& config, const HeadGroup& group, const std::string& at) {
  const Variant& v = variant(group.variant.id);
  if (config.segment > 0) return;
  for (const Parameter& parameter : v.parameters) {
    if (!parameter.of_segments || !group.variant.values.has(parameter.key)) continue;
    throw InputError(at + "variant." + parameter.key +
                     ": expected a model that reads in segments "
                     "(\"segment\"), found one that reads at once");
  }
}

// The groups of one layer of a stack.
void check_layer(const ModelConfig& config, const std::vector<HeadGroup>& groups, Index layer,
                 bool causal, const std::string& at) {
  const Index shared = config.heads / config.kv_heads;
  Index heads = 0;
  for (const HeadGroup& group : groups) heads += group.heads;
  if (heads != config.heads) {
    throw InputError(at + "groups: layer " + std::to_string(layer) + " has " +
                     std::to_string(heads) + " heads, expected " + std::to_string(config.heads));
  }
  const std::vector<HeadRange> ranges = head_ranges(config, groups);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const HeadRange& range = ranges[g];
    if (range.key_heads > 1 && (range.first % shared != 0 || range.count % shared != 0)) {
      throw InputError(at + "groups: layer " + std::to_string(layer) + " has a group of " +
                       std::to_string(range.count) + " heads, but " + std::to_string(shared) +
                       " share one key-value head");
    }
    Dimensions dimensions = group_dimensions(config, range);
    if (variant(groups[g].variant.id).remember && config.segment > 0) {
      const Values& values = groups[g].variant.values;
      dimensions.memory = values.has("memory") ? values.integer("memory") : config.segment;
      dimensions.memory_given = true;
    }
    const std::string reason =
        refusal(groups[g].variant, groups[g].encoding, causal, dimensions, 0, 0);
    if (!reason.empty()) throw InputError(at + reason);
    check_segments(config, groups[g], at);
  }
}

void check_encoder(const ModelConfig& config, const std::string& at) {
  Index layer = 0;
  for (const auto& groups : encoder_groups(config)) {
    for (const HeadGroup& group : groups) {
      if (!variant(group.variant.id).causal_by_definition) continue;
      throw InputError(
          at + "architecture.encoder_variant: " + group.variant.id +
          " is causal by definition, and an encoder sees both sides; expected another");
    }
    check_layer(config, groups, layer++, false, at + "architecture.encoder: ");
  }
}

// Rows that are remembered have no places but their distances.
void check_memory_positions(const ModelConfig& config, const std::string& at) {
  if (config.segment == 0) return;
  for (const auto& layer : config.groups) {
    for (const HeadGroup& group : layer) {
      if (!variant(group.variant.id).remember || !encoding(group.encoding.id).absolute) continue;
      throw InputError(at + "position: " + group.encoding.id + " gives places, and what " +
                       group.variant.id +
                       " remembers has distances alone; expected an encoding of distances");
    }
  }
}

void check_choice(const Info& info, const Choice& choice, const char* name,
                  const std::string& reason, const std::string& at) {
  check_values(info, choice.values, at + name);
  if (!reason.empty()) throw InputError(at + reason);
}

void check_choices(const ModelConfig& config, const std::string& at) {
  const Architecture& of = architecture(config.architecture.id);
  check_choice(of, config.architecture, "architecture", of.refusal ? of.refusal(config) : "", at);
  const Join& join = attnscope::join(config.join.id);
  check_choice(join, config.join, "join", join.refusal ? join.refusal(config) : "", at);
  const InputKind& input = input_kind(config.input.id);
  check_choice(input, config.input, "input", input.refusal ? input.refusal(config) : "", at);
  if (config.exits) {
    check_choice(exit_rule(config.exits->id), *config.exits, "exits", exits_refusal(config), at);
  }
  if (config.segment > 0 && !of.has_segments) {
    throw InputError(at + "segment: " + of.id + " reads its input at once; expected no segment");
  }
  const std::string auxiliary = auxiliary_refusal(config);
  if (!auxiliary.empty()) throw InputError(at + auxiliary);
}

void check_adaptive(const ModelConfig& config, const std::string& at) {
  const AdaptiveVocabulary& adaptive = config.embedding.adaptive;
  if (adaptive == AdaptiveVocabulary{}) return;
  if (adaptive.cutoffs.empty()) {
    throw InputError(at + "embedding.narrowing: expected cutoffs, whose tables are narrower");
  }
  for (const VocabularyCluster& cluster : vocabulary_clusters(config)) {
    if (cluster.count < 1) {
      throw InputError(at + "embedding.cutoffs: expected rising ids between 0 and " +
                       std::to_string(config.vocabulary));
    }
    if (cluster.width < 1) {
      throw InputError(at + "embedding.narrowing: the last cluster would have no numbers; " +
                       "expected a smaller one, found " + std::to_string(adaptive.narrowing));
    }
  }
  const bool plain = config.architecture.id == default_architecture().id &&
                     input_kind(config.input.id).is_text && !config.exits &&
                     config.auxiliary == Auxiliary{} && !config.head.transform &&
                     !join(config.join.id).run_layers;
  if (plain) return;
  throw InputError(at +
                   "embedding.cutoffs: expected a decoder of text without exits, auxiliary "
                   "losses, head.transform and reversible layers");
}

// What tokens have before the first layer and behind the last, in models that have such.
void check_ends(const ModelConfig& config, const std::string& at) {
  const std::string& type = config.architecture.id;
  const Reads reads = architecture(type).reads;
  const bool one_stack = type == default_architecture().id;
  const bool both = reads == Reads::SourceAndTarget && architecture(type).has_encoder;
  const bool acts = reads == Reads::Trajectories;
  const bool text = input_kind(config.input.id).is_text;
  const bool whole = text || input_kind(config.input.id).is_whole;
  const EmbeddingConfig& embedding = config.embedding;
  const auto refuse = [&](const std::string& what, const std::string& why) {
    throw InputError(at + what + ": " + why);
  };
  if (embedding.types > 0 && (!one_stack || !text)) {
    refuse("embedding.types",
           "kinds of tokens are those of one text; expected a decoder of text "
           "(or encoder), found " +
               type);
  }
  if (embedding.types > 0 && config.segment > 0) {
    refuse("embedding.types", "expected a text that is read at once, found segments");
  }
  if (embedding.norm && ((!one_stack && !both && !acts) || !whole)) {
    refuse("embedding.norm",
           "expected decoder or encoder_decoder, of text or pieces of an image, or trajectory, "
           "found " +
               type);
  }
  if (embedding.first_norm && (!one_stack || !embedding.norm || !norm_before(config) ||
                               config.ingredients.shared_norm || config.join != default_join())) {
    refuse("embedding.first_norm",
           "expected a decoder (or encoder) with embedding.norm, norms before its blocks and join "
           "residual");
  }
  if (embedding.width > 0) {
    if (!one_stack || !text) {
      refuse("embedding.width", "expected a decoder of text (or encoder), found " + type);
    }
    const Choice* placed = input_encoding(config);
    if (placed && !added_to_input(*placed)) {
      refuse("embedding.width",
             "positions that are added in layers are as wide as the model; expected encodings that "
             "are added once, or none");
    }
  }
  if (embedding.width > 0 && embedding.adaptive.cutoffs.empty() && config.tied_output &&
      !config.head.transform && config.ingredients.output_head) {
    refuse("embedding.width",
           "the output is tied to a table that is not as wide as the model; expected tied_output "
           "false, or head.transform, which goes from one width to the other");
  }
  const bool head = config.head != HeadConfig{};
  if (head && !one_stack && !both && !(acts && !config.head.transform)) {
    refuse("head", "expected decoder or encoder_decoder, found " + type);
  }
  if (head && config.exits && config.exits->values.choice("classifier") == "own") {
    refuse("head", "expected exits without classifiers of their own (classifier \"shared\")");
  }
  if (config.own_layers > config.layers) {
    refuse("own_layers", "expected at most the " + std::to_string(config.layers) +
                             " layers, found " + std::to_string(config.own_layers));
  }
  if (config.own_layers > 0 && !one_stack) {
    refuse("own_layers", "expected architecture decoder, found " + type);
  }
  if (config.own_layers > 0 && join(config.join.id).run_layers) {
    refuse("own_layers", "join " + config.join.id + " computes each layer's weights by themselves");
  }
}

}  // namespace

bool looks_ahead(const ModelConfig& config) {
  const auto ahead = [](const HeadGroup& group) {
    return !variant(group.variant.id).causal_by_definition;
  };
  return !config.causal && architecture(config.architecture.id).has_self_attention &&
         std::ranges::any_of(config.groups,
                             [&](const auto& layer) { return std::ranges::any_of(layer, ahead); });
}

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
  const std::string refused = ingredients_refusal(config);
  if (!refused.empty()) throw InputError(at + refused);
  check_choices(config, at);
  input_encoding(config);
  check_ends(config, at);
  check_adaptive(config, at);
  for (Index layer = 0; layer < config.layers; ++layer) {
    check_layer(config, config.groups[static_cast<std::size_t>(layer)], layer, config.causal, at);
  }
  check_encoder(config, at);
  check_memory_positions(config, at);
}

ModelConfig model_config_from_json(const Json& value, std::string_view path) {
  JsonObject object(value, path);
  ModelConfig config;
  object.ignore("model_type");
  config.vocabulary = object.integer("vocabulary", 1, kMostModelTokens);
  config.context = object.integer("context", 1, kMostModelTokens);
  config.width = object.integer("width", 1, kMostModelWidth);
  config.layers = object.integer("layers", 1, kMostLayers);
  config.heads = object.integer("heads", 1, kMostHeads);
  config.kv_heads = object.integer_or("kv_heads", config.heads, 1, kMostHeads);
  config.head_size = object.integer_or("head_size", std::max<Index>(config.width / config.heads, 1),
                                       1, kMostModelWidth);
  config.hidden = object.integer("hidden", 0, 8 * kMostModelWidth);
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
  read_ingredients(object, config.ingredients);
  read_ends(object, config);
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

// What is not as it is without a word.
void add_ends(const ModelConfig& config, Json& object) {
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
    object["head"] = {
        {"transform", config.head.transform},
        {"activation", kActivations[static_cast<std::size_t>(config.head.activation)]},
        {"bias", config.head.bias}};
  }
  if (config.own_layers > 0) object["own_layers"] = config.own_layers;
}

void add_choices(const ModelConfig& config, Json& object) {
  if (config.architecture != default_architecture()) {
    object["architecture"] = architecture_to_json(config);
  }
  if (config.join != default_join()) object["join"] = to_json(config.join);
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
  add_ingredients(config.ingredients, object);
  add_ends(config, object);
  add_choices(config, object);
  if (uniform(config)) {
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
