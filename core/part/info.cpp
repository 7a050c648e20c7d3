#include "core/part/info.h"

#include <cmath>

#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

bool may_be_empty(Index size) {
  return size == kFreeMemory || size == kFreeOldMemory;
}

// Returns true if `actual` matches `expected`. If so, records in `sizes` the actual size of each
// free size of `expected`.
bool fits(const Shape& expected, const Shape& actual, std::map<Index, Index>& sizes) {
  if (expected.size() != actual.size()) return false;
  std::map<Index, Index> new_sizes = sizes;
  for (std::size_t axis = 0; axis < expected.size(); ++axis) {
    if (expected[axis] >= 0) {
      if (expected[axis] != actual[axis]) return false;
      continue;
    }
    if (actual[axis] == 0 && !may_be_empty(expected[axis])) return false;
    const auto [it, is_new] = new_sizes.emplace(expected[axis], actual[axis]);
    if (!is_new && it->second != actual[axis]) return false;
  }
  sizes = std::move(new_sizes);
  return true;
}

Shape bind_sizes(Shape shape, const std::map<Index, Index>& sizes) {
  for (Index& size : shape) {
    const auto it = sizes.find(size);
    if (size < 0 && it != sizes.end()) size = it->second;
  }
  return shape;
}

}  // namespace

Dimensions free_dimensions(Index heads, Index kv_heads, Index key, Index value) {
  Dimensions dimensions;
  dimensions.model = kFreeModel;
  dimensions.heads = heads;
  dimensions.kv_heads = kv_heads;
  dimensions.key = key;
  dimensions.value = value;
  dimensions.context = kFreeContext;
  dimensions.queries = kFreeQueries;
  dimensions.keys = kFreeKeys;
  dimensions.inner = kFreeInner;
  dimensions.memory = kFreeMemory;
  dimensions.old_memory = kFreeOldMemory;
  return dimensions;
}

Initial initial_zeros() {
  return [](const Shape& shape, const Dimensions&, const Values&, std::uint64_t) {
    return Tensor::zeros(shape);
  };
}

Initial initial_ones() {
  return [](const Shape& shape, const Dimensions&, const Values&, std::uint64_t) {
    return Tensor::full(shape, 1.0f);
  };
}

namespace {
Tensor normal_tensor(const Shape& shape, double deviation, std::uint64_t seed) {
  Random random(seed);
  Tensor tensor(shape);
  for (Index n = 0; n < tensor.size(); ++n) {
    if (n % kGrain == 0) check_stop();
    tensor[n] = static_cast<float>(deviation * random.normal());
  }
  return tensor;
}
}  // namespace

Initial initial_normal(double deviation) {
  return [deviation](const Shape& shape, const Dimensions&, const Values&, std::uint64_t seed) {
    return normal_tensor(shape, deviation, seed);
  };
}

Initial initial_projection() {
  return [](const Shape& shape, const Dimensions&, const Values&, std::uint64_t seed) {
    const Index rows = shape.size() < 2 ? 1 : shape[shape.size() - 2];
    return normal_tensor(shape, 1 / std::sqrt(static_cast<double>(rows)), seed);
  };
}

std::string to_text(const Shape& shape) {
  std::string text = "[";
  for (const Index size : shape) {
    text += text.size() > 1 ? ", " : "";
    text += size >= 0 ? std::to_string(size) : may_be_empty(size) ? "any" : "at least 1";
  }
  return text + "]";
}

void check_weights(const Info& info, const Values& values, const Dimensions& dimensions,
                   const NamedVars& weights, bool requires_state) {
  std::map<Index, Index> sizes;
  for (const WeightInfo& entry : info.weights) {
    if (!info.uses(entry, values) || (entry.scope == WeightScope::Model && requires_state))
      continue;
    const Shape expected = entry.shape(dimensions, values);
    const Var* actual = find_weight(weights, entry.name);
    if (!actual) {
      if (entry.scope == WeightScope::Model ||
          (entry.scope == WeightScope::Operation && !requires_state))
        continue;
      if (entry.file.state ? !requires_state : entry.file.optional) continue;
      throw InputError(entry.name + ": missing, expected shape " +
                       to_text(bind_sizes(expected, sizes)));
    }
    if (fits(expected, actual->shape(), sizes)) continue;
    Shape per_head = expected;
    per_head.insert(per_head.begin(), dimensions.heads);
    if (entry.file.per_head && fits(per_head, actual->shape(), sizes)) continue;
    throw InputError(entry.name + ": expected shape " + to_text(bind_sizes(expected, sizes)) +
                     (entry.file.per_head ? " or " + to_text(bind_sizes(per_head, sizes)) : "") +
                     ", found " + to_string(actual->shape()));
  }
}

const Var* find_weight(const NamedVars& weights, std::string_view name) {
  const auto it = weights.find(name);
  return it == weights.end() ? nullptr : &it->second;
}

const Var& weight(const NamedVars& weights, std::string_view name) {
  const Var* var = find_weight(weights, name);
  if (!var) throw InputError(std::string(name) + ": missing");
  return *var;
}

}  // namespace attnscope
