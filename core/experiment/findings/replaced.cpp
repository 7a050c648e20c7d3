// One token replaced by another: a run more, and the same without that.
#include <algorithm>

#include "core/base/error.h"
#include "core/experiment/finding.h"
#include "core/experiment/replaced_token.h"
#include "core/experiment/runner.h"

namespace attnscope {

std::optional<ReplaceWish> replace_wish(const Experiment& experiment) {
  const auto options = experiment.view.options.find("mechanism");
  if (experiment.view.id != "mechanism" || options == experiment.view.options.end()) return {};
  const Values& values = options->second;
  if (!values.has("picture") || values.choice("picture") != "replaced") return {};
  ReplaceWish wish;
  if (values.has("token")) {
    wish.position = values.integer("token");
  } else if (experiment.view.pinned_query >= 0) {
    wish.position = experiment.view.pinned_query;
  }
  if (values.has("by")) wish.by = values.integer("by");
  return wish;
}

namespace {

// A word rather than a piece of one, near the middle.
Index telling_position(const std::vector<TraceToken>& tokens) {
  constexpr std::size_t kWord = 4;  // bytes, with the space before it
  const auto count = static_cast<Index>(tokens.size());
  for (Index away = 0; away < count; ++away) {
    const Index n = count / 2 + (away % 2 == 0 ? away / 2 : -(away + 1) / 2);
    if (n < 0 || n >= count) continue;
    const std::string& bytes = tokens[static_cast<std::size_t>(n)].bytes;
    if (bytes.size() >= kWord && bytes.front() == ' ') return n;
  }
  return count / 2;
}

ReplacedToken with_other_token(Experiment experiment, ExperimentRun& run,
                               const FindingProgress& progress, const Stop& stop) {
  const ReplaceWish wish = *replace_wish(experiment);
  experiment.others.clear();
  ReplacedToken result;
  try {
    result.without = run.run(experiment, stop);
    if (progress) progress(1, 2);
    const std::vector<TraceToken>& tokens = result.without->tokens;
    if (tokens.empty()) throw InputError("token: there is none to replace");
    const auto count = static_cast<Index>(tokens.size());
    result.position =
        std::min(wish.position ? *wish.position : telling_position(tokens), count - 1);
    result.before = tokens[static_cast<std::size_t>(result.position)].id;
    const std::int32_t neighbour = result.before > 0 ? result.before - 1 : 1;
    result.after = wish.by ? static_cast<std::int32_t>(*wish.by) : neighbour;
    Intervention replace;
    replace.kind = Intervention::Kind::Replace;
    replace.position = result.position;
    replace.token = result.after;
    experiment.interventions.push_back(replace);
    result.with = run.run(experiment, stop);
    if (progress) progress(2, 2);
  } catch (const InputError& e) {
    result.problem = e.what();
  }
  return result;
}

}  // namespace

Finding replaced_finding() {
  return {.id = Findings::replaced.id,
          .summary = "The same run with one token replaced by another.",
          .exists = [](const Experiment& e) { return replace_wish(e) && e.tensors.file.empty(); },
          .holds =
              [](const Experiment& before, const Experiment& now) {
                return same_run(before, now) && replace_wish(before) == replace_wish(now);
              },
          .beside_runs =
              [](const Experiment& experiment, ExperimentRun& run, const FindingProgress& progress,
                 const Stop& stop, Findings& results) {
                results.set(Findings::replaced,
                            std::make_shared<const ReplacedToken>(
                                with_other_token(experiment, run, progress, stop)));
              }};
}

}  // namespace attnscope
