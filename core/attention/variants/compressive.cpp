// compressive: compresses old memories instead of dropping them. Rae et al., 2019.
#include <algorithm>
#include <numeric>
#include <optional>

#include "core/attention/variants/list.h"
#include "core/attention/variants/shared/compression.h"
#include "core/attention/variants/shared/memory.h"
#include "core/attention/variants/shared/row_memory.h"
#include "core/attention/variants/shared/windows.h"
#include "core/autodiff/operations_shape.h"
#include "core/base/error.h"

namespace attnscope {
namespace {

bool function_is(const Values& values, const char* function) {
  return values.choice("function") == function;
}

// Compressed old memories.
struct Compressed {
  Var keys, values;                     // [B h_kv, n, ...]
  std::vector<std::int32_t> positions;  // [h n]
};

// Indices of the `count` rows of largest usage, in order of position.  [B h_kv, count]
IntTensor most_used_rows(const Tensor& usage, Index count) {
  const Index heads = usage.dim(0), rows = usage.dim(1);
  IntTensor selected({heads, count});
  std::vector<std::int32_t> order(static_cast<std::size_t>(rows));
  for (Index head = 0; head < heads; ++head) {
    const float* head_usage = usage.data() + head * rows;
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return head_usage[a] > head_usage[b]; });
    std::sort(order.begin(), order.begin() + count);
    std::copy_n(order.begin(), count, selected.data() + head * count);
  }
  return selected;
}

// x: [N, rows, e], selected: [N, n] -> [N, n, e]
Var pick_rows(const Var& x, const IntTensor& selected) {
  IntTensor flat = selected.copy();
  for (Index head = 0; head < flat.dim(0); ++head) {
    for (Index n = 0; n < flat.dim(1); ++n) {
      flat(head, n) += static_cast<std::int32_t>(head * x.dim(1));
    }
  }
  return gather(reshape(x, {x.dim(0) * x.dim(1), x.dim(2)}), flat);
}

Compressed keep_most_used(const OperationInput& input, const Var& keys, const Var& values,
                          Index count, Index memory) {
  const Index rows = keys.dim(1);
  const IntTensor selected =
      most_used_rows(weight(input.weights, "comp.usage").value(), count);  // [h_kv, n]
  Compressed result{pick_rows(keys, selected), pick_rows(values, selected), {}};
  for (Index head = 0; head < input.heads; ++head) {
    const Index kv_head = head / (input.heads / input.kv_heads);
    for (Index n = 0; n < count; ++n) {
      result.positions.push_back(static_cast<std::int32_t>(selected(kv_head, n) - rows - memory));
    }
  }
  return result;
}

Compressed compress(const OperationInput& input, const Var& keys, const Var& values, Index memory) {
  const Values& parameters = input.variant.values;
  const Index rows = keys.dim(1);
  if (rows == 0) return {keys, values, {}};
  if (function_is(parameters, "dilated")) {
    throw InputError(
        "function: expected a function of keys and values, found \"dilated\", which needs "
        "a model's rows");
  }
  const Index rate = parameters.integer("rate"), size = std::min(rate, rows);
  const Index count = window_count(rows, size);
  if (function_is(parameters, "most_used")) {
    return keep_most_used(input, keys, values, count, memory);
  }
  Compressed result;
  if (is_convolution(parameters)) {
    const auto kernel = [&](const char* name) {
      return slice(weight(input.weights, name), 1, 0, size);  // [h_kv, size]
    };
    result.keys = window_convolution(keys, kernel("comp.key"), input.kv_heads, size, count);
    result.values = window_convolution(values, kernel("comp.value"), input.kv_heads, size, count);
  } else if (function_is(parameters, "max")) {
    result.keys = window_max(keys, size, count);
    result.values = window_max(values, size, count);
  } else {
    result.keys = window_mean(keys, size, count);
    result.values = window_mean(values, size, count);
  }
  for (Index head = 0; head < input.heads; ++head) {
    for (Index n = 0; n < count; ++n) {
      const Index last = std::min(rows, (n + 1) * size) - 1;
      result.positions.push_back(static_cast<std::int32_t>(last - rows - memory));
    }
  }
  return result;
}

// Positions of the columns, head by head: compressed rows, memory, segment.
std::vector<std::int32_t> column_positions(const Compressed& compressed, Index heads, Index memory,
                                           Index length) {
  const std::vector<std::int32_t> recent = positions_from(-memory, memory + length);
  const std::size_t count = compressed.positions.size() / static_cast<std::size_t>(heads);
  std::vector<std::int32_t> result;
  for (std::size_t head = 0; head < static_cast<std::size_t>(heads); ++head) {
    const auto first = compressed.positions.begin() + static_cast<std::ptrdiff_t>(head * count);
    result.insert(result.end(), first, first + static_cast<std::ptrdiff_t>(count));
    result.insert(result.end(), recent.begin(), recent.end());
  }
  return result;
}

// Compressed rows of earlier segments, from the weights that recall() adds (remembered.h).
std::optional<Compressed> find_compressed(const OperationInput& input) {
  const Var* keys = find_weight(input.weights, "compressed.k");
  if (!keys) return std::nullopt;
  Compressed result{*keys, weight(input.weights, "compressed.v"), {}};
  const Tensor& positions = weight(input.weights, "compressed.position").value();  // [B, n]
  const Index count = positions.dim(1);
  for (Index head = 0; head < input.heads; ++head) {  // positions are equal for all batch items
    for (Index n = 0; n < count; ++n) {
      result.positions.push_back(static_cast<std::int32_t>(positions[n]));
    }
  }
  return result;
}

OperationResult evaluate_compressive(const OperationInput& input, Backend& backend,
                                     const ResultRequest& wanted) {
  const Index d_k = input.k.dim(2), d_v = input.v.dim(2);
  const Var keys = memory_rows(input, "mem.k", d_k), values = memory_rows(input, "mem.v", d_v);
  const Index memory = keys.dim(1), length = key_count(input);
  std::optional<Compressed> recalled = find_compressed(input);
  const Compressed old = recalled ? *recalled
                                  : compress(input, memory_rows(input, "old.k", d_k),
                                             memory_rows(input, "old.v", d_v), memory);
  const Index memory_columns = old.keys.dim(1) + memory;
  Part part = plain_part(input, Pattern::causal(query_count(input), memory_columns + length,
                                                memory_columns + first_position(input)));
  part.k = prepend_rows(old.keys, prepend_rows(keys, input.k));      // [B h_kv, n + M + L, d_k]
  part.v = prepend_rows(old.values, prepend_rows(values, input.v));  // [B h_kv, n + M + L, d_v]
  part.pos_k = column_positions(old, input.heads, memory, length);
  apply_encoding(part, input, true);
  OperationResult result = run_part(std::move(part), backend, wanted);
  result.columns = {
      {KeyKind::Compressed, old.keys.dim(1)}, {KeyKind::Memory, memory}, {KeyKind::Token, length}};
  return result;
}

WeightInfo convolution_weight(const char* name, const char* help) {
  return {.name = name,
          .help = help,
          .shape = [](const Dimensions& n, const Values& values) -> Shape {
            return {n.kv_heads, values.integer("rate")};
          },
          .initial =
              [](const Shape& shape, const Dimensions&, const Values&, std::uint64_t) {
                return Tensor::full(shape, 1.0f / static_cast<float>(shape[1]));
              },
          .scope = WeightScope::Operation,
          .used = is_convolution};
}

}  // namespace

Variant compressive_variant() {
  Variant v;
  v.id = "compressive";
  v.label = "Compressive memory";
  v.group = "Adaptive span and memory";
  v.equation = "keys = [compressed ∘ memory ∘ segment],   every c old memories become one";
  v.summary =
      "When the memory of earlier segments is full, its oldest rows are not dropped but "
      "compressed: every c of them become one, by their mean, their maximum, a learned "
      "convolution, or by keeping the most used. Each compressed row represents c tokens, so that "
      "this memory reaches farther back; when it is full, its oldest rows are dropped, too.";
  v.source = "Rae et al., 2019, Compressive Transformers, arXiv:1911.05507";
  v.complexity = "O(L·(M_old/c + M + L)·d)";
  v.causality.incremental = always;
  v.causality.by_definition = true;
  v.encodings.relative_only = true;
  v.parameters = {
      {.key = "rate",
       .symbol = "c",
       .label = "Rate",
       .help = "Number of old memories that become one.",
       .required = true,
       .initial = Index{3},
       .limits = {.min = 1},
       .slider = {.min = 1, .max = 16}},
      {.key = "function",
       .symbol = "f_c",
       .label = "Compression",
       .help = "Function that reduces a window of old memories to one row.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("mean"),
       .choices = {{"mean", "mean"},
                   {"max", "maximum"},
                   {"convolution", "convolution"},
                   {"most_used", "most used"},
                   {"dilated", "dilated convolution", true}}},
      segments_parameter("memory", "M", "Memory",
                         "Number of rows of earlier segments kept uncompressed."),
      segments_parameter("compressed", "C", "Compressed memory", "Number of compressed rows kept."),
      loss_weight_parameter("auto_encoding", "Reconstruction loss",
                            "Weight of the error of old rows restored from compressed ones."),
      loss_weight_parameter("attention_reconstruction", "Attention reconstruction loss",
                            "Weight of the difference between attention to compressed rows and "
                            "attention to the old rows.")};
  v.weights = {
      memory_weight("mem.k", "Keys of the memory.", &Dimensions::memory, &Dimensions::key),
      memory_weight("mem.v", "Values of the memory.", &Dimensions::memory, &Dimensions::value),
      memory_weight("old.k", "Keys of the old memories.", &Dimensions::old_memory,
                    &Dimensions::key),
      memory_weight("old.v", "Values of the old memories.", &Dimensions::old_memory,
                    &Dimensions::value),
      convolution_weight("comp.key", "Convolution weights of the keys."),
      convolution_weight("comp.value", "Convolution weights of the values."),
      kernel_weight("comp.kernel", "Turns a window of old rows into one.", is_convolution),
      {.name = "comp.bias",
       .help = "Bias of the kernel.",
       .shape = [](const Dimensions& n, const Values&) -> Shape { return {n.model}; },
       .initial = initial_zeros(),
       .scope = WeightScope::Model,
       .used = is_convolution},
      kernel_weight("comp.back", "Restores a window from its compressed row.",
                    [](const Values& values) { return values.real("auto_encoding") > 0; }),
      {.name = "comp.usage",
       .help = "Attention that each old memory received.",
       .shape = [](const Dimensions& n, const Values&) -> Shape {
         return {n.batch * n.kv_heads, n.old_memory};
       },
       .file = {.optional = true, .state = true},
       .training = {.constant = true},
       .used = [](const Values& values) { return function_is(values, "most_used"); }}};
  v.memory.remember = remember_compressing;
  v.memory.needs_attention = [](const Values& values) { return function_is(values, "most_used"); };
  v.evaluate = [](const OperationInput& input, Backend& backend, const ResultRequest& wanted) {
    if (!function_is(input.variant.values, "most_used")) {
      return evaluate_compressive(input, backend, wanted);
    }
    return item_by_item(evaluate_compressive)(input, backend, wanted);
  };
  return v;
}

}  // namespace attnscope
