// How the view of the next token is set, for whoever goes on with the text as it says.
#pragma once

#include <cstdint>

#include "core/model/sample.h"
#include "core/view/view.h"

namespace attnscope {

struct NextSettings {
  Sampling sampling;
  std::uint64_t seed = 0;
};
NextSettings next_settings(const ViewSettings& view);

// The token drawn to follow position `position`: the same whenever the logits there, the settings
// and the position are. InputError without logits.
std::int32_t drawn_token(const Trace& trace, Index position, const NextSettings& settings);

// Whether the trace ends where the experiment's text does: not when the text is longer than the
// model's context and its first part is used.
bool shows_end(const Trace& trace, const Experiment& experiment);

// Puts a token behind the text (or the ids). When the context is full its last part is used from
// then on. False, and nothing is changed, where the token is no text: it ends the text.
bool append_token(Experiment& experiment, const Trace& trace, std::int32_t id);

}  // namespace attnscope
