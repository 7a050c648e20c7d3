// Recurrences with a decay in each channel (RWKV, Mamba), computed from the equations.
#include <algorithm>
#include <cmath>

#include "core/analysis/matrices.h"
#include "core/analysis/recurrence.h"

namespace attnscope {
namespace {

double number(const Tensor& rows, Index t, Index c) {
  return static_cast<double>(rows(t, c));
}

// Exponent of token j in the sums that token t reads, in channel c.
double wkv_exponent(const Recurrence& r, Index j, Index t, Index c) {
  if (j == t) return static_cast<double>(r.bonus[c]) + number(r.k, t, c);
  const Index steps = t - 1 - j;
  const double decay = std::log(static_cast<double>(r.kept[c]));
  return number(r.k, j, c) + (steps == 0 ? 0 : static_cast<double>(steps) * decay);
}

RecurrentStep wkv_step(const Recurrence& r, Index t) {
  const Index size = r.v.dim(1);
  RecurrentStep step;
  RowMatrix before = RowMatrix::Zero(2, size), added = before;
  step.output = Tensor({size});
  step.weights.assign(static_cast<std::size_t>(t) + 1, 0);
  for (Index c = 0; c < size; ++c) {
    double most = wkv_exponent(r, t, t, c), sum = 0;
    for (Index j = 0; j < t; ++j) most = std::max(most, wkv_exponent(r, j, t, c));
    for (Index j = 0; j <= t; ++j) sum += std::exp(wkv_exponent(r, j, t, c) - most);
    for (Index j = 0; j <= t; ++j) {
      const double weight = std::exp(wkv_exponent(r, j, t, c) - most) / sum;
      RowMatrix& rows = j == t ? added : before;
      rows(0, c) += weight * number(r.v, j, c);
      rows(1, c) += weight;
      step.weights[static_cast<std::size_t>(j)] += weight / static_cast<double>(size);
    }
    step.output[c] = static_cast<float>(number(r.q, t, c) * (before(0, c) + added(0, c)));
  }
  step.before = tensor_of(before);
  step.added = tensor_of(added);
  step.after = tensor_of(before + added);
  return step;
}

RecurrentStep selective_step(const Recurrence& r, Index t) {
  const Index size = r.v.dim(1), states = r.k.dim(1);
  RecurrentStep step;
  RowMatrix before = RowMatrix::Zero(states, size), added = before;
  step.output = Tensor({size});
  step.weights.assign(static_cast<std::size_t>(t) + 1, 0);
  for (Index c = 0; c < size; ++c) {
    double time = 0;  // sum of the step sizes after token j
    double output = static_cast<double>(r.skip[c]) * number(r.v, t, c);
    for (Index j = t; j >= 0; --j) {
      double weight = 0;
      for (Index n = 0; n < states; ++n) {
        const double written = std::exp(time * static_cast<double>(r.rates(c, n))) *
                               number(r.delta, j, c) * number(r.k, j, n);
        (j == t ? added : before)(n, c) += written * number(r.v, j, c);
        weight += number(r.q, t, n) * written;
      }
      output += weight * number(r.v, j, c);
      step.weights[static_cast<std::size_t>(j)] += weight / static_cast<double>(size);
      time += number(r.delta, j, c);
    }
    step.output[c] = static_cast<float>(output);
  }
  step.before = tensor_of(before);
  step.added = tensor_of(added);
  step.after = tensor_of(before + added);
  return step;
}

}  // namespace

RecurrentStep channel_step(const Recurrence& recurrence, Index t) {
  return recurrence.kind == Recurrence::Kind::Wkv ? wkv_step(recurrence, t)
                                                  : selective_step(recurrence, t);
}

}  // namespace attnscope
