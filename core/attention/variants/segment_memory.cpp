// segment_memory: keys and values of earlier segments. Dai et al., 2019.
#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/memory.h"
#include "core/attention/variants/shared/row_memory.h"

namespace attnscope {
namespace {

// Pattern of the last `reach` positions, including the position of the query.
Pattern reach_pattern(Index queries, Index memory, Index length, Index first, Index reach) {
  PatternBuilder rows(1, queries, memory + length, {std::to_string(reach) + " back"});
  for (Index i = 0; i < queries; ++i) {
    const Index end = memory + first + i + 1;
    rows.add(0, end - reach, end);
    rows.next_row();
  }
  return rows.finish();
}

OperationResult evaluate_segment(const OperationInput& input, Backend& backend,
                                 const ResultRequest& wanted) {
  const Var keys = memory_rows(input, "mem.k", input.k.dim(2));
  const Var values = memory_rows(input, "mem.v", input.v.dim(2));
  const Index memory = keys.dim(1), length = key_count(input);
  const Index first = first_position(input);
  const Index reach = input.variant.values.integer("reach");
  Part part = plain_part(
      input, reach > 0 ? reach_pattern(query_count(input), memory, length, first, reach)
                       : Pattern::causal(query_count(input), memory + length, memory + first));
  part.k = prepend_rows(keys, input.k);    // [B h_kv, M + L, d_k]
  part.v = prepend_rows(values, input.v);  // [B h_kv, M + L, d_v]
  part.pos_k = positions_from(-memory, memory + length);
  apply_encoding(part, input, true);
  OperationResult result = run_part(std::move(part), backend, wanted);
  result.columns = {{KeyKind::Memory, memory}, {KeyKind::Token, length}};
  return result;
}

// Concatenates the memory and the segment, and stores the last M rows.
void remember_rows(const CompletedSegment& segment, Remembered& remembered) {
  remembered.rows =
      last_rows(concat_rows(remembered.rows, segment.x), segments_size(segment, "memory"));
}

}  // namespace

Variant segment_memory_variant() {
  Variant v;
  v.id = "segment_memory";
  v.label = "Segment memory";
  v.group = "Adaptive span and memory";
  v.equation = "keys = [memory ∘ segment],   Sᵢ = memory ∪ { j ≤ i }";
  v.summary =
      "A long text is read in segments. Each layer keeps the hidden states of the previous "
      "segment, without their gradient; the next segment also attends to keys and values made from "
      "these states. With relative positions, this is Transformer-XL: a token can attend beyond "
      "the border of its segment.";
  v.source = "Dai et al., 2019, Transformer-XL, arXiv:1901.02860";
  v.complexity = "O(L·(M + L)·d)";
  v.causality.incremental = always;
  v.causality.by_definition = true;
  v.encodings.relative_only = true;
  v.weights = {
      memory_weight("mem.k", "Keys of the memory.", &Dimensions::memory, &Dimensions::key),
      memory_weight("mem.v", "Values of the memory.", &Dimensions::memory, &Dimensions::value),
      {.name = "mem.x",
       .help = "The memory as inputs, instead of its keys and values (x form).",
       .shape = [](const Dimensions& n, const Values&) -> Shape {
         return {n.memory, n.model};
       },
       .file = {.optional = true},
       .training = {.constant = true}}};
  v.parameters = {
      segments_parameter("memory", "M", "Memory", "Number of rows of earlier segments kept."),
      {.key = "reach",
       .symbol = "",
       .label = "Reach",
       .help =
           "Number of positions that each token sees, including itself, so that all see equally "
           "many; 0: all.",
       .initial = Index{0},
       .slider = {.max = 512}}};
  v.memory.remember = remember_rows;
  v.evaluate = evaluate_segment;
  return v;
}

}  // namespace attnscope
