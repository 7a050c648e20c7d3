#include "app/window/history.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/json.h"
#include "core/view/session.h"
#include "core/view/view.h"

namespace attnscope::window {

namespace {

constexpr double kJoinSeconds = 1;
constexpr std::size_t kMostSteps = 500;

// What a drag does in a view is a choice of the hand, not of the experiment.
void hold_tools_of(ViewSettings& view, const ViewSettings& other) {
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

void look_as(ViewSettings& view, const ViewSettings& other) {
  hold_tools_of(view, other);
  view.row = other.row;
  view.column = other.column;
  view.height = other.height;
  view.width = other.width;
}

// As if it were panned and zoomed like another one.
Experiment looking_as(Experiment e, const Experiment& other) {
  look_as(e.view, other.view);
  if (e.others.size() == other.others.size()) {
    for (std::size_t n = 0; n < e.others.size(); ++n) {
      look_as(e.others[n].view, other.others[n].view);
    }
  }
  return e;
}

// Leaves by their JSON pointer; what is empty has none.
Json::Object leaves(const Experiment& e) {
  Json::Object all = to_json(e).flatten();
  std::erase_if(all, [](const auto& leaf) { return leaf.second.is_null(); });
  return all;
}

// Whether a click or a key sets it: which layer, head or pair a view shows.
bool is_stepped(const std::string& place) {
  const std::string view = "/view/";
  const auto at = place.rfind(view);
  return at != std::string::npos && place.find('/', at + view.size()) == std::string::npos;
}

// Where an edit may go on as one step: a slider's number, a field's text. Clicks do not go on.
std::string continuing_place(const Experiment& before, const Experiment& now) {
  const std::set<std::string> places = changed_places(before, now);
  if (places.size() != 1) return {};
  const std::string& place = *places.begin();
  if (place == "/text") return place;
  if (is_stepped(place)) return {};
  for (const Experiment* e : {&before, &now}) {
    const Json::Object all = leaves(*e);
    if (all.contains(place) && !all.at(place).is_number()) return {};
  }
  return place;
}

}  // namespace

std::set<std::string> changed_places(const Experiment& a, const Experiment& b) {
  const Json::Object before = leaves(a), after = leaves(looking_as(b, a));
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

void History::record(const Experiment& now, double seconds) {
  if (now == now_) return;
  if (looking_as(now, now_) != now_) {
    const std::string place = continuing_place(now_, now);
    const bool joins = !place.empty() && place == place_ && seconds - seconds_ < kJoinSeconds;
    if (!joins) past_.push_back(now_);
    if (past_.size() > kMostSteps) past_.erase(past_.begin());
    future_.clear();
    place_ = place;
    seconds_ = seconds;
  }
  now_ = now;
}

const Experiment& History::undo() {
  if (can_undo()) {
    future_.push_back(now_);
    now_ = past_.back();
    past_.pop_back();
    end_step();
  }
  return now_;
}

const Experiment& History::redo() {
  if (can_redo()) {
    past_.push_back(now_);
    now_ = future_.back();
    future_.pop_back();
    end_step();
  }
  return now_;
}

}  // namespace attnscope::window
