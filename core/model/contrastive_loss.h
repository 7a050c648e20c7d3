// Contrastive loss of global tokens: contrastive predictive coding (CPC) with noise-contrastive
// estimation (van den Oord et al., 2018, arXiv:1807.03748), as ETC pretrains with it (Ainslie et
// al., 2020, arXiv:2004.08483, section 3.1).
//
// The text after n global tokens is divided into n segments of equal length; remaining tokens at
// the end belong to none. In every sequence, every second segment is replaced by mask tokens. The
// final state z of a masked segment's global token has to match t, its state in a run on the global
// tokens and the unmasked segment alone, among the t of the same global token in all sequences of
// the batch that mask its segment (another global token would be told apart by its own vector):
//   loss = −mean_k log softmax_j(z_k·t_j / √d)[k]
// It is 0 for a single sequence. The paper has a segment for each sentence of the text; training
// reads texts in pieces, so that the segments here have equal lengths.
#pragma once

#include <string>

#include "core/model/batch.h"

namespace attnscope {

class Pass;
struct ModelConfig;

// Weight of the loss; 0 for models without it.
double contrastive_weight(const ModelConfig& config);

// Tokens of the additional passes for a text of `length` tokens, as a multiple of `length`; 0
// without the loss.
double contrastive_tokens(const ModelConfig& config, Index length);

// Reason why a model with the input "global_text" cannot have the loss ("input.contrastive: ...");
// empty if it can, or if it does not have it.
std::string contrastive_refusal(const ModelConfig& config);

// Appends the loss "contrastive" of a batch with targets, if the model has it: two more passes over
// the text. Throws InputError if the model has no mask token.
void add_contrastive_loss(const Pass& pass, const Batch& batch, Output& output);

}  // namespace attnscope
