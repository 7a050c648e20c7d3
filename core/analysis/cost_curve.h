// What variants take against the length: operations and bytes counted, time and memory measured
// here, with the program's own kernels on the CPU.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/attention/variant.h"
#include "core/base/stop.h"

namespace attnscope {

// A variant with parameters, the same at all lengths; or by its name alone: its parameters are
// then as its paper has them at each length (Growth::sizes).
struct CostVariant {
  Choice choice;
  bool by_name = false;
};

struct CostRequest {
  std::vector<CostVariant> variants;
  std::vector<Index> lengths;  // in tokens, rising
  Index heads = 4, head_size = 64;
  bool causal = false;      // where a variant can be; some always are
  bool measured = true;     // whether time and memory are measured, too
  double most_seconds = 5;  // of one operation: lengths that would take longer are left out
  std::size_t most_bytes = std::size_t{2} << 30;  // of what goes into one, likewise
};

struct CostPoint {
  Index length = 0;  // that was asked for
  Index tokens = 0;  // that it was cut to, where a variant needs blocks or rows (Variant::fitting)
  Values values{};   // the parameters there
  // Of all heads. Operations: multiply-adds, those of the scores and of the weighted sums; where a
  // method has none, what head_cost() counts in their place. Bytes: of queries, keys, values and
  // output, and a number for each score or what stands in its place.
  double operations = std::numeric_limits<double>::quiet_NaN();
  double bytes = std::numeric_limits<double>::quiet_NaN();
  // Measured, NaN where they were not: the median of warm runs, and what was allocated at most.
  double seconds = std::numeric_limits<double>::quiet_NaN();
  double peak_bytes = std::numeric_limits<double>::quiet_NaN();
  std::string missing{};  // why it was left out: "would take about 12 s"; empty: it was not
};

struct CostSeries {
  CostVariant variant;
  std::string label{};              // "Local window"
  bool causal = false;              // what it was measured as
  std::vector<CostPoint> points{};  // those that were reached by now
};

struct CostCurves {
  CostRequest request;
  std::vector<CostSeries> series;
  std::string backend;  // "CPU (2 threads, AVX-512)"
  // Of one multiply-add of full attention, measured here; NaN: nothing is measured (yet).
  double seconds_of_operation = std::numeric_limits<double>::quiet_NaN();
  bool stopped = false;  // before the end
};

// What a point would take if every operation went as fast as in full attention.
double seconds_by_formula(const CostCurves& curves, const CostPoint& point);

// Called with what there is after each point, and the share that is done, 0..1.
using CostProgress = std::function<void(const CostCurves&, double share)>;

// All variants at a length before the next one. A stop ends it with what there is. InputError where
// a variant cannot be measured by itself or its parameters have no meaning at any of the lengths.
CostCurves cost_curves(const CostRequest& request, const CostProgress& progress, const Stop& stop);

// Why a variant cannot be in it: "custom: its pairs are painted by hand"; empty: it can.
std::string cost_refusal(const Variant& variant);
// Those to begin with: one of each way to grow.
std::vector<CostVariant> usual_cost_variants();

// `first`, twice that, ..., up to and with `last`.
std::vector<Index> doubling_lengths(Index first, Index last);

// "variant,parameters,length,tokens,operations,bytes,seconds,seconds_by_formula,peak_bytes,growth,
// note": a line a point; what is not known is empty.
std::string to_csv(const CostCurves& curves);

// "window = 64, dilation = 1": parameters of a point, empty where it has none.
std::string parameters_text(const Variant& variant, const Values& values);

}  // namespace attnscope
