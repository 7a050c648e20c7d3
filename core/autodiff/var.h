// Reverse-mode automatic differentiation.
//
// A Var is a Tensor. If an input of its computation requires a gradient, the Var also has a node on
// the tape, which records the computation. In inference no input requires a gradient: the same code
// creates no nodes and allocates nothing for gradients. Operations are free functions in the
// operations_*.h files of this folder; operation_names() lists them all, for the tests.
//
// A tape belongs to the thread that records it.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

class Node;

class Var {
 public:
  Var() = default;
  Var(Tensor value) : value_(std::move(value)) {}  // a constant
  static Var parameter(Tensor value);              // requires a gradient

  const Tensor& value() const { return value_; }
  Tensor& mutable_value() { return value_; }  // for optimisers only
  const Shape& shape() const { return value_.shape(); }
  Index dim(Index axis) const { return value_.dim(axis); }
  Index rank() const { return value_.rank(); }
  bool defined() const { return value_.defined(); }

  bool requires_gradient() const { return node_ != nullptr; }
  Tensor gradient() const;  // a parameter's gradient; undefined if backward() did not reach it
  void clear_gradient();
  const std::shared_ptr<Node>& node() const { return node_; }

 private:
  friend Var add_to_tape(Tensor, std::vector<Var>,
                         std::function<void(const Tensor&, const std::vector<Var>&)>);
  Tensor value_;
  std::shared_ptr<Node> node_;
};

// Adds `gradient` to an input's gradient; no-op for constants. Stores the first `gradient` without
// a copy, so the caller must not write to it afterwards. InputError for a wrong shape.
void accumulate(const Var& input, const Tensor& gradient);
// Like accumulate(), but add(gradient, overwrite) writes into the gradient's memory. `add` must set
// the uninitialised memory if `overwrite`, else add to it.
void accumulate_with(const Var& input, const std::function<void(Tensor&, bool overwrite)>& add);

// Adds the gradient of the scalar `loss` to every parameter that `loss` depends on. Frees the tape
// of `loss`: another backward pass needs a new recording of the computation.
void backward(const Var& loss);

// Names of all differentiable operations, as passed to record().
const std::vector<std::string_view>& operation_names();

// True if an operation on `inputs` must be recorded. Throws std::logic_error if operation_names()
// lacks the operation.
bool requires_tape(std::string_view operation, const std::vector<Var>& inputs);
Var add_to_tape(Tensor value, std::vector<Var> inputs,
                std::function<void(const Tensor&, const std::vector<Var>&)> backward);

// Creates an operation's result. `backward(gradient of the result, inputs)` adds to the inputs'
// gradients with accumulate(). `backward` is dropped if no input requires a gradient. The tape
// keeps the inputs; `backward` captures everything else that it needs.
template <class Backward>
Var record(std::string_view operation, Tensor value, std::vector<Var> inputs, Backward&& backward) {
  if (!requires_tape(operation, inputs)) return Var(std::move(value));
  return add_to_tape(std::move(value), std::move(inputs), std::forward<Backward>(backward));
}

}  // namespace attnscope
