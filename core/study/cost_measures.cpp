// Measures of cost against length.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/analysis/cost_curve.h"
#include "core/attention/variant.h"
#include "core/base/error.h"
#include "core/base/random.h"
#include "core/part/choice.h"
#include "core/study/study_measure.h"
#include "core/tensor/storage.h"

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

struct TilesRequest {
  std::vector<Index> lengths;
  Index heads = 4, head_size = 64;
  bool stored = false;  // measures the operation with stored weights instead
};

// Queries, keys and values of full attention, drawn at random.
OperationInput random_operation(const TilesRequest& request, Index length) {
  OperationInput input;
  input.heads = input.kv_heads = input.layer_heads = request.heads;
  std::uint64_t seed = 1;
  for (Var* rows : {&input.q, &input.k, &input.v}) {
    Random random(seed++);
    Tensor numbers({request.heads, length, request.head_size});
    for (Index n = 0; n < numbers.size(); ++n) numbers[n] = static_cast<float>(random.normal());
    *rows = numbers;
  }
  return input;
}

// Result of the operation, with memory beyond its inputs and time.
OperationResult measured_result(const OperationInput& input, bool stores_weights, StudyRow& row) {
  reset_peak_storage();
  const std::size_t before = storage_statistics().live_bytes;
  const auto start = std::chrono::steady_clock::now();
  OperationResult result = evaluate(input, cpu_backend(), {.attention = stores_weights});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  row.numbers["seconds"] = seconds.count();
  row.numbers["peak_bytes"] = static_cast<double>(storage_statistics().peak_bytes - before);
  return result;
}

// Largest difference of `output` from the stored weights times the values, in double precision,
// over at most 64 rows per head; NaN if one is.
double largest_difference(const Tensor& output, const Tensor& weights, const Tensor& values) {
  constexpr Index kRows = 64;
  const Index heads = values.dim(0), length = values.dim(1), size = values.dim(2);
  double difference = 0;
  for (Index row = 0; row < heads * length; row += std::max<Index>(1, length / kRows)) {
    const Index head = row / length;
    for (Index c = 0; c < size; ++c) {
      double sum = 0;
      for (Index j = 0; j < length; ++j) {
        sum += static_cast<double>(weights[row * length + j]) *
               static_cast<double>(values[(head * length + j) * size + c]);
      }
      const double error = std::abs(sum - static_cast<double>(output[row * size + c]));
      if (!(error <= difference)) difference = error;
    }
  }
  return difference;
}

// Full attention through tiles that are dropped (Dao et al., 2022, FlashAttention), or with all
// weights stored. "difference": largest difference of the tiles' output from stored weights.
MeasureFunction make_tiles(JsonObject& options) {
  TilesRequest request;
  request.lengths = whole_numbers(options, "lengths", 1, 16384);
  request.heads = options.integer_or("heads", 4, 1, 64);
  request.head_size = options.integer_or("head_size", 64, 1, 1024);
  request.stored = options.flag_or("stored", false);
  return [request](const MeasureInput& measured) {
    StudyRows rows;
    for (const Index length : request.lengths) {
      const OperationInput input = random_operation(request, length);
      StudyRow stored, tiles;
      const Tensor weights = measured_result(input, true, stored).attention;
      if (!request.stored) {
        const Tensor output = measured_result(input, false, tiles).output.value();
        tiles.numbers["difference"] = largest_difference(output, weights, input.v.value());
      }
      rows.push_back(request.stored ? stored : tiles);
      rows.back().numbers["length"] = static_cast<double>(length);
      measured.report(static_cast<double>(rows.size()) /
                      static_cast<double>(request.lengths.size()));
    }
    return rows;
  };
}

}  // namespace

std::vector<StudyMeasure> cost_measures() {
  return {{"cost", "operations, bytes and seconds of one attention operation by length",
           "length, operations, bytes, seconds, peak_bytes", MeasureNeeds::Nothing, make_cost},
          {"tiles", "full attention through tiles, or with \"stored\" weights, by length",
           "length, peak_bytes, seconds, difference", MeasureNeeds::Nothing, make_tiles}};
}

}  // namespace attnscope
