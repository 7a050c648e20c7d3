#include "core/view/parts/example.h"

#include <algorithm>

#include "core/checkpoint/checkpoint.h"

namespace attnscope {

bool use_bundled(Experiment& experiment, const std::string& model) {
  const std::vector<std::string> bundled = bundled_models();
  if (std::ranges::find(bundled, model) == bundled.end()) return false;
  Experiment fresh;
  fresh.model = model;
  fresh.backend = experiment.backend;
  fresh.view = experiment.view;
  fresh.view.layer = fresh.view.head = 0;
  fresh.view.part = {};
  fresh.view.pinned_query = fresh.view.pinned_key = -1;
  experiment = std::move(fresh);
  return true;
}

}  // namespace attnscope
