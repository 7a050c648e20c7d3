#include "core/model/memory_need.h"

#include <algorithm>
#include <map>

#include "core/attention/variants/shared/assemble.h"
#include "core/base/error.h"
#include "core/base/memory_budget.h"
#include "core/figure/plain_text.h"
#include "core/model/join.h"
#include "core/model/memory.h"
#include "core/model/weights.h"

namespace attnscope {

namespace {

constexpr double kNumber = sizeof(float);
constexpr double kMostMapBytes = 512.0 * 1024 * 1024;

double real(Index n) {
  return static_cast<double>(n);
}

double product(const Shape& shape) {  // sizes that no array could have, too
  double count = 1;
  for (const Index n : shape) count *= real(n);
  return count;
}

// What an operation of this group works with: what grows with the length is recorded of every
// layer, for the most part; what does not, as drawn matrices, is made anew for each of them.
struct OperationBytes {
  double of_length = 0, of_layer = 0;
};

OperationBytes operation_bytes(const ModelConfig& config, const HeadGroup& group,
                               const LayerRuns& runs, bool maps) {
  const Variant& v = variant(group.variant.id);
  if (!v.memory) return {};
  const auto bytes = [&](Index queries, Index keys) {
    return v.memory({.values = group.variant.values,
                     .heads = group.heads,
                     .queries = queries,
                     .keys = keys,
                     .key_size = config.head_size,
                     .causal = config.causal && !runs.of_encoder,
                     .maps = maps});
  };
  const bool in_segments = config.segment > 0 && config.segment < runs.rows;
  const double of_layer = bytes(0, 0);
  const double all = bytes(in_segments ? config.segment : runs.rows, runs.keys);
  return {all - of_layer, of_layer};
}

// Keys and values are recorded with those that are remembered, segment by segment: how many keys
// there are to a row, in the mean.
double keys_to_row(const ModelConfig& config, const LayerRuns& runs) {
  if (config.segment == 0 || runs.rows <= config.segment) return 1;
  double keys = 0;
  for (Index first = 0; first < runs.rows; first += config.segment) {
    keys += real(std::min(first + config.segment, runs.keys));
  }
  return keys / real(runs.rows);
}

// "features=1000000", as a person gives it here.
std::string words_of(const Parameter& parameter, Index value) {
  if (!told_in_window()) return parameter.key + "=" + std::to_string(value);
  return parameter.label + " " + grouped(value);
}

// Its largest integer, which is what makes it large.
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

std::string words_of(const HeadGroup& group) {
  const Variant& v = variant(group.variant.id);
  const Parameter* parameter = largest_integer(v, group.variant.values);
  if (parameter == nullptr) return v.label;
  return v.label + " with " + words_of(*parameter, group.variant.values.integer(parameter->key));
}

// Of choices that the checkpoint has no weights for.
double made_weights(const Model& stored, const ModelConfig& config) {
  double numbers = 0;
  for (const WeightSpec& spec : weight_specs(config)) {
    if (spec.optional) continue;  // variants state what they make in their place
    const auto had = stored.weights.find(spec.name);
    const bool there = had != stored.weights.end() && had->second.shape() == spec.shape;
    if (!there && !stored.narrow.contains(spec.name)) numbers += product(spec.shape);
  }
  return kNumber * numbers;
}

// All layers, once, on all tokens, unless the architecture says something else.
std::vector<LayerRuns> layer_runs(const ModelConfig& config, RunLength length) {
  const Architecture& a = architecture(config.architecture.id);
  if (a.layer_runs) return a.layer_runs(config, length);
  return {{1, length.tokens, most_keys(config, length.tokens)}};
}

using Groups = std::vector<std::vector<HeadGroup>>;

Groups groups_of(const ModelConfig& config, const LayerRuns& runs) {
  return runs.of_encoder ? encoder_groups(config) : config.groups;
}

double columns_of(const HeadGroup& group, Index keys) {
  const Variant& v = variant(group.variant.id);
  return real(v.columns ? v.columns(group.variant.values, keys) : keys);
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

// Numbers of each row that are recorded of a layer: five taps, and queries, keys, values and
// output, before and after turning; of what is recurrent, states.
double recorded_numbers(const ModelConfig& config, const LayerRuns& runs) {
  const double width = real(config.width), heads = real(config.heads * config.head_size);
  if (!runs.has_attention) return 2 * width;
  return 5 * width + (3 + 5 * keys_to_row(config, runs)) * heads;
}

// Numbers of each row that the way back needs of a layer.
double numbers_of_way_back(const ModelConfig& config, const LayerRuns& runs) {
  const double width = real(config.width), heads = real(config.heads * config.head_size);
  if (!runs.has_attention) return 40 * width;  // gates, step by step
  return 12 * width + 12 * keys_to_row(config, runs) * heads + 6 * real(config.hidden);
}

double layer_count(const ModelConfig& config, const LayerRuns& runs) {
  if (!runs.has_attention) return 1;
  return runs.times * real(static_cast<Index>(groups_of(config, runs).size()));
}

// Gradients of all weights, and the way back.
double gradient_bytes(const Model& stored, const ModelConfig& config, RunLength length) {
  double numbers = 0;
  for (const auto& [name, weight] : stored.weights) numbers += real(weight.value().size());
  for (const auto& [name, matrix] : stored.narrow)
    numbers += 2 * real(matrix.rows * matrix.columns);
  for (const LayerRuns& runs : layer_runs(config, length)) {
    numbers += layer_count(config, runs) * real(runs.rows) * numbers_of_way_back(config, runs);
  }
  return kNumber * numbers;
}

// What the variants work with, of each kind of head group in words.
std::map<std::string, OperationBytes> variant_bytes(const ModelConfig& config, RunLength length,
                                                    bool maps) {
  std::map<std::string, OperationBytes> of_variants;
  for (const LayerRuns& runs : layer_runs(config, length)) {
    if (!runs.has_attention) continue;
    for (const auto& layer : groups_of(config, runs)) {
      std::map<std::string, double> of_layer;
      for (const HeadGroup& group : layer) {
        const OperationBytes bytes = operation_bytes(config, group, runs, maps);
        of_variants[words_of(group)].of_length += runs.times * bytes.of_length;
        of_layer[words_of(group)] += bytes.of_layer;
      }
      for (const auto& [words, bytes] : of_layer) {
        of_variants[words].of_layer = std::max(of_variants[words].of_layer, bytes);
      }
    }
  }
  return of_variants;
}

double logits_bytes(const ModelConfig& config, RunLength length, bool gradients) {
  const double written = real(length.target > 0 ? length.target : length.tokens);
  // Exits make logits of each layer.
  const double times = (config.exits ? real(config.layers) + 1 : 2) + (gradients ? 2 : 0);
  return kNumber * times * written * real(config.vocabulary);
}

std::vector<MemoryItem> largest_first(std::vector<MemoryItem> items) {
  std::ranges::sort(items, [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return items;
}

}  // namespace

std::vector<MemoryItem> memory_need(const Model& stored, const ModelConfig& config,
                                    const MemoryOf& of) {
  ModelConfig longer = config;
  longer.context = std::max(config.context, of.length.tokens);
  double recorded = 0, most_rows = 0;
  for (const LayerRuns& runs : layer_runs(config, of.length)) {
    recorded += layer_count(config, runs) * real(runs.rows) * recorded_numbers(config, runs);
    most_rows = std::max(most_rows, real(std::max(runs.rows, runs.keys)));
  }
  const double work = 8 * real(config.width) + 3 * real(config.hidden);
  std::vector<MemoryItem> items;
  items.push_back({"weights that are made for it", made_weights(stored, longer)});
  items.push_back({"what is recorded of the layers", kNumber * recorded});
  items.push_back({"one layer's work", kNumber * most_rows * work});
  items.push_back({"logits", logits_bytes(config, of.length, of.gradients)});
  if (of.maps) items.push_back({"attention maps", map_bytes(config, of.length)});
  if (of.gradients) items.push_back({"gradients", gradient_bytes(stored, config, of.length)});
  for (const auto& [words, bytes] : variant_bytes(config, of.length, of.maps)) {
    items.push_back({words, bytes.of_length + bytes.of_layer});
  }
  return largest_first(std::move(items));
}

std::vector<MemoryItem> training_memory_need(const ModelConfig& config, const TrainingOf& of) {
  double weights = 0, layers = 0;
  for (const WeightSpec& spec : weight_specs(config)) weights += product(spec.shape);
  // Joins that run the layers themselves compute each again on the way back.
  const bool one_at_a_time = static_cast<bool>(join(config.join.id).run_layers);
  for (const LayerRuns& runs : layer_runs(config, of.length)) {
    layers += (one_at_a_time ? 1 : layer_count(config, runs)) * real(runs.rows) *
              (recorded_numbers(config, runs) + numbers_of_way_back(config, runs));
  }
  const double sequences = real(of.at_once);
  std::vector<MemoryItem> items;
  items.push_back({"weights, gradients and their moments", kNumber * 4 * weights});
  items.push_back({"layers and the way back through them", kNumber * sequences * layers});
  items.push_back({"logits", sequences * logits_bytes(config, of.length, true)});
  for (const auto& [words, bytes] : variant_bytes(config, of.length, false)) {
    // Half as much again for the way back.
    items.push_back({words, sequences * 1.5 * bytes.of_length + bytes.of_layer});
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
         std::min(kMostMapBytes, real(static_cast<Index>(memory_budget())) / 8);
}

namespace {

// What is asked for, of which parameters may still change.
struct Asked {
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

// The largest number from `least` to `most` of which `good` holds, `good` being so up to some
// number; less than `least`: none.
template <class Good>
Index largest_good(Index least, Index most, const Good& good) {
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

// The choices of all groups with `key` at most so large.
ModelConfig with_at_most(ModelConfig config, const std::string& id, const std::string& key,
                         Index most) {
  for (auto& layer : config.groups) {
    for (HeadGroup& group : layer) {
      Values& values = group.variant.values;
      if (group.variant.id == id && values.integer(key) > most) values.set(key, most);
    }
  }
  return config;
}

// "at most features=120000 here"
std::string fitting_words(const Parameter& parameter, Index most) {
  if (told_in_window()) return parameter.label + " up to " + grouped(most) + " would fit";
  return "at most " + words_of(parameter, most) + " here";
}

std::string what_would_fit(const Asked& asked, const ModelConfig& config) {
  const bool window = told_in_window();
  for (const auto& layer : config.groups) {
    for (const HeadGroup& group : layer) {
      const Variant& v = variant(group.variant.id);
      const Parameter* parameter = v.memory ? largest_integer(v, group.variant.values) : nullptr;
      if (parameter == nullptr) continue;
      const auto least = static_cast<Index>(parameter->least);
      const Index most =
          largest_good(least, group.variant.values.integer(parameter->key), [&](Index value) {
            return asked.fits(with_at_most(config, v.id, parameter->key, value), asked.length);
          });
      if (most >= least) return fitting_words(*parameter, most);
    }
  }
  const auto shorter = [&](Index tokens) {
    return RunLength{tokens, std::min(tokens, asked.length.target)};
  };
  const Index most = largest_good(1, asked.length.tokens,
                                  [&](Index count) { return asked.fits(config, shorter(count)); });
  if (most <= 0) {
    return window ? "It takes a smaller model or a larger budget"
                  : "a smaller model or a larger budget";
  }
  return window ? "A text of up to " + grouped(most) + " tokens would fit"
                : "at most " + std::to_string(most) + " tokens (--most-tokens)";
}

// "33 GB of 34 GB for 200 tokens": what is too much, and what to do.
[[noreturn]] void refuse(const std::vector<MemoryItem>& items, const std::string& length,
                         const std::string& fitting) {
  const MemoryItem& largest = items.front();
  const std::string all = memory_text(total_bytes(items)), of = memory_text(largest.bytes);
  const std::string budget = memory_text(static_cast<double>(memory_budget()));
  const std::string where = where_memory_is_set();
  if (told_in_window()) {
    throw InputError("This would take " + all + " of memory for " + length + ", " + of +
                     " of it for " + largest.what + ". At most " + budget + " are allowed (" +
                     where + "). " + fitting);
  }
  throw InputError("memory: " + largest.what + ": " + of + " of " + all + " for " + length +
                   "; the budget is " + budget + " (" + where + "); expected " + fitting);
}

}  // namespace

void check_memory(const Model& stored, const ModelConfig& config, RunLength length,
                  bool gradients) {
  const Asked asked{stored, length, gradients};
  if (asked.fits(config, length)) return;
  refuse(asked.items(config, length), grouped(length.tokens) + " tokens",
         what_would_fit(asked, config));
}

void check_training_memory(const ModelConfig& config, const TrainingOf& of) {
  const auto fits = [&](const TrainingOf& wanted) {
    return total_bytes(training_memory_need(config, wanted)) <=
           static_cast<double>(memory_budget());
  };
  if (fits(of)) return;
  std::string fitting = "a smaller model, shorter sequences or a larger budget";
  for (TrainingOf fewer = of; --fewer.at_once > 0;) {  // a part of a batch that divides it
    if (of.batch % fewer.at_once != 0 || !fits(fewer)) continue;
    fitting = "at most " + std::to_string(fewer.at_once) + " sequences at a time (--micro-batch)";
    break;
  }
  refuse(training_memory_need(config, of),
         std::to_string(of.at_once) + " sequences of " + grouped(of.length.tokens) + " tokens",
         fitting);
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
    std::vector<MemoryItem> list{{"output, keys and values of each head", kNumber * rows}};
    if (maps)
      list.push_back({"attention maps", kNumber * pairs * real(queries) * columns_of(of, keys)});
    if (v.memory) list.push_back({words_of(of), v.memory(in)});
    std::ranges::sort(list, [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    return list;
  };
  const auto fits = [&](const Values& values) {
    return total_bytes(items(values)) <= static_cast<double>(memory_budget());
  };
  if (fits(input.variant.values)) return;
  std::string fitting = told_in_window() ? "It takes fewer queries and keys, or a larger budget"
                                         : "fewer queries and keys, or a larger budget";
  if (const Parameter* parameter = v.memory ? largest_integer(v, input.variant.values) : nullptr) {
    const auto least = static_cast<Index>(parameter->least);
    const Index most =
        largest_good(least, input.variant.values.integer(parameter->key), [&](Index value) {
          Values values = input.variant.values;
          values.set(parameter->key, value);
          return fits(values);
        });
    if (most >= least) fitting = fitting_words(*parameter, most);
  }
  refuse(items(input.variant.values), grouped(queries) + " queries and " + grouped(keys) + " keys",
         fitting);
}

}  // namespace attnscope
