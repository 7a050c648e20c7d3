#include "app/window/surprise.h"

#include "app/window/jobs/surprise_job.h"
#include "core/base/error.h"
#include "core/view/view.h"

namespace attnscope::window {

namespace {

constexpr std::size_t kMostSurprises = 24;
constexpr double kBlink = 0.05;  // seconds

bool shows_pairs(const std::string& view) {
  return view == "map" || view == "lines" || view == "scores" || view == "vectors";
}

void show_next(State& state) {
  Surprises& found = state.surprises;
  if (found.pairs.empty()) {
    if (!found.opens) state.say("No word of this run looks at another one.");
    return;
  }
  const StrikingPair& pair = found.pairs[found.next];
  found.next = (found.next + 1) % found.pairs.size();
  point_at(pair, state.trace->parts, state.experiment.view);
  if (!shows_pairs(state.experiment.view.id)) state.experiment.view.id = "map";
  found.noticed = pair;
  if (!found.opens) return;
  if (state.history.can_undo()) {
    state.history.amend(state.experiment);
  } else {
    state.history = History(state.experiment);
  }
}

// Those of the run that is shown, looked for once.
void look(State& state, bool opens) {
  Surprises& found = state.surprises;
  if (found.job != nullptr && found.job->of() == state.trace) return;
  if (found.job == nullptr && found.of.lock() == state.trace) {
    found.opens = opens;
    show_next(state);
    return;
  }
  found = {};
  found.opens = opens;
  found.job = std::make_shared<SurpriseJob>(state.trace, kMostSurprises);
  if (found.job->wait(kBlink)) take_surprises(state);
}

}  // namespace

std::string surprise_refusal(const State& state) {
  if (state.trace == nullptr) return "There is no run yet.";
  return striking_refusal(*state.trace);
}

const StrikingPair* noticed(const State& state) {
  const Surprises& found = state.surprises;
  const ViewSettings& now = state.experiment.view;
  if (!found.noticed || state.trace == nullptr || found.of.lock() != state.trace) return nullptr;
  const StrikingPair& pair = *found.noticed;
  ViewSettings there = now;
  point_at(pair, state.trace->parts, there);
  const bool same = there.layer == now.layer && there.head == now.head && there.part == now.part &&
                    there.pinned_query == now.pinned_query && there.pinned_key == now.pinned_key;
  return same && shows_pairs(now.id) ? &pair : nullptr;
}

void surprise(State& state) {
  look(state, false);
}

void open_striking(State& state) {
  if (surprise_refusal(state).empty()) look(state, true);
}

bool take_surprises(State& state) {
  Surprises& found = state.surprises;
  if (found.job == nullptr) return false;
  const bool other_run = found.job->of() != state.trace;
  if (other_run) found.job->cancel();
  if (!found.job->over()) return false;
  const std::shared_ptr<SurpriseJob> job = std::move(found.job);
  found.job.reset();
  if (other_run || job->cancelled()) return true;
  if (!job->problem().empty()) {  // weights that were not kept
    if (!found.opens) state.complain(job->problem());
    return true;
  }
  found.of = job->of();
  found.pairs = job->take();
  found.next = 0;
  show_next(state);
  return true;
}

}  // namespace attnscope::window
