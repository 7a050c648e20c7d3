#include "core/model/pass.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"
#include "core/base/random.h"
#include "core/base/stop.h"
#include "core/model/input_kind.h"
#include "core/model/linear.h"
#include "core/model/output_softmax.h"
#include "core/model/residual_connection.h"
#include "core/model/rows.h"
#include "core/model/separable_convolution.h"
#include "core/model/weights.h"
#include "core/tensor/matrix_product.h"

namespace attnscope {

Pass::Pass(const Model& model, const ForwardOptions& options, Index batch)
    : model_(model),
      options_(options),
      backend_(options.backend ? *options.backend : cpu_backend()),
      interventions_(options.interventions ? *options.interventions : no_interventions_),
      memory_(options.memory),
      batch_(batch),
      recorder_(options.trace) {}

const Var& Pass::weight(const std::string& name) const {
  const auto entry = model_.weights.find(name);
  if (entry == model_.weights.end()) throw InputError(name + ": missing");
  return entry->second;
}

NamedVars Pass::weights_below(const std::string& prefix) const {
  return attnscope::weights_below(model_.weights, prefix);
}

Var Pass::linear(const Var& x, const std::string& matrix, const std::string& bias) const {
  const Var y = attnscope::linear(model_, x, matrix, bias);
  count(x.value().size() * y.dim(1));
  return y;
}

void Pass::count(Index multiply_adds) const {
  if (options_.work) options_.work->multiply_adds += static_cast<double>(multiply_adds);
}

Var Pass::norm(const Var& x, const std::string& name) const {
  const Var input = probed(ProbePoint::NormInput, x, name);
  return probed(ProbePoint::NormOutput, apply_norm(model_, input, name), name);
}

Var Pass::probed(ProbePoint point, const Var& x, std::string_view name) const {
  if (!options_.probe) return x;
  return options_.probe({.point = point, .pass = *this, .name = name}, x);
}

Var Pass::probed(ProbePoint point, const Var& x, const Address& address) const {
  if (!options_.probe) return x;
  return options_.probe({.point = point, .pass = *this, .address = address}, x);
}

Var Pass::dropout(const Var& x) {
  if (!options_.training || config().dropout == 0) return x;
  return attnscope::dropout(x, config().dropout, derived_seed(options_.dropout_seed, ++dropouts_));
}

Var Pass::shifted(const Var& x, const std::string& name) const {
  return has(name) ? add(x, weight(name)) : x;
}

Var Pass::sequences(const Var& x) const {
  return reshape(x, {batch_, x.dim(0) / batch_, x.dim(1)});
}

std::vector<std::int32_t> Pass::positions(Index length, Index first) const {
  std::vector<std::int32_t> result(static_cast<std::size_t>(length));
  std::iota(result.begin(), result.end(), static_cast<std::int32_t>(first));
  return result;
}

Var Pass::token_vectors(const IntTensor& ids) const {
  const Index count = ids.size(), width = config().width;
  Shape shape = ids.shape();
  shape.push_back(width);
  return reshape(embed_tokens(model_, ids.reshaped({1, count})), shape);
}

Var Pass::embed(const IntTensor& ids, const std::string& stack, Index first) {
  Var rows = reshape(embed_tokens(model_, ids), {ids.size(), table_width(config())});
  const auto factor = static_cast<float>(config().model_options.embedding_scale);
  if (factor != 1) rows = scale(rows, factor);
  const auto groups = stack.empty() ? config().groups : encoder_groups(config());
  const Choice* input = input_encoding(groups);
  const bool adds_positions = input && is_added_to_input(*input);
  return finish_embedding(
      adds_positions ? with_positions(rows, *input, stack + "embed.", first) : rows, stack, first);
}

Var Pass::finish_embedding(const Var& x, const std::string& stack, Index first) {
  const EmbeddingConfig& embedding = config().embedding;
  const InputKind& kind = input_kind(config().input.id);
  Var rows = stack.empty() && kind.embed ? kind.embed(*this, x, first) : x;
  if (embedding.types > 0) {
    IntTensor types =
        types_.defined() ? types_.reshaped({types_.size()}) : IntTensor::zeros({x.dim(0)});
    rows = add(rows, gather(weight("embed.type"), types));  // [n, e]
  }
  if (embedding.norm) rows = norm(rows, stack + "embed.norm");
  if (embedding.width > 0 && embedding.adaptive.cutoffs.empty()) {
    rows = linear(rows, "embed.project.w", "embed.project.b");
  }
  return rows;  // [n, d]
}

Var Pass::with_positions(const Var& x, const Choice& choice, const std::string& prefix,
                         Index first) const {
  const NamedVars weights = weights_below(prefix);
  const EncodingContext context{
      choice.values, weights, group_dimensions(config(), {0, config().heads, 0, config().kv_heads}),
      config().causal, std::nullopt};
  const Index length = x.dim(0) / batch_;
  const Var result =
      encoding(choice.id).embed(sequences(x), positions(length, first), context);  // [B, L, d]
  return reshape(result, x.shape());
}

const Choice* Pass::encoding_added_in_layer(const Site& site) const {
  const Choice& choice = site.groups->front().encoding;
  const bool is_input_encoding = static_cast<bool>(encoding(choice.id).embed);
  if (!is_input_encoding || is_added_to_input(choice)) return nullptr;
  const bool is_first_layer = site.address.layer == 0 && site.address.step <= 1;
  return is_added_per_layer(choice) || is_first_layer ? &choice : nullptr;
}

Var Pass::add_layer_positions(const Site& site, const Var& x) const {
  return with_positions(x, site.groups->front().encoding, positions_prefix(site),
                        first_position(site));
}

bool Pass::is_off(Index layer) const {
  return attnscope::is_off(interventions_, layer);
}

Var Pass::apply_residual(const Site& site, const char* block, const Var& x, const Var& y) {
  const ResidualConnection& residual_connection =
      attnscope::residual_connection(config().residual_connection.id);
  const ResidualOutput result = residual_connection.apply(
      x, y,
      residual_connection.weights.empty() ? NamedVars{}
                                          : weights_below(site.prefix + block + "_join."));
  if (!result.z.defined()) return result.x;
  const std::string name = std::string(block) == "attn"    ? "gate.attention"
                           : std::string(block) == "cross" ? "gate.cross"
                                                           : "gate.feed_forward";
  if (recorder_.on()) recorder_.located_rows(name, site.address, result.z.value());
  return result.x;
}

// Residual connection around function(x), followed by the norm in post-norm models.
Var Pass::sublayer(const Site& site, const char* norm_name, const char* block, const char* tap_name,
                   const Var& x, const std::function<Var(const Var&)>& function) {
  const std::string name = site.prefix + block;
  const Var output = probed(ProbePoint::BlockOutput, dropout(function(x)), name);  // [n, d]
  tap(tap_prefix(site) + tap_name, output, site.address.segment);
  const Var sum = apply_residual(site, block, x, output);
  return probed(ProbePoint::BlockSum, config().pre_norm ? sum : norm(sum, site.prefix + norm_name),
                name);
}

Var Pass::self_attention(const Site& site, const Var& x) {
  return block_output(site, "attn", attend(site, attention_rows(site, x)));
}

// Applies the output norm, the residual scale and the scale of the residual connection to the
// output y of a block.
Var Pass::block_output(const Site& site, const char* block, const Var& y) const {
  const ModelOptions& options = config().model_options;
  Var result =
      options.output_norm == OutputNorm::None ? y : norm(y, site.prefix + block + "_output_norm");
  if (options.residual_scale != 1) {
    result = scale(result, static_cast<float>(options.residual_scale));
  }
  const ResidualConnection& join = residual_connection(config().residual_connection.id);
  if (!join.scale_output) return result;
  return join.scale_output(result, weights_below(site.prefix + block + "_join."));
}

Var Pass::cross_attention(const Site& site, const Var& x, const Var& source) {
  Site cross = site;
  cross.address.kind = AttentionKind::Cross;
  const std::vector<HeadGroup> groups{{config().heads, default_variant(), default_encoding()}};
  cross.groups = &groups;
  cross.causal = false;
  const Var q = shifted(has_input_norm(config()) ? norm(x, site.prefix + "cross_norm") : x,
                        site.prefix + "cross_join.bias_in");
  return block_output(cross, "cross", attend(cross, {q, source, source, Var()}));
}

Var Pass::feed_forward(const Site& site, const Var& x) {
  const char* name = config().model_options.shared_norm ? "attn_norm" : "ffn_norm";
  const Var in = shifted(has_input_norm(config()) ? norm(x, site.prefix + name) : x,
                         site.prefix + "ffn_join.bias_in");
  if (site.address.stack == Stack::Decoder) feed_forward_input_ = in;
  const bool is_causal = site.address.stack == Stack::Decoder && !leaks_future(config());
  const Var out = has_experts(config(), site.prefix)
                      ? mix_experts(site, in)
                      : apply_feed_forward(in, site.prefix + "ffn", is_causal);
  return block_output(site, "ffn", out);  // [n, d]
}

Var Pass::apply_feed_forward(const Var& input, const std::string& block, bool is_causal) const {
  const std::string prefix = block + ".", join = block + "_join.";
  const ModelOptions& options = config().model_options;
  const auto convolved = [&](const Var& rows, const char* kernel) {
    if (!has(prefix + kernel)) return rows;
    const Var& weights = weight(prefix + kernel);
    count(rows.value().size() * weights.dim(0));
    return reshape(depthwise_convolution(sequences(rows), weights, is_causal), rows.shape());
  };
  const Var x = convolved(input, "in_kernel");
  Var hidden = linear(x, prefix + "w_in", prefix + "b_in");  // [n, hidden]
  if (config().gated) {
    Var gate = linear(x, prefix + "w_gate", prefix + "b_gate");  // [n, hidden]
    if (options.gate_limit > 0) {
      const auto limit = static_cast<float>(options.gate_limit);
      gate = clamp(gate, -std::numeric_limits<float>::infinity(), limit);
      hidden = clamp(hidden, -limit, limit);
    }
    if (options.gate_offset != 0) {
      hidden = add(hidden, Tensor::full({1}, static_cast<float>(options.gate_offset)));
    }
    gate = probed(ProbePoint::FeedForwardGate, shifted(gate, join + "bias_hidden"), block);
    hidden = probed(ProbePoint::FeedForwardValue, hidden, block);
    hidden = multiply(activation(config().activation).apply(gate), hidden);
  } else {
    hidden = probed(ProbePoint::FeedForwardValue, shifted(hidden, join + "bias_hidden"), block);
    hidden = activation(config().activation).apply(hidden);
  }
  hidden = probed(ProbePoint::FeedForwardHidden, hidden, block);
  hidden = convolved(shifted(hidden, join + "bias_out"), "out_kernel");
  return linear(hidden, prefix + "w_out", prefix + "b_out");  // [n, d]
}

Var Pass::block(const Site& site, const Var& x, const Var& source, const ActiveRows& rows) {
  active_rows_ = rows.value_or(std::vector<std::int32_t>{});
  const bool is_disabled = is_off(site.address.layer) && site.address.stack == Stack::Decoder;
  const Choice* choice = encoding_added_in_layer(site);
  const bool adds_to_values = choice && is_added_to_values(*choice);
  const Var input = adds_to_values ? this->add_layer_positions(site, x) : x;
  if (rows && rows->empty()) {  // all rows have exited; later tokens need keys of this layer
    if (options_.cache) cache_keys(site, input);
    return x;
  }
  Var state = rows ? select_rows(input, *rows) : input;
  if (config().model_options.parallel) {
    state = parallel_branches(site, state,
                              rows ? attend_rows(site, input, *rows) : self_attention(site, input));
    if (is_disabled) return x;
    return rows ? replace_rows(x, state, *rows) : state;
  }
  state = sublayer(site, "attn_norm", "attn", "attention", state, [&](const Var&) {
    return rows ? attend_rows(site, input, *rows) : self_attention(site, input);
  });
  if (source.defined()) {
    state = sublayer(site, "cross_norm", "cross", "cross", state,
                     [&](const Var& y) { return cross_attention(site, y, source); });
  }
  if (config().hidden > 0) {
    state = sublayer(site, "ffn_norm", "ffn", "feed_forward", state,
                     [&](const Var& y) { return feed_forward(site, y); });
  }
  if (is_disabled) return x;  // only the taps receive the outputs of the blocks
  return rows ? replace_rows(x, state, *rows) : state;
}

Var Pass::recorded_block(const Site& site, const Var& x, const Var& source,
                         const ActiveRows& rows) {
  if (options_.keep_activations) return block(site, x, source, rows);
  ensure(!rows);  // traces record all rows
  recorder_.begin_recomputed_layer();
  const Var state = block(site, x, source, rows);
  recorder_.end_recomputed_layer(layer_computation(site, x, source));
  return state;
}

std::shared_ptr<const Pass::Setting> Pass::setting() {
  if (!setting_) setting_ = std::make_shared<const Setting>(Setting{model_, interventions_});
  return setting_;
}

// Computation of a layer's taps that can outlive the pass.
std::function<Trace()> Pass::layer_computation(const Site& site, const Var& x, const Var& source) {
  const auto groups = std::make_shared<const std::vector<HeadGroup>>(*site.groups);
  return [setting = setting(), keeps_attention = options_.keep_attention, groups, site, x, source] {
    Trace trace;
    ForwardOptions options;
    options.trace = &trace;
    options.keep_attention = keeps_attention;  // selects the kernel, and so the rounding
    options.interventions = &setting->interventions;
    Site own_site = site;
    own_site.groups = groups.get();
    Pass(setting->model, options, 1).block(own_site, x, source);
    for (AttentionTap& tap : trace.attention) tap.result = {};  // kept by the first trace
    return trace;
  };
}

// x + Attn(x) + FF(x).
Var Pass::parallel_branches(const Site& site, const Var& x, const Var& attended) {
  const std::string prefix = site.prefix;
  const Var attention_output = probed(ProbePoint::BlockOutput, dropout(attended), prefix + "attn");
  tap(tap_prefix(site) + "attention", attention_output, site.address.segment);
  const Var feed_forward_output =
      probed(ProbePoint::BlockOutput, dropout(feed_forward(site, x)), prefix + "ffn");
  tap(tap_prefix(site) + "feed_forward", feed_forward_output, site.address.segment);
  return probed(ProbePoint::BlockSum, add(x, add(attention_output, feed_forward_output)),
                prefix + "ffn");
}

Var Pass::final_norm(const Var& x, const std::string& stack) {
  return config().pre_norm ? norm(x, stack + "final_norm") : x;
}

Var Pass::logits(const Var& x) const {
  if (!config().model_options.output_head) return {};
  const OutputSoftmax& softmax = output_softmax(config().softmax.id);
  const Index per_row =
      softmax.multiply_adds ? softmax.multiply_adds(config()) : x.dim(1) * config().vocabulary;
  count(x.dim(0) * per_row);
  return output_logits(model_, x);
}

Var Pass::recorded_logits(const Var& x, Index segment) {
  if (options_.keep_activations) {
    const Var result = logits(x);
    if (result.defined()) recorder_.logits(result.value(), segment);
    return result;
  }
  if (!config().model_options.output_head) return {};
  count(x.value().size() * config().vocabulary);
  const auto rows = [setting = setting(), state = x.value()](Index first, Index count) {
    // More rows than required, where a product of few rows would round differently.
    const Index needed = std::min(std::max(count, kMinPanelRows), state.dim(0));
    const Index begin = std::min(first, state.dim(0) - needed);
    const Tensor result = output_logits(setting->model, state.slice(begin, needed)).value();
    check_stop();
    return result.slice(first - begin, count);
  };
  recorder_.logits(LazyTensor({x.dim(0), config().vocabulary}, rows), segment);
  return {};
}

void Pass::tap(const std::string& name, const Var& x, Index segment) {
  if (recorder_.on()) recorder_.rows(name, x.value(), segment);
}

void Pass::begin_stage(std::string name, double begin, double end) {
  stage_ = {std::move(name), begin, end};
}

void Pass::add_loss(const std::string& name, const Var& value, double weight) {
  const auto loss = std::ranges::find(losses_, name, &Loss::name);
  if (loss == losses_.end()) {
    losses_.push_back(weighted_loss(name, value, weight));
  } else {
    loss->value = add(loss->value, value);
    loss->weighted = add(loss->weighted, weighted_loss(name, value, weight).weighted);
  }
}

}  // namespace attnscope
