// Runs of the small models in tests/model-cases.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/experiment/run.h"
#include "tests/support/places.h"

namespace attnscope::testing {

// Valid input ids for all of these models.
inline const std::vector<std::int32_t> kIds{5, 14, 12, 2, 9, 15, 4, 9, 16, 14, 14};

inline std::shared_ptr<const Trace> run_case(const std::string& model,
                                             const std::vector<std::int32_t>& ids,
                                             const std::vector<std::int32_t>& target = {}) {
  Session session;
  session.run.model = source_folder() / "tests" / "model-cases" / model;
  session.run.ids = ids;
  session.run.target_ids = target;
  ExperimentRun runner(cpu_only());
  return runner.run(session.run);
}

}  // namespace attnscope::testing
