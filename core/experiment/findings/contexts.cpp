// Finding "contexts": nearest contexts of each token, usually more than the run used.
#include <algorithm>

#include "core/experiment/finding.h"
#include "core/experiment/retrieved_contexts.h"
#include "core/experiment/run.h"

namespace attnscope {

ContextWords context_words(const Store& store, Index row, Index max_before, Index max_after) {
  ContextWords words;
  words.text = store.places(row, 0);
  words.position = store.places(row, 1);
  words.value = store.values[row];
  const Index count = store.values.size();
  // True if row `other_row` of the store belongs to token `position` of text number words.text.
  const auto is_at = [&](Index other_row, Index position) {
    return other_row >= 0 && other_row < count && store.places(other_row, 0) == words.text &&
           store.places(other_row, 1) == position;
  };
  for (Index n = 1; n <= max_before && is_at(row - n, words.position - n); ++n) {
    words.before.push_back(store.values[row - n]);
  }
  std::ranges::reverse(words.before);
  for (Index n = 1; n <= max_after && is_at(row + n, words.position + n); ++n) {
    words.after.push_back(store.values[row + n]);
  }
  return words;
}

Finding contexts_finding() {
  return {
      .id = Findings::contexts.id,
      .summary = "The retrieved contexts nearest to each token, as text.",
      .exists =
          [](const Session& session) {
            return session.run.retrieval && session.run.tensors.file.empty();
          },
      .is_reusable =
          [](const RunSpec& previous, const RunSpec& current) {
            RunSpec copy = previous;
            const std::optional<RetrievalChoice>& choice = current.retrieval;
            if (!copy.retrieval || !choice || copy.retrieval->store != choice->store) return false;
            copy.retrieval = choice;  // neighbours do not depend on the retrieval head
            return copy == current;
          },
      .outlives_view = true,
      .in_background =
          [](const RunSpec& spec, const FindingSettings&, ExperimentRun& run,
             const FindingProgress&, Findings& results) {
            RunSpec extended = spec;
            const std::shared_ptr<const Store> store = run.contexts(extended);
            const Index limit = std::min(store->keys.dim(0), kMaxNeighboursShown);
            extended.retrieval->retrieval_head.values.set(
                "k", std::max(limit, std::min(store->keys.dim(0),
                                              spec.retrieval->retrieval_head.values.integer("k"))));
            const std::shared_ptr<const Trace> trace = run.run(extended);
            RetrievedContexts contexts{
                store, {trace->counts.at("retrieval.index"), trace->taps.at("retrieval.distance")}};
            results.set(Findings::contexts,
                        std::make_shared<const RetrievedContexts>(std::move(contexts)));
          }};
}

}  // namespace attnscope
