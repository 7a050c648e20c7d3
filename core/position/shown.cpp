#include "core/position/shown.h"

#include "core/position/sinusoid.h"

namespace attnscope {
namespace {

constexpr double kBase = 10000;

// Row n is the vector of n - centre.
Tensor waves(const Shape& shape, Index centre, double size) {
  const Index rows = shape[0], d = shape[1];
  std::vector<double> positions;
  for (Index n = 0; n < rows; ++n) positions.push_back(static_cast<double>(n - centre));
  // An odd size has half a pair at its end.
  const Tensor table = sinusoid_table(positions, sinusoid_frequencies(d + d % 2, kBase));
  Tensor result(shape);
  for (Index n = 0; n < rows; ++n) {
    for (Index c = 0; c < d; ++c) {
      result(n, c) = static_cast<float>(size * static_cast<double>(table(n, c)));
    }
  }
  return result;
}

}  // namespace

Shown shown_positions(double size) {
  return
      [size](const Shape& shape, const Situation&, const Values&) { return waves(shape, 0, size); };
}

Shown shown_offsets(double size) {
  return [size](const Shape& shape, const Situation&, const Values&) {
    return waves(shape, shape[0] / 2, size);
  };
}

Shown shown_identity() {
  return [](const Shape& shape, const Situation&, const Values&) {
    Tensor result = Tensor::zeros(shape);
    for (Index i = 0; i < std::min(shape[0], shape[1]); ++i) result(i, i) = 1;
    return result;
  };
}

}  // namespace attnscope
