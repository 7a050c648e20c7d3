// Learning curves of the view Training, and their numbers for export.
#pragma once

#include "core/experiment/training_study.h"
#include "core/view/parts/refusal.h"

namespace attnscope {

// Reason why a run's model has no learning curve.
Refusal training_refusal(const Trace& trace);
// The learning curve; the refusal is set if it is missing.
struct TrainingInput {
  std::shared_ptr<const TrainingStudy> study;      // null if refused
  std::shared_ptr<const TrainingStudy> reference;  // of run B; null: none
  Refusal refusal;
};
TrainingInput training_input(const ViewInput& input);

ViewData training_data(const ViewInput& input);

}  // namespace attnscope
