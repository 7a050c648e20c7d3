#include "tests/core/attention/operation_cases.h"

#include <algorithm>

#include "core/base/json.h"
#include "core/base/random.h"
#include "tests/support/compare.h"

namespace attnscope::testing {
namespace {

void add_weights(const Info& info, const Values& values, const Dimensions& sizes,
                 std::uint64_t seed, NamedVars& weights) {
  std::uint64_t index = 0;
  for (const WeightInfo& entry : info.weights) {
    ++index;
    if (!info.uses(entry, values)) continue;
    Tensor numbers = random_tensor(entry.shape(sizes, values), derived_seed(seed, index), 0.5);
    if (entry.file.bytes) {
      for (float& x : numbers) x = x > 0 ? 1.0f : 0.0f;
    }
    weights[entry.name] = numbers;
  }
}

}  // namespace

Dimensions dimensions(const OperationSizes& sizes) {
  Dimensions result;
  result.batch = sizes.batch;
  result.model = sizes.model;
  result.heads = sizes.heads;
  result.kv_heads = sizes.kv_heads;
  result.key = sizes.key;
  result.value = sizes.value;
  result.context = result.queries = result.keys = sizes.length;
  result.inner = sizes.inner;
  result.memory = sizes.memory;
  result.old_memory = sizes.old_memory;
  return result;
}

OperationSizes compatible_sizes(OperationSizes sizes, const Choice& variant, const Choice& encoding,
                                bool causal) {
  const auto is_supported = [&](const OperationSizes& tried) {
    return refusal(variant, encoding, causal, dimensions(tried), tried.length, tried.length)
        .empty();
  };
  OperationSizes equal_sizes = sizes;
  equal_sizes.value = sizes.key;
  return !is_supported(sizes) && is_supported(equal_sizes) ? equal_sizes : sizes;
}

OperationInput random_operation(const OperationSizes& sizes, const Choice& variant_choice,
                                const Choice& encoding_choice, bool causal, std::uint64_t seed) {
  const Index batch = sizes.batch, length = sizes.length;
  OperationInput input;
  input.batch = batch;
  input.heads = sizes.heads;
  input.kv_heads = sizes.kv_heads;
  input.x = random_tensor({batch, length, sizes.model}, derived_seed(seed, 1));
  input.q = random_tensor({batch * sizes.heads, length, sizes.key}, derived_seed(seed, 2));
  input.k = random_tensor({batch * sizes.kv_heads, length, sizes.key}, derived_seed(seed, 3));
  input.v = random_tensor({batch * sizes.kv_heads, length, sizes.value}, derived_seed(seed, 4));
  input.variant = variant_choice;
  input.encoding = encoding_choice;
  input.causal = causal;
  const Dimensions operation_dimensions = dimensions(sizes);
  add_weights(variant(variant_choice.id), variant_choice.values, operation_dimensions,
              derived_seed(seed, 5), input.weights);
  add_weights(encoding(encoding_choice.id), encoding_choice.values, operation_dimensions,
              derived_seed(seed, 6), input.weights);
  return input;
}

std::vector<Values> value_cases(const std::vector<Parameter>& parameters) {
  std::vector<Values> cases{default_values(parameters)};
  for (const Parameter& p : parameters) {
    std::vector<Value> alternatives;
    if (p.kind == Parameter::Kind::Choice) {
      for (const ParameterChoice& choice : p.choices) {
        if (!choice.models) alternatives.emplace_back(choice.id);
      }
    }
    if (p.kind == Parameter::Kind::Flag) alternatives = {true, false};
    for (const Value& alternative : alternatives) {
      Values changed_values = cases.front();
      changed_values.set(p.key, alternative);
      if (!(changed_values == cases.front())) cases.push_back(changed_values);
    }
  }
  return cases;
}

Choice small_choice(const Variant& variant, Values values) {
  if (values.has("height")) {
    values.set("width", Index{4});
    values.set("height", Index{4});
  }
  if (values.has("projections")) values.set("global", std::vector<Index>{0, 2});
  return {variant.id, std::move(values)};
}

std::string describe(const OperationInput& input) {
  return to_json(input.variant).dump() + " with " + to_json(input.encoding).dump() +
         (input.causal ? ", causal" : "");
}

}  // namespace attnscope::testing
