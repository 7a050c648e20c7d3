#include "core/attention/variants/shared/selective_scan.h"

#include <Eigen/Core>
#include <algorithm>
#include <vector>

#include "core/attention/variants/shared/exact.h"
#include "core/base/parallel.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

using State = Eigen::ArrayXXd;  // [N, d_v]
using Row = Eigen::VectorXd;

Row row_of(const Tensor& rows, Index n, Index t) {
  const Index size = rows.dim(2);
  return Eigen::Map<const Eigen::VectorXf>(rows.data() + (n * rows.dim(1) + t) * size, size)
      .cast<double>();
}

void set_row(Tensor& rows, Index n, Index t, const Row& numbers) {
  const Index size = rows.dim(2);
  Eigen::Map<Eigen::VectorXf>(rows.data() + (n * rows.dim(1) + t) * size, size) =
      numbers.cast<float>();
}

// Rates A of a head, [N, d_v].
State rates_of(const Tensor& a, Index head) {
  const Index size = a.dim(1), states = a.dim(2);
  return Eigen::Map<const Eigen::ArrayXXf>(a.data() + head * size * states, states, size)
      .cast<double>();
}

// One head of one sequence.
class Sequence {
 public:
  Sequence(const SelectiveInput<Tensor>& input, Index n)
      : in_(input), n_(n), item_(n / input.a.dim(0)), a_(rates_of(input.a, n % input.a.dim(0))) {}

  Row delta(Index t) const { return row_of(in_.delta, n_, t); }
  Row b(Index t) const { return row_of(in_.b, item_, t); }
  Row c(Index t) const { return row_of(in_.c, item_, t); }
  const State& rates() const { return a_; }
  Index length() const { return in_.delta.dim(1); }
  // e^{Δ_t A}
  State decays(const Row& delta) const { return (a_.rowwise() * delta.transpose().array()).exp(); }

  // Replaces the state of token t - 1 by that of token t.
  void advance(State& state, Index t, const Row& v) const {
    const Row step = delta(t);
    state *= decays(step);
    state += (b(t) * step.cwiseProduct(v).transpose()).array();
  }

 private:
  const SelectiveInput<Tensor>& in_;
  Index n_, item_;
  State a_;
};

SelectiveInput<Tensor> values_of(const SelectiveInput<Var>& in) {
  return {in.delta.value(), in.a.value(), in.b.value(), in.c.value()};
}

// Gradients of one head of one sequence.
struct HeadGradients {
  State a;
  Eigen::MatrixXd b, c;  // [N, L]
};

HeadGradients head_gradients(const Sequence& s, Index n, const Tensor& v, const Tensor& gradient,
                             Tensor& d_delta, Tensor& d_v) {
  const Index states = s.rates().rows(), size = s.rates().cols(), length = s.length();
  Doubles history = zero_doubles(length * states * size);  // state before each token
  const auto state_before = [&](Index t) {
    return Eigen::Map<State>(history.data() + t * states * size, states, size);
  };
  State state = State::Zero(states, size);
  for (Index t = 0; t < length && !is_stopping(); ++t) {
    state_before(t) = state;
    s.advance(state, t, row_of(v, n, t));
  }
  HeadGradients result{State::Zero(states, size), Eigen::MatrixXd::Zero(states, length),
                       Eigen::MatrixXd::Zero(states, length)};
  State d_state = State::Zero(states, size);
  for (Index t = length - 1; t >= 0 && !is_stopping(); --t) {
    const State before = state_before(t);
    const Row delta = s.delta(t), value = row_of(v, n, t), g = row_of(gradient, n, t);
    const State decays = s.decays(delta);
    const Row b = s.b(t), written = delta.cwiseProduct(value);
    d_state += (s.c(t) * g.transpose()).array();
    const State after = before * decays + (b * written.transpose()).array();
    result.c.col(t) = after.matrix() * g;
    result.b.col(t) = d_state.matrix() * written;
    const State d_exponent = d_state * before * decays;
    result.a += d_exponent.rowwise() * delta.transpose().array();
    const Row d_written = d_state.matrix().transpose() * b;
    const Row d_decay = (d_exponent * s.rates()).colwise().sum().matrix().transpose();
    set_row(d_delta, n, t, d_decay + d_written.cwiseProduct(value));
    set_row(d_v, n, t, d_written.cwiseProduct(delta));
    d_state *= decays;
  }
  return result;
}

// Adds numbers to a tensor, from index `offset` on.
template <class Numbers>
void add_numbers(Tensor& to, Index offset, const Numbers& numbers) {
  for (Index i = 0; i < numbers.size(); ++i) {
    to[offset + i] += static_cast<float>(numbers.data()[i]);
  }
}

void add_scan_gradients(const Tensor& gradient, const std::vector<Var>& inputs) {
  const SelectiveInput<Tensor> in{inputs[0].value(), inputs[1].value(), inputs[2].value(),
                                  inputs[3].value()};
  const Tensor& v = inputs[4].value();
  const Index count = v.dim(0), heads = in.a.dim(0);
  Tensor d_delta(in.delta.shape()), d_v(v.shape());
  std::vector<HeadGradients> parts(static_cast<std::size_t>(count));
  parallel_for(count, 1, [&](Index first, Index last) {
    for (Index n = first; n < last && !is_stopping(); ++n) {
      parts[static_cast<std::size_t>(n)] =
          head_gradients(Sequence(in, n), n, v, gradient, d_delta, d_v);
    }
  });
  check_stop();
  Tensor d_a = Tensor::zeros(in.a.shape()), d_b = Tensor::zeros(in.b.shape()),
         d_c = Tensor::zeros(in.c.shape());
  for (Index n = 0; n < count; ++n) {
    const HeadGradients& part = parts[static_cast<std::size_t>(n)];
    add_numbers(d_a, n % heads * part.a.size(), part.a);
    add_numbers(d_b, n / heads * part.b.size(), part.b);
    add_numbers(d_c, n / heads * part.c.size(), part.c);
  }
  accumulate(inputs[0], d_delta);
  accumulate(inputs[1], d_a);
  accumulate(inputs[2], d_b);
  accumulate(inputs[3], d_c);
  accumulate(inputs[4], d_v);
}

class SelectiveRows : public ImpliedRows {
 public:
  explicit SelectiveRows(SelectiveInput<Tensor> input) : in_(std::move(input)) {}

  // From the last key to the first. A row keeps C_i times the decays between the key and the query.
  std::vector<double> weights(const Block& block) const override {
    const Sequence s(in_, block.head);
    std::vector<double> result(static_cast<std::size_t>(block.count * block.width()));
    std::vector<State> rows(static_cast<std::size_t>(block.count));
    const auto channels = static_cast<double>(s.rates().cols());
    for (Index j = block.first + block.count - 1; j >= block.first_key && !is_stopping(); --j) {
      const Row delta = s.delta(j), b = s.b(j);
      const State decays = s.decays(delta);
      for (Index r = std::max<Index>(0, j - block.first); r < block.count; ++r) {
        State& row = rows[static_cast<std::size_t>(r)];
        if (block.first + r == j) row = s.c(j).array().replicate(1, s.rates().cols());
        result[static_cast<std::size_t>(r * block.width() + j - block.first_key)] =
            b.dot(row.matrix() * delta) / channels;
        row *= decays;
      }
    }
    return result;
  }

 private:
  const SelectiveInput<Tensor> in_;
};

}  // namespace

Var selective_scan(const SelectiveInput<Var>& input, const Var& v) {
  const SelectiveInput<Tensor> in = values_of(input);
  Tensor output(v.shape());
  parallel_for(v.dim(0), 1, [&](Index first, Index last) {
    for (Index n = first; n < last; ++n) {
      const Sequence s(in, n);
      State state = State::Zero(s.rates().rows(), s.rates().cols());
      for (Index t = 0; t < s.length() && !is_stopping(); ++t) {
        s.advance(state, t, row_of(v.value(), n, t));
        set_row(output, n, t, state.matrix().transpose() * s.c(t));
      }
    }
  });
  check_stop();
  return record("selective_scan", output, {input.delta, input.a, input.b, input.c, v},
                add_scan_gradients);
}

std::shared_ptr<const ImpliedRows> selective_rows(const SelectiveInput<Tensor>& input) {
  return std::make_shared<const SelectiveRows>(input);
}

}  // namespace attnscope
