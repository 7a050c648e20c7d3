// Input and output of a model.
#pragma once

#include <string>
#include <vector>

#include "core/autodiff/var.h"

namespace attnscope {

// B sequences of equal length. Fields that an architecture does not read are undefined.
struct Batch {
  IntTensor ids;      // [B, L] input of the model (encoder-decoder: of the decoder)
  IntTensor types;    // [B, L] token types (EmbeddingConfig::types); undefined: all 0
  Tensor patches;     // [B, n, e] pixels of image patches; undefined without patches
  IntTensor source;   // [B, L_source] input of the encoder
  IntTensor targets;  // [B, L] token to predict at each position, -1: none; undefined: no losses
  // Trajectory: returns to go [B, T], states [B, T, s], actions [B, T] (-1: not taken yet) or
  // continuous actions `moves` [B, T, a] (NaN: not taken yet). With continuous actions, a target of
  // 0 stands for the action of the step.
  Tensor returns, states;
  IntTensor actions;
  Tensor moves;
  double progress = 1;  // completed fraction of the training, in [0, 1]; some losses depend on it

  Index size() const;    // B
  Index length() const;  // positions per sequence that predict a token
};

// Next-token batch: targets are the ids shifted by one position; the last position has no target.
Batch next_token_batch(IntTensor ids);

struct Loss {
  std::string name;  // "language_model"
  Var value;         // []
  Var weighted;      // [] contribution to the total: value times its weight
};
Loss weighted_loss(std::string name, const Var& value, double weight = 1);

struct Output {
  Var logits;                // [B, L, vocabulary]; undefined without an output head
  std::vector<Loss> losses;  // empty if the batch has no targets
  IntTensor exits;  // [B, L] exit layer of each token, from 1; undefined without early exits
  Tensor log_probabilities;  // [n, vocabulary] of the retrieval mixture, or undefined

  // Sum of the weighted losses, []; undefined without losses.
  Var total_loss() const;
};

}  // namespace attnscope
