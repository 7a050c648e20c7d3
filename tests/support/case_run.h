// Runs of the small models of tests/model-cases.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/experiment/runner.h"
#include "tests/support/places.h"

namespace attnscope::testing {

// A text for them.
inline const std::vector<std::int32_t> kIds{5, 14, 12, 2, 9, 15, 4, 9, 16, 14, 14};

inline std::shared_ptr<const Trace> run_case(const std::string& model,
                                             const std::vector<std::int32_t>& ids,
                                             const std::vector<std::int32_t>& target = {}) {
  Experiment e;
  e.model = source_folder() / "tests" / "model-cases" / model;
  e.ids = ids;
  e.target_ids = target;
  ExperimentRun runner(cpu_only());
  return runner.run(e, Stop());
}

}  // namespace attnscope::testing
