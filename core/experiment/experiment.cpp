#include "core/experiment/experiment.h"

#include <algorithm>

namespace attnscope {

bool same_run(const Experiment& a, const Experiment& b) {
  Experiment looked_at_alike = a;
  looked_at_alike.view = b.view;
  const std::size_t both = std::min(a.others.size(), b.others.size());
  for (std::size_t i = 0; i < both; ++i) looked_at_alike.others[i].view = b.others[i].view;
  return looked_at_alike == b;
}

std::optional<Experiment> reference_of(const Experiment& experiment) {
  if (!experiment.others.empty()) return experiment.others.front();
  if (experiment.interventions.empty()) return std::nullopt;
  Experiment untouched = experiment;
  untouched.interventions.clear();
  return untouched;
}

}  // namespace attnscope
