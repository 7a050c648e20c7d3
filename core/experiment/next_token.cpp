#include "core/experiment/next_token.h"

#include <cmath>
#include <limits>

#include "core/analysis/prediction.h"
#include "core/base/error.h"
#include "core/model/architecture.h"

namespace attnscope {
namespace {

bool generates_target(const Trace& trace) {
  return trace.config != nullptr &&
         architecture(trace.config->architecture.id).reads == Reads::SourceAndTarget;
}

// Appends to the ids if there are any, otherwise to the text.
bool append_id(std::vector<std::int32_t>& ids, std::string& text, std::int32_t id,
               const std::string& bytes) {
  if (!ids.empty()) {
    ids.push_back(id);
    return true;
  }
  text += bytes;
  return !bytes.empty();
}

}  // namespace

Tensor logits_at(const Trace& trace, Index position) {
  const LazyTensor& logits = predictions(trace);  // [L, vocabulary]
  if (!logits.defined() || position < 0 || position >= logits.dim(0)) {
    throw InputError("next token: expected logits of position " + std::to_string(position) +
                     ", found none");
  }
  return logits.row(position);
}

std::int32_t sample_next_token(const Trace& trace, Index position, const SeededSampling& seeded) {
  return sample_at(probabilities(logits_at(trace, position), seeded.sampling), position,
                   seeded.seed);
}

bool ends_text(const Trace& trace, std::int32_t id) {
  const Tokenizer* tokenizer = trace.tokenizer.get();
  if (tokenizer == nullptr || id < 0 || id >= tokenizer->vocabulary_size()) return false;
  return tokenizer->is_special(id);
}

bool continues_past_end(const Trace& trace) {
  return !generates_target(trace);
}

ContinuingToken sample_continuation(const Trace& trace, Index position,
                                    const SeededSampling& seeded, bool is_first) {
  Tensor logits = logits_at(trace, position);
  const std::vector<double> sampled = probabilities(logits, seeded.sampling);
  const std::int32_t id = sample_at(sampled, position, seeded.seed);
  if (!is_first || !continues_past_end(trace) || !ends_text(trace, id)) return {id};
  logits = logits.copy();
  bool has_text = false;
  for (Index token = 0; token < logits.size(); ++token) {
    if (ends_text(trace, static_cast<std::int32_t>(token))) {
      logits[token] = -std::numeric_limits<float>::infinity();
    } else {
      has_text |= std::isfinite(logits[token]);
    }
  }
  if (!has_text) return {id};
  const std::int32_t text_id =
      sample_at(probabilities(logits, seeded.sampling), position, seeded.seed);
  return {text_id, id, sampled[static_cast<std::size_t>(id)]};
}

bool shows_end(const Trace& trace, const RunSpec& spec) {
  if (generates_target(trace)) return true;
  if (spec.overlong == Overlong::Last || trace.tokens.empty()) return true;
  if (!spec.ids.empty()) return trace.tokens.size() == spec.ids.size();
  return trace.tokens.back().end >= spec.text.size();
}

bool append_token(RunSpec& spec, const Trace& trace, std::int32_t id) {
  if (!spec.input.empty()) return false;  // images, trajectories
  const Tokenizer* tokenizer = trace.tokenizer.get();
  const bool in_vocabulary = tokenizer != nullptr && id >= 0 && id < tokenizer->vocabulary_size();
  if (ends_text(trace, id)) return false;
  const std::string bytes = in_vocabulary ? tokenizer->bytes(id) : "";
  if (generates_target(trace)) return append_id(spec.target_ids, spec.target, id, bytes);
  if (!append_id(spec.ids, spec.text, id, bytes)) return false;
  const bool is_full = static_cast<Index>(trace.tokens.size()) >= trace.config->context;
  if (is_full && spec.overlong == Overlong::First) spec.overlong = Overlong::Last;
  return true;
}

}  // namespace attnscope
