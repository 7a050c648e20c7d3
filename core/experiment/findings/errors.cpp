// How the errors of the shown head's estimates fall with features or rows.
#include "core/analysis/error_study.h"
#include "core/experiment/finding.h"
#include "core/experiment/runner.h"
#include "core/model/config.h"

namespace attnscope {

namespace {

const std::string* picture_of(const ViewSettings& view) {
  const auto options = view.options.find("mechanism");
  if (view.id != "mechanism" || options == view.options.end()) return nullptr;
  const auto picture = options->second.all().find("picture");
  if (picture == options->second.all().end()) return nullptr;
  return std::get_if<std::string>(&picture->second);
}

bool asks_for_errors(const Experiment& experiment) {
  const std::string* picture = picture_of(experiment.view);
  return picture != nullptr && *picture == kErrorsPicture;
}

bool same_head(const Experiment& a, const Experiment& b) {
  Experiment other = a;
  other.others = b.others;
  return same_run(other, b) && a.view.layer == b.view.layer && a.view.head == b.view.head &&
         a.view.part == b.view.part;
}

}  // namespace

Finding errors_finding() {
  return {.id = Findings::errors.id,
          .summary = "How the errors of the shown head's estimates fall with features or rows.",
          .exists = asks_for_errors,
          .holds = same_head,
          .beside_runs = [](const Experiment& experiment, ExperimentRun& run,
                            const FindingProgress& progress, const Stop& stop, Findings& results) {
            Experiment alone = experiment;
            alone.others.clear();
            const std::shared_ptr<const Trace> trace = run.run(alone, stop);
            Index head = 0;
            const AttentionTap* tap = trace->find(head_ref(*trace, experiment.view), &head);
            if (tap == nullptr || !no_error_study(*tap).empty()) return;  // the view says why
            const Index width = trace->config ? trace->config->width : 0;
            results.set(Findings::errors, std::make_shared<const ErrorStudy>(
                                              error_study(*tap, head, width, progress, stop)));
          }};
}

}  // namespace attnscope
