#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"
#include "core/base/random.h"
#include "core/model/changed_backend.h"
#include "core/model/linear.h"
#include "core/model/model.h"
#include "core/model/weights.h"

namespace attnscope {

namespace {

// One forward pass. Activations between blocks are [n, d] with n = B L rows.
class Pass {
 public:
  Pass(const Model& model, const IntTensor& ids, const ForwardOptions& options)
      : model_(model),
        config_(model.config),
        options_(options),
        backend_(options.backend ? *options.backend : cpu_backend()),
        changes_(options.interventions ? *options.interventions : no_changes_),
        batch_(ids.dim(0)),
        length_(ids.dim(1)) {
    if (options.cache) cache_ = *options.cache;
  }

  Var run(const IntTensor& ids) {
    Var x = dropout(embed(ids));  // [n, d]
    tap("embed", x);
    for (Index layer = 0; layer < config_.layers; ++layer) x = block(layer, x);  // [n, d]
    if (config_.pre_norm) x = norm(x, "final_norm");
    tap("final", x);
    const Index rows = options_.last_logits ? 1 : length_;
    const Var logits = output_logits(model_, options_.last_logits ? last_rows(x) : x,
                                     options_.stop);  // [B rows, vocabulary]
    if (options_.trace) options_.trace->logits = logits.value();
    if (options_.cache) keep_cache();
    return reshape(logits, {batch_, rows, config_.vocabulary});  // [B, rows, vocabulary]
  }

 private:
  const Var& weight(const std::string& name) const { return model_.weights.find(name)->second; }

  // prefix "layers.0.attn.", letter "q": x wq + bq.
  Var projected(const Var& x, const std::string& prefix, const std::string& letter) const {
    return linear(model_, x, prefix + "w" + letter, prefix + "b" + letter, options_.stop);
  }

  Var norm(const Var& x, const std::string& name) const {
    const Var& gain = weight(name + ".weight");
    if (config_.norm == Norm::RmsNorm) return rms_norm(x, gain, config_.norm_epsilon);
    return layer_norm(x, gain, weight(name + ".bias"), config_.norm_epsilon);
  }

  Var dropout(const Var& x) {
    if (!options_.training || config_.dropout == 0) return x;
    return attnscope::dropout(x, config_.dropout, mixed_seed(options_.dropout_seed, ++dropouts_));
  }

  void tap(const std::string& name, const Var& x) const {
    if (options_.trace) options_.trace->taps[name] = x.value();
  }

  // The last token of every sequence.  [n, d] -> [B, d]
  Var last_rows(const Var& x) const {
    if (length_ == 1) return x;
    return reshape(slice(sequences(x), 1, length_ - 1, 1), {batch_, config_.width});
  }

  // Only now: a pass that was stopped leaves the cache as it was.
  void keep_cache() {
    cache_.length += length_;
    ++cache_.steps;
    *options_.cache = std::move(cache_);
  }

  std::vector<std::int32_t> positions() const {
    std::vector<std::int32_t> result(static_cast<std::size_t>(length_));
    std::iota(result.begin(), result.end(), static_cast<std::int32_t>(cache_.length));
    return result;
  }

  Var embed(const IntTensor& ids) const {
    Var x = embedded(model_, ids);  // [B, L, d]
    if (const Choice* input = input_encoding(config_)) {
      const NamedVars weights = with_prefix("embed.");
      const EncodingContext context{input->values,
                                    weights,
                                    {config_.width, config_.heads, config_.kv_heads,
                                     config_.head_size, config_.head_size, config_.context},
                                    config_.causal,
                                    std::nullopt};
      x = encoding(input->id).embed(x, positions(), context);  // [B, L, d]
    }
    return reshape(x, {batch_ * length_, config_.width});  // [n, d]
  }

  Var block(Index layer, Var x) {
    const std::string prefix = layer_prefix(layer);
    const Var entering = x;
    x = sublayer(x, prefix + "attn_norm", prefix + "attention",
                 [&](const Var& normed) { return attention(layer, normed); });  // [n, d]
    if (config_.hidden > 0) {
      x = sublayer(x, prefix + "ffn_norm", prefix + "feed_forward",
                   [&](const Var& normed) { return feed_forward(prefix + "ffn.", normed); });
    }
    if (is_off(changes_, layer)) x = entering;  // what the layer would have added is in its taps
    tap(prefix + "residual", x);
    return x;
  }

  // Pre-norm: x + f(norm(x)); post-norm: norm(x + f(x)).
  template <class Function>
  Var sublayer(const Var& x, const std::string& norm_name, const std::string& tap_name,
               const Function& function) {
    const Var added = dropout(function(config_.pre_norm ? norm(x, norm_name) : x));  // [n, d]
    tap(tap_name, added);
    const Var sum = add(x, added);  // [n, d]
    return config_.pre_norm ? sum : norm(sum, norm_name);
  }

  Var attention(Index layer, const Var& x) {
    const std::string prefix = layer_prefix(layer) + "attn.";
    const Var q = sequences(projected(x, prefix, "q"));  // [B, L, h d_k]
    const Var k = sequences(projected(x, prefix, "k"));  // [B, L, h_kv d_k]
    const Var v = sequences(projected(x, prefix, "v"));  // [B, L, h_kv d_k]
    std::vector<Var> outputs;                            // [B, L, heads of the group * d_k] each
    for (const HeadRange& range : head_ranges(config_, layer)) {
      OperationInput input;
      input.batch = batch_;
      input.heads = range.count;
      input.kv_heads = range.key_heads;
      input.first_head = range.first;
      input.layer_heads = config_.heads;
      input.x = sequences(x);                                        // [B, L, d]
      input.q = heads_of(q, range.first, range.count);               // [B h, L, d_k]
      input.k = heads_of(k, range.first_key_head, range.key_heads);  // [B h_kv, L, d_k]
      input.v = heads_of(v, range.first_key_head, range.key_heads);  // [B h_kv, L, d_k]
      const auto group = static_cast<Index>(outputs.size());
      if (options_.cache) add_cached(layer, group, input);
      outputs.push_back(group_attention(layer, group, std::move(input)));
    }
    const Var joined = outputs.size() == 1 ? outputs[0] : concat(outputs, -1);  // [B, L, h d_k]
    return projected(reshape(joined, {batch_ * length_, config_.heads * config_.head_size}), prefix,
                     "o");  // [n, d]
  }

  // Heads [first, first + count) of a projection, which come first in the rows of the result.
  Var heads_of(const Var& projection, Index first, Index count) const {
    const Index size = config_.head_size;
    const bool all = projection.dim(2) == count * size;
    return split_heads(all ? projection : slice(projection, 2, first * size, count * size), count);
  }

  // Keys and values of all tokens so far in place of the new ones'.
  void add_cached(Index layer, Index group, OperationInput& input) {
    KeyValueCache::Rows& rows = cache_.groups[{layer, group}];
    if (cache_.length > 0) {
      input.k = concat({rows.k, input.k}, 1);  // [B h_kv, length, d_k]
      input.v = concat({rows.v, input.v}, 1);  // [B h_kv, length, d_k]
      input.positions = positions();
    }
    rows = {input.k.value(), input.v.value()};
  }

  Var group_attention(Index layer, Index group_index, OperationInput input) {
    const HeadGroup& group =
        config_.groups[static_cast<std::size_t>(layer)][static_cast<std::size_t>(group_index)];
    input.weights = with_prefix(group_prefix(layer, group_index));
    input.variant = group.variant;
    // An encoding of the input is in x, and so in q, k and v, already.
    if (!encoding(group.encoding.id).embed) input.encoding = group.encoding;
    input.causal = config_.causal;
    input.layer = layer;
    Wanted wanted;
    if (options_.trace) {
      const bool on_host = &backend_ == &cpu_backend();
      wanted.attention = options_.keep_attention && on_host;
      wanted.device_attention = options_.keep_attention && !on_host;
      wanted.log_sum_exp = true;
      wanted.tiles = !options_.keep_attention;
    }
    OperationResult result = evaluated(layer, input, wanted);
    const Var output = without_off_heads(merge_heads(result.output, group.heads), layer,
                                         input.first_head, group.heads);
    if (options_.trace) {
      keep(layer, group_index, group, std::move(input), std::move(result));
    }
    return output;
  }

  // With fewer pairs where a person wants that.
  OperationResult evaluated(Index layer, const OperationInput& input, const Wanted& wanted) {
    const Index first_head = input.first_head;
    if (!changes_pattern(changes_, layer, first_head, input.heads)) {
      return evaluate(input, backend_, wanted, options_.stop);
    }
    ChangedBackend changed(
        backend_,
        [&](const Pattern& pattern) {
          return changed_pattern(pattern, changes_, layer, first_head, input.heads);
        },
        variant(input.variant.id).label, length_);
    OperationResult result = evaluate(input, changed, wanted, options_.stop);
    changed.finish(result);
    return result;
  }

  // x: [B, L, h d_v]; the columns of heads that are off become zero.
  Var without_off_heads(const Var& x, Index layer, Index first_head, Index heads) const {
    const Index size = x.dim(2) / heads;
    Tensor share = Tensor::full({x.dim(2)}, 1);  // [h d_v]
    bool any = false;
    for (Index a = 0; a < heads; ++a) {
      if (!is_off(changes_, layer, first_head + a)) continue;
      std::fill_n(share.data() + a * size, size, 0.0f);
      any = true;
    }
    return any ? multiply(x, share) : x;
  }

  void keep(Index layer, Index group_index, const HeadGroup& group, OperationInput input,
            OperationResult result) const {
    AttentionTap tap;
    tap.address.layer = layer;
    tap.address.group = group_index;
    tap.address.step = cache_.steps;
    tap.heads.resize(static_cast<std::size_t>(group.heads));
    std::iota(tap.heads.begin(), tap.heads.end(), input.first_head);
    tap.variant = group.variant;
    tap.encoding = group.encoding;
    tap.q_plain = input.q.value();
    tap.k_plain = input.k.value();
    const Encoding& position = encoding(group.encoding.id);
    const NamedVars weights =
        with_prefix(position.embed ? "embed." : group_prefix(layer, group_index));
    for (const WeightInfo& info : position.weights) {
      if (const Var* weight = find_weight(weights, info.name)) {
        tap.encoding_weights.emplace(info.name, *weight);
      }
    }
    tap.causal = input.causal || variant(group.variant.id).causal_by_definition;
    tap.result = std::move(result);
    options_.trace->attention.push_back(std::move(tap));
  }

  Var feed_forward(const std::string& prefix, const Var& x) const {
    Var hidden = projected(x, prefix, "_in");  // [n, hidden]
    if (config_.gated) {
      hidden = multiply(activated(projected(x, prefix, "_gate")), hidden);  // [n, hidden]
    } else {
      hidden = activated(hidden);
    }
    return projected(hidden, prefix, "_out");  // [n, d]
  }

  Var activated(const Var& x) const {
    switch (config_.activation) {
      case Activation::Relu:
        return relu(x);
      case Activation::Gelu:
        return gelu(x);
      case Activation::GeluTanh:
        return gelu_tanh(x);
      case Activation::Silu:
        return silu(x);
    }
    throw std::logic_error("activation");
  }

  Var sequences(const Var& x) const { return reshape(x, {batch_, length_, x.dim(1)}); }

  // The weights whose names begin with `prefix`, by the rest of their names.
  NamedVars with_prefix(const std::string& prefix) const {
    NamedVars result;
    for (auto at = model_.weights.lower_bound(prefix);
         at != model_.weights.end() && at->first.starts_with(prefix); ++at) {
      result.emplace(at->first.substr(prefix.size()), at->second);
    }
    return result;
  }

  const Model& model_;
  const ModelConfig& config_;
  const ForwardOptions& options_;
  Backend& backend_;
  const Interventions no_changes_;
  const Interventions& changes_;
  Index batch_, length_;
  KeyValueCache cache_;  // empty where there is none
  std::uint64_t dropouts_ = 0;
};

void check_ids(const ModelConfig& config, const IntTensor& ids, const ForwardOptions& options) {
  if (ids.rank() != 2 || ids.empty()) {
    throw InputError("ids: expected shape [B, L] with at least one token, found " +
                     to_string(ids.shape()));
  }
  for (const std::int32_t id : ids) {
    if (id < 0 || id >= config.vocabulary) {
      throw InputError("ids: expected numbers from 0 to " + std::to_string(config.vocabulary - 1) +
                       ", found " + std::to_string(id));
    }
  }
  if (options.trace && ids.dim(0) != 1) {
    throw InputError("ids: a trace records one sequence, found " + to_string(ids.shape()));
  }
  if (options.cache) {
    const std::string reason = cache_refusal(config);
    if (!reason.empty()) throw InputError("keys and values cannot be cached: " + reason);
  }
}

}  // namespace

Var forward(const Model& model, const IntTensor& ids, const ForwardOptions& options) {
  check_ids(model.config, ids, options);
  return Pass(model, ids, options).run(ids);
}

}  // namespace attnscope
