// global_text: text after auxiliary global tokens. Ainslie et al., 2020.
#include <algorithm>

#include "core/model/architecture.h"
#include "core/model/contrastive_loss.h"
#include "core/model/global_tokens.h"
#include "core/model/input_kind.h"

namespace attnscope {
namespace {

constexpr const char* kGlobalText = "global_text";

std::string global_text_refusal(const ModelConfig& config) {
  if (config.architecture.id != default_architecture().id || config.causal || config.segment > 0) {
    return "input: expected architecture decoder, causal false, and no segments (global tokens "
           "summarise a whole text)";
  }
  const Index count = config.input.values.integer("global");
  if (count >= config.context) {
    return "input.global: expected less than the context " + std::to_string(config.context) +
           ", found " + std::to_string(count);
  }
  if (count >= config.vocabulary) {
    return "input.global: expected less than the vocabulary " + std::to_string(config.vocabulary) +
           ", whose last ids are the global tokens, found " + std::to_string(count);
  }
  return contrastive_refusal(config);
}

IntTensor with_prefix(const IntTensor& rows, Index count,
                      const std::function<std::int32_t(Index)>& prefix) {
  const Index items = rows.dim(0), length = rows.dim(1);
  IntTensor result({items, count + length});
  for (Index b = 0; b < items; ++b) {
    std::int32_t* to = result.data() + b * (count + length);
    for (Index n = 0; n < count; ++n) to[n] = prefix(n);
    std::copy_n(rows.data() + b * length, length, to + count);
  }
  return result;
}

}  // namespace

Index global_tokens(const ModelConfig& config) {
  return config.input.id == kGlobalText ? config.input.values.integer("global") : 0;
}

std::int32_t first_global_id(const ModelConfig& config) {
  return static_cast<std::int32_t>(config.vocabulary - global_tokens(config));
}

Batch with_global_tokens(const Batch& batch, const ModelConfig& config) {
  const Index count = global_tokens(config);
  if (count == 0) return batch;
  const std::int32_t first = first_global_id(config);
  Batch result = batch;
  result.ids = with_prefix(batch.ids, count,
                           [first](Index n) { return first + static_cast<std::int32_t>(n); });
  if (batch.targets.defined()) {
    result.targets = with_prefix(batch.targets, count, [](Index) { return -1; });
  }
  return result;
}

InputKind global_text_input() {
  InputKind kind = text_input();
  kind.id = kGlobalText;
  kind.label = "Text with global tokens";
  kind.equation = "x₀ = E[g₁], …, E[g_n], E[id₁], …";
  kind.summary =
      "Text tokens after auxiliary global tokens, which belong to no text and have vectors of "
      "their own. With the variant etc and as many global tokens, they summarise the text.";
  kind.source = "Ainslie et al., 2020, ETC, arXiv:2004.08483";
  kind.parameters = {{.key = "global",
                      .symbol = "n_g",
                      .label = "Global tokens",
                      .help = "Auxiliary tokens before the text; the last ids of the vocabulary.",
                      .required = true,
                      .initial = Index{4},
                      .limits = {.min = 1, .max = 4096},
                      .slider = {.min = 1, .max = 16}},
                     {.key = "contrastive",
                      .label = "Contrastive loss",
                      .help = "Weight of the contrastive loss (CPC): the global token of a masked "
                              "segment has to match that of the segment alone. 0: none.",
                      .kind = Parameter::Kind::Real,
                      .scope = {.training = true},
                      .initial = 0.0,
                      .limits = {.min = 0, .max = Parameter::kMaxReal},
                      .slider = {.max = 1}}};
  kind.refusal = global_text_refusal;
  return kind;
}

}  // namespace attnscope
