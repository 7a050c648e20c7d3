#include "core/trace/attention_vectors.h"

namespace attnscope {

RecordedVectors::RecordedVectors() : RecordedVectors(AttentionVectors{}) {}

RecordedVectors::RecordedVectors(AttentionVectors kept) {
  shapes_.input = {kept.input.q.shape(), kept.input.k.shape(), kept.input.v.shape()};
  shapes_.output = kept.output.shape();
  if (kept.part) shapes_.part = {kept.part->q.shape(), kept.part->k.shape(), kept.part->v.shape()};
  if (kept.part) settings_ = std::make_shared<const PartSettings>(settings_of(*kept.part));
  kept_ = std::make_shared<const AttentionVectors>(std::move(kept));
}

RecordedVectors RecordedVectors::computed_by(Compute compute) const {
  RecordedVectors result = *this;
  result.kept_.reset();
  result.compute_ = std::move(compute);
  return result;
}

RecordedVectors RecordedVectors::part_only() const {
  if (kept_) return RecordedVectors({.part = kept_->part});
  RecordedVectors result = computed_by([all = compute_] {
    return std::make_shared<const AttentionVectors>(AttentionVectors{.part = all()->part});
  });
  result.shapes_ = {.part = shapes_.part};
  if (settings_) result.settings_ = std::make_shared<const PartSettings>(*settings_);
  return result;
}

}  // namespace attnscope
