// Finding "errors": errors of the selected head's estimates against the number of features or rows.
#include "core/analysis/error_study.h"
#include "core/experiment/finding.h"
#include "core/experiment/run.h"
#include "core/model/config.h"

namespace attnscope {

Finding errors_finding() {
  return {
      .id = Findings::errors.id,
      .summary = "Estimation errors of the selected head against the number of features or rows.",
      .exists = [](const Session&) { return true; },
      .in_background =
          [](const RunSpec& spec, const FindingSettings& settings, ExperimentRun& run,
             const FindingProgress& progress, Findings& results) {
            const auto& selected = std::get<ErrorStudySettings>(settings);
            const std::shared_ptr<const Trace> trace = run.run(spec);
            Index head = 0;
            const AttentionTap* tap =
                trace->find({selected.layer, selected.head, trace->part(selected.part)}, &head);
            if (tap == nullptr || !error_study_refusal(*tap).empty()) return;  // the view explains
            const Index width = trace->config ? trace->config->width : 0;
            results.set(Findings::errors, std::make_shared<const ErrorStudy>(
                                              error_study(*tap, head, width, progress)));
          }};
}

}  // namespace attnscope
