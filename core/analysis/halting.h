// Adaptive halting of a Universal Transformer (Dehghani et al., 2018) or a recurrent network
// (Graves, 2016).
#pragma once

#include <vector>

#include "core/trace/trace.h"

namespace attnscope {

// Halting probabilities of the trace's tokens. Steps count from 1.
struct HaltingRecord {
  Tensor probability;             // [L, T]; NaN after a token's last step
  std::vector<Index> steps;       // [L] N: last step of each token
  std::vector<double> remainder;  // [L] R: 1 minus the sum of probabilities before step N
  Index max_steps = 0;            // T: maximum number of steps
  double epsilon = 0;             // a token halts when its probabilities sum to 1 - epsilon

  Index length() const { return static_cast<Index>(steps.size()); }
  // Ponder cost N + R of a token, or its mean over the text; penalised by training.
  double ponder(Index token) const;
  double ponder() const;
  double mean_steps() const;
  // True if the token halted by itself, not because of the maximum number of steps.
  bool halted_by_itself(Index token) const;
};

bool has_steps(const Trace& trace);  // true if layers or a cell are applied repeatedly to a token
bool halts(const Trace& trace);      // true if tokens halt adaptively
// Requires halts(trace). stack: selects source or target tokens in an encoder-decoder.
HaltingRecord halting_of(const Trace& trace, Stack stack = Stack::Decoder);

}  // namespace attnscope
