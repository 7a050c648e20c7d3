// Cost of variants as a function of the sequence length: operations and bytes are counted; time and
// memory are measured on this machine, with the program's own CPU kernels.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/attention/variant.h"

namespace attnscope {

// A variant with the parameters of `choice`; if `uses_published_sizes`, with the published ones for
// each length (Growth::sizes).
struct CostVariant {
  Choice choice;
  bool uses_published_sizes = false;
};

struct CostRequest {
  std::vector<CostVariant> variants;
  std::vector<Index> lengths;  // numbers of tokens, ascending
  Index heads = 4, head_size = 64;
  bool causal = false;     // for variants that support it; some variants are always causal
  bool measured = true;    // also measures time and memory
  double max_seconds = 5;  // predicted time of one operation; slower points are skipped
  std::size_t max_bytes = std::size_t{2} << 30;  // size of inputs; larger points are skipped
};

struct CostPoint {
  Index length = 0;  // requested length
  Index tokens = 0;  // length used: rounded for variants that need whole blocks
  Values values{};   // parameters at this length
  // Totals over all heads. `operations`: multiply-adds of scores and weighted sums, by head_cost().
  // `bytes`: queries, keys, values, output, and one number per product.
  double operations = std::numeric_limits<double>::quiet_NaN();
  double bytes = std::numeric_limits<double>::quiet_NaN();
  // `seconds`: median of warm runs. `peak_bytes`: peak allocation. NaN if not measured.
  double seconds = std::numeric_limits<double>::quiet_NaN();
  double peak_bytes = std::numeric_limits<double>::quiet_NaN();
  std::string missing{};  // reason why the point was skipped: "would take about 12 s"; else empty
};

struct CostSeries {
  CostVariant variant;
  std::string label{};              // "Local window"
  bool causal = false;              // true if measured in causal direction
  std::vector<CostPoint> points{};  // points reached so far
};

struct CostCurves {
  CostRequest request;
  std::vector<CostSeries> series;
  std::string backend;  // "CPU (2 threads, AVX-512)"
  // Seconds per multiply-add of full attention, measured here; NaN: not measured (yet).
  double seconds_per_operation = std::numeric_limits<double>::quiet_NaN();
  bool stopped = false;  // cancelled before the end
};

// Predicted seconds of a point at the speed of full attention.
double seconds_by_formula(const CostCurves& curves, const CostPoint& point);

// Called after each point, with the results so far and the completed fraction in [0, 1].
using CostProgress = std::function<void(const CostCurves&, double fraction)>;

// Measures all variants at one length before the next length. Returns the results so far if
// cancelled. Throws InputError if the request is invalid, if a variant has no cost curve
// (cost_refusal()), or if a variant fails at all lengths.
CostCurves cost_curves(const CostRequest& request, const CostProgress& progress);

// Reason why a variant has no cost curve, such as "custom: its pairs are drawn by hand and do not
// depend on the length"; else empty.
std::string cost_refusal(const Variant& variant);
// Variants selected by default, with published sizes.
std::vector<CostVariant> default_cost_variants();

// Lengths first, 2 * first, 4 * first, ... below `last`, followed by `last`. Empty unless
// 1 <= first <= last and `last` is supported.
std::vector<Index> doubling_lengths(Index first, Index last);

// CSV "variant,parameters,length,tokens,operations,bytes,seconds,seconds_by_formula,peak_bytes,
// growth,note": one line per point; unknown numbers are empty.
std::string to_csv(const CostCurves& curves);

// "window = 64, dilation = 1": parameters of a point; empty for a variant without parameters.
std::string parameters_text(const Variant& variant, const Values& values);

}  // namespace attnscope
