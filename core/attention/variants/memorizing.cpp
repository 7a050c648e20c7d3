// memorizing: attention over the nearest keys of a large memory. Wu et al., 2022.
#include <algorithm>
#include <numeric>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/exact.h"
#include "core/attention/variants/shared/memory.h"
#include "core/attention/variants/shared/row_memory.h"
#include "core/attention/variants/shared/rows.h"
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_reduce.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/parallel.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

// Ascending indices of each query's `top` stored keys by product.  [h L_q, top]
std::vector<std::int32_t> nearest_keys(const Tensor& q, const Tensor& memory, Index heads,
                                       Index kv_heads, Index top) {
  const Index queries = q.dim(1), size = q.dim(2), stored_count = memory.dim(1);
  std::vector<double> unit_keys =
      exact_unit_rows(memory.data(), memory.dim(0) * stored_count, size);  // [h_kv, M, d_k]
  std::vector<std::int32_t> nearest(static_cast<std::size_t>(heads * queries * top));
  parallel_for(heads * queries, 1, [&](Index first, Index last) {
    std::vector<double> products(static_cast<std::size_t>(stored_count));
    std::vector<std::int32_t> order(static_cast<std::size_t>(stored_count));
    for (Index row = first; row < last && !is_stopping(); ++row) {
      const Index kv = row / queries / (heads / kv_heads);
      for (Index m = 0; m < stored_count; ++m) {
        products[static_cast<std::size_t>(m)] = exact_dot(
            unit_keys.data() + (kv * stored_count + m) * size, q.data() + row * size, size);
      }
      std::iota(order.begin(), order.end(), 0);
      const auto is_nearer = [&](std::int32_t a, std::int32_t b) {
        const double x = products[static_cast<std::size_t>(a)];
        const double y = products[static_cast<std::size_t>(b)];
        return x > y || (x == y && a < b);
      };
      std::partial_sort(order.begin(), order.begin() + top, order.end(), is_nearer);
      std::sort(order.begin(), order.begin() + top);
      std::copy_n(order.begin(), top, nearest.begin() + row * top);
    }
  });
  check_stop();
  return nearest;
}

// S_i over the memory alone (length 0), or over memory and segment.
Pattern retrieved_pattern(const OperationInput& input, const std::vector<std::int32_t>& nearest,
                          Index top, Index memory, Index length) {
  const Index first = first_position(input), queries = query_count(input);
  PatternBuilder rows(input.heads, queries, memory + length, {"retrieved", "local"});
  for (Index head = 0; head < input.heads; ++head) {
    for (Index row = 0; row < queries; ++row) {
      const auto first_key = nearest.begin() + (head * queries + row) * top;
      std::for_each(first_key, first_key + top, [&](std::int32_t m) { rows.add_column(0, m); });
      if (length > 0) rows.add(1, memory, memory + first + row + 1);
      rows.next_row();
    }
  }
  return rows.finish();
}

// Concatenates the columns of `left` and `right`, weighted by `gate` if not null.  [h, L, M + L]
Tensor concat_columns(const Tensor& left, const Tensor& right, const Tensor* gate) {
  const Index heads = right.dim(0), queries = right.dim(1);
  const Index memory = left.defined() ? left.dim(2) : 0, length = right.dim(2);
  Tensor result({heads, queries, memory + length});
  float* out = result.data();
  for (Index row = 0; row < heads * queries; ++row) {
    const float g = gate ? (*gate)[row / queries] : 0.5f;
    const float left_factor = gate ? g : 1, right_factor = gate ? 1 - g : 1;
    for (Index m = 0; m < memory; ++m) *out++ = left_factor * left[row * memory + m];
    for (Index j = 0; j < length; ++j) *out++ = right_factor * right[row * length + j];
  }
  return result;
}

bool has_unit_length(const Values& values, const char* vectors) {
  return values.choice("normalise") == vectors;
}

// Weight of the memory for each head; 0 if the memory is empty.  [h]
Var memory_gate(const OperationInput& input, bool has_memory) {
  const Var& gate = weight(input.weights, "memorizing.gate");
  return has_memory ? sigmoid(gate) : Var(Tensor::zeros(gate.shape()));
}

OperationResult evaluate_memorizing(const OperationInput& original, Backend& backend,
                                    const ResultRequest& wanted) {
  const Values& values = original.variant.values;
  OperationInput input = original;
  const Var stored_keys = memory_rows(input, "mem.k", input.k.dim(2));
  Var stored_values = memory_rows(input, "mem.v", input.v.dim(2));
  if (has_unit_length(values, "queries_keys")) input.q = unit_rows(input.q);
  if (has_unit_length(values, "keys_values")) stored_values = unit_rows(stored_values);
  const Index memory = stored_keys.dim(1), length = key_count(input);
  const Index top = std::min(values.integer("top"), memory);
  const bool has_memory = memory > 0;
  const Var gate = memory_gate(input, has_memory);  // [h]

  ResultRequest part_wanted = wanted;
  part_wanted.device_attention = part_wanted.log_sum_exp = part_wanted.tiles = false;
  part_wanted.attention = wanted.attention || wanted.device_attention;
  Part local = plain_part(input, plain_pattern(input, true));
  local.k = unit_rows(input.k);
  local.split.clear();
  apply_encoding(local, input, true);
  const float scale = local.scale;  // the retrieval uses the scale of the encoding, too
  OperationResult result = run_part(std::move(local), backend, part_wanted);
  OperationResult retrieved;
  const std::vector<std::int32_t> nearest =
      nearest_keys(original.q.value(), stored_keys.value(), input.heads, input.kv_heads, top);
  const auto scale_heads = [&](const Var& output, const Var& head_factors) {
    const Shape shape = output.shape();  // [h, L, d_v]
    const Var flat = reshape(output, {shape[0], shape[1] * shape[2]});
    return reshape(multiply(flat, reshape(head_factors, {shape[0], 1})), shape);
  };
  const Var local_gate = subtract(Var(Tensor::full({input.heads}, 1.0f)), gate);
  result.output = scale_heads(result.output, local_gate);
  if (has_memory) {
    Part part = plain_part(input, retrieved_pattern(input, nearest, top, memory, 0));
    part.k = unit_rows(stored_keys);
    part.v = stored_values;
    part.split.clear();
    part.pos_q.clear();
    part.scale = scale;
    retrieved = run_part(std::move(part), backend, part_wanted);
    result.output = add(result.output, scale_heads(retrieved.output, gate));
    if (result.note.empty()) result.note = retrieved.note;
  }
  if (part_wanted.attention) {
    result.attention = concat_columns(retrieved.attention, result.attention, &gate.value());
  }
  if (wanted.scores) result.scores = concat_columns(retrieved.scores, result.scores, nullptr);
  result.pattern =
      std::make_shared<const Pattern>(retrieved_pattern(input, nearest, top, memory, length));
  result.part.reset();
  result.quantities["memorizing.gate"] = gate;
  result.columns = {{KeyKind::Memory, memory}, {KeyKind::Token, length}};
  return result;
}

// Stores projected keys and values of the last M positions.
void remember_keys(const CompletedSegment& segment, Remembered& remembered) {
  const Index max_rows = segments_size(segment, "memory");
  remembered.keys = last_rows(concat_rows(remembered.keys, segment.input.k), max_rows);
  remembered.values = last_rows(concat_rows(remembered.values, segment.input.v), max_rows);
}

}  // namespace

Variant memorizing_variant() {
  Variant v;
  v.id = "memorizing";
  v.label = "Memorizing";
  v.group = "Adaptive span and memory";
  v.equation =
      "A = [ g·softmax over the k nearest stored keys ∘ (1 − g)·softmax over the segment ],   "
      "g = sigmoid(gate_a)";
  v.summary =
      "Keys and values of the text so far are stored, far more than fit into attention, and each "
      "query retrieves the k most similar stored keys. A learned gate of each head mixes them with "
      "ordinary local attention, so that names and definitions can be recalled verbatim. The paper "
      "scales both keys and values to unit length and uses this attention in one layer, near the "
      "top; here both can be chosen.";
  v.source = "Wu et al., 2022, Memorizing Transformers, arXiv:2203.08913";
  v.complexity = "O(L·(L + k)·d) and the search";
  v.causality.incremental = always;
  v.causality.by_definition = true;
  v.scores.has_terms = never;
  v.parameters = {
      {.key = "top",
       .symbol = "k",
       .label = "Retrieved keys",
       .help = "Number of stored keys that each query attends to; all if fewer are stored.",
       .required = true,
       .initial = Index{4},
       .illustrative_default = [](Index length) -> Value { return fraction_of_length(length, 3); },
       .limits = {.min = 1},
       .slider = {.min = 1, .max = 64}},
      {.key = "normalise",
       .symbol = "",
       .label = "Unit length",
       .help = "Vectors scaled to unit length: keys, keys and stored values, or queries and keys.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("keys"),
       .choices = {{"keys", "keys"},
                   {"keys_values", "keys, stored values"},
                   {"queries_keys", "queries, keys"}}},
      segments_parameter("memory", "M", "Memory", "Number of positions stored.")};
  v.memory.remember = remember_keys;
  v.objection = [](const Values& values, const Situation& in) -> std::string {
    const Index top = values.integer("top"), memory = in.dimensions.memory;
    if (!in.dimensions.is_memory_final || top <= memory) return {};  // memories of models grow
    return "top: expected at most the " + std::to_string(memory) + " rows of mem.k" +
           found_text(top);
  };
  v.cost.head = [](const CostInput& in) {  // includes the search of all stored keys
    double products = 0;
    const Index memory = in.result.columns.front().second;
    for (Index i = 0; i < in.queries; ++i) {
      for (const Run& run : in.result.pattern->row(in.head, i)) {
        if (run.begin >= memory) products += static_cast<double>(run.count());
      }
    }
    return products + static_cast<double>(in.queries * memory);
  };
  v.weights = {memory_weight("mem.k", "Stored keys.", &Dimensions::memory, &Dimensions::key),
               memory_weight("mem.v", "Stored values.", &Dimensions::memory, &Dimensions::value),
               {.name = "memorizing.gate",
                .help = "Weight of the memory for each head, before the sigmoid.",
                .shape = [](const Dimensions& n, const Values&) -> Shape { return {n.heads}; },
                .initial = initial_zeros()}};
  v.evaluate = item_by_item(evaluate_memorizing);
  return v;
}

}  // namespace attnscope
