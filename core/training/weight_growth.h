// Growth of weights during a training: which of them grew first when it diverges.
#pragma once

#include <map>
#include <string>

#include "core/part/info.h"

namespace attnscope {

class WeightGrowth {
 public:
  // Measures the weights after `step` steps. The first call sets the sizes that later ones are
  // compared with.
  void measure(const NamedVars& weights, Index step);

  // The weight that was the first to exceed kLimit times its first size, else the one that grew
  // most: "layers.1.ffn.w_in, 12 times its first size at step 35". Empty before two measurements.
  std::string first_grown() const;

  static constexpr double kLimit = 10;

 private:
  struct Size {
    double first = 0, newest = 0;  // root mean square
    Index limit_step = -1;         // first step beyond kLimit; -1: none
    double limit_ratio = 0;        // at that step
  };
  std::map<std::string, Size> sizes_;
  Index step_ = -1;
};

}  // namespace attnscope
