#include "core/model/capability.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/model/architecture.h"
#include "core/model/input_kind.h"

namespace attnscope {
namespace {

bool reads_trajectories(const ModelConfig& config) {
  return architecture(config.architecture.id).reads == Reads::Trajectories;
}

bool reads_text(const ModelConfig& config) {
  return !reads_trajectories(config) && input_kind(config.input.id).is_text;
}

std::string input_name(const ModelConfig& config) {
  return reads_trajectories(config) ? "trajectories" : config.input.id;
}

// Reason why a model has no logits.
std::string missing_logits(const ModelConfig& config) {
  return has_continuous_actions(config) ? "predicts continuous actions without probabilities"
                                        : "gives only attention and states";
}

struct CapabilityInfo {
  Capability capability;
  const char* expected;  // "a model with an output head"
  bool (*holds)(const ModelConfig&);
  std::string (*found)(const ModelConfig&);  // "MODEL, which gives no predictions"
};

const CapabilityInfo kCapabilities[] = {
    {Capability::Logits, "a model with an output head",
     [](const ModelConfig& c) { return c.model_options.output_head && !has_continuous_actions(c); },
     missing_logits},
    {Capability::NextToken, "a model that generates text",
     [](const ModelConfig& c) { return !is_masked_model(c); },
     [](const ModelConfig&) { return std::string("is a masked language model"); }},
    {Capability::Text, "a model that reads text",
     [](const ModelConfig& c) { return reads_text(c); },
     [](const ModelConfig& c) { return "reads " + input_name(c); }},
    {Capability::Image, "an image model",
     [](const ModelConfig& c) { return !reads_trajectories(c) && !input_kind(c.input.id).is_text; },
     [](const ModelConfig& c) { return "reads " + input_name(c); }},
    {Capability::Exits, "a model with exits",
     [](const ModelConfig& c) { return c.exits.has_value(); },
     [](const ModelConfig&) { return std::string("has none"); }},
};

}  // namespace

bool has_continuous_actions(const ModelConfig& config) {
  return reads_trajectories(config) && config.architecture.values.flag("continuous");
}

std::string capability_refusal(Capability capability, const ModelConfig& config,
                               std::string_view model) {
  const auto* info = std::ranges::find(kCapabilities, capability, &CapabilityInfo::capability);
  if (info->holds(config)) return "";
  return std::string("expected ") + info->expected + ", found " + std::string(model) + ", which " +
         info->found(config);
}

void require(Capability capability, const ModelConfig& config, std::string_view model,
             std::string_view place) {
  const std::string refusal = capability_refusal(capability, config, model);
  if (!refusal.empty()) throw InputError(std::string(place) + ": " + refusal);
}

}  // namespace attnscope
