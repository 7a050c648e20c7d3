// Finding "errors": errors of the selected head's estimates against the number of features or rows.
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

bool asks_for_errors(const Session& session) {
  const std::string* picture = picture_of(session.view);
  return picture != nullptr && *picture == kErrorsPicture;
}

bool same_head(const Session& a, const Session& b) {
  return a.run == b.run && a.view.layer == b.view.layer && a.view.head == b.view.head &&
         a.view.part == b.view.part;
}

}  // namespace

Finding errors_finding() {
  return {
      .id = Findings::errors.id,
      .summary = "Estimation errors of the selected head against the number of features or rows.",
      .exists = asks_for_errors,
      .is_reusable = same_head,
      .in_background = [](const Session& session, ExperimentRun& run,
                          const FindingProgress& progress, Findings& results) {
        const std::shared_ptr<const Trace> trace = run.run(session.run);
        Index head = 0;
        const AttentionTap* tap = trace->find(head_ref(*trace, session.view), &head);
        if (tap == nullptr || !error_study_refusal(*tap).empty()) return;  // the view explains
        const Index width = trace->config ? trace->config->width : 0;
        results.set(Findings::errors,
                    std::make_shared<const ErrorStudy>(error_study(*tap, head, width, progress)));
      }};
}

}  // namespace attnscope
