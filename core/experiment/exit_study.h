// Early exits (core/model/exits.h) of a model: confidence after each layer, the oracle's exit
// layers, and the measured savings of exiting early.
#pragma once

#include <string>
#include <vector>

#include "core/part/choice.h"
#include "core/tensor/tensor.h"

namespace attnscope {

struct ModelConfig;

// Measurements of a run in which all L tokens pass all N layers. Layers count from 0.
struct ExitStudy {
  Choice rule;                // exit rule of the model
  Tensor confidence;          // [N, L]; undefined if the rule decides once per token
  Tensor distribution;        // [L, N] exit probability of each layer; undefined if not computed
  bool has_oracle = false;    // true if the rule was trained with an oracle
  std::vector<Index> oracle;  // [L] exit layer by the oracle; -1 without a next token in the text
  IntTensor guess;            // [N, L] most likely next token after each layer
  Tensor probability;         // [N, L] probability of that guess
  Index layers() const { return guess.dim(0); }
  Index length() const { return guess.dim(1); }
  // Exit layer of each token for a threshold and decay, from the recorded confidences. Actual exits
  // change the states of later tokens; ExitWork contains the actual layers.
  std::vector<Index> exit_layers_at(double threshold, double decay) const;
  // Threshold of a token: `threshold`, adapted to its position by `decay`; only if has_threshold().
  double threshold_of(Index token, double threshold, double decay) const;
  bool has_threshold() const { return confidence.defined(); }
};

// Decay of the rule's threshold; 0 if the threshold is constant.
double decay_of(const Choice& rule);

// Measured cost and predictions of two runs: with and without early exits. Neither records a trace.
struct ExitWork {
  double threshold = 0, decay = 0;
  std::vector<Index> exit_layers;  // [L] actual exit layer of each token, from 0
  std::vector<bool> agrees;        // [L] true if both runs predict the same next token
  struct Cost {
    double milliseconds = 0;   // minimum over several alternating runs
    double multiply_adds = 0;  // Work::multiply_adds (core/model/model.h)
    double bits = 0;           // mean bits per token of the text; NaN without a next token
  };
  Cost all, early;
  double agreement() const;    // fraction of agreeing tokens, in [0, 1]
  double mean_layers() const;  // mean number of layers per token
};

}  // namespace attnscope
