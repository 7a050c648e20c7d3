#include "app/window/history.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/json.h"
#include "core/view/session_file.h"
#include "core/view/view.h"

namespace attnscope::window {
namespace {

constexpr double kMergeSeconds = 1;
constexpr std::size_t kMaxSteps = 500;

// Copies the tool settings of `source`, which belong to the pointer rather than to the session.
void copy_tools(ViewSettings& view, const ViewSettings& source) {
  constexpr std::array kTools{"tool", "paint", "symmetric"};
  for (const View& v : views()) {
    if (!view.options.contains(v.id) && !source.options.contains(v.id)) continue;
    Values values = view_values(view, v.id);
    const Values tools = view_values(source, v.id);
    for (const char* tool : kTools) {
      if (values.has(tool) && tools.has(tool)) values.set(tool, tools.all().at(tool));
    }
    set_view_values(view, v.id, values);
  }
}

void copy_view(ViewSettings& view, const ViewSettings& source) {
  copy_tools(view, source);
  view.row = source.row;
  view.column = source.column;
  view.height = source.height;
  view.width = source.width;
}

// Returns `session` with the pan, zoom and tools of `source`.
Session with_view_settings(Session session, const Session& source) {
  copy_view(session.view, source.view);
  if (session.b && source.b) copy_view(session.b->view, source.b->view);
  return session;
}

// Values other than null in the JSON form of a session, by JSON pointer.
Json::Object leaves(const Session& session) {
  Json::Object values = to_json(session).flatten();
  std::erase_if(values, [](const auto& leaf) { return leaf.second.is_null(); });
  return values;
}

// True for settings changed by clicks or keys: the layer, head or pair of a view.
bool is_stepped(const std::string& pointer) {
  const std::string view = "/view/";
  const auto start = pointer.rfind(view);
  return start != std::string::npos && pointer.find('/', start + view.size()) == std::string::npos;
}

// JSON pointer of an edit that later edits can extend to one step: a slider's number or a field's
// text. Empty for clicks.
std::string mergeable_pointer(const Session& previous, const Session& current) {
  const std::set<std::string> pointers = changed_pointers(previous, current);
  if (pointers.size() != 1) return {};
  const std::string& pointer = *pointers.begin();
  if (pointer == "/text") return pointer;
  if (is_stepped(pointer)) return {};
  for (const Session* session : {&previous, &current}) {
    const Json::Object values = leaves(*session);
    if (values.contains(pointer) && !values.at(pointer).is_number()) return {};
  }
  return pointer;
}

}  // namespace

std::set<std::string> changed_pointers(const Session& a, const Session& b) {
  const Json::Object leaves_a = leaves(a), leaves_b = leaves(with_view_settings(b, a));
  std::set<std::string> pointers;
  const auto compare = [&pointers](const Json::Object& x, const Json::Object& y) {
    for (const auto& [pointer, value] : x) {
      if (!y.contains(pointer) || y.at(pointer) != value) pointers.insert(pointer);
    }
  };
  compare(leaves_a, leaves_b);
  compare(leaves_b, leaves_a);
  return pointers;
}

void History::record(const SharedSession& session, double seconds) {
  if (same_session(session, current_)) return;
  if (with_view_settings(*session, *current_) != *current_) {
    const std::string pointer = mergeable_pointer(*current_, *session);
    const bool merges =
        !pointer.empty() && pointer == pointer_ && seconds - seconds_ < kMergeSeconds;
    if (!merges) past_.push_back(current_);
    if (past_.size() > kMaxSteps) past_.erase(past_.begin());
    future_.clear();
    pointer_ = pointer;
    seconds_ = seconds;
  }
  current_ = session;
}

const SharedSession& History::undo() {
  if (can_undo()) {
    future_.push_back(current_);
    current_ = past_.back();
    past_.pop_back();
    end_step();
  }
  return current_;
}

const SharedSession& History::redo() {
  if (can_redo()) {
    past_.push_back(current_);
    current_ = future_.back();
    future_.pop_back();
    end_step();
  }
  return current_;
}

}  // namespace attnscope::window
