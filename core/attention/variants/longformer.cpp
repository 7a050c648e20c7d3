// longformer: a window and a few global positions. Beltagy et al., 2020.
#include <algorithm>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/assemble.h"
#include "core/attention/variants/shared/rows.h"
#include "core/autodiff/operations_elementwise.h"
#include "core/autodiff/operations_linear.h"
#include "core/autodiff/operations_shape.h"

namespace attnscope {
namespace {

bool has_own_projections(const Values& values) {
  return values.choice("projections") == "own";
}

std::vector<Index> sorted_global(const Values& values) {
  std::vector<Index> global = values.get<std::vector<Index>>("global");
  std::ranges::sort(global);
  return global;
}

Pattern longformer_pattern(const PatternInput& in) {
  const Index window = in.values.integer("window"), dilation = in.values.integer("dilation");
  const std::vector<Index> global = sorted_global(in.values);
  const Index keys = in.keys;
  return build_rows(in, 1, {window_rule(window, dilation, in.causal), "global key", "global query"},
                    [=](PatternBuilder& rows, Index, Index i) {
                      add_window(rows, 0, i, window, dilation);
                      for (const Index j : global) rows.add_column(1, j);
                      if (std::binary_search(global.begin(), global.end(), i)) {
                        rows.add(2, 0, keys);
                      }
                    });
}

// Projection x w + b for global positions, split by head.  [B heads, L, d_k]
Var global_heads(const OperationInput& input, const char* letter, Index heads) {
  const std::string name = letter;
  Var projected = matmul(input.x, weight(input.weights, "global.w" + name));  // [B, L, heads d_k]
  const Var* bias = find_weight(input.weights, "global.b" + name);
  if (bias != nullptr) projected = add(projected, *bias);
  return split_heads(projected, heads);
}

// Computes all rows with one part. Queries are [q | 0] in local rows and [0 | q_g] in global rows,
// keys [k | k_g] and values [v | v_g]; each row uses one half of its output.
OperationResult evaluate_projected_globals(const OperationInput& input, Backend& backend,
                                           const ResultRequest& wanted) {
  const std::vector<Index> global = sorted_global(input.variant.values);
  OperationInput global_input = input;
  global_input.q = global_heads(input, "q", input.heads);
  global_input.k = global_heads(input, "k", input.kv_heads);
  global_input = rotate_input(std::move(global_input));
  const OperationInput local_input = rotate_input(input);
  const Index length = query_count(input), size = input.v.dim(2);
  Tensor global_mask = Tensor::zeros({length, 1}), local_mask = Tensor::full({length, 1}, 1);
  Part part = plain_part(input, ruled_pattern(input, variant("longformer")));
  for (const Index i : global) {
    global_mask[i] = 1;
    local_mask[i] = 0;
    part.global_rows.push_back(static_cast<std::int32_t>(i));
  }
  part.q = concat({multiply(local_input.q, local_mask), multiply(global_input.q, global_mask)}, -1);
  part.k = concat({local_input.k, global_input.k}, -1);                      // [B h_kv, L, 2 d_k]
  part.v = concat({input.v, global_heads(input, "v", input.kv_heads)}, -1);  // [B h_kv, L, 2 d_v]
  part.split.clear();
  OperationResult result = run_part(std::move(part), backend, wanted);
  result.output = add(multiply(slice(result.output, -1, 0, size), local_mask),
                      multiply(slice(result.output, -1, size, size), global_mask));
  return result;
}

WeightInfo global_projection(const std::string& letter, const char* operand, bool bias) {
  return {.name = std::string("global.") + (bias ? "b" : "w") + letter,
          .help = std::string(bias ? "Bias of the " : "Projects the ") + operand +
                  " of global positions.",
          .shape = [letter, bias](const Dimensions& n, const Values&) -> Shape {
            const Index heads = letter == "q" ? n.heads : n.kv_heads;
            const Index head_size = letter == "v" ? n.value : n.key;
            const Index columns = head_size < 0 ? head_size : heads * head_size;
            return bias ? Shape{columns} : Shape{n.model, columns};
          },
          .initial = bias ? initial_zeros() : initial_projection(),
          .file = {.optional = bias},
          .used = has_own_projections};
}

double longformer_numbers(const MemoryInput& in) {
  if (!has_own_projections(in.values)) return 0;
  // Three additional projections, concatenations of these with q, k and v, and sums of both halves.
  constexpr double kVectors = 14;
  return kVectors * static_cast<double>(in.batch * in.heads) *
         static_cast<double>(in.keys * in.key_size);
}

}  // namespace

Variant longformer_variant() {
  Variant v;
  v.id = "longformer";
  v.label = "Longformer";
  v.group = "Fixed patterns";
  v.equation = "Sᵢ = local(w, r)  ∪  { j global },   all of it where i is global";
  v.cost.bytes = [](const MemoryInput& in) { return sizeof(float) * longformer_numbers(in); };
  v.evaluate = evaluate_projected_globals;
  v.requires_evaluate = has_own_projections;
  v.scores.caps_and_sinks = true;
  v.inputs.needs = [](const Values& values) { return Needs{.input = has_own_projections(values)}; };
  v.causality.incremental = [](const Values& values) { return !has_own_projections(values); };
  v.encodings.accepts_rotary = true;
  v.encodings.accepts_pairs = [](const Values& values) { return !has_own_projections(values); };
  v.encodings.pairs_refusal = "compares global positions by separate projections";
  v.summary =
      "A sliding window keeps the cost linear, and a few global positions, such as a question or a "
      "classification token, attend to all tokens and all tokens attend to them, so that distant "
      "tokens are two steps apart without a causal mask. Global positions may have separate "
      "projections: their queries, all keys and all values are then recomputed for them.";
  v.source = "Beltagy, Peters and Cohan, 2020, Longformer, arXiv:2004.05150";
  v.complexity = "O(L·(w + g)·d), g global positions";
  v.cost.growth = {.power = 1, .sizes = [](Values& values, Index length) {
                     values.set("window", std::min<Index>(64, length));
                   }};
  v.defaults.bidirectional = true;
  v.parameters = {window_parameter(),
                  dilation_parameter(),
                  {.key = "global",
                   .symbol = "g",
                   .label = "Global positions",
                   .help = "Positions that see and are seen by all tokens.",
                   .kind = Parameter::Kind::Integers,
                   .initial = std::vector<Index>{},
                   .illustrative_default = [](Index) -> Value { return std::vector<Index>{0}; }},
                  {.key = "projections",
                   .symbol = "",
                   .label = "Global projections",
                   .help = "Projections of global positions: the same queries, keys and values as "
                           "all, or separate ones.",
                   .kind = Parameter::Kind::Choice,
                   .initial = std::string("shared"),
                   .choices = {{"shared", "Shared"}, {"own", "Separate"}}}};
  v.objection = [](const Values& values, const Situation& in) -> std::string {
    for (const Index position : values.get<std::vector<Index>>("global")) {
      if (in.keys == 0 || position < in.keys) continue;
      return "global: expected positions below the length " + std::to_string(in.keys) +
             found_text(position);
    }
    return {};
  };
  for (const bool bias : {false, true}) {
    v.weights.push_back(global_projection("q", "queries", bias));
    v.weights.push_back(global_projection("k", "keys", bias));
    v.weights.push_back(global_projection("v", "values", bias));
  }
  v.pattern = longformer_pattern;
  return v;
}

}  // namespace attnscope
