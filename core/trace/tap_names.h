// Names of taps in files (spec-models.md, section 1), and concatenation of the taps of one name.
//
// Address components are joined in the order group, layer, step, segment: groups are concatenated
// along the heads; layers, steps and segments become leading axes. Groups can be joined if their
// shapes differ only in heads. Other components can be joined if shapes agree and each value occurs
// with all values of the other components. A component that is not joined is part of each name:
// "state.layer=1".
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

// All `taps` have the same name. `by_group`: each tap is a tensor of one head group, [h, ...].
// `by_kind`: the attention kind is part of the names.
std::vector<NamedTensor> join_taps(const std::vector<Located<Tensor>>& taps,
                                   const AddressParts& parts, bool by_group, bool by_kind);

// Attention maps of all taps.
std::vector<NamedTensor> join_attention(const Trace& trace);
// Tensors of Trace::located.
std::vector<NamedTensor> join_located(const Trace& trace);

}  // namespace attnscope
