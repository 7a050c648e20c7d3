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

// True if the token ends the text, or is otherwise no text: append_token() refuses it.
bool ends_text(const Trace& trace, std::int32_t id);

// True if generation can continue after an end token: always, except for targets of
// encoder-decoders, which are complete at their end.
bool continues_past_end(const Trace& trace);

// Token that continues the text after `position`.
struct ContinuingToken {
  std::int32_t id = -1;
  std::int32_t end_id = -1;    // end token that was sampled first and replaced; -1: none
  double end_probability = 0;  // of `end_id`, with the sampling parameters
};
// Like sample_next_token(), but an end token that would be the first generated token (`is_first`)
// is replaced by a sample without end tokens if continues_past_end(): the user expects to see a
// token. Throws InputError if there are no logits.
ContinuingToken sample_continuation(const Trace& trace, Index position,
                                    const SeededSampling& seeded, bool is_first);

// True if the trace includes the end of the run's text, false if the text was cut to the context.
// Targets of encoder-decoders are never cut.
bool shows_end(const Trace& trace, const RunSpec& spec);

// Appends a token to the text (or ids), or to the target of an encoder-decoder. If the context is
// full, replaces Overlong::First by Overlong::Last, except for targets. Returns false and changes
// nothing if the token is special (end of text), has no text and the run no ids, or the input is a
// file.
bool append_token(RunSpec& spec, const Trace& trace, std::int32_t id);

}  // namespace attnscope
