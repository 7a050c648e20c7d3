#include "core/trace/tap_names.h"

#include <algorithm>
#include <map>
#include <set>

namespace attnscope {
namespace {

using Taps = std::vector<Located<Tensor>>;

// Concatenates tensors along their first axis, or stacks them along a new one.
Tensor stacked(const std::vector<Tensor>& parts, bool new_axis) {
  Shape shape = parts.front().shape();
  if (new_axis) {
    shape.insert(shape.begin(), static_cast<Index>(parts.size()));
  } else {
    shape[0] = 0;
    for (const Tensor& part : parts) shape[0] += part.dim(0);
  }
  Tensor all(shape);
  float* to = all.data();
  for (const Tensor& part : parts) to = std::copy_n(part.data(), part.size(), to);
  return all;
}

// True if both have the same shape, optionally except for the first axis.
bool agree(const Tensor& a, const Tensor& b, bool but_for_first) {
  Shape x = a.shape(), y = b.shape();
  if (x.size() != y.size()) return false;
  if (but_for_first && !x.empty()) x[0] = y[0] = 0;
  return x == y;
}

// Taps grouped by all address components except one, ordered by that component.
using Families = std::map<Address, std::map<Index, Tensor>>;

Families families(const Taps& taps, Index Address::*part) {
  Families result;
  for (const Located<Tensor>& tap : taps) {
    Address others = tap.address;
    others.*part = 0;
    result[others].emplace(tap.address.*part, tap.values);
  }
  return result;
}

// True if the component can be joined (see the header).
bool joins(const Families& families, bool groups) {
  std::set<Index> known;
  for (const auto& [address, values] : families) {
    for (const auto& [value, tensor] : values) known.insert(value);
  }
  return std::ranges::all_of(families, [&](const auto& family) {
    const auto& values = family.second;
    const bool complete = groups || values.size() == known.size();
    return complete && std::ranges::all_of(values, [&](const auto& value) {
             return agree(value.second, values.begin()->second, groups);
           });
  });
}

// Joins the component if possible; otherwise returns false and leaves the taps unchanged.
bool join(Taps& taps, Index Address::*part, bool groups) {
  const Families found = families(taps, part);
  if (!joins(found, groups)) return false;
  Taps result;
  for (const auto& [address, values] : found) {
    std::vector<Tensor> parts;
    for (const auto& [value, tensor] : values) parts.push_back(tensor);
    result.push_back({taps.front().name, address, stacked(parts, !groups), taps.front().by_head});
  }
  taps = std::move(result);
  return true;
}

std::string text(const char* name, Index value) {
  return std::string(".") + name + "=" + std::to_string(value);
}

}  // namespace

std::vector<NamedTensor> joined_taps(const Taps& all, const AddressParts& parts, bool groups,
                                     bool kinds) {
  std::map<std::pair<Stack, AttentionKind>, Taps> apart;
  for (const Located<Tensor>& tap : all) {
    apart[{tap.address.stack, kinds ? tap.address.kind : AttentionKind::Self}].push_back(tap);
  }
  std::vector<NamedTensor> result;
  for (auto& [place, taps] : apart) {
    const bool group_in_name = groups && !join(taps, &Address::group, true);
    const bool layer_in_name = !join(taps, &Address::layer, false);
    const bool step_in_name = parts.step && !join(taps, &Address::step, false);
    const bool segment_in_name = parts.segment && !join(taps, &Address::segment, false);
    for (const Located<Tensor>& tap : taps) {
      const Address& at = tap.address;
      std::string name = tap.name;
      if (parts.stack) name += at.stack == Stack::Encoder ? ".stack=encoder" : ".stack=decoder";
      if (kinds && parts.kind && at.stack == Stack::Decoder) {
        name += at.kind == AttentionKind::Cross ? ".kind=cross" : ".kind=self";
      }
      if (segment_in_name) name += text("segment", at.segment);
      if (step_in_name) name += text("step", at.step);
      if (layer_in_name) name += text("layer", at.layer);
      if (group_in_name) name += text("group", at.group);
      result.push_back({name, tap.values});
    }
  }
  return result;
}

std::vector<NamedTensor> joined_attention(const Trace& trace) {
  Taps taps;
  for (const AttentionTap& tap : trace.attention) {
    std::vector<Tensor> heads;
    for (std::size_t a = 0; a < tap.heads.size(); ++a) {
      heads.push_back(tap.attention(static_cast<Index>(a)));  // [L_q, L_k]
    }
    taps.push_back({"attention", tap.address, stacked(heads, true), true});
  }
  return taps.empty() ? std::vector<NamedTensor>{} : joined_taps(taps, trace.parts, true, true);
}

std::vector<NamedTensor> joined_located(const Trace& trace) {
  std::map<std::string, Taps> by_name;
  for (const Located<Tensor>& tap : trace.located) by_name[tap.name].push_back(tap);
  std::vector<NamedTensor> result;
  for (const auto& [name, taps] : by_name) {
    // Rows of all segments are concatenated already, and a state is that of the last segment.
    AddressParts parts = trace.parts;
    parts.segment = false;
    for (NamedTensor& tensor : joined_taps(taps, parts, taps.front().by_head, false)) {
      result.push_back(std::move(tensor));
    }
  }
  return result;
}

}  // namespace attnscope
