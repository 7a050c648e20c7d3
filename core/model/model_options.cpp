#include "core/model/model_options.h"

#include "core/base/strict_json.h"
#include "core/model/architecture.h"
#include "core/model/config.h"

namespace attnscope {
namespace {

constexpr Index kMaxExperts = 4096;
constexpr Index kMaxHidden = 8 * kMaxModelWidth;
constexpr double kMaxScale = 1e6;

const std::vector<std::string> kOutputNorms = {"none", "also", "instead"};  // order of OutputNorm
const std::vector<std::string> kQueryKeyNorms = {"none", "head",
                                                 "projection"};  // order of QueryKeyNorm

void read_experts(JsonObject& object, Experts& experts) {
  JsonObject members(object.any("experts"), object.path_of("experts"));
  experts.count = members.integer("count", 1, kMaxExperts);
  experts.chosen = members.integer_or("chosen", experts.chosen, 1, kMaxExperts);
  experts.renormalised = members.flag_or("renormalised", experts.renormalised);
  experts.router_bias = members.flag_or("router_bias", experts.router_bias);
  experts.shared_hidden = members.integer_or("shared_hidden", 0, 0, kMaxHidden);
  if (members.has("dense_layers")) {
    for (const Json& layer : members.array("dense_layers")) {
      if (!layer.is_number_integer()) members.fail("dense_layers", "a list of layer numbers");
      experts.dense_layers.push_back(layer.get<Index>());
    }
    experts.dense_hidden = members.integer("dense_hidden", 1, kMaxHidden);
  }
  members.finish();
}

Json to_json(const Experts& experts) {
  Json object = {{"count", experts.count},
                 {"chosen", experts.chosen},
                 {"renormalised", experts.renormalised},
                 {"router_bias", experts.router_bias}};
  if (experts.shared_hidden > 0) object["shared_hidden"] = experts.shared_hidden;
  if (!experts.dense_layers.empty()) {
    object["dense_layers"] = experts.dense_layers;
    object["dense_hidden"] = experts.dense_hidden;
  }
  return object;
}

}  // namespace

bool has_input_norm(const ModelConfig& config) {
  return has_final_norm(config) && config.model_options.output_norm != OutputNorm::Instead;
}

bool has_final_norm(const ModelConfig& config) {
  return config.pre_norm && config.norm != Norm::None;
}

bool has_output_bias(const ModelConfig& config) {
  return config.model_options.attention_output_bias.value_or(config.attention_biases);
}

void read_model_options(JsonObject& object, ModelOptions& options) {
  const ModelOptions defaults;
  const auto number = [&](const char* key, double fallback, double minimum) {
    return object.number_or(key, fallback, minimum, kMaxScale);
  };
  options.embedding_scale = number("embedding_scale", defaults.embedding_scale, -kMaxScale);
  options.norm_biases = object.flag_or("norm_biases", defaults.norm_biases);
  options.output_norm = static_cast<OutputNorm>(object.choice_or("output_norm", 0, kOutputNorms));
  options.parallel = object.flag_or("parallel", defaults.parallel);
  options.shared_norm = object.flag_or("shared_norm", defaults.shared_norm);
  if (object.has("attention_output_bias")) {
    options.attention_output_bias = object.flag("attention_output_bias");
  }
  options.query_key_norm =
      static_cast<QueryKeyNorm>(object.choice_or("query_key_norm", 0, kQueryKeyNorms));
  if (object.has("attention_scale")) {
    options.attention_scale = object.number("attention_scale", 0, kMaxScale);
  }
  options.score_cap = number("score_cap", defaults.score_cap, 0);
  options.attention_sinks = object.flag_or("attention_sinks", defaults.attention_sinks);
  options.residual_scale = number("residual_scale", defaults.residual_scale, -kMaxScale);
  if (object.has("experts")) read_experts(object, options.experts);
  options.gate_limit = number("gate_limit", defaults.gate_limit, 0);
  options.gate_offset = number("gate_offset", defaults.gate_offset, -kMaxScale);
  options.logit_scale = number("logit_scale", defaults.logit_scale, -kMaxScale);
  options.logit_cap = number("logit_cap", defaults.logit_cap, 0);
  options.output_head = object.flag_or("output_head", defaults.output_head);
}

void add_model_options(const ModelOptions& options, Json& object) {
  const ModelOptions defaults;
  const auto add = [&](const char* key, const auto& value, const auto& fallback) {
    if (value != fallback) object[key] = value;
  };
  add("embedding_scale", options.embedding_scale, defaults.embedding_scale);
  add("norm_biases", options.norm_biases, defaults.norm_biases);
  if (options.output_norm != defaults.output_norm) {
    object["output_norm"] = kOutputNorms[static_cast<std::size_t>(options.output_norm)];
  }
  add("parallel", options.parallel, defaults.parallel);
  add("shared_norm", options.shared_norm, defaults.shared_norm);
  if (options.attention_output_bias)
    object["attention_output_bias"] = *options.attention_output_bias;
  if (options.query_key_norm != defaults.query_key_norm) {
    object["query_key_norm"] = kQueryKeyNorms[static_cast<std::size_t>(options.query_key_norm)];
  }
  if (options.attention_scale) object["attention_scale"] = *options.attention_scale;
  add("score_cap", options.score_cap, defaults.score_cap);
  add("attention_sinks", options.attention_sinks, defaults.attention_sinks);
  add("residual_scale", options.residual_scale, defaults.residual_scale);
  if (options.experts != defaults.experts) {
    object["experts"] = to_json(options.experts);
  }
  add("gate_limit", options.gate_limit, defaults.gate_limit);
  add("gate_offset", options.gate_offset, defaults.gate_offset);
  add("logit_scale", options.logit_scale, defaults.logit_scale);
  add("logit_cap", options.logit_cap, defaults.logit_cap);
  add("output_head", options.output_head, defaults.output_head);
}

namespace {

std::string block_refusal(const ModelConfig& config) {
  const ModelOptions& options = config.model_options;
  if (!options.norm_biases && config.norm != Norm::LayerNorm) {
    return "norm_biases: expected norm \"layer\", found \"" + norm_name(config.norm) +
           "\", which has no biases";
  }
  if (config.norm == Norm::None) {
    const std::string found = ": expected norm \"layer\" or \"rms\", found \"none\"";
    if (options.output_norm != OutputNorm::None) return "output_norm" + found;
    if (options.query_key_norm != QueryKeyNorm::None) return "query_key_norm" + found;
  }
  if (options.output_norm != OutputNorm::None && !config.pre_norm) {
    return "output_norm: expected pre_norm true, found false";
  }
  if (options.shared_norm && !options.parallel) {
    return "shared_norm: expected parallel true (two branches that share a norm), found false";
  }
  if (options.shared_norm && !has_input_norm(config)) {
    return "shared_norm: expected a norm before the block, found none";
  }
  if (!options.parallel) return "";
  if (!config.pre_norm) return "parallel: expected pre_norm true, found false";
  if (config.hidden == 0) return "parallel: expected a feed-forward (hidden above 0), found none";
  if (config.residual_connection != default_residual_connection()) {
    return "parallel: expected join \"" + default_residual_connection().id + "\", found \"" +
           config.residual_connection.id + "\"";
  }
  if (architecture(config.architecture.id).has_encoder) {
    return "parallel: expected one stack of layers, found " + config.architecture.id +
           ", whose cross-attention follows self-attention";
  }
  return "";
}

std::string dense_layers_refusal(const ModelConfig& config) {
  const std::vector<Index>& layers = config.model_options.experts.dense_layers;
  const std::string expected = "experts.dense_layers: expected ";
  for (std::size_t n = 0; n < layers.size(); ++n) {
    if (layers[n] < 0 || layers[n] >= config.layers || (n > 0 && layers[n] <= layers[n - 1])) {
      return expected + "ascending numbers of the " + std::to_string(config.layers) +
             " layers, found " + std::to_string(layers[n]);
    }
  }
  if (!layers.empty() && architecture(config.architecture.id).has_encoder) {
    return expected + "one stack of layers, found " + config.architecture.id;
  }
  return "";
}

std::string feed_forward_refusal(const ModelConfig& config) {
  const ModelOptions& options = config.model_options;
  if ((options.gate_limit > 0 || options.gate_offset != 0) && !config.gated) {
    return std::string(options.gate_limit > 0 ? "gate_limit" : "gate_offset") +
           ": expected a gated feed-forward, found gated false";
  }
  if (options.experts.count == 0) return "";
  if (config.hidden == 0) return "experts: expected feed-forwards (hidden above 0), found hidden 0";
  if (options.experts.chosen > options.experts.count) {
    return "experts.chosen: expected at most the " + std::to_string(options.experts.count) +
           " experts, found " + std::to_string(options.experts.chosen);
  }
  return dense_layers_refusal(config);
}

// Caps and sinks need a softmax over the scores of individual keys.
std::string score_refusal(const ModelConfig& config) {
  const ModelOptions& options = config.model_options;
  if (options.score_cap == 0 && !options.attention_sinks) return "";
  const std::vector<std::vector<HeadGroup>> encoder = encoder_groups(config);
  for (const auto* stack : {&config.groups, &encoder}) {
    for (const auto& layer : *stack) {
      for (const HeadGroup& group : layer) {
        const Variant& v = variant(group.variant.id);
        if (accepts_score_changes(v)) continue;
        const std::string key = stack == &encoder ? "architecture.encoder_variant" : "variant";
        return key + ".type: expected full or a fixed pattern, found " + v.id + " (" + v.id +
               " has no softmax over the scores of single keys, which " +
               (options.attention_sinks ? "attention_sinks" : "score_cap") +
               " of this model needs)";
      }
    }
  }
  return "";
}

std::string output_refusal(const ModelConfig& config) {
  const ModelOptions& options = config.model_options;
  if (options.output_head) return "";
  const std::string expected = "output_head: expected true, ";
  if (config.exits) return expected + "which exits need, found false";
  if (config.auxiliary != Auxiliary{}) return expected + "which auxiliary losses need, found false";
  if (config.head != HeadConfig{}) return expected + "which head configures, found false";
  return "";
}

}  // namespace

std::string model_options_refusal(const ModelConfig& config) {
  if (config.model_options == ModelOptions{}) return "";
  const Architecture& architecture = attnscope::architecture(config.architecture.id);
  if (!architecture.has_self_attention) {
    ModelOptions common;  // options of models without blocks
    common.embedding_scale = config.model_options.embedding_scale;
    common.logit_scale = config.model_options.logit_scale;
    common.logit_cap = config.model_options.logit_cap;
    if (config.model_options != common) {
      return "architecture: expected transformer blocks for these model options, found " +
             architecture.id;
    }
  }
  for (const auto& refusal : {block_refusal, feed_forward_refusal, score_refusal, output_refusal}) {
    const std::string reason = refusal(config);
    if (!reason.empty()) return reason;
  }
  return "";
}

}  // namespace attnscope
