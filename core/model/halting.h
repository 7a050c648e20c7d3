// Adaptive computation time (Graves, 2016, arXiv:1603.08983): each row decides after every step if
// it halts, with probability h = sigmoid(x w + b) of its state x. It halts at the first step N at
// which the probabilities sum to 1 - epsilon, at the latest at the last step. Its output is the
// mean of its states, weighted by the probabilities and, at step N, by the remainder
// R = 1 - sum of the earlier probabilities.
#pragma once

#include <string>
#include <vector>

#include "core/autodiff/var.h"
#include "core/part/info.h"

namespace attnscope {

class Pass;

class Halting {
 public:
  // Reads "epsilon" of the architecture and the weights prefix + "halt.w", "halt.b".
  Halting(const Pass& pass, Index rows, const std::string& prefix = "");

  const Tensor& running() const { return running_; }  // [n] 1 for active rows, else 0
  bool all_halted() const;

  // Adds the state x [n, d] after a step; rows that have halted have no effect. is_last: makes all
  // rows halt.
  void step(const Var& x, bool is_last);

  const Var& output() const { return output_; }  // [n, d]
  Var ponder() const;                            // [n] N + R; N has no gradient

  // For the trace. probabilities: h of each step, 0 after halting, [steps, n].
  Tensor probabilities() const;
  const IntTensor& steps() const { return steps_; }               // [n] N
  const Tensor& remainder() const { return remainder_.value(); }  // [n] R
  // Writes them as prefix + "halting.probability", ".steps", ".remainder".
  void record(Pass& pass, const std::string& prefix = "") const;

 private:
  double threshold_;
  Var w_, b_;
  Tensor running_;
  IntTensor steps_;
  Var accumulated_, remainder_, output_;
  std::vector<double> sums_;
  std::vector<Tensor> probabilities_;
};

// True if the architecture's "halting" is "act".
bool uses_halting(const Values& values);
// Parameters "steps", "halting", "epsilon" and "ponder" of an architecture. what: subject and verb
// ("the layers are") for the help "Maximum number of times that the layers are applied."
std::vector<Parameter> halting_parameters(const std::string& what);
// Weights that the constructor of Halting reads.
std::vector<WeightInfo> halting_weights(const std::string& prefix = "");

}  // namespace attnscope
