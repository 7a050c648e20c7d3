// The contexts that retrieval found, more of them than the run took.
#include <algorithm>

#include "core/experiment/finding.h"
#include "core/experiment/found_contexts.h"
#include "core/experiment/runner.h"

namespace attnscope {

ContextWords context_words(const Store& store, Index row, Index before, Index after) {
  ContextWords words;
  words.text = store.places(row, 0);
  words.position = store.places(row, 1);
  words.value = store.values[row];
  const Index count = store.values.size();
  // Row `other` holds the token that follows place (text, position).
  const auto holds = [&](Index other, Index position) {
    return other >= 0 && other < count && store.places(other, 0) == words.text &&
           store.places(other, 1) == position;
  };
  for (Index n = 1; n <= before && holds(row - n, words.position - n); ++n) {
    words.before.push_back(store.values[row - n]);
  }
  std::ranges::reverse(words.before);
  for (Index n = 1; n <= after && holds(row + n, words.position + n); ++n) {
    words.after.push_back(store.values[row + n]);
  }
  return words;
}

Finding contexts_finding() {
  return {
      .id = Findings::contexts.id,
      .summary = "The contexts nearest to each token, in words, more than the run took.",
      .exists = [](const Experiment& e) { return e.retrieval && e.tensors.file.empty(); },
      .holds =
          [](const Experiment& before, const Experiment& now) {
            Experiment one = before;
            one.others = now.others;
            if (!one.retrieval || !now.retrieval || one.retrieval->store != now.retrieval->store) {
              return false;
            }
            one.retrieval = now.retrieval;  // the same neighbours, however they are mixed
            return same_run(one, now);
          },
      .beside_runs =
          [](const Experiment& experiment, ExperimentRun& run, const FindingProgress&,
             const Stop& stop, Findings& results) {
            Experiment more = experiment;
            more.others.clear();
            const std::shared_ptr<const Store> store = run.contexts(more);
            const Index most = std::min(store->keys.dim(0), kMostNeighboursShown);
            more.retrieval->mixer.values.set(
                "k", std::max(most, std::min(store->keys.dim(0),
                                             experiment.retrieval->mixer.values.integer("k"))));
            const std::shared_ptr<const Trace> trace = run.run(more, stop);
            FoundContexts found{
                store, {trace->counts.at("retrieval.index"), trace->taps.at("retrieval.distance")}};
            results.set(Findings::contexts,
                        std::make_shared<const FoundContexts>(std::move(found)));
          }};
}

}  // namespace attnscope
