// Names of taps in files (spec-models.md, section 1): "attention" with components of its address,
// and the concatenation of taps into one tensor.
//
// From the last address component to the first, groups are concatenated along the heads; then
// layers, steps and segments become leading axes. A component is joined if all its taps have the
// same shape (except for heads) and, groups excepted, all its values exist for every value of the
// other components. Otherwise it stays in the name of all taps.
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

// `taps`: tensors of one name. `groups`: they are per head group, heads first, [h, ...]. `kinds`:
// the kind is part of the name.
std::vector<NamedTensor> joined_taps(const std::vector<Located<Tensor>>& taps,
                                     const AddressParts& parts, bool groups, bool kinds);

// The attention of all taps.
std::vector<NamedTensor> joined_attention(const Trace& trace);
// Trace::located.
std::vector<NamedTensor> joined_located(const Trace& trace);

}  // namespace attnscope
