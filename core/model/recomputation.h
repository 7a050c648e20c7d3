// Activation checkpointing: the tape keeps only the input of each layer. The backward pass runs the
// layer again, with a tape for one layer at a time (Chen et al., 2016, arXiv:1604.06174). Losses
// and gradients stay the same; only gradients of weights that layers share are added in another
// order. With ForwardOptions::stores_bfloat, the layers read inputs rounded to bfloat16, and the
// tape keeps these with 2 bytes a number (Child et al., 2019, section 5.4, arXiv:1904.10509).
#pragma once

#include <memory>
#include <string>

#include "core/model/model.h"
#include "core/model/site.h"

namespace attnscope {

class Pass;

// Numbers as bfloat16, two in an integer.
IntTensor pack_bfloat(const Tensor& values);
Tensor unpack_bfloat(const IntTensor& packed, const Shape& shape);

// Reason why training cannot recompute a model's layers ("checkpointing: ..."); empty if it can.
std::string recomputation_refusal(const ModelConfig& config);

class RecomputedLayers {
 public:
  explicit RecomputedLayers(Pass& pass);  // `pass` must outlive the object
  // Same as Pass::block(), of the rounded input with stores_bfloat.  [n, d] -> [n, d]
  Var block(const Site& site, const Var& x, const Var& source);

 private:
  Pass& pass_;
  std::shared_ptr<const Model> model_;  // weights with gradients, for the backward pass
  Model constants_;                     // weights without gradients
};

}  // namespace attnscope
