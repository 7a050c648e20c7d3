// Sampling of the next token, and extension of a run's input by it.
#pragma once

#include <cstdint>

#include "core/experiment/run_spec.h"
#include "core/model/sample.h"
#include "core/trace/trace.h"

namespace attnscope {

// Logits [vocabulary] after a position; with retrieval, log-probabilities of the mixture. Throws
// InputError if the trace has no logits at this position.
Tensor logits_at(const Trace& trace, Index position);

// Samples the token after `position`; deterministic in logits, sampling parameters and position.
// Throws InputError if there are no logits.
std::int32_t sample_next_token(const Trace& trace, Index position, const SeededSampling& seeded);

// True if the trace includes the end of the run's text, false if the text was cut to the context.
// Targets of encoder-decoders are never cut.
bool shows_end(const Trace& trace, const RunSpec& spec);

// Appends a token to the text (or ids), or to the target of an encoder-decoder. If the context is
// full, replaces Overlong::First by Overlong::Last, except for targets. Returns false and changes
// nothing if the token is special (end of text), has no text and the run no ids, or the input is a
// file.
bool append_token(RunSpec& spec, const Trace& trace, std::int32_t id);

}  // namespace attnscope
