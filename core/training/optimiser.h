// AdamW (Loshchilov and Hutter, 2019) with warm-up, a cosine and gradient clipping.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "core/part/info.h"

namespace attnscope {

// A straight line from 0 to `most` over warm_up steps, then half a cosine down to `least` at
// `steps`. step counts from 0.
double learning_rate(Index step, Index steps, Index warm_up, double most, double least);

struct AdamSettings {
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  double weight_decay = 0.1;  // of tensors of rank 2 and more
  double clip = 1;            // longest gradient over all parameters; 0: any
};

class AdamW {
 public:
  explicit AdamW(const AdamSettings& settings) : settings_(settings) {}
  // Parameters that stay from 0 to a number and move in shares of it, by name.
  void set_most(std::map<std::string, double> most) { most_ = std::move(most); }

  // Moves every parameter that got a gradient and clears the gradients. Returns the gradient's
  // length before clipping; when that is no finite number, nothing is moved.
  double step(NamedVars& parameters, double rate);

  // What resuming needs: first and second moments by parameter, and the steps made.
  struct Moments {
    Tensor first, second;
  };
  std::map<std::string, Moments>& moments() { return moments_; }
  const std::map<std::string, Moments>& moments() const { return moments_; }
  Index steps() const { return steps_; }
  void set_steps(Index steps) { steps_ = steps; }

 private:
  AdamSettings settings_;
  std::map<std::string, double> most_;
  std::map<std::string, Moments> moments_;
  Index steps_ = 0;
};

}  // namespace attnscope
