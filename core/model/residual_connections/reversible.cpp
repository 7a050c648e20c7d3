// reversible: two streams, each updated by a function of the other, so that the activations of a
// layer can be recomputed from those of the next. Gomez et al., 2017; Kitaev et al., 2020.
//
//   forward   x1 += Attn(norm(x2)),   x2 += FF(norm(x1)),   x = (x1 + x2) / 2 after the last layer,
//             or [x1, x2]
//   backward  x2 -= FF(norm(x1)),     x1 -= Attn(norm(x2)), layer by layer from the last, with a
//             tape for one layer at a time
#include <algorithm>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/model/architecture.h"
#include "core/model/layer_stack.h"
#include "core/model/pass.h"
#include "core/model/residual_connection.h"

namespace attnscope {
namespace {

struct Streams {
  Var x1, x2;  // [n, d]
};

Var attention_of(Pass& pass, const Site& site, const Var& x2) {
  const Choice* placed = pass.positions_in_layer(site);
  const bool to_all = placed && adds_to_values(*placed);
  return pass.dropout(pass.self_attention(site, to_all ? pass.add_layer_positions(site, x2) : x2));
}

// Rows of a chunk of the positions.
struct Chunk {
  Index first, count;
};

std::vector<Chunk> split_into_chunks(const Pass& pass, Index rows) {
  const Index chunks = std::min(rows, pass.config().residual_connection.values.integer("chunks"));
  std::vector<Chunk> pieces;
  for (Index c = 0; c < chunks; ++c) {
    const Index first = rows * c / chunks, last = rows * (c + 1) / chunks;
    pieces.push_back({first, last - first});
  }
  return pieces;
}

// Processes positions in chunks, so that peak memory decreases with their number.
Var feed_forward_of(Pass& pass, const Site& site, const Var& x1) {
  const std::vector<Chunk> pieces = split_into_chunks(pass, x1.dim(0));
  if (pieces.size() == 1) return pass.dropout(pass.feed_forward(site, x1));
  std::vector<Var> parts;
  for (const Chunk& piece : pieces) {
    parts.push_back(pass.feed_forward(site, slice(x1, 0, piece.first, piece.count)));
  }
  pass.set_last_feed_forward_input(pass.norm(x1, site.prefix + "ffn_norm"));
  return pass.dropout(concat(parts, 0));
}

Streams layer_forward(Pass& pass, const Site& site, const Streams& in) {
  const Var attended = attention_of(pass, site, in.x2);
  pass.tap(tap_prefix(site) + "attention", attended);
  const Var x1 = add(in.x1, attended);
  const Var fed = feed_forward_of(pass, site, x1);
  pass.tap(tap_prefix(site) + "feed_forward", fed);
  return pass.is_off(site.at.layer) ? in : Streams{x1, add(in.x2, fed)};
}

// Combines the streams: mean [n, d], or both [n, 2 d].
Var read_streams(const Pass& pass, const Streams& streams) {
  if (state_width(pass.config()) > pass.config().width) {
    return concat({streams.x1, streams.x2}, 1);
  }
  return scale(add(streams.x1, streams.x2), 0.5f);
}

void tap_residual(Pass& pass, const Site& site, const Streams& streams) {
  pass.tap(tap_prefix(site) + "residual", read_streams(pass, streams));
}

// Backpropagates through one layer's function y = f(x) at x: accumulates gradients of the weights,
// which are parameters, and returns that of x.
template <class Function>
Tensor pulled_back(const Function& function, const Tensor& x, const Tensor& gradient, Tensor& y) {
  const Var input = Var::parameter(x);
  const Var output = function(input);
  y = output.value();
  backward(sum(multiply(output, gradient)));
  const Tensor of_input = input.gradient();
  return of_input.defined() ? of_input : Tensor::zeros(x.shape());
}

// The same for the feed-forward, with a tape for one chunk at a time. Dropout is linear and draws
// the same mask every time, so gradients pass through it as values do.
Tensor backpropagate_feed_forward(Pass& pass, const Site& site, const Tensor& x1,
                                  const Tensor& gradient, Tensor& fed) {
  const std::uint64_t dropouts = pass.dropouts();
  const Tensor kept = pass.dropout(Var(gradient)).value();
  Tensor all(x1.shape()), of_input(x1.shape());
  const Index width = x1.dim(1);
  for (const Chunk& piece : split_into_chunks(pass, x1.dim(0))) {
    Tensor y;
    const Tensor pulled =
        pulled_back([&](const Var& in) { return pass.feed_forward(site, in); },
                    x1.slice(piece.first, piece.count), kept.slice(piece.first, piece.count), y);
    std::copy_n(y.data(), y.size(), all.data() + piece.first * width);
    std::copy_n(pulled.data(), pulled.size(), of_input.data() + piece.first * width);
  }
  pass.set_dropouts(dropouts);
  fed = pass.dropout(Var(all)).value();
  return of_input;
}

Tensor plus(const Tensor& a, const Tensor& b) {
  return add(Var(a), Var(b)).value();
}
Tensor minus(const Tensor& a, const Tensor& b) {
  return subtract(Var(a), Var(b)).value();
}

// State for recomputing the layers backwards after the pass has ended.
struct Recomputation {
  Model model;
  ForwardOptions options;
  Index batch;
  LayerStack stack;
  std::vector<std::uint64_t> dropouts;  // count before each layer
  Tensor x1, x2;                        // of the last layer

  void run(Tensor g1, Tensor g2, const Var& x) {
    Pass pass(model, options, batch);
    for (std::size_t n = stack.sites.size(); n-- > 0;) {
      const Site& site = stack.sites[n];
      pass.set_dropouts(dropouts[n] + (model.config.dropout > 0 && options.training ? 1 : 0));
      Tensor fed;
      g1 = plus(g1, backpropagate_feed_forward(pass, site, x1, g2, fed));
      x2 = minus(x2, fed);
      pass.set_dropouts(dropouts[n]);
      Tensor attended;
      g2 = plus(g2, pulled_back([&](const Var& in) { return attention_of(pass, site, in); }, x2, g1,
                                attended));
      x1 = minus(x1, attended);
      pass.forget_losses();
    }
    accumulate(x, plus(g1, g2));  // both streams begin as the embedding
  }
};

std::vector<Var> all_weights(const Pass& pass, const Var& x) {
  std::vector<Var> inputs{x};
  for (const auto& [name, weight] : pass.model().weights) {
    if (name.starts_with("layers.")) inputs.push_back(weight);
  }
  return inputs;
}

// Runs the layers without recording a tape.
Var run_without_tape(Pass& pass, const LayerStack& stack, const Var& x) {
  auto again = std::make_shared<Recomputation>();
  again->model = pass.model();
  again->options = pass.options();
  again->options.trace = nullptr;
  again->batch = pass.batch();
  again->stack = stack;
  for (std::size_t n = 0; n < stack.sites.size(); ++n) {  // of its own model, which outlives it
    again->stack.sites[n].groups = &again->model.config.groups[n];
  }
  Model constants = pass.model();
  for (auto& [name, weight] : constants.weights) weight = Var(weight.value());
  Pass quiet(constants, pass.options(), pass.batch());
  quiet.set_dropouts(pass.dropouts());
  Streams streams{Var(x.value()), Var(x.value())};
  for (const Site& site : stack.sites) {
    again->dropouts.push_back(quiet.dropouts());
    streams = layer_forward(quiet, site, streams);
    tap_residual(quiet, site, streams);
  }
  pass.set_dropouts(quiet.dropouts());
  pass.adopt(quiet);
  again->x1 = streams.x1.value();
  again->x2 = streams.x2.value();
  return record("reversible", read_streams(pass, streams).value(), all_weights(pass, x),
                [again](const Tensor& gradient, const std::vector<Var>& inputs) {
                  const Index width = inputs[0].dim(1);
                  const bool both = gradient.dim(1) > width;
                  const Var half = both ? Var(gradient) : scale(Var(gradient), 0.5f);
                  again->run(slice(half, 1, 0, width).value(),
                             slice(half, 1, both ? width : 0, width).value(), inputs[0]);
                });
}

Var run_reversible(Pass& pass, const LayerStack& stack, const Var& x) {
  // Losses of layers (spans) and retrieval need the inner tape, so all of it is kept.
  const bool needs_tape = pass.layers_add_losses() || pass.options().retrieval;
  if (requires_tape("reversible", all_weights(pass, x)) && !needs_tape) {
    return run_without_tape(pass, stack, x);
  }
  Streams streams{x, x};
  for (const Site& site : stack.sites) {
    streams = layer_forward(pass, site, streams);
    tap_residual(pass, site, streams);
  }
  return read_streams(pass, streams);
}

std::string reversible_refusal(const ModelConfig& config) {
  const std::string expected = "join: reversible ";
  if (!config.pre_norm) return expected + "requires pre-norm; expected pre_norm true";
  if (config.hidden == 0) return expected + "requires a feed-forward; expected hidden above 0";
  if (config.segment > 0) return expected + "does not support segments; expected no segment";
  if (config.exits) return expected + "does not support exits; expected no exits";
  if (state_width(config) > config.width) {
    const bool plain = !config.tied_output && !config.head.transform;
    if (config.model_options.output_head && !plain) {
      return "join.end: both streams exceed the width of the token table; expected tied_output "
             "false and no head.transform";
    }
    if (config.auxiliary != Auxiliary{}) {
      return "join.end: expected end mean with auxiliary losses, found both";
    }
    if (config.architecture.id != default_architecture().id) {
      return "join.end: expected end mean or architecture decoder, found both";
    }
  }
  if (architecture(config.architecture.id).is_single_stack) return "";
  std::string known;
  for (const Architecture& of : architectures()) {
    if (of.is_single_stack) known += (known.empty() ? "" : " and ") + of.id;
  }
  return expected + "supports " + known + ", found " + config.architecture.id;
}

}  // namespace

ResidualConnection reversible_residual_connection() {
  ResidualConnection j;
  j.id = "reversible";
  j.label = "Reversible";
  j.group = "Residual connections";
  j.equation = "x₁ += Attn(norm(x₂)),   x₂ += FF(norm(x₁)),   x = (x₁ + x₂)/2";
  j.summary =
      "The residual stream is split in two, and each half is updated by a function of the other. "
      "Every layer can therefore be inverted: training keeps only the last layer's activations and "
      "recomputes the others, and its memory does not grow with depth.";
  j.source =
      "Gomez et al., 2017, arXiv:1707.04585; Kitaev et al., 2020 (Reformer), arXiv:2001.04451";
  j.complexity = "O(L·d) memory instead of O(N·L·d), a second forward pass in training";
  j.parameters = {{.key = "chunks",
                   .symbol = "",
                   .label = "Chunks",
                   .help = "Number of chunks in which the feed-forward processes positions.",
                   .initial = Index{1},
                   .limits = {.min = 1},
                   .slider = {.min = 1, .max = 16}},
                  {.key = "end",
                   .symbol = "",
                   .label = "At the end",
                   .help = "Combination of the streams after the last layer: their mean, or both "
                           "concatenated (twice the width), as in the Reformer's code.",
                   .kind = Parameter::Kind::Choice,
                   .initial = std::string("mean"),
                   .choices = {"mean", "both"}}};
  j.refusal = reversible_refusal;
  j.run_layers = run_reversible;
  return j;
}

}  // namespace attnscope
