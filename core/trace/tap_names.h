// What taps are called in files (SPEC-MODELS section 1): "attention" with the parts of its address,
// and which taps are joined into one tensor.
//
// From the last part to the first, groups are joined along the heads, then layers, steps and
// segments become leading axes: each where all its taps agree in shape (heads apart) and (groups
// apart) all its values are there for every value of the other parts. A part that is not joined
// stays in the name of all taps.
#pragma once

#include <string>
#include <vector>

#include "core/trace/address.h"
#include "core/trace/trace.h"

namespace attnscope {

struct NamedTensor {
  std::string name;
  Tensor values;
};

// `taps`: tensors of one name. `groups`: whether they are by head group, heads first, [h, ...];
// `kinds`: whether the kind is part of the name.
std::vector<NamedTensor> joined_taps(const std::vector<Located<Tensor>>& taps,
                                     const AddressParts& parts, bool groups, bool kinds);

// The attention of all taps.
std::vector<NamedTensor> joined_attention(const Trace& trace);
// Trace::located.
std::vector<NamedTensor> joined_located(const Trace& trace);

}  // namespace attnscope
