// What a model is given, and what it gives.
#pragma once

#include <string>
#include <vector>

#include "core/autodiff/var.h"

namespace attnscope {

// Sequences of one length, B of them. A field that an architecture does not read is undefined.
struct Batch {
  IntTensor ids;      // [B, L] what the model (of an encoder-decoder: the decoder) reads
  IntTensor types;    // [B, L] kinds of tokens (EmbeddingConfig::types); undefined: all 0
  Tensor patches;     // [B, n, e] pixels of the pieces of an image; undefined where none is seen so
  IntTensor source;   // [B, L_source] what an encoder reads
  IntTensor targets;  // what is to be predicted at each position, -1: nothing; undefined: no losses
  // A trajectory: returns to go [B, T], states [B, T, s], actions [B, T] (-1: not taken yet).
  Tensor returns, states;
  IntTensor actions;
  double progress = 1;  // the share of training that is done, on which some losses depend

  Index size() const;    // B
  Index length() const;  // positions whose next one is predicted
};

// A batch for next tokens: targets are the ids themselves, one place earlier; the last has none.
Batch next_token_batch(IntTensor ids);

// One loss of a model.
struct Loss {
  std::string name;  // "language_model"
  Var value;         // []
  Var weighed;       // [] what of it is trained: its terms times their weights
};
Loss weighed_loss(std::string name, const Var& value, double weight = 1);

struct Output {
  Var logits;                // [B, L, vocabulary]; undefined without an output head
  std::vector<Loss> losses;  // where the batch has targets
  IntTensor exits;           // [B, L] the layer at which each token left, from 1; or undefined
  Tensor log_probabilities;  // [n, vocabulary] of a mixture with what was retrieved; or undefined

  // What is trained, []; undefined without losses.
  Var total_loss() const;
};

}  // namespace attnscope
