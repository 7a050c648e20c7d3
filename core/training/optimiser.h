// AdamW (Loshchilov and Hutter, 2019) with warm-up, cosine decay and gradient clipping.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "core/part/info.h"

namespace attnscope {

// Learning rate of a step (from 0): linear up to `maximum` over `warm_up` steps, then half a cosine
// down to `minimum` at `steps`.
double learning_rate(Index step, Index steps, Index warm_up, double maximum, double minimum);

// Sum of squares, with partial sums in double precision.
double squared_norm(const float* numbers, Index count);

struct AdamSettings {
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  double weight_decay = 0.1;  // applies to tensors of rank 2 and above
  double clip = 1;            // maximum norm of the gradient of all parameters; 0: no clipping
};

class AdamW {
 public:
  explicit AdamW(const AdamSettings& settings) : settings_(settings) {}
  // Sets upper bounds of parameters by name. Updates of these parameters are multiplied by the
  // bound and keep them in [0, bound].
  void set_upper_bounds(std::map<std::string, double> bounds) { upper_bounds_ = std::move(bounds); }

  void set_weight_decay(double decay) { settings_.weight_decay = decay; }

  // Updates every parameter with a gradient and clears the gradients. Returns the gradient norm
  // before clipping; if the norm is not finite, no parameter changes.
  double step(NamedVars& parameters, double rate);

  // Gradient norms of the last step by parameter, before clipping; also if they are not finite.
  const std::map<std::string, double>& gradient_norms() const { return gradient_norms_; }

  // State for resuming: first and second moments by parameter, and the number of steps.
  struct Moments {
    Tensor first, second;
  };
  std::map<std::string, Moments>& moments() { return moments_; }
  const std::map<std::string, Moments>& moments() const { return moments_; }
  Index steps() const { return steps_; }
  void set_steps(Index steps) { steps_ = steps; }

 private:
  AdamSettings settings_;
  std::map<std::string, double> upper_bounds_;
  std::map<std::string, Moments> moments_;
  std::map<std::string, double> gradient_norms_;
  Index steps_ = 0;
};

}  // namespace attnscope
