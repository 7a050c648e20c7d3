#include "core/view/parts/bundled_example.h"

#include <algorithm>

#include "core/checkpoint/checkpoint.h"
#include "core/view/opening.h"

namespace attnscope {

bool open_bundled_model(Session& session, const std::string& model) {
  const std::vector<std::string> bundled = bundled_models();
  if (std::ranges::find(bundled, model) == bundled.end()) return false;
  RunView fresh = open_model(model);
  fresh.run.backend = session.run.backend;
  const ViewSettings opened = fresh.view;
  fresh.view = session.view;
  fresh.view.layer = opened.layer;
  fresh.view.head = opened.head;
  fresh.view.part = opened.part;
  fresh.view.pinned_query = fresh.view.pinned_key = -1;
  session = {std::move(fresh)};
  return true;
}

}  // namespace attnscope
