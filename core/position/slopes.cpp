#include "core/position/slopes.h"

#include <cmath>

namespace attnscope {

std::vector<double> default_slopes(Index heads) {
  Index power = 1;
  while (power * 2 <= heads) power *= 2;
  std::vector<double> slopes;
  for (Index a = 0; a < power; ++a) {
    slopes.push_back(std::exp2(-8.0 * static_cast<double>(a + 1) / static_cast<double>(power)));
  }
  for (Index a = 0; a < heads - power; ++a) {
    slopes.push_back(
        std::exp2(-8.0 * static_cast<double>(2 * a + 1) / static_cast<double>(2 * power)));
  }
  return slopes;
}

}  // namespace attnscope
