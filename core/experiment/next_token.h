// How a text goes on: which token is drawn to follow, and an experiment that has it.
#pragma once

#include <cstdint>

#include "core/experiment/experiment.h"
#include "core/model/sample.h"
#include "core/trace/trace.h"

namespace attnscope {

// The logits after a position, or the logarithms of the mixture with what was retrieved.
// [vocabulary]  InputError where the trace has none.
Tensor logits_at(const Trace& trace, Index position);

// The token drawn to follow position `position`: the same whenever the logits there, the drawing
// and the position are. InputError without logits.
std::int32_t drawn_token(const Trace& trace, Index position, const Drawing& drawing);

// Whether the trace ends where the experiment's text does: not when the text is longer than the
// model's context and its first part is used. What an encoder-decoder has written is never cut.
bool shows_end(const Trace& trace, const Experiment& experiment);

// Puts a token behind the text (or the ids), of an encoder-decoder behind its target. When the
// context is full a text's last part is used from then on. False, and nothing is changed, where the
// token is no text, which ends it, or where the model reads none.
bool append_token(Experiment& experiment, const Trace& trace, std::int32_t id);

}  // namespace attnscope
