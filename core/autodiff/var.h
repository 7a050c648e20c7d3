// A value that remembers how it was computed, for reverse-mode differentiation.
//
// A Var is a Tensor plus, when one of the things it was computed from wants a gradient, a node
// on the tape. Without such an input (inference) no node is made and nothing is allocated for
// gradients: the same code serves both. Operations are free functions in the operations_*.h
// files of this folder; operation_names() lists every one, and the tests walk that list.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
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
  Tensor gradient() const;  // undefined when none came
  void clear_gradient();
  const std::shared_ptr<Node>& node() const { return node_; }

 private:
  friend Var record(std::string_view, Tensor, std::vector<Var>,
                    std::function<void(const Tensor&, const std::vector<Var>&)>);
  Tensor value_;
  std::shared_ptr<Node> node_;
};

// Makes an operation's result: `backward(gradient of the result, inputs)` adds to the inputs'
// gradients by accumulate(). When no input wants a gradient, backward is dropped.
Var record(std::string_view operation, Tensor value, std::vector<Var> inputs,
           std::function<void(const Tensor& gradient, const std::vector<Var>& inputs)> backward);
void accumulate(const Var& input, const Tensor& gradient);  // no-op for constants

// Gradients of a scalar with respect to every parameter it was computed from, added to what is
// there. Frees the tape behind `loss`.
void backward(const Var& loss);

// Every differentiable operation, by the name that it gives to record().
const std::vector<std::string_view>& operation_names();

}  // namespace attnscope
