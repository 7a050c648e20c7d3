#include "core/view/intervene/intervene_data.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/prediction.h"
#include "core/analysis/sentences.h"
#include "core/base/error.h"
#include "core/view/export/view_data.h"
#include "core/view/intervene/intervene_clicks.h"
#include "core/view/parts/focus.h"

namespace attnscope {
namespace {

ViewData::Matrix exported_weights(const ViewInput& input, const Trace& trace,
                                  const SelectedTap& selected, const std::string& name) {
  if (selected.tap == nullptr)
    throw InputError(name + ": " + selected.headline + ". " + selected.advice);
  ViewData::Matrix matrix =
      head_weights(input.with_trace(trace), *selected.tap, selected.head, true);
  matrix.name = "attention " + name;
  return matrix;
}

// Next-token probabilities at selected_position(), sorted by the second run's. The tensor is
// undefined if the runs predict nothing or have different vocabularies.
ViewData::Matrix next_token_matrix(const ViewInput& input, const TwoRuns& runs) {
  ViewData::Matrix matrix{
      "next token", {}, {}, {"token id", runs.first_label, runs.second_label}, {"token"}};
  const Index position =
      selected_position(input.session.view, runs.second_run, *runs.second_tap.tap);
  const std::vector<double> first = next_token_probabilities(runs.first_run, position);
  const std::vector<double> second = next_token_probabilities(runs.second_run, position);
  if (second.empty() || first.size() != second.size()) return matrix;
  std::vector<std::int32_t> ids(second.size());
  for (std::size_t n = 0; n < ids.size(); ++n) ids[n] = static_cast<std::int32_t>(n);
  std::stable_sort(ids.begin(), ids.end(), [&](std::int32_t a, std::int32_t b) {
    return second[static_cast<std::size_t>(a)] > second[static_cast<std::size_t>(b)];
  });
  matrix.values = Tensor({static_cast<Index>(ids.size()), 3});
  for (std::size_t n = 0; n < ids.size(); ++n) {
    const auto row = static_cast<Index>(n);
    const auto index = static_cast<std::size_t>(ids[n]);
    matrix.rows.push_back(token_label(runs.second_run, ids[n]));
    matrix.values(row, 0) = static_cast<float>(ids[n]);
    matrix.values(row, 1) = static_cast<float>(first[index]);
    matrix.values(row, 2) = static_cast<float>(second[index]);
  }
  return matrix;
}

ViewData::Matrix prediction_quality(const TwoRuns& runs) {
  ViewData::Matrix matrix{"prediction",
                          Tensor({2, 2}),
                          {"bits per token", "perplexity"},
                          {runs.first_label, runs.second_label},
                          {"of"}};
  Index column = 0;
  for (const Trace* trace : {&runs.first_run, &runs.second_run}) {
    const auto quality = prediction(*trace);
    matrix.values(0, column) = quality ? static_cast<float>(quality->bits_per_token) : NAN;
    matrix.values(1, column) = quality ? static_cast<float>(quality->perplexity) : NAN;
    ++column;
  }
  return matrix;
}

// Message while run B is computed, as in the Compare view.
SelectedTap computing_message() {
  return {.headline = "Computing", .advice = "Run B is being computed."};
}

// Run B, or the run without interventions if there is no B. The result is valid as long as `input`.
const Trace& reference_run(const ViewInput& input) {
  const std::shared_ptr<const Trace> reference = input.findings.get(Findings::reference);
  return reference != nullptr ? *reference : input.trace;
}

}  // namespace

TwoRuns::TwoRuns(const ViewInput& input)
    : first_run(reference_run(input)),
      second_run(input.trace),
      has_run_b(input.session.b.has_value()),
      is_pending(has_run_b && input.findings.get(Findings::reference) == nullptr),
      first_view(has_run_b ? input.session.b->view : input.session.view),
      first_label(has_run_b ? "B" : "before"),
      second_label(has_run_b ? "A" : "after"),
      first_tap(is_pending ? computing_message() : find_tap(first_run, first_view)),
      second_tap(find_tap(second_run, input.session.view)) {}

std::string intervene_caption(const ViewInput& input, const TwoRuns& runs) {
  std::string changes;
  for (const Intervention& i : input.session.run.interventions) {
    changes += (changes.empty() ? "" : "; ") +
               describe(i, intervention_names(runs.second_run, runs.second_tap.tap));
  }
  changes = changes.empty() ? "no changes." : changes + ".";
  const std::string a = describe_head(runs.second_run, input.session.view);
  if (!runs.has_run_b) {
    return caption(runs.second_run, capitalised(a) + ", before and after: " + changes);
  }
  const std::string b = describe_head(runs.first_run, runs.first_view);
  return caption(runs.second_run, capitalised(b) + ", in B (" + runs.first_run.model +
                                      "; not A before its changes) and " +
                                      (a == b ? "" : a + ", ") + "in A: " + changes);
}

ViewData intervene_data(const ViewInput& input) {
  const TwoRuns runs(input);
  ViewData data{{exported_weights(input, runs.first_run, runs.first_tap, runs.first_label),
                 exported_weights(input, runs.second_run, runs.second_tap, runs.second_label)}};
  if (ViewData::Matrix next = next_token_matrix(input, runs); next.values.defined()) {
    data.matrices.push_back(std::move(next));
    data.matrices.push_back(prediction_quality(runs));
  } else if (const auto similarities = state_similarities(runs.first_run, runs.second_run);
             !similarities.empty()) {
    ViewData::Matrix states{"final states",
                            Tensor({static_cast<Index>(similarities.size()), 1}),
                            {},
                            {"cosine similarity"},
                            {"token"}};
    for (std::size_t n = 0; n < similarities.size(); ++n) {
      states.values[static_cast<Index>(n)] = static_cast<float>(similarities[n]);
      states.rows.push_back(runs.second_run.tokens[n].label);
    }
    data.matrices.push_back(std::move(states));
  }
  return data;
}

}  // namespace attnscope
