#include "core/analysis/halting.h"

#include <limits>
#include <numeric>

#include "core/model/config.h"

namespace attnscope {

double HaltingRecord::ponder(Index token) const {
  const auto i = static_cast<std::size_t>(token);
  return static_cast<double>(steps[i]) + remainder[i];
}

double HaltingRecord::ponder() const {
  double sum = 0;
  for (Index i = 0; i < length(); ++i) sum += ponder(i);
  return sum / static_cast<double>(length());
}

double HaltingRecord::mean_steps() const {
  return static_cast<double>(std::accumulate(steps.begin(), steps.end(), Index{0})) /
         static_cast<double>(length());
}

bool HaltingRecord::halted_by_itself(Index token) const {
  double sum = 0;
  for (Index t = 0; t < steps[static_cast<std::size_t>(token)]; ++t) {
    sum += static_cast<double>(probability(token, t));
  }
  return sum >= 1 - epsilon;
}

bool has_steps(const Trace& trace) {
  return trace.parts.step || trace.taps.contains("steps.1.state");
}

bool halts(const Trace& trace) {
  return trace.counts.contains("halting.steps");
}

HaltingRecord halting_of(const Trace& trace, Stack stack) {
  const std::string prefix = trace.parts.stack && stack == Stack::Encoder ? "encoder." : "";
  const Tensor& probabilities = trace.taps.at(prefix + "halting.probability");  // [steps, L]
  const IntTensor& steps = trace.counts.at(prefix + "halting.steps");
  const Tensor& remainder = trace.taps.at(prefix + "halting.remainder");
  const Values& values = trace.config->architecture.values;
  HaltingRecord record;
  record.max_steps = values.integer("steps");
  record.epsilon = values.real("epsilon");
  record.probability =
      Tensor::full({steps.size(), record.max_steps}, std::numeric_limits<float>::quiet_NaN());
  for (Index i = 0; i < steps.size(); ++i) {
    record.steps.push_back(steps[i]);
    record.remainder.push_back(static_cast<double>(remainder[i]));
    for (Index t = 0; t < steps[i]; ++t) record.probability(i, t) = probabilities(t, i);
  }
  return record;
}

}  // namespace attnscope
