#include "core/view/architecture/diagram_source.h"

#include "core/model/weights.h"

namespace attnscope {

DiagramSource::DiagramSource(const Trace& run_trace, const Session& run_session)
    : trace(run_trace),
      session(run_session),
      config(*run_trace.config),
      architecture(attnscope::architecture(config.architecture.id)),
      part(run_trace.part(run_session.view.part)) {
  for (const WeightSpec& spec : weight_specs(config)) {
    if (spec.constant || !spec.initial) continue;  // not trained or absent
    Index size = 1;
    for (const Index extent : spec.shape) size *= extent;
    sizes[spec.name] = size;
    parameters += size;
  }
}

Index DiagramSource::count(const std::string& prefix) const {
  Index sum = 0;
  for (auto it = sizes.lower_bound(prefix); it != sizes.end(); ++it) {
    if (!it->first.starts_with(prefix)) break;
    sum += it->second;
  }
  return sum;
}

DiagramRow row_of(DiagramPart part) {
  return {.parts = {std::move(part)}};
}

}  // namespace attnscope
