#include "core/attention/variants/shared/assemble.h"

#include <cmath>

#include "core/attention/attention_operation.h"
#include "core/attention/variants/shared/memory.h"
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"

namespace attnscope {

Index query_count(const OperationInput& input) {
  if (input.q.defined()) return input.q.dim(1);
  return input.x.defined() ? input.x.dim(1) : input.v.dim(1);
}

Index key_count(const OperationInput& input) {
  if (!input.positions.empty()) return input.positions.back() + 1;
  if (input.v.defined()) return input.v.dim(1);
  return input.k.defined() ? input.k.dim(1) : query_count(input);
}

Dimensions operation_dimensions(const OperationInput& input) {
  const Index key = input.q.defined() ? input.q.dim(2) : 0;
  const Index value = input.v.defined() ? input.v.dim(2) : kFreeInner;
  Dimensions dimensions = free_dimensions(input.heads, input.kv_heads, key, value);
  if (input.x.defined()) dimensions.model = input.x.dim(2);
  dimensions.batch = input.batch;
  dimensions.first_head = input.first_head;
  dimensions.layer_heads = input.layer_heads;
  return dimensions;
}

Index layer_heads(const OperationInput& input) {
  return input.layer_heads != 0 ? input.layer_heads : input.heads;
}

Index first_position(const OperationInput& input) {
  return input.positions.empty() ? 0 : input.positions.front();
}

Pattern plain_pattern(const OperationInput& input, bool causal) {
  const Index queries = query_count(input), keys = key_count(input);
  return causal ? Pattern::causal(queries, keys, first_position(input))
                : Pattern::all(queries, keys);
}

Pattern ruled_pattern(const OperationInput& input, const Variant& variant) {
  return variant.pattern({.values = input.variant.values,
                          .weights = input.weights,
                          .heads = input.heads,
                          .queries = query_count(input),
                          .keys = key_count(input),
                          .first = first_position(input),
                          .first_head = input.first_head,
                          .layer = input.layer,
                          .causal = input.causal || variant.causality.by_definition});
}

Part plain_part(const OperationInput& input, Pattern pattern) {
  Part part;
  static_cast<HeadOperands&>(part) = input;
  part.pos_q = input.positions;
  if (input.origin > 0) {
    for (Index i = 0; i < query_count(input); ++i) {
      part.pos_q.push_back(static_cast<std::int32_t>(input.origin + i));
    }
    part.pos_k = part.pos_q;
  }
  if (input.scale) {
    part.scale = *input.scale;
  } else if (input.q.defined()) {
    part.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(input.q.dim(2))));
  }
  part.pattern = std::make_shared<const Pattern>(std::move(pattern));
  return part;
}

namespace {

EncodingContext encoding_context(const OperationInput& input, bool causal) {
  return {.values = input.encoding.values,
          .weights = input.weights,
          .dimensions = operation_dimensions(input),
          .causal = causal,
          .scale = input.scale};
}

}  // namespace

void apply_encoding(Part& part, const OperationInput& input, bool causal) {
  const Encoding& e = encoding(input.encoding.id);
  if (e.apply) e.apply(part, encoding_context(input, causal));
}

bool has_rotation(const OperationInput& input) {
  return static_cast<bool>(encoding(input.encoding.id).rotate);
}

namespace {

// Absolute positions from the origin on; empty if the origin is 0.
std::vector<std::int32_t> origin_positions(const OperationInput& input, Index count) {
  return input.origin > 0 ? positions_from(input.origin, count) : std::vector<std::int32_t>{};
}

}  // namespace

Var rotate_rows(const OperationInput& input, const Var& x,
                const std::vector<std::int32_t>& positions) {
  return encoding(input.encoding.id).rotate(x, positions, encoding_context(input, input.causal));
}

Var rotate_queries(const OperationInput& input, const Var& x) {
  return rotate_rows(input, x,
                     input.origin > 0 ? origin_positions(input, x.dim(1)) : input.positions);
}

Var rotate_keys(const OperationInput& input, const Var& x) {
  return rotate_rows(input, x, origin_positions(input, x.dim(1)));
}

bool accepts_room(const OperationInput& input) {
  const Variant& v = variant(input.variant.id);
  const Encoding& e = encoding(input.encoding.id);
  const Values& values = input.variant.values;
  const bool is_full = &v == &variants().front() && v.encodings.accepts_pairs(values);
  return (is_full || is_pattern_only(v, values)) && (!e.apply || e.rotate);
}

OperationInput rotate_input(OperationInput input) {
  if (!has_rotation(input)) return input;
  const Var q = rotate_queries(input, input.q);  // [B h, L_q, d_k]
  const Var k = rotate_keys(input, input.k);     // [B h_kv, L_k, d_k]
  input.q = q;
  input.k = k;
  return input;
}

Var head_logits(const OperationInput& input, const char* w, const char* b) {
  const Var logits = add(matmul_transposed(input.x, weight(input.weights, w)),
                         weight(input.weights, b));  // [B, L, h]
  return reshape(permute(logits, {0, 2, 1}), {input.batch * input.heads, input.x.dim(1)});
}

ResultRequest with_host_results(ResultRequest wanted) {
  wanted.attention |= wanted.device_attention;
  wanted.device_attention = false;
  return wanted;
}

OperationResult run_part(Part part, Backend& backend, const ResultRequest& wanted) {
  OperationResult result;
  const auto shared_part = std::make_shared<const Part>(std::move(part));
  result.note = backend.refusal(*shared_part, wanted);
  const ResultRequest cpu_wanted = with_host_results(wanted);
  Backend& chosen_backend = result.note.empty() ? backend : cpu_backend();
  const bool uses_fallback = &chosen_backend != &backend;
  try {
    result.output = attention(*shared_part, chosen_backend, uses_fallback ? cpu_wanted : wanted,
                              &result);  // [B h, L_q, d_v]
  } catch (const WorkError& error) {
    if (&chosen_backend == &cpu_backend()) throw;
    result.note = error.what();
    result.output = attention(*shared_part, cpu_backend(), cpu_wanted, &result);
  }
  result.pattern = shared_part->pattern;
  result.part = shared_part;
  return result;
}

namespace {

// Item n of a batch along the first axis.
Var batch_item(const Var& x, Index batch, Index n) {
  if (!x.defined() || batch == 1) return x;
  const Index count = x.dim(0) / batch;
  return slice(x, 0, n * count, count);
}

Tensor concat_items(const std::vector<Tensor>& items) {
  if (!items.front().defined() || items.size() == 1) return items.front();
  std::vector<Var> vars(items.begin(), items.end());
  return concat(vars, 0).value();
}

OperationResult run_batch(const OperationInput& input,
                          const std::function<OperationResult(const OperationInput&)>& run) {
  if (input.batch == 1) return run(input);
  const Variant& v = variant(input.variant.id);
  OperationResult result;
  std::vector<Var> outputs;
  std::map<std::string, std::vector<Var>> quantities;
  std::vector<Tensor> attentions, scores, log_sums;
  for (Index n = 0; n < input.batch; ++n) {
    OperationInput item = input;
    item.batch = 1;
    for (Var* x : {&item.x, &item.y, &item.q, &item.k, &item.v}) {
      *x = batch_item(*x, input.batch, n);
    }
    for (const WeightInfo& entry : v.weights) {
      const auto state = item.weights.find(entry.name);
      if (!entry.file.state || state == item.weights.end()) continue;
      state->second = batch_item(state->second, input.batch, n);
    }
    item.split.clear();
    OperationResult item_result = run(item);
    outputs.push_back(item_result.output);
    attentions.push_back(item_result.attention);
    scores.push_back(item_result.scores);
    log_sums.push_back(item_result.log_sum_exp);
    for (const auto& [name, quantity] : item_result.quantities)
      quantities[name].push_back(quantity);
    if (n == 0) result = std::move(item_result);
  }
  result.output = concat(outputs, 0);           // [B h, L_q, d_v]
  result.attention = concat_items(attentions);  // [B h, L_q, L_k]
  result.scores = concat_items(scores);         // [B h, L_q, L_k]
  result.log_sum_exp = concat_items(log_sums);  // [B h, L_q]
  for (const auto& [name, items] : quantities) result.quantities[name] = concat(items, 0);
  result.part.reset();
  result.tiles.reset();
  return result;
}

}  // namespace

Evaluate item_by_item(Evaluate run) {
  return [run = std::move(run)](const OperationInput& input, Backend& backend,
                                const ResultRequest& wanted) {
    return run_batch(input, [&](const OperationInput& item) { return run(item, backend, wanted); });
  };
}

Var repeat_heads(const Var& x, Index heads, Index kv_heads) {
  if (heads == kv_heads) return x;
  const Index batch = x.dim(0) / kv_heads, rows = x.dim(1), columns = x.dim(2);
  const Var unrepeated = reshape(x, {batch * kv_heads, 1, rows, columns});
  const std::vector<Var> copies(static_cast<std::size_t>(heads / kv_heads), unrepeated);
  return reshape(concat(copies, 1), {batch * heads, rows, columns});  // [B h, L, e]
}

}  // namespace attnscope
