// Background findings that hold the reason if they cannot be computed.
#pragma once

#include <memory>
#include <utility>

#include "core/base/error.h"
#include "core/experiment/finding.h"

namespace attnscope {

// compute: (RunSpec, FindingSettings, ExperimentRun&, FindingProgress) -> Study. Its InputErrors
// become Study::problem. The finding exists unless the run reads imported tensors.
template <class Study, class Compute>
Finding study_finding(const FindingName<const Study>& name, std::string summary, Compute compute) {
  return {
      .id = name.id,
      .summary = std::move(summary),
      .exists = [](const Session& session) { return session.run.tensors.file.empty(); },
      .in_background =
          [name, compute](const RunSpec& spec, const FindingSettings& settings, ExperimentRun& run,
                          const FindingProgress& progress, Findings& results) {
            Study study;
            try {
              study = compute(spec, settings, run, progress);
            } catch (const InputError& e) {
              study.problem = e.what();
            }
            results.set(name, std::make_shared<const Study>(std::move(study)));
          }};
}

}  // namespace attnscope
