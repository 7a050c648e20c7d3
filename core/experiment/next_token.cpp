#include "core/experiment/next_token.h"

#include "core/analysis/prediction.h"
#include "core/base/error.h"
#include "core/model/architecture.h"

namespace attnscope {

namespace {

bool writes_target(const Trace& trace) {
  return trace.config != nullptr &&
         architecture(trace.config->architecture.id).reads == Reads::SourceAndTarget;
}

// Behind ids where there are any, else behind the text.
bool append(std::vector<std::int32_t>& ids, std::string& text, std::int32_t id,
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
  const Tensor& all = predictions(trace);  // [L, vocabulary]
  if (!all.defined() || position < 0 || position >= all.dim(0)) {
    throw InputError("next token: expected logits of position " + std::to_string(position) +
                     ", found none");
  }
  return all.slice(position, 1).reshaped({all.dim(1)});
}

std::int32_t drawn_token(const Trace& trace, Index position, const Drawing& drawing) {
  return sample_at(probabilities(logits_at(trace, position), drawing.sampling), position,
                   drawing.seed);
}

bool shows_end(const Trace& trace, const Experiment& experiment) {
  if (writes_target(trace)) return true;
  if (experiment.overlong == Overlong::Last || trace.tokens.empty()) return true;
  if (!experiment.ids.empty()) return trace.tokens.size() == experiment.ids.size();
  return trace.tokens.back().end >= experiment.text.size();
}

bool append_token(Experiment& experiment, const Trace& trace, std::int32_t id) {
  if (!experiment.input.empty()) return false;  // pixels, trajectories
  const Tokenizer* tokenizer = trace.tokenizer.get();
  const bool known = tokenizer != nullptr && id >= 0 && id < tokenizer->vocabulary_size();
  if (known && tokenizer->is_special(id)) return false;
  const std::string bytes = known ? tokenizer->bytes(id) : "";
  if (writes_target(trace)) return append(experiment.target_ids, experiment.target, id, bytes);
  if (!append(experiment.ids, experiment.text, id, bytes)) return false;
  const bool full = static_cast<Index>(trace.tokens.size()) >= trace.config->context;
  if (full && experiment.overlong == Overlong::First) {
    experiment.overlong = Overlong::Last;
  }
  return true;
}

}  // namespace attnscope
