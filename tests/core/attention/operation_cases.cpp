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
  Dimensions d;
  d.batch = sizes.batch;
  d.model = sizes.model;
  d.heads = sizes.heads;
  d.kv_heads = sizes.kv_heads;
  d.key = sizes.key;
  d.value = sizes.value;
  d.context = d.queries = d.keys = sizes.length;
  d.inner = sizes.inner;
  d.memory = sizes.memory;
  d.old_memory = sizes.old_memory;
  return d;
}

OperationInput random_operation(const OperationSizes& sizes, const Choice& variant_choice,
                                const Choice& encoding_choice, bool causal, std::uint64_t seed) {
  const Index n = sizes.batch, length = sizes.length;
  OperationInput in;
  in.batch = n;
  in.heads = sizes.heads;
  in.kv_heads = sizes.kv_heads;
  in.x = random_tensor({n, length, sizes.model}, derived_seed(seed, 1));
  in.q = random_tensor({n * sizes.heads, length, sizes.key}, derived_seed(seed, 2));
  in.k = random_tensor({n * sizes.kv_heads, length, sizes.key}, derived_seed(seed, 3));
  in.v = random_tensor({n * sizes.kv_heads, length, sizes.value}, derived_seed(seed, 4));
  in.variant = variant_choice;
  in.encoding = encoding_choice;
  in.causal = causal;
  const Dimensions d = dimensions(sizes);
  add_weights(variant(variant_choice.id), variant_choice.values, d, derived_seed(seed, 5),
              in.weights);
  add_weights(encoding(encoding_choice.id), encoding_choice.values, d, derived_seed(seed, 6),
              in.weights);
  return in;
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
      Values changed = cases.front();
      changed.set(p.key, alternative);
      if (!(changed == cases.front())) cases.push_back(changed);
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
