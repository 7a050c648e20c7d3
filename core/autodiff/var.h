// A value that remembers how it was computed, for reverse-mode differentiation.
//
// A Var is a Tensor plus, when one of the things it was computed from wants a gradient, a node
// on the tape. Without such an input (inference) no node is made and nothing is allocated for
// gradients: the same code serves both. Operations are free functions in the operations_*.h
// files of this folder; operation_names() lists every one, and the tests walk that list.
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
  static Var parameter(Tensor value);              // wants a gradient

  const Tensor& value() const { return value_; }
  Tensor& mutable_value() { return value_; }  // optimisers only
  const Shape& shape() const { return value_.shape(); }
  Index dim(Index axis) const { return value_.dim(axis); }
  Index rank() const { return value_.rank(); }
  bool defined() const { return value_.defined(); }

  bool wants_gradient() const { return node_ != nullptr; }
  Tensor gradient() const;  // of a parameter, after backward(); undefined when none came
  void clear_gradient();
  const std::shared_ptr<Node>& node() const { return node_; }

 private:
  friend Var on_tape(Tensor, std::vector<Var>,
                     std::function<void(const Tensor&, const std::vector<Var>&)>);
  Tensor value_;
  std::shared_ptr<Node> node_;
};

// Adds to an input's gradient; no-op for constants. `gradient` is kept, not copied, where it is
// the first, so nobody may write to it afterwards. InputError on a wrong shape.
void accumulate(const Var& input, const Tensor& gradient);
// The same for operations that write into the gradient's own memory: `add(gradient, fresh)`
// overwrites all of it where `fresh` (it is uninitialised then), and adds to it otherwise.
void accumulate_with(const Var& input, const std::function<void(Tensor&, bool fresh)>& add);

// Gradients of a scalar with respect to every parameter it was computed from, added to what is
// there. Frees the tape behind `loss` as it goes; what is computed again must be recorded again.
void backward(const Var& loss);

// Every differentiable operation, by the name that it gives to record().
const std::vector<std::string_view>& operation_names();

// For record(): whether a result of `inputs` belongs on the tape. std::logic_error when
// operation_names() lacks the name.
bool wants_tape(std::string_view operation, const std::vector<Var>& inputs);
Var on_tape(Tensor value, std::vector<Var> inputs,
            std::function<void(const Tensor&, const std::vector<Var>&)> backward);

// Makes an operation's result: `backward(gradient of the result, inputs)` adds to the inputs'
// gradients by accumulate(). When no input wants a gradient, backward is dropped. The inputs are
// kept until then; what else backward needs, it captures.
template <class Backward>
Var record(std::string_view operation, Tensor value, std::vector<Var> inputs, Backward&& backward) {
  if (!wants_tape(operation, inputs)) return Var(std::move(value));
  return on_tape(std::move(value), std::move(inputs), std::forward<Backward>(backward));
}

}  // namespace attnscope
