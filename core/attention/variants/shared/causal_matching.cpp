#include "core/attention/variants/shared/causal_matching.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/parallel.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

constexpr double kNothing = -std::numeric_limits<double>::infinity();

double log_sum(double a, double b) {
  const double larger = std::max(a, b);
  return larger == kNothing ? kNothing : larger + std::log1p(std::exp(std::min(a, b) - larger));
}

std::size_t index_of(Index row, Index column, Index n) {
  return static_cast<std::size_t>(row * n + column);
}

// Logarithm of the sum of a column's entries down to each place.
std::vector<double> column_sums(const std::vector<double>& logs, Index n, Index column) {
  std::vector<double> sums(static_cast<std::size_t>(n), kNothing);
  double sum = kNothing;
  for (Index place = column + 1; place < n; ++place) {
    sum = log_sum(sum, logs[index_of(place, column, n)]);
    sums[static_cast<std::size_t>(place)] = sum;
  }
  return sums;
}

std::vector<double> to_doubles(const Tensor& matrices, Index number, Index n) {
  const float* from = matrices.data() + number * n * n;
  return {from, from + n * n};
}

// Backward pass of normalise_earlier_columns(), in place. logs: its input.
void columns_backward(const std::vector<double>& logs, Index n, std::vector<double>& gradient) {
  for (Index column = 0; column < n; ++column) {
    const std::vector<double> sums = column_sums(logs, n, column);
    double later = 0;  // sum of g_t S_place / S_t over places t >= place, with column sums S
    for (Index place = n - 1; place > column; --place) {
      const auto p = static_cast<std::size_t>(place);
      double& g = gradient[index_of(place, column, n)];
      const double ratio = place + 1 < n ? std::exp(sums[p] - sums[p + 1]) : 0;
      later = g + ratio * later;
      g -= std::exp(logs[index_of(place, column, n)] - sums[p]) * later;
    }
  }
}

// Backward pass of normalise_earlier_rows(), in place. logs: its output.
void rows_backward(const std::vector<double>& logs, Index n, std::vector<double>& gradient) {
  for (Index place = 1; place < n; ++place) {
    double sum = 0;
    for (Index column = 0; column < place; ++column) sum += gradient[index_of(place, column, n)];
    for (Index column = 0; column < place; ++column) {
      const std::size_t i = index_of(place, column, n);
      gradient[i] -= std::exp(logs[i]) * sum;
    }
  }
}

std::vector<float> matching_gradient(const Tensor& logits, const Tensor& gradient, Index number,
                                     Index rounds) {
  const Index n = logits.dim(1);
  std::vector<std::vector<double>> states{to_doubles(logits, number, n)};  // before each half round
  for (Index round = 0; round < rounds && !is_stopping(); ++round) {
    states.push_back(states.back());
    normalise_earlier_columns(states.back(), n);
    states.push_back(states.back());
    normalise_earlier_rows(states.back(), n);
  }
  std::vector<double> g = to_doubles(gradient, number, n);
  for (Index place = 0; place < n; ++place) {
    for (Index column = 0; column < n; ++column) {
      const std::size_t i = index_of(place, column, n);
      g[i] = column < place ? g[i] * std::exp(states.back()[i]) : 0;
    }
  }
  for (std::size_t half = states.size() - 1; half > 0 && !is_stopping(); half -= 2) {
    rows_backward(states[half], n, g);
    columns_backward(states[half - 2], n, g);
  }
  return {g.begin(), g.end()};
}

}  // namespace

void normalise_earlier_columns(std::vector<double>& logs, Index n) {
  for (Index column = 0; column < n; ++column) {
    const std::vector<double> sums = column_sums(logs, n, column);
    for (Index place = column + 1; place < n; ++place) {
      logs[index_of(place, column, n)] -= sums[static_cast<std::size_t>(place)];
    }
  }
}

void normalise_earlier_rows(std::vector<double>& logs, Index n) {
  for (Index place = 1; place < n; ++place) {
    double sum = kNothing;
    for (Index column = 0; column < place; ++column) {
      sum = log_sum(sum, logs[index_of(place, column, n)]);
    }
    for (Index column = 0; column < place; ++column) logs[index_of(place, column, n)] -= sum;
  }
}

Var causal_matching(const Var& logits, Index rounds) {
  const Index count = logits.dim(0), n = logits.dim(1);
  Tensor weights = Tensor::zeros(logits.shape());
  parallel_for(count, 1, [&](Index first, Index last) {
    for (Index number = first; number < last; ++number) {
      std::vector<double> logs = to_doubles(logits.value(), number, n);
      for (Index round = 0; round < rounds && !is_stopping(); ++round) {
        normalise_earlier_columns(logs, n);
        normalise_earlier_rows(logs, n);
      }
      for (Index place = 0; place < n; ++place) {
        for (Index column = 0; column < place; ++column) {
          weights(number, place, column) =
              static_cast<float>(std::exp(logs[index_of(place, column, n)]));
        }
      }
    }
  });
  check_stop();
  return record("causal_matching", weights, {logits},
                [rounds](const Tensor& gradient, const std::vector<Var>& inputs) {
                  const Tensor& stored = inputs[0].value();
                  const Index size = stored.dim(1) * stored.dim(2);
                  Tensor to_logits(stored.shape());
                  parallel_for(stored.dim(0), 1, [&](Index first, Index last) {
                    for (Index number = first; number < last; ++number) {
                      const auto g = matching_gradient(stored, gradient, number, rounds);
                      std::copy(g.begin(), g.end(), to_logits.data() + number * size);
                    }
                  });
                  check_stop();
                  accumulate(inputs[0], to_logits);
                });
}

}  // namespace attnscope
