#include "core/model/model_options.h"

#include "core/base/strict_json.h"
#include "core/model/architecture.h"
#include "core/model/config.h"

namespace attnscope {
namespace {

constexpr Index kMaxExperts = 4096;
constexpr double kMaxScale = 1e6;

const std::vector<std::string> kOutputNorms = {"none", "also", "instead"};  // order of OutputNorm
const std::vector<std::string> kQueryKeyNorms = {"none", "head",
                                                 "projection"};  // order of QueryKeyNorm

void read_experts(JsonObject& object, Experts& experts) {
  JsonObject inner(object.any("experts"), object.path_of("experts"));
  experts.count = inner.integer("count", 1, kMaxExperts);
  experts.chosen = inner.integer_or("chosen", experts.chosen, 1, kMaxExperts);
  experts.renormalised = inner.flag_or("renormalised", experts.renormalised);
  experts.router_bias = inner.flag_or("router_bias", experts.router_bias);
  inner.finish();
}

}  // namespace

bool norm_before(const ModelConfig& config) {
  return config.pre_norm && config.model_options.output_norm != OutputNorm::Instead;
}

bool has_output_bias(const ModelConfig& config) {
  return config.model_options.attention_output_bias.value_or(config.attention_biases);
}

void read_model_options(JsonObject& object, ModelOptions& i) {
  const ModelOptions usual;
  const auto number = [&](const char* key, double otherwise, double least) {
    return object.number_or(key, otherwise, least, kMaxScale);
  };
  i.embedding_scale = number("embedding_scale", usual.embedding_scale, -kMaxScale);
  i.norm_biases = object.flag_or("norm_biases", usual.norm_biases);
  i.output_norm = static_cast<OutputNorm>(object.choice_or("output_norm", 0, kOutputNorms));
  i.parallel = object.flag_or("parallel", usual.parallel);
  i.shared_norm = object.flag_or("shared_norm", usual.shared_norm);
  if (object.has("attention_output_bias")) {
    i.attention_output_bias = object.flag("attention_output_bias");
  }
  i.query_key_norm =
      static_cast<QueryKeyNorm>(object.choice_or("query_key_norm", 0, kQueryKeyNorms));
  if (object.has("attention_scale")) {
    i.attention_scale = object.number("attention_scale", 0, kMaxScale);
  }
  i.score_cap = number("score_cap", usual.score_cap, 0);
  i.attention_sinks = object.flag_or("attention_sinks", usual.attention_sinks);
  i.residual_scale = number("residual_scale", usual.residual_scale, -kMaxScale);
  if (object.has("experts")) read_experts(object, i.experts);
  i.gate_limit = number("gate_limit", usual.gate_limit, 0);
  i.gate_offset = number("gate_offset", usual.gate_offset, -kMaxScale);
  i.logit_scale = number("logit_scale", usual.logit_scale, -kMaxScale);
  i.logit_cap = number("logit_cap", usual.logit_cap, 0);
  i.output_head = object.flag_or("output_head", usual.output_head);
}

void add_model_options(const ModelOptions& i, Json& object) {
  const ModelOptions usual;
  const auto add = [&](const char* key, const auto& value, const auto& otherwise) {
    if (value != otherwise) object[key] = value;
  };
  add("embedding_scale", i.embedding_scale, usual.embedding_scale);
  add("norm_biases", i.norm_biases, usual.norm_biases);
  if (i.output_norm != usual.output_norm) {
    object["output_norm"] = kOutputNorms[static_cast<std::size_t>(i.output_norm)];
  }
  add("parallel", i.parallel, usual.parallel);
  add("shared_norm", i.shared_norm, usual.shared_norm);
  if (i.attention_output_bias) object["attention_output_bias"] = *i.attention_output_bias;
  if (i.query_key_norm != usual.query_key_norm) {
    object["query_key_norm"] = kQueryKeyNorms[static_cast<std::size_t>(i.query_key_norm)];
  }
  if (i.attention_scale) object["attention_scale"] = *i.attention_scale;
  add("score_cap", i.score_cap, usual.score_cap);
  add("attention_sinks", i.attention_sinks, usual.attention_sinks);
  add("residual_scale", i.residual_scale, usual.residual_scale);
  if (i.experts != usual.experts) {
    object["experts"] = {{"count", i.experts.count},
                         {"chosen", i.experts.chosen},
                         {"renormalised", i.experts.renormalised},
                         {"router_bias", i.experts.router_bias}};
  }
  add("gate_limit", i.gate_limit, usual.gate_limit);
  add("gate_offset", i.gate_offset, usual.gate_offset);
  add("logit_scale", i.logit_scale, usual.logit_scale);
  add("logit_cap", i.logit_cap, usual.logit_cap);
  add("output_head", i.output_head, usual.output_head);
}

namespace {

std::string block_refusal(const ModelConfig& config) {
  const ModelOptions& i = config.model_options;
  if (!i.norm_biases && config.norm != Norm::LayerNorm) {
    return "norm_biases: expected norm layer, found rms, which has no biases";
  }
  if (i.output_norm != OutputNorm::None && !config.pre_norm) {
    return "output_norm: expected pre_norm true, found "
           "false";
  }
  if (i.shared_norm && !i.parallel) {
    return "shared_norm: expected parallel true (two branches that share a norm), found false";
  }
  if (i.shared_norm && !norm_before(config)) {
    return "shared_norm: expected a norm before the block, found none there";
  }
  if (!i.parallel) return "";
  if (!config.pre_norm) return "parallel: expected pre_norm true, found false";
  if (config.hidden == 0) return "parallel: expected a feed-forward (hidden above 0), found none";
  if (config.residual_connection != default_residual_connection()) {
    return "parallel: expected join " + default_residual_connection().id + ", found " +
           config.residual_connection.id;
  }
  if (architecture(config.architecture.id).has_encoder) {
    return "parallel: expected one stack of layers, found " + config.architecture.id +
           ", whose cross-attention follows self-attention";
  }
  return "";
}

std::string feed_forward_refusal(const ModelConfig& config) {
  const ModelOptions& i = config.model_options;
  if ((i.gate_limit > 0 || i.gate_offset != 0) && !config.gated) {
    return std::string(i.gate_limit > 0 ? "gate_limit" : "gate_offset") +
           ": expected a gated feed-forward, found gated false";
  }
  if (i.experts.count == 0) return "";
  if (config.hidden == 0) {
    return "experts: expected feed-forwards (hidden above 0), found hidden 0";
  }
  if (i.experts.chosen > i.experts.count) {
    return "experts.chosen: expected at most the " + std::to_string(i.experts.count) +
           " experts, found " + std::to_string(i.experts.chosen);
  }
  return "";
}

// Caps and sinks need a softmax over the scores of individual keys.
std::string score_refusal(const ModelConfig& config) {
  const ModelOptions& i = config.model_options;
  if (i.score_cap == 0 && !i.attention_sinks) return "";
  for (const auto* stacks : {&config.groups}) {
    for (const auto& layer : *stacks) {
      for (const HeadGroup& group : layer) {
        const Variant& v = variant(group.variant.id);
        if (accepts_score_changes(v)) continue;
        return "variant.type: " + v.id + " has no softmax over the scores of single keys, which " +
               (i.attention_sinks ? "attention_sinks" : "score_cap") +
               " of this model changes; expected full or a fixed pattern";
      }
    }
  }
  return "";
}

std::string output_refusal(const ModelConfig& config) {
  const ModelOptions& i = config.model_options;
  if (i.output_head) return "";
  const std::string expected = "output_head: expected true, ";
  if (config.exits) return expected + "which exits need, found false";
  if (config.auxiliary != Auxiliary{}) return expected + "which auxiliary losses need, found false";
  if (config.head != HeadConfig{}) return expected + "which head configures, found false";
  return "";
}

}  // namespace

std::string model_options_refusal(const ModelConfig& config) {
  if (config.model_options == ModelOptions{}) return "";
  const Architecture& of = architecture(config.architecture.id);
  if (!of.has_self_attention) {
    ModelOptions outside;  // not specific to blocks
    outside.embedding_scale = config.model_options.embedding_scale;
    outside.logit_scale = config.model_options.logit_scale;
    outside.logit_cap = config.model_options.logit_cap;
    if (config.model_options != outside) {
      return "architecture: " + of.id + " has no transformer blocks; expected another";
    }
  }
  for (const auto& refusal : {block_refusal, feed_forward_refusal, score_refusal, output_refusal}) {
    const std::string reason = refusal(config);
    if (!reason.empty()) return reason;
  }
  return "";
}

}  // namespace attnscope
