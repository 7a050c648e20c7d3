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

// Tools are a property of the pointer, not of the session: copies them from `other`.
void copy_tools(ViewSettings& view, const ViewSettings& other) {
  constexpr std::array kTools{"tool", "paint", "symmetric"};
  for (const View& v : views()) {
    if (!view.options.contains(v.id) && !other.options.contains(v.id)) continue;
    Values values = view_values(view, v.id);
    const Values others = view_values(other, v.id);
    for (const char* tool : kTools) {
      if (values.has(tool) && others.has(tool)) values.set(tool, others.all().at(tool));
    }
    set_view_values(view, v.id, values);
  }
}

void copy_view(ViewSettings& view, const ViewSettings& other) {
  copy_tools(view, other);
  view.row = other.row;
  view.column = other.column;
  view.height = other.height;
  view.width = other.width;
}

// Returns `session` with the pan, zoom and tools of `other`.
Session with_view_of(Session session, const Session& other) {
  copy_view(session.view, other.view);
  if (session.b && other.b) copy_view(session.b->view, other.b->view);
  return session;
}

// Values other than null in the JSON form of a session, by JSON pointer.
Json::Object leaves(const Session& session) {
  Json::Object values = to_json(session).flatten();
  std::erase_if(values, [](const auto& leaf) { return leaf.second.is_null(); });
  return values;
}

// True for settings changed by clicks or keys: the layer, head or pair of a view.
bool is_stepped(const std::string& place) {
  const std::string view = "/view/";
  const auto at = place.rfind(view);
  return at != std::string::npos && place.find('/', at + view.size()) == std::string::npos;
}

// JSON pointer of an edit that later edits can extend to one step: a slider's number or a field's
// text. Empty for clicks.
std::string mergeable_place(const Session& before, const Session& now) {
  const std::set<std::string> places = changed_pointers(before, now);
  if (places.size() != 1) return {};
  const std::string& place = *places.begin();
  if (place == "/text") return place;
  if (is_stepped(place)) return {};
  for (const Session* session : {&before, &now}) {
    const Json::Object values = leaves(*session);
    if (values.contains(place) && !values.at(place).is_number()) return {};
  }
  return place;
}

}  // namespace

std::set<std::string> changed_pointers(const Session& a, const Session& b) {
  const Json::Object before = leaves(a), after = leaves(with_view_of(b, a));
  std::set<std::string> places;
  const auto compare = [&places](const Json::Object& x, const Json::Object& y) {
    for (const auto& [place, value] : x) {
      if (!y.contains(place) || y.at(place) != value) places.insert(place);
    }
  };
  compare(before, after);
  compare(after, before);
  return places;
}

void History::record(const SharedSession& now, double seconds) {
  if (same_session(now, now_)) return;
  if (with_view_of(*now, *now_) != *now_) {
    const std::string place = mergeable_place(*now_, *now);
    const bool merges = !place.empty() && place == place_ && seconds - seconds_ < kMergeSeconds;
    if (!merges) past_.push_back(now_);
    if (past_.size() > kMaxSteps) past_.erase(past_.begin());
    future_.clear();
    place_ = place;
    seconds_ = seconds;
  }
  now_ = now;
}

const SharedSession& History::undo() {
  if (can_undo()) {
    future_.push_back(now_);
    now_ = past_.back();
    past_.pop_back();
    end_step();
  }
  return now_;
}

const SharedSession& History::redo() {
  if (can_redo()) {
    past_.push_back(now_);
    now_ = future_.back();
    future_.pop_back();
    end_step();
  }
  return now_;
}

}  // namespace attnscope::window
