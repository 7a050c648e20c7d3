#include "app/window/salient_pairs.h"

#include <algorithm>
#include <utility>

#include "app/window/jobs/task_kinds.h"
#include "core/base/error.h"
#include "core/figure/plain_text.h"
#include "core/view/view.h"

namespace attnscope::window {
namespace {

constexpr std::size_t kMaxPairs = 24;
constexpr double kImmediateSeconds = 0.05;  // maximum wait for a result

// True if the view shows the weight of the pair. A pair with a word of several tokens has a weight
// only in views that can merge words.
bool shows(const std::string& view, const SalientPair& pair) {
  const bool has_words = view == "map" || view == "lines";
  const bool has_tokens = view == "scores" || view == "vectors" || view == "flow";
  return has_words || (!pair.is_merged && has_tokens);
}

void show_next(State& state) {
  SalientPairSearch& search = state.run.salient_pairs;
  if (search.pairs.empty()) {
    if (!search.opens_session)
      state.notify("No word in this run attends to another word much more than other words do.");
    return;
  }
  const SalientPair& pair = search.pairs[search.next];
  search.next = (search.next + 1) % search.pairs.size();
  point_at(pair, state.run.trace->parts, state.session.edit().view);
  const std::string& view = state.session->view.id;
  // Flow follows the query through the head, even if it cannot show the pair's weight.
  if (!shows(view, pair) && view != "flow") state.session.edit().view.id = "map";
  search.last_shown = pair;
  if (!search.opens_session) return;
  if (state.history.can_undo()) {
    state.history.amend(state.session.snapshot());
  } else {
    state.history = History(state.session.snapshot());
  }
}

// Shows the run's next pair; searches the run first if that has not happened yet.
void show_or_search(State& state, bool opens_session) {
  SalientPairSearch& search = state.run.salient_pairs;
  const bool is_same_run = search.trace.lock() == state.run.trace;
  if (is_same_run && search.task != nullptr) return;
  if (is_same_run) {
    search.opens_session = opens_session;
    show_next(state);
    return;
  }
  start_salient_pair_search(state, opens_session);
  if (search.task->wait(kImmediateSeconds)) apply_salient_pairs(state);
}

}  // namespace

void start_salient_pair_search(State& state, bool opens_session) {
  SalientPairSearch& search = state.run.salient_pairs;
  search = {.trace = state.run.trace,
            .progress = std::make_shared<Progress>(),
            .opens_session = opens_session};
  using Pairs = std::vector<SalientPair>;
  search.task = std::make_unique<BackgroundTask<Pairs>>(
      [trace = state.run.trace, progress = search.progress](Task&) -> Pairs {
        return find_salient_pairs(*trace, kMaxPairs, progress.get());
      });
}

std::string salient_pair_refusal(const State& state) {
  if (state.run.trace == nullptr) return "There is no run yet.";
  return salient_pairs_refusal(*state.run.trace);
}

const SalientPair* shown_salient_pair(const State& state) {
  const SalientPairSearch& search = state.run.salient_pairs;
  const ViewSettings& view = state.session->view;
  if (!search.last_shown || state.run.trace == nullptr || search.trace.lock() != state.run.trace)
    return nullptr;
  const SalientPair& pair = *search.last_shown;
  ViewSettings next = view;
  point_at(pair, state.run.trace->parts, next);
  const bool is_shown = next.layer == view.layer && next.head == view.head &&
                        next.part == view.part && next.pinned_query == view.pinned_query &&
                        next.pinned_key == view.pinned_key && next.words == view.words;
  return is_shown && shows(view.id, pair) ? &pair : nullptr;
}

void show_strong_pair(State& state) {
  show_or_search(state, false);
}

void open_on_salient_pair(State& state) {
  if (salient_pair_refusal(state).empty()) show_or_search(state, true);
}

bool apply_salient_pairs(State& state) {
  SalientPairSearch& search = state.run.salient_pairs;
  if (search.task == nullptr) return false;
  const bool is_other_run = search.trace.lock() != state.run.trace;
  if (is_other_run) search.task->cancel();
  if (!search.task->is_finished()) return false;
  const auto task = std::exchange(search.task, nullptr);
  const std::optional<std::vector<SalientPair>> pairs = task->result();
  if (is_other_run || !pairs) {
    search.trace.reset();
    // The search was cancelled, or failed because the trace does not keep its weights.
    const bool has_failed = !is_other_run && !search.opens_session && !task->problem().empty();
    if (has_failed) state.report_error(task->problem());
    return true;
  }
  search.pairs = *pairs;
  // A pair of the pinned query comes first, so that the view keeps following the query.
  const auto own =
      std::ranges::find(search.pairs, state.session->view.pinned_query, &SalientPair::query);
  if (own != search.pairs.end()) std::rotate(search.pairs.begin(), own, own + 1);
  search.next = 0;
  show_next(state);
  return true;
}

TaskKind salient_pair_tasks() {
  return {
      .update = apply_salient_pairs,
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
