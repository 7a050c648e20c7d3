#include "tests/support/gradient.h"

#include <algorithm>
#include <cmath>

namespace attnscope::testing {
namespace {

// Indices of elements to vary: evenly spread, and the element with the largest gradient.
std::vector<Index> select_elements(const Tensor& gradient, const Tensor& values,
                                   Index max_elements) {
  std::vector<Index> elements;
  const Index stride = std::max<Index>(1, values.size() / max_elements) | 1;
  for (Index i = 0; i < values.size(); i += stride) elements.push_back(i);
  if (!gradient.defined()) return elements;
  const auto largest = std::max_element(gradient.begin(), gradient.end(),
                                        [](float a, float b) { return std::abs(a) < std::abs(b); });
  const Index largest_index = largest - gradient.begin();
  if (std::find(elements.begin(), elements.end(), largest_index) == elements.end())
    elements.push_back(largest_index);
  return elements;
}

double central_difference(float& number, float step, const std::function<double()>& f) {
  const float centre = number;
  number = centre + step;
  const double above = static_cast<double>(number), high = f();
  number = centre - step;
  const double below = static_cast<double>(number), low = f();
  number = centre;
  return (high - low) / (above - below);
}

}  // namespace

::testing::AssertionResult is_gradient(const Tensor& gradient, Tensor values,
                                       const std::function<double()>& f,
                                       const Differences& options) {
  if (!gradient.defined()) return ::testing::AssertionFailure() << "missing gradient";
  if (gradient.shape() != values.shape()) {
    return ::testing::AssertionFailure() << "shape " << to_string(gradient.shape())
                                         << " instead of " << to_string(values.shape());
  }
  if (!std::all_of(gradient.begin(), gradient.end(), [](float g) { return std::isfinite(g); })) {
    return ::testing::AssertionFailure() << "NaN or infinity in the gradient";
  }
  struct Probe {
    Index element;
    double expected, error;  // of the step with the smallest error
  };
  std::vector<Probe> probes;
  double largest = 0;
  for (const Index i : select_elements(gradient, values, options.max_elements)) {
    Probe probe{i, 0, 0};
    for (std::size_t n = 0; n < options.steps.size(); ++n) {
      const double expected = central_difference(values[i], options.steps[n], f);
      const double error = std::abs(static_cast<double>(gradient[i]) - expected);
      if (n == 0 || error < probe.error) probe = {i, expected, error};
    }
    largest = std::max(largest, std::abs(probe.expected));
    probes.push_back(probe);
  }
  if (!(largest > 0)) {
    return ::testing::AssertionFailure() << "all differences are zero: nothing was tested";
  }
  for (const Probe& probe : probes) {
    if (!(probe.error <= options.tolerance * largest)) {
      return ::testing::AssertionFailure()
             << "element " << probe.element << " of " << to_string(values.shape()) << " is "
             << gradient[probe.element] << " instead of " << probe.expected
             << ", allowed difference " << options.tolerance * largest;
    }
  }
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult has_no_gradient(const Tensor& gradient, Tensor values,
                                           const std::function<double()>& f, double rounding,
                                           const Differences& options) {
  for (const Index i : select_elements(gradient, values, options.max_elements)) {
    const double expected = central_difference(values[i], options.steps.front(), f);
    const double got = gradient.defined() ? static_cast<double>(gradient[i]) : 0;
    if (!(std::abs(expected) <= rounding && std::abs(got) <= rounding)) {
      return ::testing::AssertionFailure()
             << "element " << i << " of " << to_string(values.shape()) << " is " << got
             << ", the central difference is " << expected << ", expected at most " << rounding;
    }
  }
  return ::testing::AssertionSuccess();
}

::testing::AssertionResult same_gradient(const Tensor& got, const Tensor& expected,
                                         double tolerance) {
  if (!got.defined() || !expected.defined()) {
    return ::testing::AssertionFailure() << "missing gradient";
  }
  if (got.shape() != expected.shape()) {
    return ::testing::AssertionFailure()
           << "shape " << to_string(got.shape()) << " instead of " << to_string(expected.shape());
  }
  double largest = 0;
  for (const float g : expected) {
    if (!std::isfinite(g)) return ::testing::AssertionFailure() << "NaN or infinity in `expected`";
    largest = std::max(largest, std::abs(static_cast<double>(g)));
  }
  if (!(largest > 0)) {
    return ::testing::AssertionFailure() << "the gradient is zero: nothing was tested";
  }
  for (Index i = 0; i < got.size(); ++i) {
    const double difference =
        std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    if (!(difference <= tolerance * largest)) {
      return ::testing::AssertionFailure()
             << "element " << i << " of " << to_string(got.shape()) << " is " << got[i]
             << " instead of " << expected[i] << ", allowed difference " << tolerance * largest;
    }
  }
  return ::testing::AssertionSuccess();
}

double projected(const Tensor& result, const Tensor& weights) {
  double total = 0;
  for (Index i = 0; i < result.size(); ++i) {
    total += static_cast<double>(result[i]) * static_cast<double>(weights[i]);
  }
  return total;
}

}  // namespace attnscope::testing
