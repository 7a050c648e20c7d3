// A trace as a file for other programs.
#pragma once

#include "core/tensor/safetensors.h"
#include "core/trace/trace.h"

namespace attnscope {

// Tensors:
//   ids                   [L]
//   attention...          the weights, joined and named by their places: core/trace/tap_names.h
//   log_sum_exp.N.G       [h, L_q] of the scores, where there is one softmax
//   logits                [L, vocabulary]
//   q.N.G, k.N.G, v.N.G   [h, L, d_k] as the scores see them (rotated), where one part computes
//                         (2 d_k where some rows have projections of their own: Part::own_rows)
//   q_plain.N.G, k_plain.N.G   before rotation
//   output.N.G            [h, L, d_v] per head, before the output projection
//   extra.N.G.NAME        what a variant adds
//                         before N: ".encoder", ".cross", ".segment.S", ".step.T" where these are
//   and the trace's other taps by name ("embed", "layers.0.residual", ...).
// Metadata: model, backend, notes (JSON list of texts), tokens (JSON list of labels).
// Memory: the attention that the trace did not keep is derived here, all of it, unless it is too
// much for a file: then it is left out, and the notes say so.
SafetensorsFile trace_file(const Trace& trace);
// That note; empty where the attention is in the file.
std::string attention_left_out(const Trace& trace);

}  // namespace attnscope
