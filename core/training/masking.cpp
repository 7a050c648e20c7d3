#include "core/training/masking.h"

#include "core/base/error.h"

namespace attnscope {

Masking masking_of(const ModelConfig& config) {
  const Values& values = config.architecture.values;
  if (!values.has("mask")) {
    throw InputError("model.architecture.mask: expected the id of the mask, found nothing");
  }
  return {values.real("masked"), static_cast<std::int32_t>(values.integer("mask")),
          config.vocabulary};
}

void mask_tokens(const std::int32_t* ids, const Masking& masking, Random& random, Index row,
                 Batch& batch) {
  constexpr double kMasked = 0.8, kRandom = 0.1;
  const auto others = static_cast<std::uint64_t>(masking.vocabulary - 1);
  for (Index i = 0; i < batch.ids.dim(1); ++i) {
    std::int32_t shown = ids[i];
    const bool hidden = random.uniform() < masking.share;
    if (hidden) {
      const double how = random.uniform();
      if (how < kMasked) {
        shown = masking.mask;
      } else if (how < kMasked + kRandom && others > 0) {
        shown = static_cast<std::int32_t>(random.below(others));
        if (shown >= masking.mask) ++shown;  // any id but the mask
      }
    }
    batch.ids(row, i) = shown;
    batch.targets(row, i) = hidden ? ids[i] : -1;
  }
}

}  // namespace attnscope
