// Soft mask of an adaptive span (Sukhbaatar et al., 2019, arXiv:1905.07799; spec.md, section 4.5).
#pragma once

#include <algorithm>

namespace attnscope {

// m_z(x) = clamp((R + z - x) / R, 0, 1) for the distance x = i - j; R > 0.
inline double span_mask(double z, double ramp, double distance) {
  return std::clamp((ramp + z - distance) / ramp, 0.0, 1.0);
}

}  // namespace attnscope
