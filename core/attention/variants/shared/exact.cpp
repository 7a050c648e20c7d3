#include "core/attention/variants/shared/exact.h"

#include <algorithm>
#include <cmath>

#include "core/base/stop.h"

namespace attnscope {
namespace {

template <class A, class B>
double sum_of_products(const A* a, const B* b, Index size) {
  double sum = 0;
  for (Index i = 0; i < size; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

}  // namespace

Doubles zero_doubles(Index count) {
  constexpr Index kStep = Index{1} << 20;
  Doubles numbers;
  numbers.reserve(static_cast<std::size_t>(count));
  for (Index initialised = 0; initialised < count;) {
    check_stop();
    initialised = std::min(count, initialised + kStep);
    numbers.resize(static_cast<std::size_t>(initialised), 0.0);
  }
  return numbers;
}

double exact_dot(const float* a, const float* b, Index size) {
  return sum_of_products(a, b, size);
}
double exact_dot(const double* a, const float* b, Index size) {
  return sum_of_products(a, b, size);
}
double exact_dot(const double* a, const double* b, Index size) {
  return sum_of_products(a, b, size);
}

std::vector<double> exact_unit_rows(const float* rows, Index count, Index size) {
  std::vector<double> unit(rows, rows + count * size);
  for (Index row = 0; row < count; ++row) {
    double* x = unit.data() + row * size;
    const double length = std::sqrt(sum_of_products(x, x, size));
    if (length > 0) std::for_each(x, x + size, [length](double& number) { number /= length; });
  }
  return unit;
}

Index first_maximum(const std::vector<double>& numbers) {
  return std::max_element(numbers.begin(), numbers.end()) - numbers.begin();
}

}  // namespace attnscope
