// Finding "inverse": inputs of reversible layers, recomputed from their outputs.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/experiment/findings/study.h"
#include "core/experiment/inverse_study.h"
#include "core/experiment/run.h"

namespace attnscope {
namespace {

double largest_difference(const Tensor& a, const Tensor& b) {
  double largest = 0;
  for (Index n = 0; n < a.size(); ++n) {
    const double difference = std::abs(static_cast<double>(a[n]) - static_cast<double>(b[n]));
    if (std::isnan(difference)) return difference;
    largest = std::max(largest, difference);
  }
  return largest;
}

double largest_magnitude(const Tensor& x) {
  double largest = 0;
  for (const float number : x) largest = std::max(largest, std::abs(static_cast<double>(number)));
  return largest;
}

// Both streams before each layer.
using LayerStreams = std::map<Index, std::vector<Tensor>>;

InverseStudy study_inverse(const RunSpec& spec, ExperimentRun& run) {
  LayerStreams original, recomputed;
  run.run_probed(
      spec,
      [&](const ProbePlace& place, const Var& x) {
        if (place.point == ProbePoint::LayerInput)
          original[place.address.layer].push_back(x.value());
        if (place.point == ProbePoint::RecomputedInput)
          recomputed[place.address.layer].push_back(x.value());
        return x;
      },
      false);
  InverseStudy study;
  if (recomputed.empty()) {
    study.problem = "The layers of this model cannot be inverted.";
    return study;
  }
  for (const auto& [layer, streams] : recomputed) {
    const std::vector<Tensor>& before = original.at(layer);
    study.rows.push_back({layer, largest_difference(before[0], streams[0]),
                          largest_difference(before[1], streams[1]), largest_magnitude(before[0]),
                          largest_magnitude(before[1])});
    study.tokens = before[0].dim(0);
    study.width = before[0].dim(1);
  }
  return study;
}

}  // namespace

double InverseRow::relative() const {
  const auto ratio = [](double error, double largest) { return largest > 0 ? error / largest : 0; };
  return std::max(ratio(error1, largest1), ratio(error2, largest2));
}

Finding inverse_finding() {
  return study_finding(Findings::inverse,
                       "Inputs of reversible layers, recomputed from their outputs.",
                       [](const RunSpec& spec, const FindingSettings&, ExperimentRun& run,
                          const FindingProgress&) { return study_inverse(spec, run); });
}

}  // namespace attnscope
