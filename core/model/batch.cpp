#include "core/model/batch.h"

#include "core/autodiff/operations_elementwise.h"

namespace attnscope {

Index Batch::size() const {
  return ids.defined() ? ids.dim(0) : returns.dim(0);
}

Index Batch::length() const {
  return ids.defined() ? ids.dim(1) : returns.dim(1);
}

Batch next_token_batch(IntTensor ids) {
  Batch batch;
  batch.targets = IntTensor(ids.shape());
  const Index length = ids.dim(1);
  for (Index n = 0; n < ids.size(); ++n) {
    batch.targets[n] = n % length + 1 < length ? ids[n + 1] : -1;
  }
  batch.ids = std::move(ids);
  return batch;
}

Loss weighted_loss(std::string name, const Var& value, double weight) {
  return {std::move(name), value, weight == 1 ? value : scale(value, static_cast<float>(weight))};
}

Var Output::total_loss() const {
  Var total;
  for (const Loss& loss : losses)
    total = total.defined() ? add(total, loss.weighted) : loss.weighted;
  return total;
}

}  // namespace attnscope
