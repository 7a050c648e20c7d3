#include "core/model/memory_need.h"

#include <algorithm>
#include <map>

#include "core/attention/variants/shared/assemble.h"
#include "core/base/error.h"
#include "core/base/memory_budget.h"
#include "core/figure/plain_text.h"
#include "core/model/memory.h"
#include "core/model/residual_connection.h"
#include "core/model/weights.h"

namespace attnscope {
namespace {

constexpr double kNumber = sizeof(float);
constexpr double kMaxMapBytes = 512.0 * 1024 * 1024;

double real(Index n) {
  return static_cast<double>(n);
}

double product(const Shape& shape) {  // also of sizes that no array can have
  double count = 1;
  for (const Index n : shape) count *= real(n);
  return count;
}

// Workspace of an operation of a group: parts that grow with the length are recorded for every
// layer; parts that do not, such as random matrices, are created again in each layer.
struct OperationBytes {
  double of_length = 0, of_layer = 0;
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
  const bool in_segments = config.segment > 0 && config.segment < runs.rows;
  const double of_layer = bytes(0, 0);
  const double all = bytes(in_segments ? config.segment : runs.rows, runs.keys);
  return {all - of_layer, of_layer};
}

// Mean number of recorded keys per row: each segment records its keys together with the remembered
// ones.
double keys_to_row(const ModelConfig& config, const LayerRuns& runs) {
  if (config.segment == 0 || runs.rows <= config.segment) return 1;
  double keys = 0;
  for (Index first = 0; first < runs.rows; first += config.segment) {
    keys += real(std::min(first + config.segment, runs.keys));
  }
  return keys / real(runs.rows);
}

// The largest integer parameter, which determines the size.
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

MemoryUser user_of(const HeadGroup& group) {
  const Variant& v = variant(group.variant.id);
  const Parameter* parameter = largest_integer(v, group.variant.values);
  if (parameter == nullptr) return {v.label};
  return {v.label, parameter, group.variant.values.integer(parameter->key)};
}

// Size of weights that are missing in the checkpoint.
double created_weight_bytes(const Model& stored, const ModelConfig& config) {
  double numbers = 0;
  for (const WeightSpec& spec : weight_specs(config)) {
    if (spec.optional) continue;  // variants count their own replacements
    const auto had = stored.weights.find(spec.name);
    const bool there = had != stored.weights.end() && had->second.shape() == spec.shape;
    if (!there && !stored.narrow.contains(spec.name)) numbers += product(spec.shape);
  }
  return kNumber * numbers;
}

// All layers, once, on all tokens, unless the architecture defines otherwise.
std::vector<LayerRuns> layer_runs(const ModelConfig& config, RunLength length) {
  const Architecture& a = architecture(config.architecture.id);
  if (a.layer_runs) return a.layer_runs(config, length);
  return {{1, length.tokens, max_keys(config, length.tokens)}};
}

using Groups = std::vector<std::vector<HeadGroup>>;

Groups groups_of(const ModelConfig& config, const LayerRuns& runs) {
  return runs.is_encoder ? encoder_groups(config) : config.groups;
}

double columns_of(const HeadGroup& group, Index keys) {
  const Variant& v = variant(group.variant.id);
  return real(v.cost.columns ? v.cost.columns(group.variant.values, keys) : keys);
}

double map_bytes(const ModelConfig& config, RunLength length) {
  double numbers = 0;
  for (const LayerRuns& runs : layer_runs(config, length)) {
    if (!runs.has_attention) continue;
    for (const auto& layer : groups_of(config, runs)) {
      for (const HeadGroup& group : layer) {
        numbers += runs.times * real(group.heads) * real(runs.rows) * columns_of(group, runs.keys);
      }
    }
  }
  return kNumber * numbers;
}

// Recorded numbers per row and layer: five taps; queries, keys, values and output, before and after
// rotation; for recurrent layers, states.
double recorded_numbers(const ModelConfig& config, const LayerRuns& runs) {
  const double width = real(config.width), heads = real(config.heads * config.head_size);
  if (!runs.has_attention) return 2 * width;
  return 5 * width + (3 + 5 * keys_to_row(config, runs)) * heads;
}

// Numbers per row and layer that backpropagation needs.
double backward_numbers(const ModelConfig& config, const LayerRuns& runs) {
  const double width = real(config.width), heads = real(config.heads * config.head_size);
  if (!runs.has_attention) return 40 * width;  // gates, step by step
  return 12 * width + 12 * keys_to_row(config, runs) * heads + 6 * real(config.hidden);
}

double layer_count(const ModelConfig& config, const LayerRuns& runs) {
  if (!runs.has_attention) return 1;
  return runs.times * real(static_cast<Index>(groups_of(config, runs).size()));
}

// Gradients of all weights, and activations for backpropagation.
double gradient_bytes(const Model& stored, const ModelConfig& config, RunLength length) {
  double numbers = 0;
  for (const auto& [name, weight] : stored.weights) numbers += real(weight.value().size());
  for (const auto& [name, matrix] : stored.narrow)
    numbers += 2 * real(matrix.rows * matrix.columns);
  for (const LayerRuns& runs : layer_runs(config, length)) {
    numbers += layer_count(config, runs) * real(runs.rows) * backward_numbers(config, runs);
  }
  return kNumber * numbers;
}

// Workspace of the variants, for each kind of head group.
std::map<MemoryUser, OperationBytes> variant_bytes(const ModelConfig& config, RunLength length,
                                                   bool maps) {
  std::map<MemoryUser, OperationBytes> of_variants;
  for (const LayerRuns& runs : layer_runs(config, length)) {
    if (!runs.has_attention) continue;
    for (const auto& layer : groups_of(config, runs)) {
      std::map<MemoryUser, double> of_layer;
      for (const HeadGroup& group : layer) {
        const OperationBytes bytes = operation_bytes(config, group, runs, maps);
        of_variants[user_of(group)].of_length += runs.times * bytes.of_length;
        of_layer[user_of(group)] += bytes.of_layer;
      }
      for (const auto& [user, bytes] : of_layer) {
        of_variants[user].of_layer = std::max(of_variants[user].of_layer, bytes);
      }
    }
  }
  return of_variants;
}

double logits_bytes(const ModelConfig& config, RunLength length, bool gradients) {
  const double written = real(length.target > 0 ? length.target : length.tokens);
  // Exits compute logits for each layer.
  const double times = (config.exits ? real(config.layers) + 1 : 2) + (gradients ? 2 : 0);
  return kNumber * times * written * real(config.vocabulary);
}

std::vector<MemoryItem> largest_first(std::vector<MemoryItem> items) {
  std::ranges::sort(items, [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return items;
}

}  // namespace

std::vector<MemoryItem> memory_need(const Model& stored, const ModelConfig& config,
                                    const RunMemoryRequest& of) {
  ModelConfig longer = config;
  longer.context = std::max(config.context, of.length.tokens);
  double recorded = 0, most_rows = 0;
  for (const LayerRuns& runs : layer_runs(config, of.length)) {
    recorded += layer_count(config, runs) * real(runs.rows) * recorded_numbers(config, runs);
    most_rows = std::max(most_rows, real(std::max(runs.rows, runs.keys)));
  }
  const double work = 8 * real(config.width) + 3 * real(config.hidden);
  std::vector<MemoryItem> items;
  items.push_back({{"newly created weights"}, created_weight_bytes(stored, longer)});
  items.push_back({{"recorded activations"}, kNumber * recorded});
  items.push_back({{"workspace of one layer"}, kNumber * most_rows * work});
  items.push_back({{"logits"}, logits_bytes(config, of.length, of.gradients)});
  if (of.maps) items.push_back({{"attention maps"}, map_bytes(config, of.length)});
  if (of.gradients) items.push_back({{"gradients"}, gradient_bytes(stored, config, of.length)});
  for (const auto& [user, bytes] : variant_bytes(config, of.length, of.maps)) {
    items.push_back({user, bytes.of_length + bytes.of_layer});
  }
  return largest_first(std::move(items));
}

std::vector<MemoryItem> training_memory_need(const ModelConfig& config,
                                             const TrainingMemoryRequest& of) {
  double weights = 0, layers = 0;
  for (const WeightSpec& spec : weight_specs(config)) weights += product(spec.shape);
  // Residual connections that run layers themselves recompute each layer in the backward pass.
  const bool one_at_a_time =
      static_cast<bool>(residual_connection(config.residual_connection.id).run_layers);
  for (const LayerRuns& runs : layer_runs(config, of.length)) {
    layers += (one_at_a_time ? 1 : layer_count(config, runs)) * real(runs.rows) *
              (recorded_numbers(config, runs) + backward_numbers(config, runs));
  }
  const double sequences = real(of.micro_batch);
  std::vector<MemoryItem> items;
  items.push_back({{"weights, gradients and optimiser state"}, kNumber * 4 * weights});
  items.push_back({{"activations for backpropagation"}, kNumber * sequences * layers});
  items.push_back({{"logits"}, sequences * logits_bytes(config, of.length, true)});
  for (const auto& [user, bytes] : variant_bytes(config, of.length, false)) {
    // Half as much again for the backward pass.
    items.push_back({user, sequences * 1.5 * bytes.of_length + bytes.of_layer});
  }
  return largest_first(std::move(items));
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

namespace {

// A memory check, with the parameters that may still change.
struct MemoryCheck {
  const Model& stored;
  RunLength length;
  bool gradients;

  std::vector<MemoryItem> items(const ModelConfig& config, RunLength of) const {
    return memory_need(stored, config,
                       {.length = of, .maps = keeps_attention(config, of), .gradients = gradients});
  }
  bool fits(const ModelConfig& config, RunLength of) const {
    return total_bytes(items(config, of)) <= static_cast<double>(memory_budget());
  }
};

// Largest number from `least` to `most` for which `good` holds, assuming that it holds up to some
// number; less than `least`: none.
template <class Good>
Index largest_satisfying(Index least, Index most, const Good& good) {
  Index low = least - 1, high = most;
  while (low < high) {
    const Index middle = low + (high - low + 1) / 2;
    if (good(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// Limits the parameter `key` of all groups with this variant.
ModelConfig limit_parameter(ModelConfig config, const std::string& id, const std::string& key,
                            Index most) {
  for (auto& layer : config.groups) {
    for (HeadGroup& group : layer) {
      Values& values = group.variant.values;
      if (group.variant.id == id && values.integer(key) > most) values.set(key, most);
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
      const auto least = static_cast<Index>(parameter->limits.min);
      const Index most =
          largest_satisfying(least, group.variant.values.integer(parameter->key), [&](Index value) {
            return check.fits(limit_parameter(config, v.id, parameter->key, value), check.length);
          });
      if (most >= least) return {MemoryRemedy::Of::Parameter, most, parameter};
    }
  }
  const auto shorter = [&](Index tokens) {
    return RunLength{tokens, std::min(tokens, check.length.target)};
  };
  const Index most = largest_satisfying(
      1, check.length.tokens, [&](Index count) { return check.fits(config, shorter(count)); });
  if (most <= 0) return {.other = "a smaller model or a larger budget"};
  return {MemoryRemedy::Of::Tokens, most};
}

[[noreturn]] void refuse(const std::vector<MemoryItem>& items, const std::string& length,
                         const MemoryRemedy& remedy) {
  throw MemoryNeedError({.bytes = total_bytes(items),
                         .budget = static_cast<double>(memory_budget()),
                         .length = length,
                         .largest = items.front(),
                         .remedy = remedy});
}

std::string text_of(const MemoryRemedy& remedy, const MemoryControls& controls) {
  using Of = MemoryRemedy::Of;
  const std::string most = std::to_string(remedy.most);
  if (remedy.of == Of::Other) return remedy.other;
  if (remedy.of == Of::Parameter) return "at most " + remedy.parameter->key + "=" + most + " here";
  if (remedy.of == Of::Tokens)
    return "at most " + most + " tokens" + in_parentheses(controls.tokens);
  return "at most " + most + " sequences at a time" + in_parentheses(controls.micro_batch);
}

std::string text_of(const MemoryNeed& need, const MemoryControls& controls) {
  return "memory: " + describe(need.largest.user) + ": " + memory_text(need.largest.bytes) +
         " of " + memory_text(need.bytes) + " for " + need.length + "; the budget is " +
         memory_text(need.budget) + in_parentheses(controls.budget) + "; expected " +
         text_of(need.remedy, controls);
}

}  // namespace

std::string describe(const MemoryUser& user) {
  if (user.parameter == nullptr) return user.name;
  return user.name + " with " + user.parameter->key + "=" + std::to_string(user.value);
}

MemoryNeedError::MemoryNeedError(const MemoryNeed& of) : InputError(text_of(of, {})), need(of) {}

std::string MemoryNeedError::text(const MemoryControls& controls) const {
  return text_of(need, controls);
}

void check_memory(const Model& stored, const ModelConfig& config, RunLength length,
                  bool gradients) {
  const MemoryCheck check{stored, length, gradients};
  if (check.fits(config, length)) return;
  refuse(check.items(config, length), grouped(length.tokens) + " tokens",
         suggest_fitting_size(check, config));
}

void check_training_memory(const ModelConfig& config, const TrainingMemoryRequest& of) {
  const auto fits = [&](const TrainingMemoryRequest& wanted) {
    return total_bytes(training_memory_need(config, wanted)) <=
           static_cast<double>(memory_budget());
  };
  if (fits(of)) return;
  MemoryRemedy remedy{.other = "a smaller model, shorter sequences or a larger budget"};
  for (TrainingMemoryRequest fewer = of; --fewer.micro_batch > 0;) {  // divisors of the batch
    if (of.batch % fewer.micro_batch != 0 || !fits(fewer)) continue;
    remedy = {MemoryRemedy::Of::Sequences, fewer.micro_batch};
    break;
  }
  refuse(training_memory_need(config, of),
         std::to_string(of.micro_batch) + " sequences of " + grouped(of.length.tokens) + " tokens",
         remedy);
}

void check_memory(const OperationInput& input, bool maps) {
  const Variant& v = variant(input.variant.id);
  const Index queries = query_count(input), keys = key_count(input);
  const Dimensions sizes = operation_dimensions(input);
  const double pairs = real(input.batch * input.heads);
  const HeadGroup group{input.heads, input.variant, input.encoding};
  const auto items = [&](const Values& values) {
    HeadGroup of = group;
    of.variant.values = values;
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
    std::vector<MemoryItem> list{{{"output, keys and values of each head"}, kNumber * rows}};
    if (maps)
      list.push_back({{"attention maps"}, kNumber * pairs * real(queries) * columns_of(of, keys)});
    if (v.cost.bytes) list.push_back({user_of(of), v.cost.bytes(in)});
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
    const auto least = static_cast<Index>(parameter->limits.min);
    const Index most =
        largest_satisfying(least, input.variant.values.integer(parameter->key), [&](Index value) {
          Values values = input.variant.values;
          values.set(parameter->key, value);
          return fits(values);
        });
    if (most >= least) remedy = {MemoryRemedy::Of::Parameter, most, parameter};
  }
  refuse(items(input.variant.values), grouped(queries) + " queries and " + grouped(keys) + " keys",
         remedy);
}

}  // namespace attnscope
