#include "core/trace/tap_names.h"

#include <algorithm>
#include <map>
#include <set>

namespace attnscope {
namespace {

using Taps = std::vector<Located<PartedTensor>>;

// Stacks tensors along a new first axis if `adds_axis`, else concatenates them along the first.
PartedTensor combine(const std::vector<PartedTensor>& tensors, bool adds_axis) {
  PartedTensor result{tensors.front().shape, {}};
  if (adds_axis) {
    result.shape.insert(result.shape.begin(), static_cast<Index>(tensors.size()));
  } else {
    result.shape[0] = 0;
    for (const PartedTensor& tensor : tensors) result.shape[0] += tensor.shape[0];
  }
  for (const PartedTensor& tensor : tensors) {
    result.parts.insert(result.parts.end(), tensor.parts.begin(), tensor.parts.end());
  }
  return result;
}

// True if the shapes are equal. If `ignore_first`, the first axes may differ.
bool shapes_match(const PartedTensor& a, const PartedTensor& b, bool ignore_first) {
  Shape x = a.shape, y = b.shape;
  if (x.size() != y.size()) return false;
  if (ignore_first && !x.empty()) x[0] = y[0] = 0;
  return x == y;
}

// Taps grouped by all address components except one, ordered by that component.
using Families = std::map<Address, std::map<Index, PartedTensor>>;

Families group_taps(const Taps& taps, Index Address::*component) {
  Families result;
  for (const Located<PartedTensor>& tap : taps) {
    Address others = tap.address;
    others.*component = 0;
    result[others].emplace(tap.address.*component, tap.values);
  }
  return result;
}

// True if the component can be joined (see the header).
bool can_join(const Families& families, bool by_group) {
  std::set<Index> all_values;
  for (const auto& [address, values] : families) {
    for (const auto& [value, tensor] : values) all_values.insert(value);
  }
  return std::ranges::all_of(families, [&](const auto& family) {
    const auto& values = family.second;
    const bool is_complete = by_group || values.size() == all_values.size();
    return is_complete && std::ranges::all_of(values, [&](const auto& value) {
             return shapes_match(value.second, values.begin()->second, by_group);
           });
  });
}

// Joins the taps over the component. Returns false and changes nothing if that is impossible.
bool join(Taps& taps, Index Address::*component, bool by_group) {
  const Families families = group_taps(taps, component);
  if (!can_join(families, by_group)) return false;
  Taps result;
  for (const auto& [address, values] : families) {
    std::vector<PartedTensor> tensors;
    for (const auto& [value, tensor] : values) tensors.push_back(tensor);
    result.push_back(
        {taps.front().name, address, combine(tensors, !by_group), taps.front().by_head});
  }
  taps = std::move(result);
  return true;
}

std::string component_text(const char* name, Index value) {
  return std::string(".") + name + "=" + std::to_string(value);
}

}  // namespace

Tensor PartedTensor::value() const {
  Tensor result(shape);
  float* to = result.data();
  for (const auto& part : parts) {
    const Tensor numbers = part();
    to = std::copy_n(numbers.data(), numbers.size(), to);
  }
  return result;
}

std::vector<NamedTensor> join_taps(const Taps& all_taps, const AddressParts& parts, bool by_group,
                                   bool by_kind) {
  std::map<std::pair<Stack, AttentionKind>, Taps> by_part;
  for (const Located<PartedTensor>& tap : all_taps) {
    by_part[{tap.address.stack, by_kind ? tap.address.kind : AttentionKind::Self}].push_back(tap);
  }
  std::vector<NamedTensor> result;
  for (auto& [part, taps] : by_part) {
    const bool group_in_name = by_group && !join(taps, &Address::group, true);
    const bool layer_in_name = !join(taps, &Address::layer, false);
    const bool step_in_name = parts.step && !join(taps, &Address::step, false);
    const bool segment_in_name = parts.segment && !join(taps, &Address::segment, false);
    for (const Located<PartedTensor>& tap : taps) {
      const Address& address = tap.address;
      std::string name = tap.name;
      if (parts.stack)
        name += address.stack == Stack::Encoder ? ".stack=encoder" : ".stack=decoder";
      if (by_kind && parts.kind && address.stack == Stack::Decoder) {
        name += address.kind == AttentionKind::Cross ? ".kind=cross" : ".kind=self";
      }
      if (segment_in_name) name += component_text("segment", address.segment);
      if (step_in_name) name += component_text("step", address.step);
      if (layer_in_name) name += component_text("layer", address.layer);
      if (group_in_name) name += component_text("group", address.group);
      result.push_back({name, tap.values});
    }
  }
  return result;
}

std::vector<NamedTensor> join_attention(const Trace& trace) {
  Taps taps;
  for (const AttentionTap& tap : trace.attention) {
    const auto heads = static_cast<Index>(tap.heads.size());
    PartedTensor maps{{heads, tap.queries(), tap.keys()}, {}};
    for (Index head = 0; head < heads; ++head) {
      maps.parts.emplace_back([&tap, head] { return tap.attention(head); });
    }
    taps.push_back({"attention", tap.address, std::move(maps), true});
  }
  return taps.empty() ? std::vector<NamedTensor>{} : join_taps(taps, trace.parts, true, true);
}

std::vector<NamedTensor> join_located(const Trace& trace) {
  std::map<std::string, Taps> by_name;
  for (const Located<Tensor>& tap : trace.located) {
    const PartedTensor values{tap.values.shape(), {[numbers = tap.values] { return numbers; }}};
    by_name[tap.name].push_back({tap.name, tap.address, values, tap.by_head});
  }
  std::vector<NamedTensor> result;
  for (const auto& [name, taps] : by_name) {
    // Recorder has already concatenated rows of segments, and keeps states of the last segment.
    AddressParts parts = trace.parts;
    parts.segment = false;
    for (NamedTensor& tensor : join_taps(taps, parts, taps.front().by_head, false)) {
      result.push_back(std::move(tensor));
    }
  }
  return result;
}

}  // namespace attnscope
