#include "core/view/intervene/intervene_data.h"

#include <algorithm>
#include <cmath>

#include "core/analysis/prediction.h"
#include "core/base/error.h"
#include "core/view/export/view_data.h"
#include "core/view/intervene/intervene_clicks.h"
#include "core/view/parts/focus.h"

namespace attnscope {
namespace {

ViewData::Matrix exported_weights(const ViewInput& input, const Trace& trace,
                                  const SelectedTap& found, const std::string& name) {
  if (found.tap == nullptr) throw InputError(name + ": " + found.headline + ". " + found.advice);
  ViewData::Matrix matrix = head_weights(input.with_trace(trace), *found.tap, found.head, true);
  matrix.name = "attention " + name;
  return matrix;
}

// Next-token probabilities after the pinned token, else the last, sorted by the second run. Its
// values are undefined if the runs predict nothing or have different vocabularies.
ViewData::Matrix next_token_matrix(const ViewInput& input, const TwoRuns& runs) {
  ViewData::Matrix matrix{"next token", {}, {}, {"token id", runs.first, runs.second}, {"token"}};
  const Index position = selected_position(input.session.view, runs.after, *runs.second_head.tap);
  const std::vector<double> before = next_token_probabilities(runs.before, position);
  const std::vector<double> after = next_token_probabilities(runs.after, position);
  if (after.empty() || before.size() != after.size()) return matrix;
  std::vector<std::int32_t> ids(after.size());
  for (std::size_t n = 0; n < ids.size(); ++n) ids[n] = static_cast<std::int32_t>(n);
  std::stable_sort(ids.begin(), ids.end(), [&](std::int32_t a, std::int32_t b) {
    return after[static_cast<std::size_t>(a)] > after[static_cast<std::size_t>(b)];
  });
  matrix.values = Tensor({static_cast<Index>(ids.size()), 3});
  for (std::size_t n = 0; n < ids.size(); ++n) {
    const auto row = static_cast<Index>(n);
    const auto index = static_cast<std::size_t>(ids[n]);
    matrix.rows.push_back(token_label(runs.after, ids[n]));
    matrix.values(row, 0) = static_cast<float>(ids[n]);
    matrix.values(row, 1) = static_cast<float>(before[index]);
    matrix.values(row, 2) = static_cast<float>(after[index]);
  }
  return matrix;
}

ViewData::Matrix prediction_quality(const TwoRuns& runs) {
  ViewData::Matrix matrix{"prediction",
                          Tensor({2, 2}),
                          {"bits per token", "perplexity"},
                          {runs.first, runs.second},
                          {"of"}};
  Index column = 0;
  for (const Trace* trace : {&runs.before, &runs.after}) {
    const auto known = prediction(*trace);
    matrix.values(0, column) = known ? static_cast<float>(known->bits_per_token) : NAN;
    matrix.values(1, column) = known ? static_cast<float>(known->perplexity) : NAN;
    ++column;
  }
  return matrix;
}

// The same message as in the Compare view.
SelectedTap computing_message() {
  return {.headline = "Computing", .advice = "Run B is being computed."};
}

// The returned reference is valid as long as `input`.
const Trace& run_before(const ViewInput& input) {
  const std::shared_ptr<const Trace> reference = input.findings.get(Findings::reference);
  return reference != nullptr ? *reference : input.trace;
}

}  // namespace

TwoRuns::TwoRuns(const ViewInput& input)
    : before(run_before(input)),
      after(input.trace),
      compared(input.session.b.has_value()),
      pending(compared && input.findings.get(Findings::reference) == nullptr),
      first_view(compared ? input.session.b->view : input.session.view),
      first(compared ? "B" : "before"),
      second(compared ? "A" : "after"),
      first_head(pending ? computing_message() : find_tap(before, first_view)),
      second_head(find_tap(after, input.session.view)) {}

ViewData intervene_data(const ViewInput& input) {
  const TwoRuns runs(input);
  ViewData data{{exported_weights(input, runs.before, runs.first_head, runs.first),
                 exported_weights(input, runs.after, runs.second_head, runs.second)}};
  if (ViewData::Matrix next = next_token_matrix(input, runs); next.values.defined()) {
    data.matrices.push_back(std::move(next));
    data.matrices.push_back(prediction_quality(runs));
  }
  return data;
}

}  // namespace attnscope
