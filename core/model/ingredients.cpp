#include "core/model/ingredients.h"

#include "core/base/strict_json.h"
#include "core/model/architecture.h"
#include "core/model/config.h"

namespace attnscope {

namespace {

constexpr Index kMostExperts = 4096;
constexpr double kMostScale = 1e6;

const std::vector<std::string> kOutputNorms = {"none", "also", "instead"};  // as OutputNorm counts
const std::vector<std::string> kQueryKeyNorms = {"none", "head",
                                                 "projection"};  // as QueryKeyNorm counts

void read_experts(JsonObject& object, Experts& experts) {
  JsonObject inner(object.any("experts"), object.path_of("experts"));
  experts.count = inner.integer("count", 1, kMostExperts);
  experts.chosen = inner.integer_or("chosen", experts.chosen, 1, kMostExperts);
  experts.renormalised = inner.flag_or("renormalised", experts.renormalised);
  experts.router_bias = inner.flag_or("router_bias", experts.router_bias);
  inner.finish();
}

}  // namespace

bool norm_before(const ModelConfig& config) {
  return config.pre_norm && config.ingredients.output_norm != OutputNorm::Instead;
}

bool has_output_bias(const ModelConfig& config) {
  return config.ingredients.attention_output_bias.value_or(config.attention_biases);
}

void read_ingredients(JsonObject& object, Ingredients& i) {
  const Ingredients usual;
  const auto number = [&](const char* key, double otherwise, double least) {
    return object.number_or(key, otherwise, least, kMostScale);
  };
  i.embedding_scale = number("embedding_scale", usual.embedding_scale, -kMostScale);
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
    i.attention_scale = object.number("attention_scale", 0, kMostScale);
  }
  i.score_cap = number("score_cap", usual.score_cap, 0);
  i.attention_sinks = object.flag_or("attention_sinks", usual.attention_sinks);
  i.residual_scale = number("residual_scale", usual.residual_scale, -kMostScale);
  if (object.has("experts")) read_experts(object, i.experts);
  i.gate_limit = number("gate_limit", usual.gate_limit, 0);
  i.gate_offset = number("gate_offset", usual.gate_offset, -kMostScale);
  i.logit_scale = number("logit_scale", usual.logit_scale, -kMostScale);
  i.logit_cap = number("logit_cap", usual.logit_cap, 0);
  i.output_head = object.flag_or("output_head", usual.output_head);
}

void add_ingredients(const Ingredients& i, Json& object) {
  const Ingredients usual;
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
  const Ingredients& i = config.ingredients;
  if (!i.norm_biases && config.norm != Norm::LayerNorm) {
    return "norm_biases: an RMS norm has none; expected norm layer, found rms";
  }
  if (i.output_norm != OutputNorm::None && !config.pre_norm) {
    return "output_norm: norms after the sum leave no place for it; expected pre_norm true, found "
           "false";
  }
  if (i.shared_norm && !i.parallel) {
    return "shared_norm: expected parallel true, whose two branches can share a norm, found false";
  }
  if (i.shared_norm && !norm_before(config)) {
    return "shared_norm: expected a norm before the block, found none there";
  }
  if (!i.parallel) return "";
  if (!config.pre_norm) return "parallel: expected pre_norm true, found false";
  if (config.hidden == 0) return "parallel: expected a feed-forward (hidden above 0), found none";
  if (config.join != default_join()) {
    return "parallel: two branches are added at once; expected join " + default_join().id +
           ", found " + config.join.id;
  }
  if (architecture(config.architecture.id).has_encoder) {
    return "parallel: expected one stack of layers, found " + config.architecture.id +
           ", whose cross-attention reads what self-attention gave";
  }
  return "";
}

std::string feed_forward_refusal(const ModelConfig& config) {
  const Ingredients& i = config.ingredients;
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
           " experts that there are, found " + std::to_string(i.experts.chosen);
  }
  return "";
}

// Caps and sinks belong to scores of pairs under one softmax.
std::string score_refusal(const ModelConfig& config) {
  const Ingredients& i = config.ingredients;
  if (i.score_cap == 0 && !i.attention_sinks) return "";
  for (const auto* stacks : {&config.groups}) {
    for (const auto& layer : *stacks) {
      for (const HeadGroup& group : layer) {
        const Variant& v = variant(group.variant.id);
        if (takes_score_changes(v)) continue;
        return "variant.type: " + v.id + " has no softmax over the scores of single keys, which " +
               (i.attention_sinks ? "attention_sinks" : "score_cap") +
               " of this model changes; expected full or a fixed pattern";
      }
    }
  }
  return "";
}

std::string output_refusal(const ModelConfig& config) {
  const Ingredients& i = config.ingredients;
  if (i.output_head) return "";
  const std::string expected = "output_head: expected true, ";
  if (config.exits) return expected + "since exits predict with it, found false";
  if (config.auxiliary != Auxiliary{})
    return expected + "since layers predict with it, found false";
  if (config.head != HeadConfig{}) return expected + "since head says how it predicts, found false";
  return "";
}

}  // namespace

std::string ingredients_refusal(const ModelConfig& config) {
  if (config.ingredients == Ingredients{}) return "";
  const Architecture& of = architecture(config.architecture.id);
  if (!of.has_self_attention) {
    Ingredients outside;  // of blocks
    outside.embedding_scale = config.ingredients.embedding_scale;
    outside.logit_scale = config.ingredients.logit_scale;
    outside.logit_cap = config.ingredients.logit_cap;
    if (config.ingredients != outside) {
      return "architecture: " + of.id + " has no transformer blocks to change; expected another";
    }
  }
  for (const auto& refusal : {block_refusal, feed_forward_refusal, score_refusal, output_refusal}) {
    const std::string reason = refusal(config);
    if (!reason.empty()) return reason;
  }
  return "";
}

}  // namespace attnscope
