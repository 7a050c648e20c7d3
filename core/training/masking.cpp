#include "core/training/masking.h"

#include "core/base/error.h"
#include "core/model/global_tokens.h"

namespace attnscope {

Masking model_masking(const ModelConfig& config) {
  const Values& values = config.architecture.values;
  if (!values.has("mask")) {
    throw InputError("model.architecture.mask: expected the id of the mask, found none");
  }
  return {values.real("masked"), static_cast<std::int32_t>(values.integer("mask")),
          static_cast<Index>(first_global_id(config))};
}

void mask_tokens(const std::int32_t* ids, const Masking& masking, Random& random, Index row,
                 Batch& batch) {
  constexpr double kMasked = 0.8, kRandom = 0.1;
  const auto other_ids = static_cast<std::uint64_t>(masking.vocabulary - 1);
  for (Index i = 0; i < batch.ids.dim(1); ++i) {
    std::int32_t visible_id = ids[i];
    const bool is_target = random.uniform() < masking.fraction;
    if (is_target) {
      const double replacement = random.uniform();
      if (replacement < kMasked) {
        visible_id = masking.mask;
      } else if (replacement < kMasked + kRandom && other_ids > 0) {
        visible_id = static_cast<std::int32_t>(random.below(other_ids));
        if (visible_id >= masking.mask) ++visible_id;  // any id but the mask
      }
    }
    batch.ids(row, i) = visible_id;
    batch.targets(row, i) = is_target ? ids[i] : -1;
  }
}

}  // namespace attnscope
