// Export of a trace as a safetensors file.
#pragma once

#include "core/tensor/safetensors.h"
#include "core/trace/trace.h"

namespace attnscope {

// Tensors:
//   ids                   [L]
//   attention...          weights, concatenated and named by address: core/trace/tap_names.h
//   log_sum_exp.N.G       [h, L_q] of the scores of layer N, head group G (single softmax only)
//   logits                [L, vocabulary]
//   q.N.G, k.N.G, v.N.G   [h, L, d_k] as used in the scores (rotated), for single-part variants
//                         (2 d_k if some rows have their own projections: Part::global_rows)
//   q_plain.N.G, k_plain.N.G   before rotation
//   output.N.G            [h, L, d_v] per head, before the output projection
//   extra.N.G.NAME        variant-specific tensors
//   and the other taps of the trace by name ("embed", "layers.0.residual", ...).
// In models with several stacks, kinds, segments or steps, ".encoder", ".cross", ".segment.S" and
// ".step.T" precede ".N.G".
// Metadata: model, backend, notes (JSON list of texts), tokens (JSON list of labels).
// Numbers that the trace did not keep are computed while the file is written. Attention too large
// for a file is omitted with a note. The trace must outlive the result.
SafetensorsOutput trace_file(const Trace& trace);
// The note on omitted attention; empty if the file contains attention.
std::string omitted_attention_note(const Trace& trace);

}  // namespace attnscope
