// What is known of a model whose tokens may leave early (core/model/exits.h): how sure it is behind
// each layer, where an oracle would have them leave, and what leaving saves, measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/experiment/experiment.h"
#include "core/tensor/tensor.h"

namespace attnscope {

struct ModelConfig;

// Of a run in which every token passes all layers. Layers count from 0.
struct ExitStudy {
  Choice rule;                // the model's exits
  Tensor confidence;          // [N, L]; undefined where the rule chooses once
  Tensor distribution;        // [L, N] q; undefined where the rule has none
  bool has_oracle = false;    // whether the rule is taught by one
  std::vector<Index> oracle;  // [L] the layer that q* points at; -1: no next token in the text
  IntTensor guess;            // [N, L] the likeliest next token by each layer's own classifier
  Tensor probability;         // [N, L] of that guess
  Index layers() const { return guess.dim(0); }
  Index length() const { return guess.dim(1); }
  // Where a token would leave with this threshold and decay, by what was recorded here. Tokens that
  // really leave change what later ones see: ExitWork says where they went.
  std::vector<Index> leaves_at(double threshold, double decay) const;
  // Of the rules that look at each layer: T of a token, T_t where there is a decay.
  double threshold_of(Index token, double threshold, double decay) const;
  bool has_threshold() const { return confidence.defined(); }
};

// The decay that the rule was made with; 0 where its threshold does not fall.
double decay_of(const Choice& rule);

// Both runs that really were, without a record of either.
struct ExitWork {
  double threshold = 0, decay = 0;
  std::vector<Index> left;   // [L] from 0, where each token really left
  std::vector<bool> agrees;  // [L] whether its guess there is that of the run with all layers
  struct Cost {
    double milliseconds = 0;   // the least of several, the runs in turns
    double multiply_adds = 0;  // Work, core/model/model.h
    double bits = 0;           // a token of the text, in the mean; NaN without a next token
  };
  Cost all, early;
  double agreement() const;    // share of tokens
  double mean_layers() const;  // layers that a token passed
};

// What the view "depth" asks for by the experiment's exit threshold, else by its parameter
// threshold; and by its parameter decay (nothing: the model's).
struct ExitWish {
  double threshold = 0;
  std::optional<double> decay{};
  bool operator==(const ExitWish&) const = default;
};
std::optional<ExitWish> exit_wish(const Experiment& experiment);

}  // namespace attnscope
