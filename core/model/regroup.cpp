// with_groups(): moves the weights of each head to its new group.
#include <algorithm>
#include <stdexcept>

#include "core/autodiff/operations_shape.h"
#include "core/base/random.h"
#include "core/model/model.h"
#include "core/model/weight_budget.h"
#include "core/model/weights.h"
#include "core/position/illustrative_weights.h"

namespace attnscope {
namespace {

// Dependence of a weight's shape on the number of heads.
struct HeadAxis {
  Index axis = -1;                // axis that counts heads; -1: all heads share the weight
  Index unit = 1;                 // entries of the axis per head
  bool counts_key_heads = false;  // counts key-value heads instead of query heads
};

HeadAxis head_axis(const WeightInfo& weight, const Values& values, Dimensions dimensions) {
  const auto shape = [&](Index heads, Index key_heads) {
    dimensions.heads = heads;
    dimensions.kv_heads = key_heads;
    return weight.shape(dimensions, values);
  };
  const Shape single = shape(1, 1), two_heads = shape(2, 1), two_key_heads = shape(1, 2);
  for (std::size_t axis = 0; axis < single.size(); ++axis) {
    if (two_heads[axis] != single[axis]) return {static_cast<Index>(axis), single[axis], false};
    if (two_key_heads[axis] != single[axis]) return {static_cast<Index>(axis), single[axis], true};
  }
  return {};
}

class Regrouping {
 public:
  Regrouping(const Model& from, Model& to, Index tokens) : from_(from), to_(to), tokens_(tokens) {}

  void run() {
    add_shared_weights();
    for (Index layer = 0; layer < to_.config.layers; ++layer) {
      const auto& groups = to_.config.groups[static_cast<std::size_t>(layer)];
      for (std::size_t g = 0; g < groups.size(); ++g) {
        const Encoding& position = encoding(groups[g].encoding.id);
        add_group_weights(layer, g, &HeadGroup::variant, variant(groups[g].variant.id));
        if (!position.embed) add_group_weights(layer, g, &HeadGroup::encoding, position);
      }
    }
    std::ranges::sort(to_.untrained);
  }

 private:
  using Kind = Choice HeadGroup::*;  // variant or encoding

  // Source of a head's slice of a weight.
  struct Origin {
    const Var* weight = nullptr;  // null: initial values
    Index head = 0;               // index of the head in `weight`
    bool untrained = true;
    bool operator==(const Origin&) const = default;
  };

  bool is_untrained(const std::string& name) const {
    return std::ranges::find(from_.untrained, name) != from_.untrained.end();
  }

  // Copies weights outside of head groups, and creates the weights of a new input encoding.
  void add_shared_weights() {
    to_.narrow = from_.narrow;
    const Choice* old_encoding = input_encoding(from_.config);
    const Choice* new_encoding = input_encoding(to_.config);
    std::uint64_t weight_number = 0;
    for (const WeightSpec& spec : weight_specs(to_.config)) {
      ++weight_number;
      const bool is_in_group =
          spec.name.starts_with("layers.") && spec.name.find(".groups.") != std::string::npos;
      if (is_in_group || to_.narrow.contains(spec.name)) continue;
      const auto stored = from_.weights.find(spec.name);
      if (spec.name.starts_with("shared.")) {
        add_layers_weight(spec, weight_number);
        continue;
      }
      const bool is_of_encoding = new_encoding && new_encoding->id == spec.owner;
      const bool is_reusable = !is_of_encoding || (old_encoding && old_encoding->id == spec.owner);
      if (is_reusable && stored != from_.weights.end() && stored->second.shape() == spec.shape) {
        to_.weights.emplace(*stored);
        if (is_untrained(spec.name)) to_.untrained.push_back(spec.name);
      } else if (spec.initial && !(is_reusable && stored == from_.weights.end() && spec.optional)) {
        budget_.reserve(spec.owner, spec.name, spec.shape);
        const IllustrativeWeights* illustrative =
            is_of_encoding ? find_illustrative(*new_encoding, spec.name) : nullptr;
        to_.weights.emplace(
            spec.name,
            Var(illustrative ? (*illustrative)(spec.shape, situation(), new_encoding->values)
                             : spec.initial(derived_seed(0, weight_number))));
        to_.untrained.push_back(spec.name);
      }
    }
  }

  // Copies or creates a weight that all layers share.
  void add_layers_weight(const WeightSpec& spec, std::uint64_t weight_number) {
    const auto stored = from_.weights.find(spec.name);
    if (stored != from_.weights.end() && stored->second.shape() == spec.shape) {
      to_.weights.emplace(*stored);
      if (is_untrained(spec.name)) to_.untrained.push_back(spec.name);
      return;
    }
    budget_.reserve(spec.owner, spec.name, spec.shape);
    to_.untrained.push_back(spec.name);
    for (const WeightInfo& weight : variant(spec.owner).weights) {
      if (!spec.name.ends_with("." + weight.name)) continue;
      const Values& values = values_of_shared(spec.owner);
      to_.weights.emplace(
          spec.name, Var(weight.illustrative ? weight.illustrative(spec.shape, situation(), values)
                                             : spec.initial(derived_seed(0, weight_number))));
      return;
    }
  }

  // Values of the first group with this variant.
  const Values& values_of_shared(const std::string& id) const {
    for (const auto& groups : to_.config.groups) {
      for (const HeadGroup& group : groups) {
        if (group.variant.id == id) return group.variant.values;
      }
    }
    throw std::logic_error("shared weight without a group: " + id);
  }

  // Illustrative value of an input encoding's weight; null: the weight has only an initial value.
  static const IllustrativeWeights* find_illustrative(const Choice& choice,
                                                      const std::string& name) {
    for (const WeightInfo& weight : encoding(choice.id).weights) {
      if (name.ends_with("." + weight.name) && weight.illustrative) return &weight.illustrative;
    }
    return nullptr;
  }

  Situation situation() const {
    const ModelConfig& c = to_.config;
    return {group_dimensions(c, {0, c.heads, 0, c.kv_heads}), tokens_, tokens_, c.causal};
  }

  void add_group_weights(Index layer, std::size_t group, Kind kind, const Info& info) {
    const Values& values = (to_.config.groups[static_cast<std::size_t>(layer)][group].*kind).values;
    for (std::size_t n = 0; n < info.weights.size(); ++n) {
      const WeightInfo& weight = info.weights[n];
      if (weight.is_shared_by_layers && weight.is_shared_by_layers(values)) continue;
      if (info.uses(weight, values) && weight.scope != WeightScope::Operation) {
        const std::uint64_t seed =
            derived_seed(derived_seed(0, static_cast<std::uint64_t>(layer)), n);
        add_group_weight(layer, group, kind, info, weight, seed);
      }
    }
  }

  void add_group_weight(Index layer, std::size_t group, Kind kind, const Info& info,
                        const WeightInfo& weight, std::uint64_t seed) {
    const Values& values = (to_.config.groups[static_cast<std::size_t>(layer)][group].*kind).values;
    const HeadRange range = head_ranges(to_.config, layer)[group];
    const Dimensions dimensions = group_dimensions(to_.config, range);
    const HeadAxis axis = head_axis(weight, values, dimensions);
    const Shape shape = weight.shape(dimensions, values);
    const std::string name = group_prefix(layer, static_cast<Index>(group)) + weight.name;

    bool is_absent = false;  // from_ has no such weight for any head
    std::vector<Origin> origins =
        find_origins(layer, range, kind, info, weight, axis, shape, is_absent);
    if (is_absent && weight.file.optional) return;
    if (axis.axis < 0 && !std::ranges::all_of(origins, [&](const Origin& o) {
          return o.weight && o.weight->value().data() == origins[0].weight->value().data();
        })) {
      origins.assign(origins.size(), Origin{});
    }
    const bool needs_initial =
        std::ranges::any_of(origins, [](const Origin& o) { return o.weight == nullptr; });
    if (needs_initial && !weight.initial) return;
    Var initial;
    if (needs_initial) initial = initial_layer_weight(info, weight, values, axis, shape, seed);
    to_.weights.emplace(name, assemble(origins, initial, axis, range));
    if (std::ranges::any_of(origins, &Origin::untrained)) to_.untrained.push_back(name);
  }

  // Origin of each head of the group, or of each key-value head that the group uses.
  std::vector<Origin> find_origins(Index layer, const HeadRange& range, Kind kind, const Info& info,
                                   const WeightInfo& weight, const HeadAxis& axis,
                                   const Shape& shape, bool& is_absent) const {
    const auto& groups = from_.config.groups[static_cast<std::size_t>(layer)];
    const std::vector<HeadRange> ranges = head_ranges(from_.config, layer);
    std::vector<Origin> origins;
    is_absent = true;
    const Index first = axis.counts_key_heads ? range.first_key_head : range.first;
    const Index count = axis.counts_key_heads ? range.key_heads : range.count;
    for (Index head = first; head < first + count; ++head) {
      Origin origin;
      for (std::size_t g = 0; g < groups.size(); ++g) {
        const Index begin = axis.counts_key_heads ? ranges[g].first_key_head : ranges[g].first;
        const Index size = axis.counts_key_heads ? ranges[g].key_heads : ranges[g].count;
        if (head < begin || head >= begin + size) continue;
        const Choice& choice = groups[g].*kind;
        if (choice.id != info.id || !info.uses(weight, choice.values)) {
          is_absent = false;
          continue;
        }
        const std::string name = group_prefix(layer, static_cast<Index>(g)) + weight.name;
        const auto stored = from_.weights.find(name);
        if (stored == from_.weights.end()) continue;
        is_absent = false;
        Shape expected = shape;
        if (axis.axis >= 0) expected[static_cast<std::size_t>(axis.axis)] = size * axis.unit;
        if (stored->second.shape() != expected) continue;
        origin = {&stored->second, head - begin, is_untrained(name)};
      }
      origins.push_back(origin);
    }
    return origins;
  }

  // Initial values for all heads of the layer; a group selects the values of its heads.
  Var initial_layer_weight(const Info& info, const WeightInfo& weight, const Values& values,
                           const HeadAxis& axis, const Shape& group_shape, std::uint64_t seed) {
    const Situation all_heads = situation();
    const Dimensions& dimensions = all_heads.dimensions;
    const Shape shape = axis.axis < 0 ? group_shape : weight.shape(dimensions, values);
    budget_.reserve(info.id, weight.name, shape);
    if (!weight.illustrative) return Var(weight.initial(shape, dimensions, values, seed));
    return Var(weight.illustrative(shape, all_heads, values));
  }

  // Concatenates the slices of all heads; successive heads of the same tensor form one slice.
  static Var assemble(const std::vector<Origin>& origins, const Var& initial, const HeadAxis& axis,
                      const HeadRange& range) {
    if (axis.axis < 0) return origins[0].weight ? *origins[0].weight : initial;
    const Index first = axis.counts_key_heads ? range.first_key_head : range.first;
    const auto tensor = [&](std::size_t n) { return origins[n].weight; };
    const auto head_index = [&](std::size_t n) {
      return tensor(n) ? origins[n].head : first + static_cast<Index>(n);
    };
    std::vector<Var> parts;
    for (std::size_t n = 0; n < origins.size();) {
      std::size_t end = n + 1;
      while (end < origins.size() && tensor(end) == tensor(n) &&
             head_index(end) == head_index(n) + static_cast<Index>(end - n)) {
        ++end;
      }
      const Var& source = tensor(n) ? *tensor(n) : initial;
      const Index count = static_cast<Index>(end - n) * axis.unit;
      parts.push_back(source.dim(axis.axis) == count
                          ? source
                          : slice(source, axis.axis, head_index(n) * axis.unit, count));
      n = end;
    }
    return parts.size() == 1 ? parts[0] : concat(parts, axis.axis);
  }

  const Model& from_;
  Model& to_;
  Index tokens_;  // number of tokens to process, 0: unknown
  WeightBudget budget_;
};

}  // namespace

Model with_groups(const Model& model, const std::vector<std::vector<HeadGroup>>& groups,
                  bool causal, Index tokens) {
  Model result;
  result.config = model.config;
  result.config.groups = groups;
  result.config.causal = causal;
  check(result.config, "model");
  Regrouping(model, result, tokens).run();
  return result;
}

}  // namespace attnscope
