// reversible: two streams, each updated by a function of the other, so that the activations of a
// layer can be recomputed from its output. Gomez et al., 2017; Kitaev et al., 2020.
//
//   forward   x1 += Attn(norm(x2)),   x2 += FF(norm(x1)),   x = (x1 + x2) / 2 after the last layer,
//             or [x1, x2]
//   backward  x2 -= FF(norm(x1)),     x1 -= Attn(norm(x2)), layer by layer from the last, with a
//             tape for one layer at a time
#include <algorithm>
#include <ranges>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/model/architecture.h"
#include "core/model/layer_stack.h"
#include "core/model/losses.h"
#include "core/model/pass.h"
#include "core/model/residual_connection.h"

namespace attnscope {
namespace {

struct Streams {
  Var x1, x2;  // [n, d]
};

Var apply_attention(Pass& pass, const Site& site, const Var& x2) {
  const Choice* choice = pass.encoding_added_in_layer(site);
  const bool is_added = choice && is_added_to_values(*choice);
  return pass.dropout(
      pass.self_attention(site, is_added ? pass.add_layer_positions(site, x2) : x2));
}

struct Chunk {
  Index first, count;
};

std::vector<Chunk> split_into_chunks(const Pass& pass, Index rows) {
  const Index count = std::min(rows, pass.config().residual_connection.values.integer("chunks"));
  std::vector<Chunk> chunks;
  for (Index c = 0; c < count; ++c) {
    const Index first = rows * c / count, last = rows * (c + 1) / count;
    chunks.push_back({first, last - first});
  }
  return chunks;
}

// Processes positions in chunks; peak memory decreases with the number of chunks.
Var apply_feed_forward(Pass& pass, const Site& site, const Var& x1) {
  const std::vector<Chunk> chunks = split_into_chunks(pass, x1.dim(0));
  if (chunks.size() == 1) return pass.dropout(pass.feed_forward(site, x1));
  std::vector<Var> parts;
  for (const Chunk& chunk : chunks) {
    parts.push_back(pass.feed_forward(site, slice(x1, 0, chunk.first, chunk.count)));
  }
  pass.set_last_feed_forward_input(pass.norm(x1, site.prefix + "ffn_norm"));
  return pass.dropout(concat(parts, 0));
}

Streams probed(const Pass& pass, ProbePoint point, const Streams& streams, const Address& address) {
  const Var x1 = pass.probed(point, streams.x1, address);
  return {x1, pass.probed(point, streams.x2, address)};
}

Streams layer_forward(Pass& pass, const Site& site, const Streams& input) {
  const Streams in = probed(pass, ProbePoint::LayerInput, input, site.address);
  const std::string attn = site.prefix + "attn", ffn = site.prefix + "ffn";
  const Var attention_output =
      pass.probed(ProbePoint::BlockOutput, apply_attention(pass, site, in.x2), attn);
  pass.tap(tap_prefix(site) + "attention", attention_output);
  const Var x1 = pass.probed(ProbePoint::BlockSum, add(in.x1, attention_output), attn);
  const Var ffn_output =
      pass.probed(ProbePoint::BlockOutput, apply_feed_forward(pass, site, x1), ffn);
  pass.tap(tap_prefix(site) + "feed_forward", ffn_output);
  const Var x2 = pass.probed(ProbePoint::BlockSum, add(in.x2, ffn_output), ffn);
  return pass.is_off(site.address.layer) ? in : Streams{x1, x2};
}

// Inverts the layers from the last, and passes the recomputed streams before each to the probe.
void probe_inverse(const Pass& pass, const LayerStack& stack, const Streams& end) {
  ForwardOptions options = pass.options();
  options.trace = nullptr;
  options.probe = {};
  Pass untraced_pass(pass.model(), options, pass.batch());
  Streams streams{Var(end.x1.value()), Var(end.x2.value())};
  for (const Site& site : stack.sites | std::views::reverse) {
    if (!pass.is_off(site.address.layer)) {
      streams.x2 = subtract(streams.x2, apply_feed_forward(untraced_pass, site, streams.x1));
      streams.x1 = subtract(streams.x1, apply_attention(untraced_pass, site, streams.x2));
    }
    probed(pass, ProbePoint::RecomputedInput, streams, site.address);
  }
}

// Combines the streams: mean [n, d], or both [n, 2 d].
Var read_streams(const Pass& pass, const Streams& streams) {
  if (state_width(pass.config()) > pass.config().width) return concat({streams.x1, streams.x2}, 1);
  return scale(add(streams.x1, streams.x2), 0.5f);
}

void tap_residual(Pass& pass, const Site& site, const Streams& streams) {
  pass.tap(tap_prefix(site) + "residual", read_streams(pass, streams));
}

// Backpropagates through y = f(x). Accumulates gradients of weights and returns the gradient of x.
template <class Function>
Tensor backpropagate(const Function& function, const Tensor& x, const Tensor& gradient, Tensor& y) {
  const Var input = Var::parameter(x);
  const Var output = function(input);
  y = output.value();
  backward(sum(multiply(output, gradient)));
  const Tensor input_gradient = input.gradient();
  return input_gradient.defined() ? input_gradient : Tensor::zeros(x.shape());
}

// Backpropagates through the feed-forward, with a tape for one chunk at a time. Dropout multiplies
// gradients by the mask of the forward pass, drawn again from its seed.
Tensor backpropagate_feed_forward(Pass& pass, const Site& site, const Tensor& x1,
                                  const Tensor& gradient, Tensor& ffn_output) {
  const std::uint64_t dropouts = pass.dropouts();
  const Tensor masked_gradient = pass.dropout(Var(gradient)).value();
  Tensor outputs(x1.shape()), input_gradient(x1.shape());
  const Index width = x1.dim(1);
  for (const Chunk& chunk : split_into_chunks(pass, x1.dim(0))) {
    Tensor y;
    const Tensor part = backpropagate([&](const Var& in) { return pass.feed_forward(site, in); },
                                      x1.slice(chunk.first, chunk.count),
                                      masked_gradient.slice(chunk.first, chunk.count), y);
    std::copy_n(y.data(), y.size(), outputs.data() + chunk.first * width);
    std::copy_n(part.data(), part.size(), input_gradient.data() + chunk.first * width);
  }
  pass.set_dropouts(dropouts);
  ffn_output = pass.dropout(Var(outputs)).value();
  return input_gradient;
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
  std::vector<std::uint64_t> dropouts;  // Pass::dropouts() before each layer
  Tensor x1, x2;                        // streams after the last layer

  void run(Tensor g1, Tensor g2, const Var& x) {
    Pass pass(model, options, batch);
    for (std::size_t n = stack.sites.size(); n-- > 0;) {
      const Site& site = stack.sites[n];
      pass.set_dropouts(dropouts[n] + (model.config.dropout > 0 && options.training ? 1 : 0));
      Tensor ffn_output;
      g1 = plus(g1, backpropagate_feed_forward(pass, site, x1, g2, ffn_output));
      x2 = minus(x2, ffn_output);
      pass.set_dropouts(dropouts[n]);
      Tensor attention_output;
      g2 = plus(g2, backpropagate([&](const Var& in) { return apply_attention(pass, site, in); },
                                  x2, g1, attention_output));
      x1 = minus(x1, attention_output);
      pass.discard_losses();
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

Var run_without_tape(Pass& pass, const LayerStack& stack, const Var& x) {
  auto backward_pass = std::make_shared<Recomputation>();
  backward_pass->model = pass.model();
  backward_pass->options = pass.options();
  backward_pass->options.trace = nullptr;
  backward_pass->batch = pass.batch();
  backward_pass->stack = stack;
  for (std::size_t n = 0; n < stack.sites.size(); ++n) {  // groups of the copied model
    backward_pass->stack.sites[n].groups = &backward_pass->model.config.groups[n];
  }
  Model constants = pass.model();
  for (auto& [name, weight] : constants.weights) weight = Var(weight.value());
  Pass untaped_pass(constants, pass.options(), pass.batch());
  untaped_pass.set_dropouts(pass.dropouts());
  Streams streams{Var(x.value()), Var(x.value())};
  for (const Site& site : stack.sites) {
    backward_pass->dropouts.push_back(untaped_pass.dropouts());
    streams = layer_forward(untaped_pass, site, streams);
    tap_residual(untaped_pass, site, streams);
  }
  pass.set_dropouts(untaped_pass.dropouts());
  pass.copy_ffn_input(untaped_pass);
  backward_pass->x1 = streams.x1.value();
  backward_pass->x2 = streams.x2.value();
  return record("reversible", read_streams(pass, streams).value(), all_weights(pass, x),
                [backward_pass](const Tensor& gradient, const std::vector<Var>& inputs) {
                  const Index width = inputs[0].dim(1);
                  const bool has_both_streams = gradient.dim(1) > width;
                  const Var scaled = has_both_streams ? Var(gradient) : scale(Var(gradient), 0.5f);
                  backward_pass->run(slice(scaled, 1, 0, width).value(),
                                     slice(scaled, 1, has_both_streams ? width : 0, width).value(),
                                     inputs[0]);
                });
}

Var run_reversible(Pass& pass, const LayerStack& stack, const Var& x) {
  // Retrieval, probes and the losses that layers add (span penalties) need the tape of all layers.
  const bool needs_tape =
      layers_add_losses(pass.config()) || pass.options().retrieval || pass.options().probe;
  if (requires_tape("reversible", all_weights(pass, x)) && !needs_tape) {
    return run_without_tape(pass, stack, x);
  }
  Streams streams{x, x};
  for (const Site& site : stack.sites) {
    streams = layer_forward(pass, site, streams);
    tap_residual(pass, site, streams);
  }
  if (pass.options().probe) {
    Address end = stack.sites.back().address;
    ++end.layer;
    streams = probed(pass, ProbePoint::LayerInput, streams, end);
    probe_inverse(pass, stack, streams);
  }
  return read_streams(pass, streams);
}

std::string reversible_refusal(const ModelConfig& config) {
  if (!config.pre_norm) return "join: expected pre_norm true for reversible, found false";
  if (config.hidden == 0) return "join: expected hidden above 0 for reversible, found 0";
  if (config.segment > 0) {
    return "join: expected no segment for reversible, found " + std::to_string(config.segment);
  }
  if (config.exits) return "join: expected no exits for reversible, found an exit rule";
  if (state_width(config) > config.width) {
    const bool has_plain_output = !config.tied_output && !config.head.transform;
    if (config.model_options.output_head && !has_plain_output) {
      return "join.end: expected tied_output false and no head.transform (the concatenated streams "
             "exceed the width of the token table)";
    }
    if (config.auxiliary != Auxiliary{}) {
      return "join.end: expected \"mean\" with auxiliary losses, found \"both\"";
    }
    if (config.architecture.id != default_architecture().id) {
      return "join.end: expected \"mean\" unless the architecture is decoder, found \"both\"";
    }
  }
  if (architecture(config.architecture.id).is_single_stack) return "";
  std::string supported;
  for (const Architecture& candidate : architectures()) {
    if (candidate.is_single_stack) supported += (supported.empty() ? "" : " or ") + candidate.id;
  }
  return "join: expected architecture " + supported + " for reversible, found " +
         config.architecture.id;
}

}  // namespace

ResidualConnection reversible_residual_connection() {
  ResidualConnection join;
  join.id = "reversible";
  join.label = "Reversible";
  join.group = "Residual connections";
  join.equation = "x₁ += Attn(norm(x₂)),   x₂ += FF(norm(x₁)),   x = (x₁ + x₂)/2";
  join.summary =
      "The residual stream is split in two, and each half is updated by a function of the other. "
      "Every layer can therefore be inverted: training keeps only the last layer's activations and "
      "recomputes the others, and its memory does not grow with depth.";
  join.source =
      "Gomez et al., 2017, arXiv:1707.04585; Kitaev et al., 2020 (Reformer), arXiv:2001.04451";
  join.complexity = "O(L·d) memory instead of O(N·L·d), a second forward pass in training";
  join.parameters = {
      {.key = "chunks",
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
  join.refusal = reversible_refusal;
  join.run_layers = run_reversible;
  return join;
}

}  // namespace attnscope
