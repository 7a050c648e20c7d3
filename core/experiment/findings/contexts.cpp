// Finding "contexts": retrieved contexts, more of them than the run used.
#include <algorithm>

#include "core/experiment/finding.h"
#include "core/experiment/retrieved_contexts.h"
#include "core/experiment/run.h"

namespace attnscope {

ContextWords context_words(const Store& store, Index row, Index before, Index after) {
  ContextWords words;
  words.text = store.places(row, 0);
  words.position = store.places(row, 1);
  words.value = store.values[row];
  const Index count = store.values.size();
  // True if row `other` holds the token after (text, position).
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
      .summary = "The retrieved contexts nearest to each token, as text.",
      .exists = [](const Session& e) { return e.run.retrieval && e.run.tensors.file.empty(); },
      .is_reusable =
          [](const RunSpec& before, const RunSpec& now) {
            RunSpec one = before;
            const std::optional<RetrievalChoice>& wanted = now.retrieval;
            if (!one.retrieval || !wanted || one.retrieval->store != wanted->store) return false;
            one.retrieval = wanted;  // neighbours do not depend on the mixture
            return one == now;
          },
      .outlives_view = true,
      .in_background =
          [](const RunSpec& spec, const FindingSettings&, ExperimentRun& run,
             const FindingProgress&, Findings& results) {
            RunSpec more = spec;
            const std::shared_ptr<const Store> store = run.contexts(more);
            const Index most = std::min(store->keys.dim(0), kMaxNeighboursShown);
            more.retrieval->retrieval_head.values.set(
                "k", std::max(most, std::min(store->keys.dim(0),
                                             spec.retrieval->retrieval_head.values.integer("k"))));
            const std::shared_ptr<const Trace> trace = run.run(more);
            RetrievedContexts found{
                store, {trace->counts.at("retrieval.index"), trace->taps.at("retrieval.distance")}};
            results.set(Findings::contexts,
                        std::make_shared<const RetrievedContexts>(std::move(found)));
          }};
}

}  // namespace attnscope
