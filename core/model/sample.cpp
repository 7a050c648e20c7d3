#include "core/model/sample.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>

#include "core/base/error.h"

namespace attnscope {
namespace {

[[noreturn]] void fail(const char* name, const char* expected, double found) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", found);
  throw InputError(std::string(name) + ": expected " + expected + ", found " + text);
}

// Indices of the `count` greatest weights, best first; ties: lowest index first.
std::vector<std::int32_t> best_first(const std::vector<double>& weights, std::size_t count) {
  std::vector<std::int32_t> order(weights.size());
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                    [&](std::int32_t a, std::int32_t b) {
                      const double x = weights[static_cast<std::size_t>(a)];
                      const double y = weights[static_cast<std::size_t>(b)];
                      return x > y || (x == y && a < b);
                    });
  order.resize(count);
  return order;
}

void normalise(std::vector<double>& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
}

// Sets the weights of all tokens except `ids` to 0 and normalises the others.
void keep_only(const std::vector<std::int32_t>& ids, std::vector<double>& weights) {
  std::vector<double> result(weights.size(), 0.0);
  for (const std::int32_t id : ids) {
    const auto token = static_cast<std::size_t>(id);
    result[token] = weights[token];
  }
  weights = std::move(result);
  normalise(weights);
}

// Smallest number of tokens, in the order `order`, that together reach the probability `top_p`.
std::size_t nucleus_size(const std::vector<double>& weights, const std::vector<std::int32_t>& order,
                         double top_p) {
  double sum = 0;
  std::size_t count = 0;
  while (count < order.size() && (count == 0 || sum < top_p)) {
    sum += weights[static_cast<std::size_t>(order[count++])];
  }
  return count;
}

}  // namespace

void check(const Sampling& sampling) {
  if (!(sampling.temperature >= 0) || std::isinf(sampling.temperature)) {
    fail("temperature", "a number of at least 0", sampling.temperature);
  }
  if (sampling.top_k < 0) {
    throw InputError("top-k: expected at least 0, found " + std::to_string(sampling.top_k));
  }
  if (!(sampling.top_p > 0 && sampling.top_p <= 1)) {
    fail("top-p", "a number above 0 and up to 1", sampling.top_p);
  }
}

std::vector<double> probabilities(const Tensor& logits, const Sampling& sampling) {
  check(sampling);
  const float* best = std::max_element(logits.begin(), logits.end());
  const bool has_nan = std::ranges::any_of(logits, [](float x) { return std::isnan(x); });
  if (logits.empty() || has_nan || !std::isfinite(*best)) {
    throw WorkError("the model's logits are not finite");
  }
  const auto size = static_cast<std::size_t>(logits.size());
  std::vector<double> weights(size, 0.0);
  if (sampling.temperature == 0) {
    weights[static_cast<std::size_t>(best - logits.begin())] = 1;
    return weights;
  }
  const auto maximum = static_cast<double>(*best);
  std::transform(logits.begin(), logits.end(), weights.begin(), [&](float x) {
    return std::exp((static_cast<double>(x) - maximum) / sampling.temperature);
  });
  normalise(weights);
  if (sampling.top_k > 0 && static_cast<std::size_t>(sampling.top_k) < size) {
    keep_only(best_first(weights, static_cast<std::size_t>(sampling.top_k)), weights);
  }
  if (sampling.top_p < 1) {
    std::vector<std::int32_t> order = best_first(weights, size);
    order.resize(nucleus_size(weights, order, sampling.top_p));
    keep_only(order, weights);
  }
  return weights;
}

std::int32_t sample_at(const std::vector<double>& probabilities, Index position,
                       std::uint64_t seed) {
  Random random(derived_seed(seed, static_cast<std::uint64_t>(position)));
  return sample(probabilities, random);
}

std::int32_t sample(const std::vector<double>& probabilities, Random& random) {
  const double sum = std::accumulate(probabilities.begin(), probabilities.end(), 0.0);
  const double point = random.uniform() * sum;
  double cumulative = 0;
  std::size_t last_possible = 0;  // last token with probability above 0
  for (std::size_t id = 0; id < probabilities.size(); ++id) {
    if (probabilities[id] <= 0) continue;
    cumulative += probabilities[id];
    last_possible = id;
    if (point < cumulative) break;
  }
  return static_cast<std::int32_t>(last_possible);
}

std::vector<Candidate> likeliest(const std::vector<double>& probabilities, Index count) {
  const auto limit = std::min(probabilities.size(), static_cast<std::size_t>(count));
  std::vector<Candidate> result;
  for (const std::int32_t id : best_first(probabilities, limit)) {
    const double probability = probabilities[static_cast<std::size_t>(id)];
    if (probability > 0) result.push_back({id, probability});
  }
  return result;
}

}  // namespace attnscope
