#include "core/position/illustrative_weights.h"

#include "core/position/sinusoid.h"

namespace attnscope {
namespace {

constexpr double kBase = 10000;

// Row n is the sinusoidal vector of n - centre.
Tensor scaled_sinusoids(const Shape& shape, Index centre, double size) {
  const Index rows = shape[0], d = shape[1];
  std::vector<double> positions;
  for (Index n = 0; n < rows; ++n) positions.push_back(static_cast<double>(n - centre));
  // If d is odd, the last column is a sine without its cosine.
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

IllustrativeWeights illustrative_positions(double size) {
  return [size](const Shape& shape, const Situation&, const Values&) {
    return scaled_sinusoids(shape, 0, size);
  };
}

IllustrativeWeights illustrative_offsets(double size) {
  return [size](const Shape& shape, const Situation&, const Values&) {
    return scaled_sinusoids(shape, shape[0] / 2, size);
  };
}

IllustrativeWeights illustrative_identity() {
  return [](const Shape& shape, const Situation&, const Values&) {
    Tensor result = Tensor::zeros(shape);
    for (Index i = 0; i < std::min(shape[0], shape[1]); ++i) result(i, i) = 1;
    return result;
  };
}

}  // namespace attnscope
