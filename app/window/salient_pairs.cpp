#include "app/window/salient_pairs.h"

#include "app/window/jobs/salient_pair_job.h"
#include "core/base/error.h"
#include "core/view/view.h"

namespace attnscope::window {

namespace {

constexpr std::size_t kMaxPairs = 24;
constexpr double kImmediateSeconds = 0.05;  // seconds

bool shows_pairs(const std::string& view) {
  return view == "map" || view == "lines" || view == "scores" || view == "vectors";
}

void show_next(State& state) {
  SalientPairSearch& found = state.salient_pairs;
  if (found.pairs.empty()) {
    if (!found.opens_session) state.notify("No word in this run attends to another word.");
    return;
  }
  const SalientPair& pair = found.pairs[found.next];
  found.next = (found.next + 1) % found.pairs.size();
  point_at(pair, state.trace->parts, state.experiment.view);
  if (!shows_pairs(state.experiment.view.id)) state.experiment.view.id = "map";
  found.last_shown = pair;
  if (!found.opens_session) return;
  if (state.history.can_undo()) {
    state.history.amend(state.experiment);
  } else {
    state.history = History(state.experiment);
  }
}

// Searches the shown run's pairs once.
void search(State& state, bool opens_session) {
  SalientPairSearch& found = state.salient_pairs;
  if (found.job != nullptr && found.job->trace() == state.trace) return;
  if (found.job == nullptr && found.trace.lock() == state.trace) {
    found.opens_session = opens_session;
    show_next(state);
    return;
  }
  found = {};
  found.opens_session = opens_session;
  found.job = std::make_shared<SalientPairJob>(state.trace, kMaxPairs);
  if (found.job->wait(kImmediateSeconds)) take_salient_pairs(state);
}

}  // namespace

std::string salient_pair_refusal(const State& state) {
  if (state.trace == nullptr) return "There is no run yet.";
  return salient_pairs_refusal(*state.trace);
}

const SalientPair* shown_salient_pair(const State& state) {
  const SalientPairSearch& found = state.salient_pairs;
  const ViewSettings& now = state.experiment.view;
  if (!found.last_shown || state.trace == nullptr || found.trace.lock() != state.trace)
    return nullptr;
  const SalientPair& pair = *found.last_shown;
  ViewSettings there = now;
  point_at(pair, state.trace->parts, there);
  const bool same = there.layer == now.layer && there.head == now.head && there.part == now.part &&
                    there.pinned_query == now.pinned_query && there.pinned_key == now.pinned_key;
  return same && shows_pairs(now.id) ? &pair : nullptr;
}

void show_strong_pair(State& state) {
  search(state, false);
}

void open_on_salient_pair(State& state) {
  if (salient_pair_refusal(state).empty()) search(state, true);
}

bool take_salient_pairs(State& state) {
  SalientPairSearch& found = state.salient_pairs;
  if (found.job == nullptr) return false;
  const bool other_run = found.job->trace() != state.trace;
  if (other_run) found.job->cancel();
  if (!found.job->is_finished()) return false;
  const std::shared_ptr<SalientPairJob> job = std::move(found.job);
  found.job.reset();
  if (other_run || job->was_cancelled()) return true;
  if (!job->problem().empty()) {  // weights were not kept
    if (!found.opens_session) state.report_error(job->problem());
    return true;
  }
  found.trace = job->trace();
  found.pairs = job->take();
  found.next = 0;
  show_next(state);
  return true;
}

}  // namespace attnscope::window
