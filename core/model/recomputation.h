// Activation checkpointing: the tape keeps only the input of each layer. The backward pass runs the
// layer again, with a tape for one layer at a time (Chen et al., 2016, arXiv:1604.06174). Losses
// and gradients stay the same; only gradients of weights that layers share are added in another
// order.
#pragma once

#include <memory>
#include <string>

#include "core/model/model.h"
#include "core/model/site.h"

namespace attnscope {

class Pass;

// Reason why training cannot recompute a model's layers ("checkpointing: ..."); empty if it can.
std::string recomputation_refusal(const ModelConfig& config);

class RecomputedLayers {
 public:
  explicit RecomputedLayers(Pass& pass);  // `pass` must outlive the object
  // Same as Pass::block().  [n, d] -> [n, d]
  Var block(const Site& site, const Var& x, const Var& source);

 private:
  Pass& pass_;
  std::shared_ptr<const Model> model_;  // weights with gradients, for the backward pass
  Model constants_;                     // weights without gradients
};

}  // namespace attnscope
