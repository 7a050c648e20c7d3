// Names of taps in files (spec-models.md, section 1), and concatenation of the taps of one name.
//
// Address components are joined in the order group, layer, step, segment: groups are concatenated
// along the heads; layers, steps and segments become leading axes. Groups can be joined if their
// shapes differ only in heads. Other components can be joined if shapes agree and each value occurs
// with all values of the other components. A component that is not joined is part of each name:
// "state.layer=1".
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/trace/address.h"
#include "core/trace/trace.h"

namespace attnscope {

// Prefix of located losses: "loss.attention_reconstruction", [segments, 1]. Files of runs contain
// only the sums over layers and segments (Trace::taps).
inline constexpr const char* kLayerLoss = "loss.";

// A tensor that consists of parts. They are computed one at a time, because attention maps of all
// layers are large.
struct PartedTensor {
  Shape shape;
  std::vector<std::function<Tensor()>> parts;  // their concatenation is the tensor

  Tensor value() const;
};

struct NamedTensor {
  std::string name;
  PartedTensor values;
};

// All `taps` have the same name. `by_group`: each tap is a tensor of one head group, [h, ...].
// `by_kind`: the attention kind is part of the names.
std::vector<NamedTensor> join_taps(const std::vector<Located<PartedTensor>>& taps,
                                   const AddressParts& parts, bool by_group, bool by_kind);

// Attention maps of all taps. The trace must outlive the result.
std::vector<NamedTensor> join_attention(const Trace& trace);
// Tensors of Trace::located.
std::vector<NamedTensor> join_located(const Trace& trace);

}  // namespace attnscope
