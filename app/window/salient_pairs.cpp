#include "app/window/salient_pairs.h"

#include "app/window/jobs/task_kinds.h"
#include "core/base/error.h"
#include "core/figure/plain_text.h"
#include "core/view/view.h"

namespace attnscope::window {
namespace {

constexpr std::size_t kMaxPairs = 24;
constexpr double kImmediateSeconds = 0.05;  // seconds

bool shows_pairs(const std::string& view) {
  return view == "map" || view == "lines" || view == "scores" || view == "vectors";
}

void show_next(State& state) {
  SalientPairSearch& found = state.run.salient_pairs;
  if (found.pairs.empty()) {
    if (!found.opens_session) state.notify("No word in this run attends to another word.");
    return;
  }
  const SalientPair& pair = found.pairs[found.next];
  found.next = (found.next + 1) % found.pairs.size();
  point_at(pair, state.run.trace->parts, state.session.edit().view);
  if (!shows_pairs(state.session->view.id)) state.session.edit().view.id = "map";
  found.last_shown = pair;
  if (!found.opens_session) return;
  if (state.history.can_undo()) {
    state.history.amend(state.session.snapshot());
  } else {
    state.history = History(state.session.snapshot());
  }
}

// Searches the shown run's pairs once.
void search(State& state, bool opens_session) {
  SalientPairSearch& found = state.run.salient_pairs;
  const bool same_run = found.trace.lock() == state.run.trace;
  if (same_run && found.task != nullptr) return;
  if (same_run) {
    found.opens_session = opens_session;
    show_next(state);
    return;
  }
  start_salient_pair_search(state, opens_session);
  if (found.task->wait(kImmediateSeconds)) take_salient_pairs(state);
}

}  // namespace

void start_salient_pair_search(State& state, bool opens_session) {
  SalientPairSearch& found = state.run.salient_pairs;
  found = {.trace = state.run.trace,
           .progress = std::make_shared<Progress>(),
           .opens_session = opens_session};
  using Pairs = std::vector<SalientPair>;
  found.task = std::make_unique<BackgroundTask<Pairs>>(
      [trace = state.run.trace, progress = found.progress](Task&) -> Pairs {
        return find_salient_pairs(*trace, kMaxPairs, progress.get());
      });
}

std::string salient_pair_refusal(const State& state) {
  if (state.run.trace == nullptr) return "There is no run yet.";
  return salient_pairs_refusal(*state.run.trace);
}

const SalientPair* shown_salient_pair(const State& state) {
  const SalientPairSearch& found = state.run.salient_pairs;
  const ViewSettings& now = state.session->view;
  if (!found.last_shown || state.run.trace == nullptr || found.trace.lock() != state.run.trace)
    return nullptr;
  const SalientPair& pair = *found.last_shown;
  ViewSettings there = now;
  point_at(pair, state.run.trace->parts, there);
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
  SalientPairSearch& found = state.run.salient_pairs;
  if (found.task == nullptr) return false;
  const bool other_run = found.trace.lock() != state.run.trace;
  if (other_run) found.task->cancel();
  if (!found.task->is_finished()) return false;
  const auto task = std::exchange(found.task, nullptr);
  const std::optional<std::vector<SalientPair>> pairs = task->result();
  if (other_run || !pairs) {
    found.trace.reset();
    // Otherwise cancelled; a problem is that weights were not kept.
    const bool failed = !other_run && !found.opens_session && !task->problem().empty();
    if (failed) state.report_error(task->problem());
    return true;
  }
  found.pairs = *pairs;
  found.next = 0;
  show_next(state);
  return true;
}

TaskKind salient_pair_tasks() {
  return {
      .update = take_salient_pairs,
      .tasks = [](State& state) { return std::vector<Task*>{state.run.salient_pairs.task.get()}; },
      .status = [](const State& state) -> std::optional<TaskStatus> {
        const SalientPairSearch& search = state.run.salient_pairs;
        if (search.task == nullptr) return std::nullopt;
        const double percent = 100 * search.progress->snapshot().share;
        return TaskStatus{"surprising", "Searching for pairs, " + fixed(percent, 0) + "%"};
      },
  };
}

}  // namespace attnscope::window
