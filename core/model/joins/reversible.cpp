// reversible: two streams, each changed by what the other gives, so that the activations of a layer
// can be recovered from those of the next and need not be kept. Gomez et al., 2017; Kitaev et al.,
// 2020.
//
//   forward   x1 += Attn(norm(x2)),   x2 += FF(norm(x1)),   x = (x1 + x2) / 2 behind the last,
//             or [x1, x2]
//   backward  x2 -= FF(norm(x1)),     x1 -= Attn(norm(x2)), layer by layer from the last, with a
//             tape for one layer at a time
#include <algorithm>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/model/architecture.h"
#include "core/model/join.h"
#include "core/model/layer_stack.h"
#include "core/model/pass.h"

namespace attnscope {

namespace {

struct Streams {
  Var x1, x2;  // [n, d]
};

Var attention_of(Pass& pass, const Site& site, const Var& x2) {
  const Choice* placed = pass.positions_in_layer(site);
  const bool to_all = placed && adds_to_values(*placed);
  return pass.dropout(pass.self_attention(site, to_all ? pass.placed(site, x2) : x2));
}

// Rows of a piece of the positions.
struct Piece {
  Index first, count;
};

std::vector<Piece> pieces_of(const Pass& pass, Index rows) {
  const Index chunks = std::min(rows, pass.config().join.values.integer("chunks"));
  std::vector<Piece> pieces;
  for (Index c = 0; c < chunks; ++c) {
    const Index first = rows * c / chunks, last = rows * (c + 1) / chunks;
    pieces.push_back({first, last - first});
  }
  return pieces;
}

// Over pieces of the positions one after another: what is held at a time shrinks with their number.
Var feed_forward_of(Pass& pass, const Site& site, const Var& x1) {
  const std::vector<Piece> pieces = pieces_of(pass, x1.dim(0));
  if (pieces.size() == 1) return pass.dropout(pass.feed_forward(site, x1));
  std::vector<Var> parts;
  for (const Piece& piece : pieces) {
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

// What the streams are read as: their mean [n, d], or both [n, 2 d].
Var read_streams(const Pass& pass, const Streams& streams) {
  if (state_width(pass.config()) > pass.config().width) {
    return concat({streams.x1, streams.x2}, 1);
  }
  return scale(add(streams.x1, streams.x2), 0.5f);
}

void tap_residual(Pass& pass, const Site& site, const Streams& streams) {
  pass.tap(tap_prefix(site) + "residual", read_streams(pass, streams));
}

// Gradients of one layer's function y = f(x) at x, from those of y: to the weights, which are
// parameters, and to x.
template <class Function>
Tensor pulled_back(const Function& function, const Tensor& x, const Tensor& gradient, Tensor& y) {
  const Var input = Var::parameter(x);
  const Var output = function(input);
  y = output.value();
  backward(sum(multiply(output, gradient)));
  const Tensor of_input = input.gradient();
  return of_input.defined() ? of_input : Tensor::zeros(x.shape());
}

// The same of the feed-forward, piece by piece, with a tape for one at a time. Dropping is linear
// and draws the same every time, so that gradients pass it as values do.
Tensor feed_forward_pulled_back(Pass& pass, const Site& site, const Tensor& x1,
                                const Tensor& gradient, Tensor& fed) {
  const std::uint64_t dropouts = pass.dropouts();
  const Tensor kept = pass.dropout(Var(gradient)).value();
  Tensor all(x1.shape()), of_input(x1.shape());
  const Index width = x1.dim(1);
  for (const Piece& piece : pieces_of(pass, x1.dim(0))) {
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

// What runs the layers backwards, after the pass itself is gone.
struct Recomputation {
  Model model;
  ForwardOptions options;
  Index batch;
  LayerStack stack;
  std::vector<std::uint64_t> dropouts;  // drawn before each layer
  Tensor x1, x2;                        // of the last layer

  void run(Tensor g1, Tensor g2, const Var& x) {
    Pass pass(model, options, batch);
    for (std::size_t n = stack.sites.size(); n-- > 0;) {
      const Site& site = stack.sites[n];
      pass.set_dropouts(dropouts[n] + (model.config.dropout > 0 && options.training ? 1 : 0));
      Tensor fed;
      g1 = plus(g1, feed_forward_pulled_back(pass, site, x1, g2, fed));
      x2 = minus(x2, fed);
      pass.set_dropouts(dropouts[n]);
      Tensor attended;
      g2 = plus(g2, pulled_back([&](const Var& in) { return attention_of(pass, site, in); }, x2, g1,
                                attended));
      x1 = minus(x1, attended);
      pass.forget_losses();
    }
    accumulate(x, plus(g1, g2));  // both streams began as the embedding
  }
};

std::vector<Var> all_weights(const Pass& pass, const Var& x) {
  std::vector<Var> inputs{x};
  for (const auto& [name, weight] : pass.model().weights) {
    if (name.starts_with("layers.")) inputs.push_back(weight);
  }
  return inputs;
}

// Without a tape within the layers.
Var run_and_forget(Pass& pass, const LayerStack& stack, const Var& x) {
  auto again = std::make_shared<Recomputation>();
  again->model = pass.model();
  again->options = pass.options();
  again->options.trace = nullptr;
  again->batch = pass.batch();
  again->stack = stack;
  for (std::size_t n = 0; n < stack.sites.size(); ++n) {  // of its own model, which stays
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
  // Losses of layers (spans) and retrieval hang on the tape within: then all of it is kept.
  const bool needs_tape = pass.layers_add_losses() || pass.options().retrieval;
  if (wants_tape("reversible", all_weights(pass, x)) && !needs_tape) {
    return run_and_forget(pass, stack, x);
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
  if (!config.pre_norm) return expected + "needs the norm before the block; expected pre_norm true";
  if (config.hidden == 0) return expected + "needs a feed-forward; expected hidden above 0";
  if (config.segment > 0) return expected + "keeps no rows for segments; expected no segment";
  if (config.exits) return expected + "has no states to leave at; expected no exits";
  if (state_width(config) > config.width) {
    const bool plain = !config.tied_output && !config.head.transform;
    if (config.ingredients.output_head && !plain) {
      return "join.end: both streams are wider than the table of tokens; expected tied_output "
             "false and no head.transform";
    }
    if (config.auxiliary != Auxiliary{}) {
      return "join.end: auxiliary losses read one stream; expected end mean, found both";
    }
    if (config.architecture.id != default_architecture().id) {
      return "join.end: expected end mean or architecture decoder, found both";
    }
  }
  if (architecture(config.architecture.id).one_stack) return "";
  std::string known;
  for (const Architecture& of : architectures()) {
    if (of.one_stack) known += (known.empty() ? "" : " and ") + of.id;
  }
  return expected + "is for " + known + ", found " + config.architecture.id;
}

}  // namespace

Join reversible_join() {
  Join j;
  j.id = "reversible";
  j.label = "Reversible";
  j.group = "Joins";
  j.equation = "x₁ += Attn(norm(x₂)),   x₂ += FF(norm(x₁)),   x = (x₁ + x₂)/2";
  j.summary =
      "The residual stream is split in two, and each half is changed by a function of the other "
      "alone. So every layer can be undone: training keeps the last layer's activations only and "
      "recovers all others, and its memory does not grow with depth.";
  j.source =
      "Gomez et al., 2017, arXiv:1707.04585; Kitaev et al., 2020 (Reformer), arXiv:2001.04451";
  j.cost = "O(L·d) memory instead of O(N·L·d), a second forward pass in training";
  j.parameters = {{.key = "chunks",
                   .symbol = "",
                   .label = "Chunks",
                   .help = "In how many pieces of the positions the feed-forward runs.",
                   .initial = Index{1},
                   .least = 1,
                   .slider_least = 1,
                   .slider_most = 16},
                  {.key = "end",
                   .symbol = "",
                   .label = "At the end",
                   .help = "What is made of the streams behind the last layer: their mean, or both "
                           "side by side, twice as wide, as in the Reformer's code.",
                   .kind = Parameter::Kind::Choice,
                   .initial = std::string("mean"),
                   .choices = {"mean", "both"}}};
  j.refusal = reversible_refusal;
  j.run_layers = run_reversible;
  return j;
}

}  // namespace attnscope
