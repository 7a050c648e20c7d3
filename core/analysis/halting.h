// Where the tokens of a Universal Transformer stop (Dehghani et al., 2018; Graves, 2016).
#pragma once

#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

// Tokens are the trace's; steps count from 1.
struct HaltingRecord {
  Tensor probability;             // [L, T]; NaN after a token's last step
  std::vector<Index> steps;       // [L] N: the last step of each
  std::vector<double> remainder;  // [L] R: what was missing of 1 before it
  Index most = 0;                 // T: how many steps there may be
  double epsilon = 0;             // a token stops when its probabilities sum to 1 - epsilon

  Index length() const { return static_cast<Index>(steps.size()); }
  // N + R: what training makes a price of. Of a token; the mean over the text.
  double ponder(Index token) const;
  double ponder() const;
  double mean_steps() const;
  // Whether the token stopped by itself, and was not stopped by the last step.
  bool stopped(Index token) const;
};

// Whether the same layers are applied in steps; whether tokens decide how often.
bool has_steps(const Trace& trace);
bool halts(const Trace& trace);
HaltingRecord halting_of(const Trace& trace);  // where it halts

}  // namespace attnscope
