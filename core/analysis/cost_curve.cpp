#include "core/analysis/cost_curve.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/analysis/cost.h"
#include "core/attention/causal_order.h"
#include "core/base/error.h"
#include "core/base/parallel.h"
#include "core/base/random.h"
#include "core/base/stop.h"
#include "core/figure/plain_text.h"
#include "core/figure/text_table.h"
#include "core/tensor/storage.h"

namespace attnscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Index kMaxLength = Index{1} << 20;

// Parameters at a length: if `uses_published_sizes`, published or else initial values; otherwise
// the user's.
Values values_at(const CostVariant& entry, Index length) {
  const Variant& v = variant(entry.choice.id);
  Values sizes;
  if (v.cost.growth.sizes) v.cost.growth.sizes(sizes, length);
  Values values = entry.uses_published_sizes ? default_values(v.parameters) : entry.choice.values;
  for (const Parameter& parameter : v.parameters) {
    const bool is_open = entry.uses_published_sizes || !values.has(parameter.key);
    if (!is_open) continue;
    if (const auto size = sizes.all().find(parameter.key); size != sizes.all().end()) {
      values.set(parameter.key, size->second);
    } else if (parameter.illustrative_default && !parameter.required &&
               entry.uses_published_sizes) {
      // `sizes` sets no value for some parameters, such as the index sets of a factorised pattern.
      values.set(parameter.key, parameter.illustrative_default(length));
    } else if (parameter.required && !values.has(parameter.key)) {
      values.set(parameter.key, parameter.initial);
    }
  }
  return values;
}

Dimensions dimensions_at(const CostRequest& request, Index length) {
  Dimensions d;
  d.model = request.heads * request.head_size;
  d.heads = d.kv_heads = request.heads;
  d.key = d.value = request.head_size;
  d.context = d.queries = d.keys = length;
  return d;
}

Tensor random_numbers(const Shape& shape, std::uint64_t seed) {
  Random random(seed);
  Tensor t(shape);
  for (Index n = 0; n < t.size(); ++n) {
    if (n % kGrain == 0) check_stop();
    t[n] = static_cast<float>(random.normal());
  }
  return t;
}

// Inputs of one operation, or the reason why it cannot run.
struct RunInput {
  OperationInput input;
  std::size_t bytes = 0;
  std::string refusal;
};

std::size_t bytes_of(const Shape& shape) {
  return static_cast<std::size_t>(element_count(shape)) * sizeof(float);
}

std::string size_refusal(std::size_t bytes) {
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  return "would need " + brief(static_cast<double>(bytes) / kGiB, 2) + " GiB of inputs";
}

// True if the variant runs in causal order: as requested if it supports it, or as its only order.
bool runs_causally(const CostRequest& request, const Variant& v, const Values& values) {
  if (request.causal) return causal_refusal(v, values).empty();
  const auto is_refused = [&](bool causal) {
    return !refusal({v.id, values}, default_encoding(), causal, {}, 0, 0).empty();
  };
  return is_refused(false) && !is_refused(true);
}

RunInput prepare(const CostRequest& request, const Variant& v, const Values& values, Index length) {
  RunInput p;
  const Dimensions d = dimensions_at(request, length);
  const bool causal = runs_causally(request, v, values);
  p.refusal = refusal({v.id, values}, default_encoding(), causal, d, length, length);
  if (!p.refusal.empty()) return p;
  OperationInput& in = p.input;
  in.heads = in.kv_heads = in.layer_heads = request.heads;
  in.variant = {v.id, values};
  in.causal = causal;
  const Needs needs = v.inputs.needs(values);
  const Shape rows{request.heads, length, request.head_size}, x{1, length, d.model};
  p.bytes = 3 * bytes_of(rows) + (needs.input ? bytes_of(x) : 0);
  const Situation situation{d, length, length, causal || v.causality.by_definition};
  for (const WeightInfo& weight : v.weights) {
    if (!v.uses(weight, values) || (!weight.initial && !weight.illustrative)) continue;
    p.bytes += bytes_of(weight.shape(d, values));
  }
  if (p.bytes > request.max_bytes) {
    p.refusal = size_refusal(p.bytes);
    return p;
  }
  in.q = random_numbers(rows, 1);
  in.k = random_numbers(rows, 2);
  in.v = random_numbers(rows, 3);
  if (needs.input) in.x = in.y = random_numbers(x, 4);
  for (std::size_t n = 0; n < v.weights.size(); ++n) {
    const WeightInfo& weight = v.weights[n];
    if (!v.uses(weight, values) || (!weight.initial && !weight.illustrative)) continue;
    const Shape shape = weight.shape(d, values);
    const bool is_illustrative =
        weight.illustrative && (weight.training.constant || !weight.initial);
    in.weights.emplace(weight.name,
                       Var(is_illustrative ? weight.illustrative(shape, situation, values)
                                           : weight.initial(shape, d, values, 5 + n)));
  }
  return p;
}

// A result with the pattern only; nullopt if the pattern does not determine the cost.
std::optional<OperationResult> pattern_result(const CostRequest& request, const Variant& v,
                                              const RunInput& p, Index length) {
  if (!is_pattern_only(v, p.input.variant.values) || v.cost.head) return std::nullopt;
  OperationResult result;
  result.pattern = std::make_shared<const Pattern>(
      v.pattern({.values = p.input.variant.values,
                 .weights = p.input.weights,
                 .heads = request.heads,
                 .queries = length,
                 .keys = length,
                 .causal = p.input.causal || v.causality.by_definition}));
  return result;
}

void count_cost(const CostRequest& request, const RunInput& p, const OperationResult& result,
                CostPoint& point) {
  AttentionTap tap;
  tap.variant = p.input.variant;
  tap.record({p.input.q.value(), p.input.k.value()}, result);
  tap.heads.resize(static_cast<std::size_t>(request.heads));
  double products = 0;
  for (Index head = 0; head < request.heads; ++head) products += head_cost(tap, head).products;
  const auto size = static_cast<double>(request.head_size);
  const auto rows = static_cast<double>(request.heads * point.tokens);
  point.operations = products * 2 * size;
  point.bytes = (4 * rows * size + products) * sizeof(float);
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

double median(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

// Median seconds of warm runs. Long runs are repeated less often.
double warm_seconds(const OperationInput& input, double first_run) {
  constexpr double kTargetSeconds = 0.25;
  constexpr int kMinRuns = 3, kMaxRuns = 15;
  const int target_runs =
      std::clamp(static_cast<int>(kTargetSeconds / std::max(first_run, 1e-6)), 0, kMaxRuns);
  // One warm run suffices if runs are long.
  const int runs = first_run > 1 ? 1 : std::max(kMinRuns, target_runs);
  std::vector<double> seconds;
  for (int n = 0; n < runs; ++n) {
    const Clock::time_point start = Clock::now();
    static_cast<void>(evaluate(input, cpu_backend(), {}));
    seconds.push_back(seconds_since(start));
  }
  return median(seconds);
}

std::size_t bytes_of(const Pattern& pattern) {
  return pattern.runs().size() * sizeof(Run) + pattern.starts().size() * sizeof(std::int64_t);
}

// Runs the operation once to count its cost, then repeatedly to measure its time.
void measure(const CostRequest& request, const RunInput& p, CostPoint& point, double& first_run) {
  reset_peak_storage();
  const std::size_t initial_bytes = storage_statistics().live_bytes;
  const Clock::time_point start = Clock::now();
  OperationResult result = evaluate(p.input, cpu_backend(), {});
  first_run = seconds_since(start);
  const std::size_t peak = storage_statistics().peak_bytes - initial_bytes;
  count_cost(request, p, result, point);
  if (!request.measured) return;
  point.peak_bytes = static_cast<double>(peak + p.bytes + bytes_of(*result.pattern));
  result = {};
  point.seconds = warm_seconds(p.input, first_run);
}

// Predicts the seconds at the next length from the last two measured lengths and the published
// growth; 0 without measurements.
class TimePredictor {
 public:
  double seconds(const Growth& growth, Index length) const {
    if (times_.empty()) return 0;
    const auto& [last_length, last_time] = times_.back();
    const double ratio = growth.at(static_cast<double>(length)) / growth.at(last_length);
    double power = 0;
    if (times_.size() > 1) {
      const auto& [previous_length, previous_time] = times_[times_.size() - 2];
      power = std::log(last_time / previous_time) / std::log(last_length / previous_length);
    }
    return last_time * std::max(ratio, std::pow(static_cast<double>(length) / last_length, power));
  }
  void add(Index length, double seconds) {
    // Lengths rounded to the same number of tokens carry no information on growth.
    if (!times_.empty() && times_.back().first == static_cast<double>(length)) times_.pop_back();
    times_.emplace_back(static_cast<double>(length), std::max(seconds, 1e-6));
  }

 private:
  std::vector<std::pair<double, double>> times_;
};

CostPoint cost_point(const CostRequest& request, const CostVariant& entry, Index length,
                     TimePredictor& predictor) {
  const Variant& v = variant(entry.choice.id);
  CostPoint point;
  point.length = length;
  point.tokens =
      v.defaults.length && entry.uses_published_sizes ? v.defaults.length(length) : length;
  point.values = values_at(entry, point.tokens);
  const double seconds = predictor.seconds(v.cost.growth, point.tokens);
  const bool needs_no_run = !request.measured && is_pattern_only(v, point.values) && !v.cost.head;
  if (!needs_no_run && seconds > request.max_seconds) {
    point.missing = "would take about " + brief(seconds, 2) + " s";
    return point;
  }
  const RunInput p = prepare(request, v, point.values, point.tokens);
  if (!p.refusal.empty()) {
    point.missing = p.refusal;
    return point;
  }
  check_stop();
  if (!request.measured) {
    if (const auto result = pattern_result(request, v, p, point.tokens)) {
      count_cost(request, p, *result, point);
      return point;
    }
  }
  double first_run = 0;
  measure(request, p, point, first_run);
  predictor.add(point.tokens, std::isfinite(point.seconds) ? point.seconds : first_run);
  return point;
}

// Length at which full attention is timed: long enough for warm kernels and large matrices.
constexpr Index kReferenceLength = 1024;

// Minimum over several runs of full attention: other load on the machine can only slow a run down.
double measured_seconds_per_operation(const CostRequest& request) {
  constexpr int kRepeats = 2;
  CostRequest reference = request;
  reference.causal = false;
  double best = std::numeric_limits<double>::infinity();
  for (int n = 0; n < kRepeats; ++n) {
    TimePredictor predictor;
    const CostPoint point = cost_point(reference, {default_variant()}, kReferenceLength, predictor);
    best = std::min(best, point.seconds / point.operations);
  }
  return best;
}

// Lowers `best` (seconds per operation of full attention) if a later point was faster.
void update_seconds_per_operation(const CostVariant& entry, const CostPoint& point, double& best) {
  const bool is_reference = entry.choice == default_variant() && point.tokens >= kReferenceLength;
  if (is_reference) best = std::min(best, point.seconds / point.operations);
}

void check(const CostRequest& request) {
  if (request.variants.empty()) throw InputError("variant: expected a variant, found none");
  if (request.lengths.empty()) throw InputError("lengths: expected a length, found none");
  if (request.heads < 1 || request.head_size < 1) {
    throw InputError("heads: expected at least one head of size 1");
  }
  for (const Index length : request.lengths) {
    if (length >= 1 && length <= kMaxLength) continue;
    throw InputError("lengths: expected 1 to " + grouped(kMaxLength) + " tokens, found " +
                     std::to_string(length));
  }
  if (!std::ranges::is_sorted(request.lengths, std::ranges::less_equal{})) {
    throw InputError("lengths: expected ascending lengths");
  }
  for (const CostVariant& entry : request.variants) {
    const std::string refusal = cost_refusal(variant(entry.choice.id));
    if (!refusal.empty()) throw InputError("variant " + refusal);
  }
}

// Throws the last error if a variant fails at all lengths.
void check_reached(const CostCurves& curves) {
  for (const CostSeries& series : curves.series) {
    const bool has_point = std::ranges::any_of(
        series.points, [](const CostPoint& point) { return point.missing.empty(); });
    if (has_point || series.points.empty()) continue;
    throw InputError(series.variant.choice.id + " at " +
                     std::to_string(series.points.back().length) +
                     " tokens: " + series.points.back().missing);
  }
}

std::string csv_number(double number) {
  return std::isfinite(number) ? general(number, 8) : "";
}

}  // namespace

double seconds_by_formula(const CostCurves& curves, const CostPoint& point) {
  return point.operations * curves.seconds_per_operation;
}

std::string cost_refusal(const Variant& v) {
  if (v.memory.remember)
    return v.id + ": its memory depends on earlier segments, not on the length";
  const bool is_drawn = std::ranges::any_of(v.weights, [](const WeightInfo& weight) {
    return weight.file.bytes && weight.training.constant;
  });
  if (is_drawn) return v.id + ": its pairs are drawn by hand and do not depend on the length";
  return {};
}

std::vector<CostVariant> default_cost_variants() {
  std::vector<CostVariant> list;
  for (const char* id : {"full", "local", "strided", "lsh", "linformer", "linear"}) {
    list.push_back({{id, default_values(variant(id).parameters)}, true});
  }
  return list;
}

std::vector<Index> doubling_lengths(Index first, Index last) {
  std::vector<Index> lengths;
  if (first < 1 || last < first || last > kMaxLength) return lengths;
  for (Index length = first; length < last; length *= 2) lengths.push_back(length);
  lengths.push_back(last);
  return lengths;
}

CostCurves cost_curves(const CostRequest& request, const CostProgress& progress) {
  check(request);
  CostCurves curves{.request = request, .series = {}, .backend = cpu_backend().name()};
  std::vector<TimePredictor> predictors(request.variants.size());
  for (const CostVariant& entry : request.variants) {
    const Variant& v = variant(entry.choice.id);
    const bool causal = runs_causally(request, v, entry.choice.values) || v.causality.by_definition;
    curves.series.push_back({entry, v.label, causal});
  }
  // A point's share of the progress is proportional to its length.
  const double total_work = std::accumulate(request.lengths.begin(), request.lengths.end(), 0.0) *
                            static_cast<double>(request.variants.size());
  double completed_work = 0;
  try {
    if (request.measured) curves.seconds_per_operation = measured_seconds_per_operation(request);
    for (const Index length : request.lengths) {
      for (std::size_t n = 0; n < curves.series.size(); ++n) {
        check_stop();
        CostSeries& series = curves.series[n];
        series.points.push_back(cost_point(request, series.variant, length, predictors[n]));
        update_seconds_per_operation(series.variant, series.points.back(),
                                     curves.seconds_per_operation);
        completed_work += static_cast<double>(length);
        if (progress) progress(curves, completed_work / total_work);
      }
    }
  } catch (const Stopped&) {
    curves.stopped = true;
  }
  if (!curves.stopped) check_reached(curves);
  return curves;
}

std::string parameters_text(const Variant& v, const Values& values) {
  std::string text;
  for (const Parameter& parameter : v.parameters) {
    const auto entry = values.all().find(parameter.key);
    if (entry == values.all().end()) continue;
    text += (text.empty() ? "" : ", ") + parameter.key + " = " + to_text(entry->second);
  }
  return text;
}

std::string to_csv(const CostCurves& curves) {
  std::string csv =
      "variant,parameters,length,tokens,operations,bytes,seconds,seconds_by_formula,peak_bytes,"
      "growth,note\n";
  for (const CostSeries& series : curves.series) {
    const Variant& v = variant(series.variant.choice.id);
    for (const CostPoint& point : series.points) {
      csv += v.id + "," + csv_field(parameters_text(v, point.values)) + "," +
             std::to_string(point.length) + "," + std::to_string(point.tokens);
      for (const double number : {point.operations, point.bytes, point.seconds,
                                  seconds_by_formula(curves, point), point.peak_bytes}) {
        csv += "," + csv_number(number);
      }
      csv += "," + v.cost.growth.text() + "," + csv_field(point.missing) + "\n";
    }
  }
  return csv;
}

}  // namespace attnscope
