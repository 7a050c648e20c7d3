// Runs of the small models of tests/model-cases.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/experiment/runner.h"
#include "tests/support/places.h"

namespace attnscope::testing {

inline std::shared_ptr<const Trace> run_case(const std::string& model,
                                             const std::vector<std::int32_t>& ids) {
  Experiment e;
  e.model = source_folder() / "tests" / "model-cases" / model;
  e.ids = ids;
  ExperimentRun runner(cpu_only());
  return runner.run(e, Stop());
}

}  // namespace attnscope::testing
