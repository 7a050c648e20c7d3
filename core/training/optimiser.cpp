#include "core/training/optimiser.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "core/base/parallel.h"

namespace attnscope {
namespace {

constexpr Index kPiece = Index{1} << 13;  // numbers of a parameter per thread task

// Partial sums that the compiler keeps in vector registers, over stretches short enough for
// float32.
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

// Update of a piece of a parameter.
struct Piece {
  Index size;
  const float* gradient;
  float *value, *first, *second;  // the parameter and its moments
  float keep;                     // decay factor of the value
  float most;                     // bound of the value, and scale of updates; 0: none, and 1
};

struct Move {
  float beta1, beta2, shrink, rate, epsilon;
};

void move(const Piece& piece, const Move& m) {
  const float* const gradient = piece.gradient;
  float *const value = piece.value, *const first = piece.first, *const second = piece.second;
  const float keep = piece.keep;
  const auto [beta1, beta2, shrink, rate, epsilon] = m;
  const float unit = piece.most > 0 ? rate * piece.most : rate;
  for (Index i = 0; i < piece.size; ++i) {
    const float g = gradient[i] * shrink;
    first[i] = beta1 * first[i] + (1 - beta1) * g;
    second[i] = beta2 * second[i] + (1 - beta2) * g * g;
    value[i] = keep * value[i] - unit * first[i] / (std::sqrt(second[i]) + epsilon);
  }
  if (!(piece.most > 0)) return;
  for (Index i = 0; i < piece.size; ++i) value[i] = std::clamp(value[i], 0.0F, piece.most);
}

}  // namespace

double learning_rate(Index step, Index steps, Index warm_up, double most, double least) {
  if (step < warm_up) return most * static_cast<double>(step + 1) / static_cast<double>(warm_up);
  const double way = static_cast<double>(step - warm_up) /
                     static_cast<double>(std::max<Index>(1, steps - warm_up));
  const double cosine = 0.5 * (1 + std::cos(std::numbers::pi * std::min(1.0, way)));
  return least + (most - least) * cosine;
}

double AdamW::step(NamedVars& parameters, double rate) {
  std::vector<Piece> pieces;
  for (auto& [name, parameter] : parameters) {
    const Tensor gradient = parameter.gradient();
    if (!gradient.defined()) continue;
    Moments& moments = moments_[name];
    if (!moments.first.defined()) {
      moments.first = Tensor::zeros(gradient.shape());
      moments.second = Tensor::zeros(gradient.shape());
    }
    const double decay = parameter.rank() >= 2 ? rate * settings_.weight_decay : 0;
    const auto known = most_.find(name);
    const auto most = known != most_.end() ? static_cast<float>(known->second) : 0.0F;
    for (Index at = 0; at < gradient.size(); at += kPiece) {
      pieces.push_back({std::min(kPiece, gradient.size() - at), gradient.data() + at,
                        parameter.mutable_value().data() + at, moments.first.data() + at,
                        moments.second.data() + at, 1 - static_cast<float>(decay), most});
    }
  }
  const auto for_pieces = [&](const auto& body) {
    parallel_for(static_cast<Index>(pieces.size()), 2, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) body(static_cast<std::size_t>(i));
    });
  };
  std::vector<double> squares(pieces.size());
  for_pieces([&](std::size_t i) { squares[i] = squared_norm(pieces[i].gradient, pieces[i].size); });
  const double length = std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
  if (!std::isfinite(length)) return length;
  ++steps_;
  const double shrink = settings_.clip > 0 && length > settings_.clip ? settings_.clip / length : 1;
  // Bias correction of the moments, folded into the learning rate and epsilon.
  const double unbias1 = 1 - std::pow(settings_.beta1, static_cast<double>(steps_));
  const double unbias2 = std::sqrt(1 - std::pow(settings_.beta2, static_cast<double>(steps_)));
  const Move how{static_cast<float>(settings_.beta1), static_cast<float>(settings_.beta2),
                 static_cast<float>(shrink), static_cast<float>(rate * unbias2 / unbias1),
                 static_cast<float>(settings_.epsilon * unbias2)};
  for_pieces([&](std::size_t i) { move(pieces[i], how); });
  for (auto& [name, parameter] : parameters) parameter.clear_gradient();
  return length;
}

}  // namespace attnscope
