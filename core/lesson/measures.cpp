// List of all measures.
#include "core/base/error.h"
#include "core/lesson/measure.h"
#include "core/view/view.h"

namespace attnscope {

TracePart part_of(const Trace& trace, const Claim& claim) {
  return trace.part(with_defaults(claim.view, trace).part);
}

const AttentionTap& tap_of(const Trace& trace, const Claim& claim, Index* head_in_group) {
  const AttentionTap* tap =
      trace.find({claim.layer, claim.head, part_of(trace, claim)}, head_in_group);
  if (tap != nullptr) return *tap;
  const HeadRef ref{claim.layer, claim.head, part_of(trace, claim)};
  throw InputError("the claim is about " + describe_head(trace.parts, ref) +
                   ", which the run does not have");
}

Tensor weights_of(const Trace& trace, const Claim& claim) {
  Index head = 0;
  const AttentionTap& tap = tap_of(trace, claim, &head);
  return tap.attention(head);
}

void check_index(Index index, Index count, const char* what) {
  if (index >= 0 && index < count) return;
  throw InputError("the claim is about " + std::string(what) + " " + std::to_string(index) +
                   ", but there are only " + std::to_string(count));
}

const std::vector<Measure>& measures() {
  static const std::vector<Measure> list = [] {
    std::vector<Measure> all;
    for (const auto& subject : {map_measures(), pattern_measures(), position_measures(),
                                prediction_measures(), memory_measures(), task_measures(),
                                depth_measures(), vector_measures(), flow_measures()}) {
      all.insert(all.end(), subject.begin(), subject.end());
    }
    return all;
  }();
  return list;
}

}  // namespace attnscope
