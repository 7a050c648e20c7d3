#include "tests/support/model_trace.h"

#include "core/base/json.h"
#include "core/model/model.h"
#include "tests/support/synthetic.h"

namespace attnscope::testing {
namespace {

Json choice_json(const std::string& text) {
  return text.front() == '{' ? Json::parse(text) : Json{{"type", text}};
}

}  // namespace

Trace run_model(const TracedModel& options) {
  ModelConfig config;
  config.vocabulary = 64;
  config.context = options.context;
  config.heads = options.heads;
  config.kv_heads = options.kv_heads;
  config.head_size = options.head_size;
  config.width = options.heads * options.head_size;
  config.layers = options.layers;
  config.hidden = 2 * config.width;
  config.causal = options.causal;
  config.groups = uniform_groups(config, variant_from_json(choice_json(options.variant), "variant"),
                                 encoding_from_json(choice_json(options.encoding), "position"));
  Model model = make_model(config, 7);
  // Adds noise to encoding weights, because position biases are initially zero. Enlarges query and
  // key weights, because sharper attention is more illustrative.
  std::uint64_t seed = 1;
  for (auto& [name, weight] : model.weights) {
    const bool is_encoding_weight = name.find("pos.") != std::string::npos;
    const bool is_score_weight = name.ends_with(".wq") || name.ends_with(".wk");
    Tensor& numbers = weight.mutable_value();
    for (Index i = 0; (is_encoding_weight || is_score_weight) && i < numbers.size(); ++i, ++seed) {
      const auto noise = static_cast<float>(seed * 2654435761U % 2001) / 1000 - 1;
      numbers[i] = is_score_weight ? 3 * numbers[i] : numbers[i] + 0.5F * noise;
    }
  }
  Trace trace;
  trace.model = "synthetic";
  trace.config = std::make_shared<const ModelConfig>(config);
  trace.backend = "CPU (2 threads)";
  trace.tokens = synthetic_tokens(options.length);
  IntTensor ids({1, options.length});
  for (Index i = 0; i < options.length; ++i) ids[i] = static_cast<std::int32_t>(i * 7 % 64);
  ForwardOptions forward_options;
  forward_options.trace = &trace;
  forward(model, ids, forward_options);
  return trace;
}

Trace run_variant(const Variant& v) {
  constexpr Index kLength = 16;
  const Choice choice{v.id, illustrative_values(v.parameters, kLength)};
  return run_model({.variant = to_json(choice).dump(),
                    .encoding = "none",
                    .length = kLength,
                    .causal = v.causality.refusal.empty()});
}

ViewSettings settings_with(const std::string& view, const std::string& json) {
  ViewSettings settings;
  settings.id = view;
  set_view_values(
      settings, view,
      values_from_json(attnscope::view(view).options.parameters, Json::parse(json), "view"));
  return settings;
}

}  // namespace attnscope::testing
