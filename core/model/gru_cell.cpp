#include "core/model/gru_cell.h"

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/stop.h"
#include "core/model/pass.h"

namespace attnscope {

GruCell::GruCell(const Pass& pass, const std::string& prefix)
    : w_ih_(pass.weight(prefix + "w_ih")),
      w_hh_(pass.weight(prefix + "w_hh")),
      b_ih_(pass.weight(prefix + "b_ih")),
      b_hh_(pass.weight(prefix + "b_hh")),
      size_(w_hh_.dim(0)) {}

Var GruCell::inputs(const Var& x) const {
  return add(matmul(x, w_ih_), b_ih_);
}

Var GruCell::step(const Var& inputs, const Var& s) const {
  const auto gate = [&](const Var& gates, Index n) { return slice(gates, 1, n * size_, size_); };
  const Var from_s = add(matmul(s, w_hh_), b_hh_);                         // [B, 3 u]
  const Var r = sigmoid(add(gate(inputs, 0), gate(from_s, 0)));            // [B, u]
  const Var z = sigmoid(add(gate(inputs, 1), gate(from_s, 1)));            // [B, u]
  const Var n = tanh(add(gate(inputs, 2), multiply(r, gate(from_s, 2))));  // [B, u]
  return add(n, multiply(z, subtract(s, n)));
}

Var GruCell::states(const Var& x, const Var& s, Order order) const {
  const Index batch = x.dim(0), length = x.dim(1);
  const Var from_x = inputs(x);  // [B, L, 3 u]
  std::vector<Var> states(static_cast<std::size_t>(length));
  Var state = s;
  for (Index n = 0; n < length; ++n) {
    check_stop();
    const Index t = order == Order::Forward ? n : length - 1 - n;
    state = step(reshape(slice(from_x, 1, t, 1), {batch, 3 * size_}), state);
    states[static_cast<std::size_t>(t)] = reshape(state, {batch, 1, size_});
  }
  return concat(states, 1);
}

Index model_width(const Dimensions& n, const Values&) {
  return n.model;
}

std::vector<WeightInfo> gru_weights(const std::string& prefix, const SizeOf& inputs,
                                    const SizeOf& states,
                                    const std::function<bool(const Values&)>& used) {
  const auto matrix = [&](const char* name, const char* help, const SizeOf& rows) {
    return WeightInfo{.name = prefix + name,
                      .help = help,
                      .shape = [rows, states](const Dimensions& n, const Values& v) -> Shape {
                        return {rows(n, v), 3 * states(n, v)};
                      },
                      .initial = initial_projection(),
                      .used = used};
  };
  const auto bias = [&](const char* name, const char* help) {
    return WeightInfo{.name = prefix + name,
                      .help = help,
                      .shape = [states](const Dimensions& n, const Values& v) -> Shape {
                        return {3 * states(n, v)};
                      },
                      .initial = initial_zeros(),
                      .used = used};
  };
  return {matrix("w_ih", "Projection of the input to gates and candidate.", inputs),
          matrix("w_hh", "Projection of the state to gates and candidate.", states),
          bias("b_ih", "Bias of the input."), bias("b_hh", "Bias of the state.")};
}

}  // namespace attnscope
