#include "core/analysis/softmax_weights.h"

#include "core/analysis/encoded.h"
#include "core/attention/single_head.h"

namespace attnscope {

Tensor softmax_weights(const AttentionTap& tap, Index head, Index model) {
  if (const auto exact = tap.result.extra.find("exact"); exact != tap.result.extra.end()) {
    const Tensor& maps = exact->second;
    return maps.slice(maps.dim(0) == 1 ? 0 : head, 1).reshaped({maps.dim(1), maps.dim(2)});
  }
  const HeadTensors<Tensor> input = tap.input();
  Part part = encoded_part(encoding_use(tap, model), input.q, input.k, {}, {});
  if (tap.keys() == part.keys()) part.pattern = tap.result.pattern;
  ResultRequest wanted;
  wanted.output = false;
  wanted.attention = true;
  const Tensor weights = cpu_backend().run(single_head(part, head), wanted).attention;
  return weights.reshaped({weights.dim(1), weights.dim(2)});
}

}  // namespace attnscope
