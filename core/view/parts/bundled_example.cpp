#include "core/view/parts/bundled_example.h"

#include <algorithm>

#include "core/checkpoint/checkpoint.h"
#include "core/view/opening.h"

namespace attnscope {

bool open_bundled_model(Session& session, const std::string& model) {
  const std::vector<std::string> bundled = bundled_models();
  if (std::ranges::find(bundled, model) == bundled.end()) return false;
  RunView new_run = open_model(model);
  new_run.run.backend = session.run.backend;
  const ViewSettings model_view = new_run.view;
  new_run.view = session.view;
  new_run.view.layer = model_view.layer;
  new_run.view.head = model_view.head;
  new_run.view.part = model_view.part;
  new_run.view.pinned_query = new_run.view.pinned_key = -1;
  session = {std::move(new_run)};
  return true;
}

}  // namespace attnscope
