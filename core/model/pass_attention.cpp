// Pass: attention of a layer, one head group at a time.
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "core/attention/terms.h"
#include "core/attention/variants/shared/assemble.h"
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/model/architecture.h"
#include "core/model/intervention_backend.h"
#include "core/model/linear.h"
#include "core/model/pass.h"
#include "core/model/position_share.h"
#include "core/model/residual_connection.h"
#include "core/model/rows.h"
#include "core/model/weights.h"
#include "core/trace/tap_names.h"

namespace attnscope {
namespace {

std::string attention_prefix(const Site& site) {
  return site.prefix + (site.address.kind == AttentionKind::Cross ? "cross." : "attn.");
}

// Scalar that a residual connection adds before the output projection (Fixup).
std::string bias_out_name(const Site& site) {
  const char* block = site.address.kind == AttentionKind::Cross ? "cross" : "attn";
  return site.prefix + block + "_join.bias_out";
}

std::string weights_prefix(const Site& site, Index group) {
  return site.own_prefix() + "groups." + std::to_string(group) + ".";
}

// Values in the order of the columns of the attention weights: if the operation combines several
// parts, values of stored rows come first.  [h_kv, columns, d_v]
Tensor values_of_columns(const OperationInput& input, const OperationResult& result) {
  const Var* stored = result.part ? nullptr : find_weight(input.weights, "mem.v");
  const bool prepends_stored = stored != nullptr && input.v.defined() && stored->rank() == 3 &&
                               stored->dim(0) == input.v.dim(0) && stored->dim(2) == input.v.dim(2);
  if (!prepends_stored) return input.v.value();
  return concat({Var(stored->value()), Var(input.v.value())}, 1).value();
}

// Address of a head group in State, equal in all segments and steps.
Address state_address(const Site& site, Index group) {
  Address address = site.address;
  address.group = group;
  address.segment = address.step = 0;
  return address;
}

// Interventions apply to the decoder's self-attention.
bool supports_interventions(const Site& site) {
  return site.address.stack == Stack::Decoder && site.address.kind == AttentionKind::Self;
}

}  // namespace

std::string Pass::positions_prefix(const Site& site) const {
  if (is_added_per_layer(site.groups->front().encoding)) return site.own_prefix() + "embed.";
  return site.address.stack == Stack::Encoder ? "encoder.embed." : "embed.";
}

Index Pass::first_position(const Site& site) const {
  if (site.address.stack == Stack::Encoder) return 0;
  if (options_.cache) return options_.cache->length;
  return memory_ ? memory_->length : 0;
}

Remembered& Pass::stored_rows(State& state, const Site& site, Index group) const {
  return state.groups[state_address(site, group)];
}

// Sets variant and encoding. Input encodings are already included in q, k and v.
void Pass::set_method(const HeadGroup& group, OperationInput& input) const {
  input.variant = group.variant;
  if (!encoding(group.encoding.id).embed) input.encoding = group.encoding;
}

Pass::Rows Pass::attention_rows(const Site& site, const Var& x) const {
  const Var normed = shifted(
      has_attention_norm(config(), site.address.layer) ? norm(x, site.prefix + "attn_norm") : x,
      site.prefix + "attn_join.bias_in");
  const Choice* choice = encoding_added_in_layer(site);
  if (!choice || is_added_to_values(*choice)) return {normed, normed, normed, x};
  const Var positioned = this->add_layer_positions(site, normed);  // [n, d]
  return {positioned, positioned, normed, x};
}

Var Pass::select_heads(const Var& projection, Index first, Index count) const {
  const Index size = config().head_size;
  const bool is_whole = projection.dim(2) == count * size;
  return split_heads(is_whole ? projection : slice(projection, 2, first * size, count * size),
                     count);
}

// Undefined without a trace, and unless positions are added once and then only scaled by norms.
Pass::Terms Pass::position_terms(const Site& site, const Rows& rows, const std::string& prefix) {
  if (!recorder_.on() || options_.cache || site.address.kind == AttentionKind::Cross) return {};
  const Choice& choice = site.groups->front().encoding;
  const EmbeddingConfig& embedding = config().embedding;
  if (embedding.norm || embedding.width > 0) return {};
  const bool is_added_once =
      encoding(choice.id).embed && is_added_to_input(choice) && site.address.step <= 1;
  const bool is_kept =
      config().pre_norm && residual_connection(config().residual_connection.id).has_bypass;
  if (!is_added_once || (!is_kept && site.address.layer > 0)) return {};
  const ModelOptions& options = config().model_options;
  if (options.output_norm == OutputNorm::Instead || options.query_key_norm != QueryKeyNorm::None ||
      config().embedding != EmbeddingConfig{}) {
    return {};
  }
  const Index first = first_position(site);
  AddedPositions& cached = added_positions_[positions_prefix(site)];
  if (cached.first != first || cached.rows.shape() != rows.layer_input.shape()) {
    const Var zeros{Tensor::zeros(rows.layer_input.shape())};
    cached = {first, with_positions(zeros, choice, positions_prefix(site), first).value()};
  }
  Tensor contribution = cached.rows;
  if (has_attention_norm(config(), site.address.layer)) {
    contribution = norm_contribution(contribution, rows.layer_input.value(),
                                     weight(site.prefix + "attn_norm.weight").value(),
                                     config().norm, config().norm_epsilon);
  }
  const auto projection = [&](const char* letter) {
    return sequences(linear(Var(contribution), prefix + "w" + letter, ""));
  };
  return {projection("q"), projection("k")};
}

Var Pass::projection(const Var& x, const std::string& prefix, const char* letter) const {
  const Var projected = linear(x, prefix + "w" + letter, prefix + "b" + letter);  // [n, h d_k]
  const std::string name = prefix + letter + "_norm";
  if (!has(name + ".weight")) return sequences(projected);
  const Var bias = has(name + ".bias") ? weight(name + ".bias") : Var();
  return sequences(norm_queries_or_keys(projected, weight(name + ".weight"), bias));
}

// Norm of each head, or of all heads together.  [n, h d_k]
Var Pass::norm_queries_or_keys(const Var& x, const Var& gain, const Var& bias) const {
  const Var parts = reshape(x, {x.value().size() / gain.dim(0), gain.dim(0)});
  const double epsilon = config().norm_epsilon;
  return reshape(config().norm == Norm::RmsNorm ? rms_norm(parts, gain, epsilon)
                                                : layer_norm(parts, gain, bias, epsilon),
                 x.shape());
}

// Returns the attention block's output for `rows` only, [rows, d]. If earlier rows need only keys
// and values, computes queries from the first of `rows` on; otherwise computes all queries.
Var Pass::attend_rows(const Site& site, const Var& x, const std::vector<std::int32_t>& rows) {
  Rows inputs = attention_rows(site, x);
  if (rows.front() > 0 && cache_refusal(config()).empty()) {
    inputs.skipped = rows.front();
    inputs.q = slice(inputs.q, 0, inputs.skipped, x.dim(0) - inputs.skipped);
  }
  std::vector<std::int32_t> relative_rows = rows;
  for (std::int32_t& row : relative_rows) row -= static_cast<std::int32_t>(inputs.skipped);
  return block_output(site, "attn", select_rows(attend(site, inputs), relative_rows));
}

// Caches keys and values of tokens whose attention output is not needed.
void Pass::cache_keys(const Site& site, const Var& x) {
  const Rows rows = attention_rows(site, x);
  const std::string prefix = attention_prefix(site);
  const Var k = projection(rows.k, prefix, "k");  // [B, L, h_kv d_k]
  const Var v = projection(rows.v, prefix, "v");  // [B, L, h_kv d_k]
  Index group = 0;
  for (const HeadRange& range : head_ranges(config(), *site.groups)) {
    OperationInput input;
    set_method((*site.groups)[static_cast<std::size_t>(group)], input);
    input.k = select_heads(k, range.first_key_head, range.key_heads);  // [B h_kv, L, d_k]
    input.v = select_heads(v, range.first_key_head, range.key_heads);  // [B h_kv, L, d_k]
    add_cached(site, group++, input);
  }
}

// Attention dominates the run time, so the groups of a layer share the layer's progress equally.
void Pass::report_layer(const Site& site, Index group, Index groups) const {
  if (options_.progress == nullptr) return;
  const bool in_encoder = site.address.stack == Stack::Encoder;
  const auto layers =
      static_cast<Index>(in_encoder ? encoder_groups(config()).size() : config().groups.size());
  // In layers with cross-attention, self-attention is the first half of the layer's progress.
  const bool is_second_half = site.address.kind == AttentionKind::Cross;
  const bool has_halves =
      is_second_half ||
      (!in_encoder && architecture(config().architecture.id).reads == Reads::SourceAndTarget);
  const auto progress_at = [&](Index finished) {
    const double fraction = static_cast<double>(finished) / static_cast<double>(groups);
    const double layer = static_cast<double>(site.address.layer) +
                         (has_halves ? (is_second_half ? 0.5 : 0) + fraction / 2 : fraction);
    return stage_.begin + (stage_.end - stage_.begin) * layer / static_cast<double>(layers);
  };
  options_.progress->begin_stage(stage_.name + "layer " + std::to_string(site.address.layer + 1) +
                                     " of " + std::to_string(layers),
                                 progress_at(group), progress_at(group + 1));
}

Var Pass::attend(const Site& site, const Rows& rows) {
  const std::string prefix = attention_prefix(site);
  const Var q = projection(rows.q, prefix, "q");  // [B, L_q, h d_k]
  const Var k = projection(rows.k, prefix, "k");  // [B, L_k, h_kv d_k]
  const Var v = projection(rows.v, prefix, "v");  // [B, L_k, h_kv d_k]
  const Index queries = rows.q.dim(0) / batch_;
  const Terms terms = position_terms(site, rows, prefix);
  std::vector<Var> outputs;  // outputs of the groups, [B, L_q, heads of the group * d_k] each
  const std::vector<HeadRange> ranges = head_ranges(config(), *site.groups);
  for (const HeadRange& range : ranges) {
    const auto group = static_cast<Index>(outputs.size());
    report_layer(site, group, static_cast<Index>(ranges.size()));
    OperationInput input;
    input.batch = batch_;
    input.heads = range.count;
    input.kv_heads = range.key_heads;
    input.first_head = range.first;
    input.layer_heads = config().heads;
    // Rows without positions: the rows of the values or, in cross-attention, of the queries.
    input.x =
        sequences(site.address.kind == AttentionKind::Cross ? rows.q : rows.v);  // [B, L_q, d]
    if (rows.skipped > 0) {
      input.x = slice(input.x, 1, rows.skipped, queries);
      input.positions = positions(queries, first_position(site) + rows.skipped);
    }
    input.q = select_heads(q, range.first, range.count);               // [B h, L_q, d_k]
    input.k = select_heads(k, range.first_key_head, range.key_heads);  // [B h_kv, L_k, d_k]
    input.v = select_heads(v, range.first_key_head, range.key_heads);  // [B h_kv, L_k, d_k]
    if (terms.q.defined()) {
      const auto to_addends = [&](const Var& whole, const Var& term, Index first, Index count) {
        return Addends{
            repeat_heads(select_heads(subtract(whole, term), first, count), range.count, count),
            repeat_heads(select_heads(term, first, count), range.count, count)};
      };
      input.split = split_products(to_addends(q, terms.q, range.first, range.count),
                                   to_addends(k, terms.k, range.first_key_head, range.key_heads));
    }
    outputs.push_back(group_attention(site, group, range, std::move(input), rows.layer_input));
  }
  const Var joined = outputs.size() == 1 ? outputs[0] : concat(outputs, -1);  // [B, L_q, h d_k]
  const Var heads = reshape(joined, {rows.q.dim(0), config().heads * config().head_size});
  return linear(shifted(heads, bias_out_name(site)), prefix + "wo", prefix + "bo");  // [n, d]
}

Var Pass::group_attention(const Site& site, Index group, const HeadRange& range,
                          OperationInput input, const Var& layer_input) {
  const HeadGroup& head_group = (*site.groups)[static_cast<std::size_t>(group)];
  set_method(head_group, input);
  input.causal = site.causal;
  input.layer = site.address.layer;
  add_score_options(site, range, input);
  Site group_site = site;
  group_site.address.group = group;
  if (site.address.kind == AttentionKind::Self) {
    input.weights = group_weights(model_.weights, head_group.variant, weights_prefix(site, group));
    if (options_.cache && site.address.stack == Stack::Decoder) add_cached(site, group, input);
    if (memory_ && site.address.stack == Stack::Decoder) {
      recall_memory(group_site, range, input);
      const Encoding& position = encoding(input.encoding.id);
      const bool uses_positions = position.absolute || position.rotate;
      if (uses_positions && !variant(head_group.variant.id).memory.remember)
        input.origin = memory_->length;
    }
  }
  const Variant& v = variant(head_group.variant.id);
  if (options_.adapted && v.update_constants && site.address.kind == AttentionKind::Self) {
    for (const auto& [name, value] : v.update_constants(input)) {
      options_.adapted->insert_or_assign(weights_prefix(site, group) + name, value.value());
    }
  }
  std::vector<RowSource> sources;  // sources of the memory rows, without the current segment
  if (memory_ && recorder_.on() && site.address.kind == AttentionKind::Self &&
      site.address.stack == Stack::Decoder && variant(head_group.variant.id).memory.remember) {
    sources = memory_sources(stored_rows(*memory_, group_site, group), memory_->length);
  }
  OperationResult result = evaluate_operation(site, input, wanted(head_group));
  if (options_.work && result.pattern) {  // scores and weighted sums
    count(batch_ * result.pattern->pair_count(head_group.heads) * 2 * config().head_size);
  }
  if (memory_ && site.address.kind == AttentionKind::Self) {
    remember(group_site, range, input, result, layer_input);
  }
  add_span_loss(head_group, result);
  const Var output = zero_disabled_heads(merge_heads(result.output, head_group.heads), site,
                                         input.first_head, head_group.heads);
  if (recorder_.on()) {
    record_attention(site, group, head_group, std::move(input), std::move(result),
                     std::move(sources));
  }
  return output;
}

void Pass::add_score_options(const Site& site, const HeadRange& range,
                             OperationInput& input) const {
  const ModelOptions& options = config().model_options;
  if (options.attention_scale) input.scale = static_cast<float>(*options.attention_scale);
  input.score_cap = static_cast<float>(options.score_cap);
  if (options.attention_sinks) {
    input.sinks = slice(weight(attention_prefix(site) + "sinks"), 0, range.first, range.count);
  }
}

ResultRequest Pass::wanted(const HeadGroup& group) const {
  ResultRequest wanted;
  wanted.progress = options_.progress;
  if (recorder_.on()) {
    const bool is_on_cpu = &backend_ == &cpu_backend();
    wanted.attention = options_.keep_attention && is_on_cpu;
    wanted.device_attention = options_.keep_attention && !is_on_cpu;
    wanted.log_sum_exp = true;
    wanted.tiles = !options_.keep_attention;
  }
  const Variant& v = variant(group.variant.id);
  if (memory_ && v.memory.needs_attention(group.variant.values)) {
    wanted.attention = true;
    wanted.device_attention = false;
  }
  return wanted;
}

// Evaluates an operation with the pattern that results from the interventions.
OperationResult Pass::evaluate_operation(const Site& site, const OperationInput& input,
                                         const ResultRequest& wanted) {
  const Index first_head = input.first_head, layer = site.address.layer;
  if (!supports_interventions(site) ||
      !changes_pattern(interventions_, layer, first_head, input.heads)) {
    return evaluate(input, backend_, wanted);
  }
  InterventionBackend intervention_backend(
      backend_,
      [&](const Pattern& pattern) {
        return changed_pattern(pattern, interventions_, layer, first_head, input.heads);
      },
      variant(input.variant.id).label, input.q.dim(1));
  OperationResult result = evaluate(input, intervention_backend, wanted);
  intervention_backend.finish(result);
  return result;
}

// Returns x [B, L, h d_v] with zeros in the columns of disabled heads.
Var Pass::zero_disabled_heads(const Var& x, const Site& site, Index first_head, Index heads) const {
  if (!supports_interventions(site)) return x;
  const Index size = x.dim(2) / heads;
  Tensor mask = Tensor::full({x.dim(2)}, 1);  // [h d_v]
  bool any_disabled = false;
  for (Index a = 0; a < heads; ++a) {
    if (!attnscope::is_off(interventions_, site.address.layer, first_head + a)) continue;
    std::fill_n(mask.data() + a * size, size, 0.0f);
    any_disabled = true;
  }
  return any_disabled ? multiply(x, mask) : x;
}

// Prepends cached keys and values to those of the new tokens. If the operation only scores them,
// it reads them in the cache's memory, with keys that are rotated once; a trace needs its own copy.
void Pass::add_cached(const Site& site, Index group, OperationInput& input) {
  KeyCache& cache = options_.cache->keys[state_address(site, group)];
  const Index length = options_.cache->length, context = config().context;
  const bool reads_in_place = &backend_ == &cpu_backend() && accepts_room(input);
  const bool rotates = reads_in_place && has_rotation(input);
  if (rotates) {
    std::vector<std::int32_t> key_positions;  // empty: from 0
    if (length > 0) key_positions = positions(input.k.dim(1), length);
    const Var rotated = rotate_rows(input, input.k, key_positions);
    cache.rotated_keys.append(length, rotated.value(), context);
  }
  cache.keys.append(length, input.k.value(), context);
  cache.values.append(length, input.v.value(), context);
  if (length == 0 || !input.q.defined()) return;
  if (input.positions.empty()) input.positions = positions(input.q.dim(1), length);
  if (!reads_in_place || recorder_.on()) {
    input.k = cache.keys.rows();    // [B h_kv, length, d_k]
    input.v = cache.values.rows();  // [B h_kv, length, d_k]
    return;
  }
  input.k = rotates ? cache.rotated_keys.with_room() : cache.keys.with_room();
  input.v = cache.values.with_room();
  if (!rotates) return;
  input.q = rotate_queries(input, input.q);
  input.encoding = default_encoding();
}

std::pair<Var, Var> Pass::project_rows(const Site& site, const HeadRange& range, const Var& rows,
                                       bool constant) const {
  const Index batch = rows.dim(0), count = rows.dim(1);
  Var x = reshape(rows, {batch * count, rows.dim(2)});
  const auto detach = [&](const Var& w) { return constant ? Var(w.value()) : w; };
  const auto detach_if_any = [&](const std::string& name) {
    return has(name) ? detach(weight(name)) : Var();
  };
  if (has_attention_norm(config(), site.address.layer)) {
    const std::string name = site.prefix + "attn_norm";
    const Var gain = detach(weight(name + ".weight"));
    x = config().norm == Norm::RmsNorm
            ? rms_norm(x, gain, config().norm_epsilon)
            : layer_norm(x, gain, detach_if_any(name + ".bias"), config().norm_epsilon);
  }
  const std::string shift = site.prefix + "attn_join.bias_in";
  if (has(shift)) x = add(x, detach(weight(shift)));
  const auto project_heads = [&](const char* letter) {
    const std::string matrix = site.prefix + "attn.w" + letter,
                      bias = site.prefix + "attn.b" + letter;
    const auto entry = model_.narrow.find(matrix);
    const Var offset = has(bias) ? detach(weight(bias)) : Var();
    Var projected = entry != model_.narrow.end()
                        ? attnscope::linear(x, entry->second, offset)
                        : attnscope::linear(x, detach(weight(matrix)), offset);
    const std::string norm_name = site.prefix + "attn." + letter + "_norm";
    if (has(norm_name + ".weight")) {
      projected = norm_queries_or_keys(projected, detach(weight(norm_name + ".weight")),
                                       detach_if_any(norm_name + ".bias"));
    }
    return select_heads(reshape(projected, {batch, count, projected.dim(1)}), range.first_key_head,
                        range.key_heads);  // [B h_kv, n, d_k]
  };
  return {project_heads("k"), project_heads("v")};
}

void Pass::recall_memory(const Site& site, const HeadRange& range, OperationInput& input) {
  if (!variant(input.variant.id).memory.remember) return;
  recall(
      stored_rows(*memory_, site, site.address.group), memory_->length,
      [&](const Var& rows) { return project_rows(site, range, rows, false); }, input.weights);
}

void Pass::remember(const Site& site, const HeadRange& range, const OperationInput& input,
                    const OperationResult& result, const Var& layer_input) {
  const Variant& v = variant(input.variant.id);
  if (!v.memory.remember || site.address.stack != Stack::Decoder) return;
  CompletedSegment segment{.values = input.variant.values, .weights = input.weights};
  segment.batch = batch_;
  segment.heads = input.heads;
  segment.kv_heads = input.kv_heads;
  segment.first = memory_->length;
  segment.segment_length = config().segment;
  segment.x = sequences(layer_input).value();
  segment.input = values_of(input);
  segment.attention = result.attention;
  segment.project = [&](const Var& rows) { return project_rows(site, range, rows, true); };
  std::map<std::string, float> losses;
  segment.add_loss = [&](const std::string& name, const Var& value) {
    add_loss(name, value, input.variant.values.real(name));
    losses[name] += value.value()[0];
  };
  v.memory.remember(segment, stored_rows(*memory_, site, site.address.group));
  if (!recorder_.on() || options_.cache) return;
  for (const auto& [name, value] : losses) {
    recorder_.located_rows(kLayerLoss + name, site.address, Tensor::from({1, 1}, {value}));
  }
}

Var Pass::plain_attention(const Address& address, OperationInput input) {
  const HeadGroup group{1, input.variant, default_encoding()};
  const std::vector<HeadGroup> groups{group};
  const Site site{"", address, &groups, false};
  OperationResult result = evaluate(input, backend_, wanted(group));
  const Var output = result.output;
  if (recorder_.on()) record_attention(site, 0, group, std::move(input), std::move(result));
  return output;
}

void Pass::add_span_loss(const HeadGroup& group, const OperationResult& result) {
  const Values& values = group.variant.values;
  const auto spans = result.quantities.find("span.z");
  if (spans == result.quantities.end() || !values.has("span_penalty")) return;
  const double penalty = values.real("span_penalty");
  if (penalty > 0) add_loss("span", mean(spans->second), penalty);
}

std::pair<StreamRows, StreamRows> Pass::stream_rows(const Site& site) const {
  const StreamRows source{kSourceStream, 0};
  if (site.address.stack == Stack::Encoder) return {source, source};
  const StreamRows target{"", first_position(site)};
  if (site.address.kind == AttentionKind::Cross) {
    return {{target.stream, target.first, active_rows_}, source};
  }
  return {target, {target.stream, options_.cache ? 0 : target.first}};  // including cached keys
}

// Output projection of an attention. The function captures only weights and can outlive the pass.
std::function<Tensor(const Tensor&)> Pass::output_projection(const Site& site) const {
  const std::string prefix = attention_prefix(site);
  const Var bias = has(prefix + "bo") ? Var(weight(prefix + "bo").value()) : Var();
  const auto entry = model_.narrow.find(prefix + "wo");
  if (entry != model_.narrow.end()) {
    return [matrix = entry->second, bias](const Tensor& rows) {
      return attnscope::linear(Var(rows), matrix, bias).value();
    };
  }
  if (!has(prefix + "wo")) return {};  // recurrent networks
  const std::string shift_name = bias_out_name(site);
  const Var shift = has(shift_name) ? Var(weight(shift_name).value()) : Var();
  return [matrix = Var(weight(prefix + "wo").value()), bias, shift](const Tensor& rows) {
    const Var heads = shift.defined() ? add(Var(rows), shift) : Var(rows);
    return attnscope::linear(heads, matrix, bias).value();
  };
}

void Pass::record_attention(const Site& site, Index group, const HeadGroup& head_group,
                            OperationInput input, OperationResult result,
                            std::vector<RowSource> remembered) {
  AttentionTap tap;
  tap.remembered = std::move(remembered);
  tap.address = site.address;
  tap.address.group = group;
  if (options_.cache) tap.address.step = options_.cache->steps;
  std::tie(tap.query_rows, tap.key_rows) = stream_rows(site);
  tap.heads.resize(static_cast<std::size_t>(head_group.heads));
  std::iota(tap.heads.begin(), tap.heads.end(), input.first_head);
  tap.variant = head_group.variant;
  tap.encoding = head_group.encoding;
  HeadTensors<Tensor> vectors = values_of(input);
  vectors.v = values_of_columns(input, result);
  tap.combine_heads = output_projection(site);
  const Encoding& position = encoding(head_group.encoding.id);
  const NamedVars weights =
      weights_below(position.embed ? positions_prefix(site) : weights_prefix(site, group));
  for (const WeightInfo& info : position.weights) {
    if (const Var* weight = find_weight(weights, info.name)) {
      tap.encoding_weights.emplace(info.name, *weight);
    }
  }
  tap.causal = input.causal || variant(head_group.variant.id).causality.by_definition;
  const auto state = result.extra.find("state");
  if (state != result.extra.end()) recorder_.located_heads("state", tap.address, state->second);
  tap.record(std::move(vectors), std::move(result));
  recorder_.attention(std::move(tap));
}

}  // namespace attnscope
