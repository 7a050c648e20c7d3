#include "core/model/memory_need.h"

#include <algorithm>
#include <map>

#include "core/attention/variants/shared/assemble.h"
#include "core/base/error.h"
#include "core/base/memory_budget.h"
#include "core/figure/plain_text.h"
#include "core/model/contrastive_loss.h"
#include "core/model/memory.h"
#include "core/model/residual_connection.h"
#include "core/model/weights.h"
#include "core/trace/recomputed_layer.h"

namespace attnscope {
namespace {

constexpr double kFloatSize = sizeof(float);
constexpr double kMaxMapBytes = 512.0 * 1024 * 1024;
constexpr double kMaxActivationBytes = 64e6;

double real(Index n) {
  return static_cast<double>(n);
}

double product(const Shape& shape) {  // may exceed the range of Index
  double count = 1;
  for (const Index n : shape) count *= real(n);
  return count;
}

// Workspace of a head group's operation. `growing`: bytes that depend on the length, recorded for
// every layer. `fixed`: other bytes, such as random matrices, allocated for one layer at a time.
struct OperationBytes {
  double growing = 0, fixed = 0;
};

OperationBytes operation_bytes(const ModelConfig& config, const HeadGroup& group,
                               const LayerRuns& runs, bool maps) {
  const Variant& v = variant(group.variant.id);
  if (!v.cost.bytes) return {};
  const auto bytes = [&](Index queries, Index keys) {
    return v.cost.bytes({.values = group.variant.values,
                         .heads = group.heads,
                         .queries = queries,
                         .keys = keys,
                         .key_size = config.head_size,
                         .causal = config.causal && !runs.is_encoder,
                         .maps = maps});
  };
  const bool has_segments = config.segment > 0 && config.segment < runs.rows;
  const double fixed = bytes(0, 0);
  const double total = bytes(has_segments ? config.segment : runs.rows, runs.keys);
  return {total - fixed, fixed};
}

// Recorded keys relative to the number of rows: 1 without segments; otherwise more, because each
// segment records its remembered keys again.
double recorded_keys_per_row(const ModelConfig& config, const LayerRuns& runs) {
  if (config.segment == 0 || runs.rows <= config.segment) return 1;
  double keys = 0;
  for (Index first = 0; first < runs.rows; first += config.segment) {
    keys += real(std::min(first + config.segment, runs.keys));
  }
  return keys / real(runs.rows);
}

// Integer parameter with the largest value, assumed to determine the variant's workspace; or null.
const Parameter* largest_integer(const Variant& v, const Values& values) {
  const Parameter* largest = nullptr;
  for (const Parameter& parameter : v.parameters) {
    if (parameter.kind != Parameter::Kind::Integer || parameter.key == "seed") continue;
    if (!values.has(parameter.key)) continue;
    if (largest == nullptr || values.integer(parameter.key) > values.integer(largest->key)) {
      largest = &parameter;
    }
  }
  return largest;
}

MemoryUser memory_user(const HeadGroup& group) {
  const Variant& v = variant(group.variant.id);
  const Parameter* parameter = largest_integer(v, group.variant.values);
  if (parameter == nullptr) return {v.label};
  return {v.label, parameter, group.variant.values.integer(parameter->key)};
}

// Bytes of weights that are missing in the checkpoint.
double created_weight_bytes(const Model& stored, const ModelConfig& config) {
  double numbers = 0;
  for (const WeightSpec& spec : weight_specs(config)) {
    if (spec.optional) continue;  // part of the workspace of its variant
    const auto entry = stored.weights.find(spec.name);
    const bool is_stored = entry != stored.weights.end() && entry->second.shape() == spec.shape;
    if (!is_stored && !stored.narrow.contains(spec.name)) numbers += product(spec.shape);
  }
  return kFloatSize * numbers;
}

// Layer runs that the architecture defines; by default, all layers run once on all tokens.
std::vector<LayerRuns> layer_runs(const ModelConfig& config, RunLength length) {
  const Architecture& a = architecture(config.architecture.id);
  if (a.layer_runs) return a.layer_runs(config, length);
  return {{1, length.tokens, max_keys(config, length.tokens)}};
}

using Groups = std::vector<std::vector<HeadGroup>>;

Groups head_groups(const ModelConfig& config, const LayerRuns& runs) {
  return runs.is_encoder ? encoder_groups(config) : config.groups;
}

double map_columns(const HeadGroup& group, Index keys) {
  const Variant& v = variant(group.variant.id);
  return real(v.cost.columns ? v.cost.columns(group.variant.values, keys) : keys);
}

double map_bytes(const ModelConfig& config, RunLength length) {
  double numbers = 0;
  for (const LayerRuns& runs : layer_runs(config, length)) {
    if (!runs.has_attention) continue;
    for (const auto& layer : head_groups(config, runs)) {
      for (const HeadGroup& group : layer) {
        numbers += runs.times * real(group.heads) * real(runs.rows) * map_columns(group, runs.keys);
      }
    }
  }
  return kFloatSize * numbers;
}

// Width of the widest feed-forward.
double widest_hidden(const ModelConfig& config) {
  const Experts& experts = config.model_options.experts;
  return real(std::max({config.hidden, experts.shared_hidden, experts.dense_hidden}));
}

// Recorded numbers per row and layer: five taps; queries, keys, values and output, before and after
// rotation; for recurrent layers, states.
double recorded_numbers(const ModelConfig& config, const LayerRuns& runs) {
  const double width = real(config.width), heads = real(config.heads * config.head_size);
  if (!runs.has_attention) return 2 * width;
  return 5 * width + (3 + 5 * recorded_keys_per_row(config, runs)) * heads;
}

// Numbers per row and layer if layers are computed again: the state after the layer, and gates.
double state_numbers(const ModelConfig& config) {
  const bool has_gates = !residual_connection(config.residual_connection.id).weights.empty();
  return (has_gates ? 4 : 1) * real(config.width);
}

// Numbers per row and layer that backpropagation needs.
double backward_numbers(const ModelConfig& config, const LayerRuns& runs) {
  const double width = real(config.width), heads = real(config.heads * config.head_size);
  if (!runs.has_attention) return 40 * width;  // gates, step by step
  return 12 * width + 12 * recorded_keys_per_row(config, runs) * heads + 6 * widest_hidden(config);
}

double layer_count(const ModelConfig& config, const LayerRuns& runs) {
  if (!runs.has_attention) return runs.times;
  return runs.times * real(static_cast<Index>(head_groups(config, runs).size()));
}

// Bytes of the gradients of all weights and of the activations for backpropagation.
double gradient_bytes(const Model& stored, const ModelConfig& config, RunLength length) {
  double numbers = 0;
  for (const auto& [name, weight] : stored.weights) numbers += real(weight.value().size());
  for (const auto& [name, matrix] : stored.narrow)
    numbers += 2 * real(matrix.rows * matrix.columns);
  for (const LayerRuns& runs : layer_runs(config, length)) {
    numbers += layer_count(config, runs) * real(runs.rows) * backward_numbers(config, runs);
  }
  return kFloatSize * numbers;
}

// Workspace of the variants by variant and size parameter.
std::map<MemoryUser, OperationBytes> variant_bytes(const ModelConfig& config, RunLength length,
                                                   bool maps) {
  std::map<MemoryUser, OperationBytes> result;
  for (const LayerRuns& runs : layer_runs(config, length)) {
    if (!runs.has_attention) continue;
    for (const auto& layer : head_groups(config, runs)) {
      std::map<MemoryUser, double> fixed;
      for (const HeadGroup& group : layer) {
        const OperationBytes bytes = operation_bytes(config, group, runs, maps);
        result[memory_user(group)].growing += runs.times * bytes.growing;
        fixed[memory_user(group)] += bytes.fixed;
      }
      for (const auto& [user, bytes] : fixed) {
        result[user].fixed = std::max(result[user].fixed, bytes);
      }
    }
  }
  return result;
}

double logits_bytes(const ModelConfig& config, RunLength length, bool gradients) {
  const double rows = real(length.target > 0 ? length.target : length.tokens);
  // Exits compute logits for each layer.
  const double times = (config.exits ? real(config.layers) + 1 : 2) + (gradients ? 2 : 0);
  return kFloatSize * times * rows * real(config.vocabulary);
}

// Logits of the rows that are computed at a time.
double logits_block_bytes(const ModelConfig& config, RunLength length) {
  const Index rows = length.target > 0 ? length.target : length.tokens;
  return kFloatSize * 2 * real(std::min(rows, kLogitsRows)) * real(config.vocabulary);
}

// Bytes of activations. kept: those of all layers; else the states of all layers, and the
// activations of the layers that are computed together or were computed last.
double activation_bytes(const ModelConfig& config, RunLength length, bool kept) {
  double numbers = 0, largest_layer = 0;
  for (const LayerRuns& runs : layer_runs(config, length)) {
    const double layer = real(runs.rows) * recorded_numbers(config, runs);
    const double state = real(runs.rows) * state_numbers(config);
    numbers += layer_count(config, runs) * (kept || !runs.has_attention ? layer : state);
    largest_layer = std::max(largest_layer, layer);
  }
  if (!kept) numbers += static_cast<double>(kRecentLayers + 1) * largest_layer;
  return kFloatSize * numbers;
}

std::vector<MemoryItem> largest_first(std::vector<MemoryItem> items) {
  std::ranges::sort(items, [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return items;
}

}  // namespace

std::vector<MemoryItem> memory_need(const Model& stored, const ModelConfig& config,
                                    const RunMemoryRequest& request) {
  ModelConfig extended = config;
  extended.context = std::max(config.context, request.length.tokens);
  double max_rows = 0;
  for (const LayerRuns& runs : layer_runs(config, request.length)) {
    max_rows = std::max(max_rows, real(std::max(runs.rows, runs.keys)));
  }
  const double workspace = 8 * real(config.width) + 3 * widest_hidden(config);
  std::vector<MemoryItem> items;
  items.push_back({{"newly created weights"}, created_weight_bytes(stored, extended)});
  items.push_back(
      {{"recorded activations"}, activation_bytes(config, request.length, request.activations)});
  items.push_back({{"workspace of one layer"}, kFloatSize * max_rows * workspace});
  items.push_back({{"logits"},
                   request.activations ? logits_bytes(config, request.length, request.gradients)
                                       : logits_block_bytes(config, request.length)});
  if (request.maps) items.push_back({{"attention maps"}, map_bytes(config, request.length)});
  if (request.gradients)
    items.push_back({{"gradients"}, gradient_bytes(stored, config, request.length)});
  for (const auto& [user, bytes] : variant_bytes(config, request.length, request.maps)) {
    items.push_back({user, bytes.growing + bytes.fixed});
  }
  return largest_first(std::move(items));
}

std::vector<MemoryItem> training_memory_need(const ModelConfig& config,
                                             const TrainingMemoryRequest& request) {
  double weights = 0, layers = 0;
  for (const WeightSpec& spec : weight_specs(config)) weights += product(spec.shape);
  // Residual connections that run layers themselves recompute each layer in the backward pass.
  const bool has_inverse =
      static_cast<bool>(residual_connection(config.residual_connection.id).run_layers);
  for (const LayerRuns& runs : layer_runs(config, request.length)) {
    const double count = layer_count(config, runs);
    const double taped_layers = has_inverse || request.recomputes_layers ? 1 : count;
    const double stored = request.stores_bfloat ? 0.5 : 1;  // of a float32 number
    const double state = request.recomputes_layers ? stored * count * real(config.width) : 0;
    layers +=
        real(runs.rows) *
        (state + taped_layers * (recorded_numbers(config, runs) + backward_numbers(config, runs)));
  }
  const double micro_batch = real(request.micro_batch);
  const double sequences = micro_batch * (1 + contrastive_tokens(config, request.length.tokens));
  std::vector<MemoryItem> items;
  items.push_back({{"weights, gradients and optimiser state"}, kFloatSize * 4 * weights});
  items.push_back({{"activations for backpropagation"}, kFloatSize * sequences * layers});
  items.push_back({{"logits"}, micro_batch * logits_bytes(config, request.length, true)});
  for (const auto& [user, bytes] : variant_bytes(config, request.length, false)) {
    // The backward pass needs another half of the workspace.
    items.push_back({user, sequences * 1.5 * bytes.growing + bytes.fixed});
  }
  return largest_first(std::move(items));
}

LayerMemory layer_memory(const ModelConfig& config, RunLength length) {
  LayerMemory memory;
  for (const LayerRuns& runs : layer_runs(config, length)) {
    const double count = layer_count(config, runs), rows = count * real(runs.rows);
    memory.layers += count;
    memory.activations +=
        kFloatSize * rows * (recorded_numbers(config, runs) + backward_numbers(config, runs));
    memory.input += kFloatSize * rows * real(config.width);
  }
  memory.activations /= std::max(1.0, memory.layers);
  memory.input /= std::max(1.0, memory.layers);
  return memory;
}

double total_bytes(const std::vector<MemoryItem>& items) {
  double bytes = 0;
  for (const MemoryItem& item : items) bytes += item.bytes;
  return bytes;
}

bool keeps_attention(const ModelConfig& config, RunLength length) {
  return map_bytes(config, length) <=
         std::min(kMaxMapBytes, real(static_cast<Index>(memory_budget())) / 8);
}

bool keeps_activations(const ModelConfig& config, RunLength length) {
  if (config.segment > 0 || config.exits) return true;
  if (residual_connection(config.residual_connection.id).run_layers) return true;
  const double rows = real(length.target > 0 ? length.target : length.tokens);
  return activation_bytes(config, length, true) + kFloatSize * rows * real(config.vocabulary) <=
         kMaxActivationBytes;
}

namespace {

struct MemoryCheck {
  const Model& stored;
  RunLength length;
  bool gradients, recomputes;

  std::vector<MemoryItem> items(const ModelConfig& config, RunLength run) const {
    return memory_need(stored, config,
                       {.length = run,
                        .maps = keeps_attention(config, run),
                        .gradients = gradients,
                        .activations = !recomputes || keeps_activations(config, run)});
  }
  bool fits(const ModelConfig& config, RunLength run) const {
    return total_bytes(items(config, run)) <= static_cast<double>(memory_budget());
  }
};

// Largest number in [lower, upper] that satisfies `predicate`, or lower - 1. If a number satisfies
// `predicate`, all smaller numbers must, too.
template <class Predicate>
Index largest_satisfying(Index lower, Index upper, const Predicate& predicate) {
  Index low = lower - 1, high = upper;
  while (low < high) {
    const Index middle = low + (high - low + 1) / 2;
    if (predicate(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// Limits the parameter `key` of all groups with variant `id` to `limit`.
ModelConfig limit_parameter(ModelConfig config, const std::string& id, const std::string& key,
                            Index limit) {
  for (auto& layer : config.groups) {
    for (HeadGroup& group : layer) {
      Values& values = group.variant.values;
      if (group.variant.id == id && values.integer(key) > limit) values.set(key, limit);
    }
  }
  return config;
}

MemoryRemedy suggest_fitting_size(const MemoryCheck& check, const ModelConfig& config) {
  for (const auto& layer : config.groups) {
    for (const HeadGroup& group : layer) {
      const Variant& v = variant(group.variant.id);
      const Parameter* parameter =
          v.cost.bytes ? largest_integer(v, group.variant.values) : nullptr;
      if (parameter == nullptr) continue;
      const auto minimum = static_cast<Index>(parameter->limits.min);
      const Index largest = largest_satisfying(
          minimum, group.variant.values.integer(parameter->key), [&](Index value) {
            return check.fits(limit_parameter(config, v.id, parameter->key, value), check.length);
          });
      if (largest >= minimum) return {MemoryRemedy::Kind::Parameter, largest, parameter};
    }
  }
  const auto shorter = [&](Index tokens) {
    return RunLength{tokens, std::min(tokens, check.length.target)};
  };
  const Index largest = largest_satisfying(
      1, check.length.tokens, [&](Index count) { return check.fits(config, shorter(count)); });
  if (largest <= 0) return {.other = "a smaller model or a larger budget"};
  return {MemoryRemedy::Kind::Tokens, largest};
}

[[noreturn]] void refuse(const std::vector<MemoryItem>& items, const std::string& length,
                         const MemoryRemedy& remedy) {
  throw MemoryNeedError({.bytes = total_bytes(items),
                         .budget = static_cast<double>(memory_budget()),
                         .length = length,
                         .largest = items.front(),
                         .remedy = remedy});
}

std::string remedy_text(const MemoryRemedy& remedy, const MemoryControls& controls) {
  using Kind = MemoryRemedy::Kind;
  const std::string largest = std::to_string(remedy.most);
  if (remedy.kind == Kind::Other) return remedy.other;
  if (remedy.kind == Kind::Parameter)
    return "at most " + remedy.parameter->key + "=" + largest + " here";
  if (remedy.kind == Kind::Tokens)
    return "at most " + largest + " tokens" + in_parentheses(controls.tokens);
  return "at most " + largest + " sequences at a time" + in_parentheses(controls.micro_batch);
}

std::string need_text(const MemoryNeed& need, const MemoryControls& controls) {
  return "memory: " + describe(need.largest.user) + ": " + memory_text(need.largest.bytes) +
         " of " + memory_text(need.bytes) + " for " + need.length + "; the budget is " +
         memory_text(need.budget) + in_parentheses(controls.budget) + "; expected " +
         remedy_text(need.remedy, controls);
}

}  // namespace

std::string describe(const MemoryUser& user) {
  if (user.parameter == nullptr) return user.name;
  return user.name + " with " + user.parameter->key + "=" + std::to_string(user.value);
}

MemoryNeedError::MemoryNeedError(const MemoryNeed& memory)
    : InputError(need_text(memory, {})), need(memory) {}

std::string MemoryNeedError::text(const MemoryControls& controls) const {
  return need_text(need, controls);
}

void check_memory(const Model& stored, const ModelConfig& config, RunLength length, bool gradients,
                  bool recomputes) {
  const MemoryCheck check{stored, length, gradients, recomputes};
  if (check.fits(config, length)) return;
  refuse(check.items(config, length), grouped(length.tokens) + " tokens",
         suggest_fitting_size(check, config));
}

void check_training_memory(const ModelConfig& config, const TrainingMemoryRequest& request) {
  const auto fits = [&](const TrainingMemoryRequest& candidate) {
    return total_bytes(training_memory_need(config, candidate)) <=
           static_cast<double>(memory_budget());
  };
  if (fits(request)) return;
  MemoryRemedy remedy{.other = "a smaller model, shorter sequences or a larger budget"};
  // Micro-batches must divide the batch.
  for (TrainingMemoryRequest smaller = request; --smaller.micro_batch > 0;) {
    if (request.batch % smaller.micro_batch != 0 || !fits(smaller)) continue;
    remedy = {MemoryRemedy::Kind::Sequences, smaller.micro_batch};
    break;
  }
  refuse(training_memory_need(config, request),
         std::to_string(request.micro_batch) + " sequences of " + grouped(request.length.tokens) +
             " tokens",
         remedy);
}

void check_memory(const OperationInput& input, bool maps) {
  const Variant& v = variant(input.variant.id);
  const Index queries = query_count(input), keys = key_count(input);
  const Dimensions sizes = operation_dimensions(input);
  const double pairs = real(input.batch * input.heads);
  const HeadGroup group{input.heads, input.variant, input.encoding};
  const auto items = [&](const Values& values) {
    HeadGroup candidate = group;
    candidate.variant.values = values;
    const double rows =
        pairs * (real(queries) * (real(std::max<Index>(sizes.value, 0)) + 2) +
                 2 * real(keys) * real(sizes.key + std::max<Index>(sizes.value, 0)));
    const MemoryInput in{.values = values,
                         .batch = input.batch,
                         .heads = input.heads,
                         .queries = queries,
                         .keys = keys,
                         .key_size = sizes.key,
                         .causal = input.causal,
                         .maps = maps};
    std::vector<MemoryItem> list{{{"output, keys and values of each head"}, kFloatSize * rows}};
    if (maps)
      list.push_back(
          {{"attention maps"}, kFloatSize * pairs * real(queries) * map_columns(candidate, keys)});
    if (v.cost.bytes) list.push_back({memory_user(candidate), v.cost.bytes(in)});
    std::ranges::sort(list, [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    return list;
  };
  const auto fits = [&](const Values& values) {
    return total_bytes(items(values)) <= static_cast<double>(memory_budget());
  };
  if (fits(input.variant.values)) return;
  MemoryRemedy remedy{.other = "fewer queries and keys, or a larger budget"};
  if (const Parameter* parameter =
          v.cost.bytes ? largest_integer(v, input.variant.values) : nullptr) {
    const auto minimum = static_cast<Index>(parameter->limits.min);
    const Index largest =
        largest_satisfying(minimum, input.variant.values.integer(parameter->key), [&](Index value) {
          Values values = input.variant.values;
          values.set(parameter->key, value);
          return fits(values);
        });
    if (largest >= minimum) remedy = {MemoryRemedy::Kind::Parameter, largest, parameter};
  }
  refuse(items(input.variant.values), grouped(queries) + " queries and " + grouped(keys) + " keys",
         remedy);
}

}  // namespace attnscope
