#include "core/autodiff/var.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <unordered_set>

#include "core/base/error.h"
#include "core/base/parallel.h"

namespace attnscope {

// Tape node: an operation's result or, without `backward`, a parameter.
class Node {
 public:
  using Backward = std::function<void(const Tensor&, const std::vector<Var>&)>;

  explicit Node(Shape value_shape) : shape(std::move(value_shape)) {}
  Node(Shape value_shape, std::vector<Var> input_vars, Backward backward_function)
      : shape(std::move(value_shape)),
        inputs(std::move(input_vars)),
        backward(std::move(backward_function)) {}
  ~Node() { free_inputs(); }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  // Iterative: nested destructors of a long chain of nodes would overflow the stack.
  void free_inputs() {
    backward = nullptr;
    std::vector<Var> pending = std::move(inputs);
    inputs.clear();
    while (!pending.empty()) {
      const Var var = std::move(pending.back());
      pending.pop_back();
      const std::shared_ptr<Node>& node = var.node();
      if (node == nullptr || node.use_count() > 1) continue;
      node->backward = nullptr;
      pending.insert(pending.end(), std::make_move_iterator(node->inputs.begin()),
                     std::make_move_iterator(node->inputs.end()));
      node->inputs.clear();
    }
  }

  bool is_operation() const { return backward != nullptr; }

  Shape shape;
  Tensor gradient;
  std::vector<Var> inputs;
  Backward backward;
  bool is_freed = false;  // true after this operation's backward has run
};

namespace {

void add_to(Tensor& sum, const Tensor& addend) {
  float* to = sum.data();
  const float* from = addend.data();
  parallel_for(sum.size(), kGrain, [=](Index first, Index last) {
    for (Index i = first; i < last; ++i) to[i] += from[i];
  });
}

Tensor add_tensors(const Tensor& a, const Tensor& b) {
  Tensor sum(a.shape());
  float* to = sum.data();
  const float *x = a.data(), *y = b.data();
  parallel_for(sum.size(), kGrain, [=](Index first, Index last) {
    for (Index i = first; i < last; ++i) to[i] = x[i] + y[i];
  });
  return sum;
}

// `root` and the operations that it depends on, in topological order: inputs last.
std::vector<std::shared_ptr<Node>> operations_in_order(const std::shared_ptr<Node>& root) {
  struct Visit {
    std::shared_ptr<Node> node;
    std::size_t next_input = 0;
  };
  std::vector<std::shared_ptr<Node>> order;
  std::unordered_set<const Node*> visited{root.get()};
  std::vector<Visit> pending{{root}};
  while (!pending.empty()) {
    Visit& top = pending.back();
    if (top.next_input == top.node->inputs.size()) {
      order.push_back(std::move(top.node));
      pending.pop_back();
      continue;
    }
    const std::shared_ptr<Node>& input = top.node->inputs[top.next_input++].node();
    if (input == nullptr || !visited.insert(input.get()).second) continue;
    if (input->is_freed) throw std::logic_error("backward() through a tape that was already freed");
    if (input->is_operation()) pending.push_back({input});
  }
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace

Var Var::parameter(Tensor value) {
  Var var(std::move(value));
  var.node_ = std::make_shared<Node>(var.shape());
  return var;
}

Tensor Var::gradient() const {
  return node_ ? node_->gradient : Tensor();
}

void Var::clear_gradient() {
  if (node_) node_->gradient = Tensor();
}

bool requires_tape(std::string_view operation, const std::vector<Var>& inputs) {
  const auto& names = operation_names();
  if (std::find(names.begin(), names.end(), operation) == names.end()) {
    throw std::logic_error("operation \"" + std::string(operation) +
                           "\" is missing from operation_names()");
  }
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const Var& input) { return input.requires_gradient(); });
}

Var add_to_tape(Tensor value, std::vector<Var> inputs, Node::Backward backward) {
  Var var(std::move(value));
  var.node_ = std::make_shared<Node>(var.shape(), std::move(inputs), std::move(backward));
  return var;
}

void accumulate(const Var& input, const Tensor& gradient) {
  if (!input.requires_gradient()) return;
  Node& node = *input.node();
  if (gradient.shape() != node.shape) {
    throw InputError("gradient of shape " + to_string(gradient.shape()) + " for a value of shape " +
                     to_string(node.shape));
  }
  if (!node.gradient.defined()) {
    node.gradient = gradient;
  } else if (node.gradient.unique()) {
    add_to(node.gradient, gradient);
  } else {
    node.gradient = add_tensors(node.gradient, gradient);
  }
}

void accumulate_with(const Var& input, const std::function<void(Tensor&, bool)>& add) {
  if (!input.requires_gradient()) return;
  Node& node = *input.node();
  const bool overwrite = !node.gradient.defined();
  if (overwrite) {
    node.gradient = Tensor(node.shape);
  } else if (!node.gradient.unique()) {
    node.gradient = node.gradient.copy();
  }
  add(node.gradient, overwrite);
}

void backward(const Var& loss) {
  if (loss.value().size() != 1) {
    throw InputError("backward() from shape " + to_string(loss.shape()) + ": expected a scalar");
  }
  if (!loss.requires_gradient()) return;
  if (loss.node()->is_freed)
    throw std::logic_error("backward() through a tape that was already freed");
  accumulate(loss, Tensor::full(loss.shape(), 1.0f));
  if (!loss.node()->is_operation()) return;
  for (std::shared_ptr<Node>& node : operations_in_order(loss.node())) {
    // Skips nodes that received no gradient.
    if (node->gradient.defined()) {
      const Tensor gradient = std::exchange(node->gradient, Tensor());
      node->backward(gradient, node->inputs);
    }
    node->is_freed = true;
    node->free_inputs();
    node.reset();
  }
}

const std::vector<std::string_view>& operation_names() {
  static const std::vector<std::string_view> names{
      // operations_linear.h
      "matmul",
      "matmul_transposed",
      // operations_elementwise.h
      "add",
      "subtract",
      "multiply",
      "divide",
      "scale",
      "relu",
      "clamp",
      "gelu",
      "gelu_tanh",
      "silu",
      "tanh",
      "sigmoid",
      "softplus",
      "elu",
      "exp",
      "log",
      "sine",
      "cosine",
      "dropout",
      // operations_shape.h
      "reshape",
      "permute",
      "concat",
      "slice",
      "gather",
      "split_heads",
      "merge_heads",
      "rotate",
      // operations_reduce.h
      "sum",
      "mean",
      "sum_axis",
      "softmax",
      "log_softmax",
      "cross_entropy",
      "unit_rows",
      "layer_norm",
      "rms_norm",
      // core/attention/attention_operation.h
      "attention",
      // core/attention/variants/shared/feature_weights.h
      "feature_weights",
      // core/model/residual_connections/reversible.cpp
      "reversible",
      // core/model/recomputation.cpp
      "recomputed_layer",
      // core/attention/variants/shared/causal_matching.h
      "causal_matching",
      // core/attention/variants/shared/wkv.h
      "wkv",
      // core/attention/variants/shared/selective_scan.h
      "selective_scan",
      // core/attention/variants/shared/gated_sums.h
      "gate_exponents",
  };
  return names;
}

}  // namespace attnscope
