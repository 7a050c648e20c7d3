// Measures of cost against length.
#include "core/analysis/cost_curve.h"
#include "core/base/error.h"
#include "core/part/choice.h"
#include "core/study/study_measure.h"

namespace attnscope {
namespace {

StudyRows measure_cost(CostRequest request, const MeasureInput& input) {
  const CostCurves curves =
      cost_curves(request, [&](const CostCurves&, double fraction) { input.report(fraction); });
  if (curves.stopped) throw Stopped();
  StudyRows rows;
  for (const CostPoint& point : curves.series.front().points) {
    rows.push_back({{{"length", static_cast<double>(point.length)},
                     {"operations", point.operations},
                     {"bytes", point.bytes},
                     {"seconds", point.seconds},
                     {"peak_bytes", point.peak_bytes}},
                    {}});
  }
  return rows;
}

MeasureFunction make_cost(JsonObject& options) {
  CostRequest request;
  const Json& choice = options.any("variant");
  const std::string path = options.path_of("variant");
  // Without parameters, sizes follow the papers.
  const bool is_published = choice.is_object() && choice.size() == 1;
  const Variant& info = variant(type_of(choice, path));
  if (const std::string refusal = cost_refusal(info); !refusal.empty()) {
    throw InputError(path + ": " + refusal);
  }
  request.variants = {{incomplete_choice_from_json(info, choice, path), is_published}};
  request.lengths = whole_numbers(options, "lengths", 1, Index{1} << 20);
  request.heads = options.integer_or("heads", 4, 1, 1024);
  request.head_size = options.integer_or("head_size", 64, 1, 1024);
  request.causal = options.flag_or("causal", false);
  request.measured = options.flag_or("measured", true);
  return [request](const MeasureInput& input) { return measure_cost(request, input); };
}

}  // namespace

std::vector<StudyMeasure> cost_measures() {
  return {{"cost", "operations, bytes and seconds of one attention operation by length",
           "length, operations, bytes, seconds, peak_bytes", MeasureNeeds::Nothing, make_cost}};
}

}  // namespace attnscope
