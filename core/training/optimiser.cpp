#include "core/training/optimiser.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "core/base/parallel.h"

namespace attnscope {
namespace {

constexpr Index kPiece = Index{1} << 13;  // maximum size of a Piece, in numbers

// Slice of a parameter, updated by one thread.
struct Piece {
  Index size;
  const float* gradient;
  float *value, *first, *second;  // the parameter and its moments
  float decay;                    // weight-decay factor of the value
  float bound;                    // upper bound of the value, scale of updates; 0: unbounded
};

struct StepFactors {
  float beta1, beta2, clipping, rate, epsilon;
};

void update(const Piece& piece, const StepFactors& factors) {
  const float* const gradient = piece.gradient;
  float *const value = piece.value, *const first = piece.first, *const second = piece.second;
  const float decay = piece.decay;
  const auto [beta1, beta2, clipping, rate, epsilon] = factors;
  const float scaled_rate = piece.bound > 0 ? rate * piece.bound : rate;
  for (Index i = 0; i < piece.size; ++i) {
    const float g = gradient[i] * clipping;
    first[i] = beta1 * first[i] + (1 - beta1) * g;
    second[i] = beta2 * second[i] + (1 - beta2) * g * g;
    value[i] = decay * value[i] - scaled_rate * first[i] / (std::sqrt(second[i]) + epsilon);
  }
  if (!(piece.bound > 0)) return;
  for (Index i = 0; i < piece.size; ++i) value[i] = std::clamp(value[i], 0.0F, piece.bound);
}

}  // namespace

// Sums squares of short stretches in float lanes, which vectorise, and adds these sums in double.
double squared_norm(const float* numbers, Index count) {
  constexpr Index kLanes = 64, kStretch = 4096;
  double sum = 0;
  for (Index begin = 0; begin < count; begin += kStretch) {
    const float* x = numbers + begin;
    const Index size = std::min(kStretch, count - begin);
    float lanes[kLanes] = {};
    Index i = 0;
    for (; i + kLanes <= size; i += kLanes) {
      for (Index l = 0; l < kLanes; ++l) lanes[l] += x[i + l] * x[i + l];
    }
    for (; i < size; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(x[i]);
    for (const float lane : lanes) sum += static_cast<double>(lane);
  }
  return sum;
}

double learning_rate(Index step, Index steps, Index warm_up, double maximum, double minimum) {
  if (step < warm_up) return maximum * static_cast<double>(step + 1) / static_cast<double>(warm_up);
  const double progress = static_cast<double>(step - warm_up) /
                          static_cast<double>(std::max<Index>(1, steps - warm_up));
  const double cosine = 0.5 * (1 + std::cos(std::numbers::pi * std::min(1.0, progress)));
  return minimum + (maximum - minimum) * cosine;
}

double AdamW::step(NamedVars& parameters, double rate) {
  std::vector<Piece> pieces;
  std::vector<std::pair<double*, std::size_t>> ends;  // norm of a parameter, end of its pieces
  for (auto& [name, parameter] : parameters) {
    const Tensor gradient = parameter.gradient();
    if (!gradient.defined()) continue;
    Moments& moments = moments_[name];
    if (!moments.first.defined()) {
      moments.first = Tensor::zeros(gradient.shape());
      moments.second = Tensor::zeros(gradient.shape());
    }
    const double decay = parameter.rank() >= 2 ? rate * settings_.weight_decay : 0;
    const auto entry = upper_bounds_.find(name);
    const auto bound = entry != upper_bounds_.end() ? static_cast<float>(entry->second) : 0.0F;
    for (Index offset = 0; offset < gradient.size(); offset += kPiece) {
      pieces.push_back({std::min(kPiece, gradient.size() - offset), gradient.data() + offset,
                        parameter.mutable_value().data() + offset, moments.first.data() + offset,
                        moments.second.data() + offset, 1 - static_cast<float>(decay), bound});
    }
    ends.emplace_back(&gradient_norms_[name], pieces.size());
  }
  const auto for_each = [&](const auto& body) {
    parallel_for(static_cast<Index>(pieces.size()), 2, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) body(static_cast<std::size_t>(i));
    });
  };
  std::vector<double> squares(pieces.size());
  for_each([&](std::size_t i) { squares[i] = squared_norm(pieces[i].gradient, pieces[i].size); });
  std::size_t first = 0;
  for (const auto& [parameter_norm, end] : ends) {
    const auto at = [&](std::size_t i) { return squares.begin() + static_cast<std::ptrdiff_t>(i); };
    *parameter_norm = std::sqrt(std::accumulate(at(first), at(end), 0.0));
    first = end;
  }
  const double norm = std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
  if (!std::isfinite(norm)) return norm;
  ++steps_;
  const double clipping = settings_.clip > 0 && norm > settings_.clip ? settings_.clip / norm : 1;
  // Bias correction of the moments, folded into the learning rate and epsilon.
  const double unbias1 = 1 - std::pow(settings_.beta1, static_cast<double>(steps_));
  const double unbias2 = std::sqrt(1 - std::pow(settings_.beta2, static_cast<double>(steps_)));
  const StepFactors factors{static_cast<float>(settings_.beta1),
                            static_cast<float>(settings_.beta2), static_cast<float>(clipping),
                            static_cast<float>(rate * unbias2 / unbias1),
                            static_cast<float>(settings_.epsilon * unbias2)};
  for_each([&](std::size_t i) { update(pieces[i], factors); });
  for (auto& [name, parameter] : parameters) parameter.clear_gradient();
  return norm;
}

}  // namespace attnscope
