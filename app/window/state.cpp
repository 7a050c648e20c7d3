#include "app/window/state.h"

#include <algorithm>

#include "core/model/config.h"

namespace attnscope::window {

namespace {
constexpr double kNoticeSeconds = 6;
constexpr std::size_t kMostNotices = 4;

// The oldest goes that is no error: those stay until they are closed, except when there is nothing
// else.
void make_room(std::vector<Notice>& notices) {
  if (notices.size() <= kMostNotices) return;
  const auto mild = std::ranges::find(notices, false, &Notice::error);
  notices.erase(mild == notices.end() ? notices.begin() : mild);
}

}  // namespace

void State::say(std::string text) {
  notices.push_back({std::move(text), false, seconds + kNoticeSeconds});
  make_room(notices);
}

void State::complain(std::string text) {
  std::erase_if(notices, [&](const Notice& n) { return n.text == text; });
  notices.push_back({std::move(text), true, 0});
  make_room(notices);
}

Experiment State::shown_experiment() const {
  Experiment result = shown;
  result.view = experiment.view;
  result.interventions = experiment.interventions;
  if (!result.others.empty() && !experiment.others.empty()) {
    result.others.front().view = experiment.others.front().view;
  }
  return result;
}

bool State::shows_other() const {
  return view.shift && !experiment.others.empty() && !shown.others.empty() &&
         reference() != nullptr && !attnscope::view(experiment.view.id).shows_reference();
}

Findings State::pictured_findings() const {
  if (shows_other()) return findings.get(Findings::reference)->findings;
  return findings.with(beside);
}

Experiment State::pictured_experiment() const {
  Experiment result = shown_experiment();
  if (!shows_other()) return result;
  Experiment other = result.others.front();
  const ViewSettings& of_b = other.view;
  result.view.layer = of_b.layer;
  result.view.head = of_b.head;
  other.view = result.view;
  return other;
}

ViewControls State::controls() const {
  ViewControls controls = view_controls(experiment.view, trace.get());
  controls.layer |= scope != ChoiceScope::All;
  controls.head |= scope == ChoiceScope::Head;
  return controls;
}

const AttentionTap* State::tap(Index* head_in_group) const {
  Index ignored = 0;
  if (trace == nullptr) return nullptr;
  return trace->find(experiment.view.layer, experiment.view.head,
                     head_in_group != nullptr ? head_in_group : &ignored);
}

Index State::layers() const {
  return edited_trace() != nullptr ? edited_trace()->layer_count() : 0;
}

Index State::heads() const {
  if (layers() == 0) return 0;
  return edited_trace()->head_count(std::clamp<Index>(edited().view.layer, 0, layers() - 1));
}

namespace {

void keep_inside(ViewSettings& view, const Trace* trace) {
  const Index layers = trace != nullptr ? trace->layer_count() : 0;
  if (layers == 0) return;
  view.layer = std::clamp<Index>(view.layer, 0, layers - 1);
  const Index heads = trace->head_count(view.layer);
  view.head = std::clamp<Index>(view.head, 0, std::max<Index>(heads - 1, 0));
}

}  // namespace

bool State::is_overlong() const {
  const Trace* ran = edited_trace();
  if (ran == nullptr) return false;
  // A target has its own words; the text is what the encoder reads.
  const std::vector<TraceToken>& tokens = ran->key_tokens.empty() ? ran->tokens : ran->key_tokens;
  if (tokens.empty()) return false;
  const Experiment& of = edits_other() && !shown.others.empty() ? shown.others.front() : shown;
  if (static_cast<Index>(tokens.size()) > ran->config->context) return true;
  if (!of.ids.empty()) return tokens.size() < of.ids.size();
  const auto first = std::ranges::find(tokens, false, &TraceToken::special);
  return first != tokens.end() && (first->begin > 0 || tokens.back().end < of.text.size());
}

void State::look_at(Index layer, Index head) {
  ViewSettings& view = edited().view;
  // Two runs are compared head by head; two heads of one run stay apart.
  Experiment alone = experiment;
  alone.others.clear();
  const bool together = !edits_other() && !experiment.others.empty() &&
                        !same_run(alone, experiment.others.front()) &&
                        experiment.others.front().view.layer == view.layer &&
                        experiment.others.front().view.head == view.head;
  view.layer = layer;
  view.head = head;
  if (together) {
    experiment.others.front().view.layer = layer;
    experiment.others.front().view.head = head;
  }
  keep_view_inside();
}

void State::keep_view_inside() {
  // The trace of another run says nothing about what the next one will have.
  if (!same_run(shown, experiment)) return;
  keep_inside(experiment.view, trace.get());
  if (!experiment.others.empty()) keep_inside(experiment.others.front().view, reference().get());
}

}  // namespace attnscope::window
