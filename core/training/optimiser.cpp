#include "core/training/optimiser.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/base/parallel.h"

namespace attnscope {

namespace {

constexpr Index kGrain = Index{1} << 15;  // numbers that are worth a thread

// In partial sums that the compiler keeps in vector registers, over stretches short enough for
// float32.
double squared_length(const Tensor& t) {
  constexpr Index kLanes = 64, kStretch = 4096;
  double sum = 0;
  for (Index begin = 0; begin < t.size(); begin += kStretch) {
    const float* x = t.data() + begin;
    const Index size = std::min(kStretch, t.size() - begin);
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

}  // namespace

double learning_rate(Index step, Index steps, Index warm_up, double most, double least) {
  if (step < warm_up) return most * static_cast<double>(step + 1) / static_cast<double>(warm_up);
  const double way = static_cast<double>(step - warm_up) /
                     static_cast<double>(std::max<Index>(1, steps - warm_up));
  const double cosine = 0.5 * (1 + std::cos(std::numbers::pi * std::min(1.0, way)));
  return least + (most - least) * cosine;
}

double AdamW::step(NamedVars& parameters, double rate) {
  double sum = 0;
  for (const auto& [name, parameter] : parameters) {
    if (parameter.gradient().defined()) sum += squared_length(parameter.gradient());
  }
  const double length = std::sqrt(sum);
  if (!std::isfinite(length)) return length;
  ++steps_;
  const double shrink = settings_.clip > 0 && length > settings_.clip ? settings_.clip / length : 1;
  // Unbiased moments, folded into the rate and into epsilon.
  const double unbias1 = 1 - std::pow(settings_.beta1, static_cast<double>(steps_));
  const double unbias2 = std::sqrt(1 - std::pow(settings_.beta2, static_cast<double>(steps_)));
  const auto beta1 = static_cast<float>(settings_.beta1);
  const auto beta2 = static_cast<float>(settings_.beta2);
  const auto by = static_cast<float>(shrink);
  const auto move = static_cast<float>(rate * unbias2 / unbias1);
  const auto epsilon = static_cast<float>(settings_.epsilon * unbias2);
  for (auto& [name, parameter] : parameters) {
    const Tensor gradient = parameter.gradient();
    if (!gradient.defined()) continue;
    Moments& moments = moments_[name];
    if (!moments.first.defined()) {
      moments.first = Tensor::zeros(gradient.shape());
      moments.second = Tensor::zeros(gradient.shape());
    }
    const bool decays = parameter.rank() >= 2;
    const float keep = 1 - static_cast<float>(decays ? rate * settings_.weight_decay : 0);
    float* const value = parameter.mutable_value().data();
    float* const first = moments.first.data();
    float* const second = moments.second.data();
    const float* const slope = gradient.data();
    parallel_for(gradient.size(), kGrain, [=](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const float g = slope[i] * by;
        first[i] = beta1 * first[i] + (1 - beta1) * g;
        second[i] = beta2 * second[i] + (1 - beta2) * g * g;
        value[i] = keep * value[i] - move * first[i] / (std::sqrt(second[i]) + epsilon);
      }
    });
    parameter.clear_gradient();
  }
  return length;
}

}  // namespace attnscope
