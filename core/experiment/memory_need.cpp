#include "core/experiment/memory_need.h"

#include <algorithm>
#include <map>

#include "core/attention/operation_memory.h"
#include "core/base/error.h"
#include "core/base/memory_budget.h"
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

// What an operation of this group works with.
double operation_bytes(const ModelConfig& config, const HeadGroup& group, Index queries, Index keys,
                       bool maps) {
  const Variant& v = variant(group.variant.id);
  return kNumber * operation_numbers(v, {.values = group.variant.values,
                                         .heads = group.heads,
                                         .queries = queries,
                                         .keys = keys,
                                         .key_size = config.head_size,
                                         .maps = maps});
}

// "Performer with 1000000 features": its largest integer, which is what makes it large.
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
  return v.label + " with " + parameter->key + "=" +
         std::to_string(group.variant.values.integer(parameter->key));
}

// Of choices that the checkpoint has no weights for.
double made_weights(const Model& stored, const ModelConfig& config) {
  double numbers = 0;
  for (const WeightSpec& spec : weight_specs(config)) {
    const auto had = stored.weights.find(spec.name);
    const bool there = had != stored.weights.end() && had->second.shape() == spec.shape;
    if (!there && !stored.narrow.contains(spec.name)) numbers += product(spec.shape);
  }
  return kNumber * numbers;
}

}  // namespace

std::vector<MemoryItem> memory_need(const Model& stored, const ModelConfig& config, Index tokens,
                                    bool keep_attention) {
  const Index queries = config.segment > 0 ? std::min(config.segment, tokens) : tokens;
  const Index keys = most_keys(config, tokens);
  const double rows = real(tokens), heads = real(config.heads * config.head_size);
  const double width = real(config.width), layers = real(config.layers);
  ModelConfig longer = config;
  longer.context = std::max(config.context, tokens);
  std::vector<MemoryItem> items;
  items.push_back({"weights that are made for it", made_weights(stored, longer)});
  // Of each layer five taps, and queries, keys, values and output, before and after turning.
  items.push_back(
      {"what is recorded of the layers", kNumber * layers * rows * (5 * width + 8 * heads)});
  items.push_back({"one layer's work", kNumber * rows * (8 * width + 3 * real(config.hidden))});
  items.push_back({"logits", kNumber * 2 * rows * real(config.vocabulary)});
  if (keep_attention) {
    items.push_back({"attention maps", kNumber * layers * real(config.heads) * rows * real(keys)});
  }
  std::map<std::string, double> of_variants;  // of all layers: much of it is recorded
  for (const auto& layer : config.groups) {
    for (const HeadGroup& group : layer) {
      of_variants[words_of(group)] += operation_bytes(config, group, queries, keys, keep_attention);
    }
  }
  for (const auto& [words, bytes] : of_variants) items.push_back({words, bytes});
  std::ranges::sort(items, [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
  return items;
}

double total_bytes(const std::vector<MemoryItem>& items) {
  double bytes = 0;
  for (const MemoryItem& item : items) bytes += item.bytes;
  return bytes;
}

bool keeps_attention(const ModelConfig& config, Index tokens) {
  const double bytes = kNumber * real(config.layers) * real(config.heads) * real(tokens) *
                       real(most_keys(config, tokens));
  return bytes <= std::min(kMostMapBytes, real(static_cast<Index>(memory_budget())) / 8);
}

namespace {

bool fits(const Model& stored, const ModelConfig& config, Index tokens) {
  const bool keeps = keeps_attention(config, tokens);
  return total_bytes(memory_need(stored, config, tokens, keeps)) <=
         static_cast<double>(memory_budget());
}

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

// "; at most features=120000 fits here".
std::string what_would_fit(const Model& stored, const ModelConfig& config, Index tokens) {
  for (const auto& layer : config.groups) {
    for (const HeadGroup& group : layer) {
      const Variant& v = variant(group.variant.id);
      const Parameter* parameter =
          has_operation_numbers(v) ? largest_integer(v, group.variant.values) : nullptr;
      if (parameter == nullptr) continue;
      const auto least = static_cast<Index>(parameter->least);
      const Index most =
          largest_good(least, group.variant.values.integer(parameter->key), [&](Index value) {
            return fits(stored, with_at_most(config, v.id, parameter->key, value), tokens);
          });
      if (most >= least) return "at most " + parameter->key + "=" + std::to_string(most) + " here";
    }
  }
  const Index most =
      largest_good(1, tokens, [&](Index count) { return fits(stored, config, count); });
  return most > 0 ? "at most " + std::to_string(most) + " tokens (--most-tokens)"
                  : "a smaller model or a larger budget";
}

}  // namespace

void check_memory(const Model& stored, const ModelConfig& config, Index tokens) {
  if (fits(stored, config, tokens)) return;
  const std::vector<MemoryItem> items =
      memory_need(stored, config, tokens, keeps_attention(config, tokens));
  throw InputError("memory: " + items.front().what + ": " + memory_text(items.front().bytes) +
                   " of " + memory_text(total_bytes(items)) + " for " + std::to_string(tokens) +
                   " tokens; the budget is " + memory_text(static_cast<double>(memory_budget())) +
                   " (--memory, in the menu Window, Memory); expected " +
                   what_would_fit(stored, config, tokens));
}

}  // namespace attnscope
