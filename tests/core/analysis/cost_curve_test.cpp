// Cost curves: counts, published growth, skipped points, cancellation.
#include "core/analysis/cost_curve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/analysis/cost_plot.h"
#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/figure/render.h"
#include "tests/support/golden.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

CostRequest small_request(const std::vector<CostVariant>& variants,
                          const std::vector<Index>& lengths) {
  CostRequest request;
  request.variants = variants;
  request.lengths = lengths;
  request.heads = 2;
  request.head_size = 8;
  request.measured = false;
  request.max_seconds = 1000;  // whatever else the machine does
  return request;
}

CostVariant published_variant(const std::string& id) {
  return {{id, default_values(variant(id).parameters)}, true};
}

CostCurves compute_curves(const CostRequest& request) {
  return cost_curves(request, {});
}

TEST(CostCurve, CountsPairsOfFullAndLocal) {
  CostVariant local = published_variant("local");
  local.uses_published_sizes = false;
  local.choice.values.set("window", Index{3});
  const CostCurves curves =
      compute_curves(small_request({published_variant("full"), local}, {10, 40}));
  ASSERT_EQ(curves.series.size(), 2u);
  for (const std::size_t n : {0u, 1u}) {
    const auto length = static_cast<double>(curves.series[0].points[n].tokens);
    // One multiply-add per component of a score and of a weighted value, two heads.
    EXPECT_DOUBLE_EQ(curves.series[0].points[n].operations, 2 * length * length * 16);
    double pairs = 0;  // windows of 7, cut at the ends
    for (int i = 0; i < length; ++i) {
      for (int j = 0; j < length; ++j) pairs += std::abs(i - j) <= 3 ? 1 : 0;
    }
    EXPECT_DOUBLE_EQ(curves.series[1].points[n].operations, 2 * pairs * 16);
    EXPECT_DOUBLE_EQ(curves.series[1].points[n].bytes, 4 * (2 * length * 4 * 8 + 2 * pairs));
  }
  CostRequest causal = small_request({published_variant("full")}, {10});
  causal.causal = true;
  EXPECT_DOUBLE_EQ(compute_curves(causal).series[0].points[0].operations, 2 * 55 * 16);
}

// Counts are equal with and without a measurement of the operation.
TEST(CostCurve, CountsMatchTheOperation) {
  std::vector<CostVariant> cost_variants;
  for (const Variant& v : variants()) {
    if (cost_refusal(v).empty()) cost_variants.push_back(published_variant(v.id));
  }
  ASSERT_GT(cost_variants.size(), 20u);
  CostRequest request = small_request(cost_variants, {64, 144});
  const CostCurves counted = compute_curves(request);
  request.measured = true;
  const CostCurves measured = compute_curves(request);
  for (std::size_t n = 0; n < cost_variants.size(); ++n) {
    const std::string& id = cost_variants[n].choice.id;
    for (std::size_t p = 0; p < 2; ++p) {
      const CostPoint &a = counted.series[n].points[p], &b = measured.series[n].points[p];
      EXPECT_EQ(a.missing, "") << id;
      EXPECT_TRUE(a.operations > 0) << id;
      EXPECT_TRUE(a.operations == b.operations) << id;
      EXPECT_TRUE(std::isnan(a.seconds)) << id;
      EXPECT_TRUE(b.seconds > 0) << id;
      EXPECT_TRUE(b.peak_bytes > 0) << id;
    }
  }
  EXPECT_TRUE(measured.seconds_per_operation > 0);
}

// With the parameters of Growth::sizes, operations grow as Growth states.
TEST(CostCurve, OperationsGrowAsPublished) {
  // Tolerance of the exponent: windows are cut, blocks are partial.
  constexpr double kTolerance = 0.25;
  const std::vector<Index> lengths{1024, 4096};
  for (const Variant& v : variants()) {
    if (!cost_refusal(v).empty()) continue;
    CostRequest request = small_request({published_variant(v.id)}, lengths);
    request.heads = 1;
    request.head_size = 32;
    const CostCurves curves = compute_curves(request);
    const CostPoint &first = curves.series[0].points[0], &last = curves.series[0].points[1];
    ASSERT_EQ(last.missing, "") << v.id;
    const auto from = static_cast<double>(first.tokens), to = static_cast<double>(last.tokens);
    const double exponent = std::log(last.operations / first.operations) / std::log(to / from);
    const double expected =
        std::log(v.cost.growth.at(to) / v.cost.growth.at(from)) / std::log(to / from);
    EXPECT_TRUE(std::abs(exponent - expected) <= kTolerance)
        << v.id << ": " << exponent << " against " << expected << ", " << v.cost.growth.text();
  }
}

TEST(CostCurve, ReportsSkippedPoints) {
  CostRequest request =
      small_request({published_variant("full"), published_variant("image_2d")}, {60, 128});
  const CostCurves curves = compute_curves(request);
  EXPECT_EQ(curves.series[1].points[0].tokens, variant("image_2d").defaults.length(60));
  request = small_request({published_variant("full")}, {64, 4096});
  request.max_bytes = 1 << 16;
  EXPECT_NE(compute_curves(request).series[0].points[1].missing.find("GiB of input"),
            std::string::npos);
  request = small_request({published_variant("full")}, {64, 512});
  request.measured = true;
  request.max_seconds = 1e-9;
  const CostPoint slow = compute_curves(request).series[0].points[1];
  EXPECT_NE(slow.missing.find("would take about"), std::string::npos) << slow.missing;
  EXPECT_TRUE(std::isnan(slow.seconds));
}

TEST(CostCurve, RejectsInvalidRequests) {
  EXPECT_THROW(compute_curves(small_request({}, {64})), InputError);
  EXPECT_THROW(compute_curves(small_request({published_variant("full")}, {})), InputError);
  EXPECT_THROW(compute_curves(small_request({published_variant("full")}, {64, 32})), InputError);
  EXPECT_THROW(compute_curves(small_request({published_variant("full")}, {0})), InputError);
  EXPECT_THROW(compute_curves(small_request({published_variant("custom")}, {64})), InputError);
  EXPECT_THROW(compute_curves(small_request({published_variant("segment_memory")}, {64})),
               InputError);
  CostVariant image = published_variant("image_2d");  // 8 x 8 at all lengths
  image.uses_published_sizes = false;
  EXPECT_THROW(compute_curves(small_request({image}, {60})), InputError);
}

TEST(CostCurve, ReturnsPartialResultsWhenStopped) {
  const Stop stop;
  const StopScope scope(stop);
  CostRequest request =
      small_request({published_variant("full"), published_variant("local")}, {32, 64, 128});
  int points = 0;
  double last = 0;
  const CostCurves curves = cost_curves(request, [&](const CostCurves&, double fraction) {
    EXPECT_GT(fraction, last);
    last = fraction;
    if (++points == 3) stop.request();
  });
  EXPECT_TRUE(curves.stopped);
  EXPECT_EQ(curves.series[0].points.size(), 2u);
  EXPECT_EQ(curves.series[1].points.size(), 1u);
}

TEST(CostCurve, DoublesLengths) {
  EXPECT_EQ(doubling_lengths(128, 512), (std::vector<Index>{128, 256, 512}));
  EXPECT_EQ(doubling_lengths(100, 500), (std::vector<Index>{100, 200, 400, 500}));
  EXPECT_EQ(doubling_lengths(64, 64), (std::vector<Index>{64}));
  EXPECT_TRUE(doubling_lengths(64, 32).empty());
}

TEST(CostCurve, TableAndPlotAreComplete) {
  CostRequest request =
      small_request({published_variant("full"), published_variant("strided")}, {64, 256});
  request.measured = true;
  CostCurves curves = compute_curves(request);
  const std::string csv = to_csv(curves);
  EXPECT_TRUE(csv.starts_with("variant,parameters,length,tokens,operations,bytes,seconds,"));
  EXPECT_NE(csv.find("strided,\"stride = 16, mode = merged\",256,256,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",L·√L,"), std::string::npos);
  const auto texts = [&](const CostPlotOptions& options) {
    std::string lines;
    const DisplayList list = cost_plot(curves, options, Theme::light(), file_text_measure());
    for (const Item& item : list.items) {
      if (const Text* text = std::get_if<Text>(&item)) lines += text->text + "\n";
    }
    return lines;
  };
  const std::string time = texts({});
  for (const char* part : {"Full  L²", "Strided  L·√L", "64\n", "256\n", "CPU", "median"}) {
    EXPECT_NE(time.find(part), std::string::npos) << part << "\n" << time;
  }
  EXPECT_NE(texts({.quantity = CostQuantity::Operations}).find("Counted"), std::string::npos);
  EXPECT_NE(texts({.quantity = CostQuantity::Bytes, .formula = true}).find("Dashed"),
            std::string::npos);
  const auto count_shapes = [&] {
    const DisplayList list = cost_plot(curves, {}, Theme::light(), file_text_measure());
    return std::ranges::count_if(
        list.items, [](const Item& item) { return !std::holds_alternative<Text>(item); });
  };
  const auto shape_count = count_shapes();
  curves.series[0].points[1].missing = "would take about 9 s";
  std::string skips = texts({});
  std::ranges::replace(skips, '\n', ' ');  // the name of the processor decides where lines end
  EXPECT_NE(skips.find("Skipped: Full from 256"), std::string::npos);
  EXPECT_LT(count_shapes(), shape_count);  // although the point has numbers
}

TEST(CostCurve, FormatsNumbersWithUnits) {
  EXPECT_EQ(cost_text(CostQuantity::Time, 0.0015), "1.5 ms");
  EXPECT_EQ(cost_text(CostQuantity::Time, 12), "12 s");
  EXPECT_EQ(cost_text(CostQuantity::Operations, 2e9), "2 G");
  EXPECT_EQ(cost_text(CostQuantity::Bytes, 3 * 1024 * 1024), "3 MiB");
  EXPECT_EQ(cost_quantity("bytes"), CostQuantity::Bytes);
  EXPECT_THROW(cost_quantity("money"), InputError);
}

// Adjacent lengths that are rounded to equal numbers of tokens do not show growth.
TEST(CostCurve, EqualTokenCountsDoNotSkipLaterLengths) {
  CostRequest request = small_request({published_variant("sinkhorn")}, {16, 17, 18, 32, 64});
  request.measured = true;
  const CostCurves curves = compute_curves(request);
  ASSERT_EQ(curves.series[0].points.size(), 5u);
  for (const CostPoint& point : curves.series[0].points) {
    EXPECT_TRUE(point.seconds > 0) << point.length << point.missing;
  }
}

// Parameters, tokens and input bytes of each variant at a length.
TEST(CostCurve, ParametersAndInputsMatchGolden) {
  std::string text;
  for (const Variant& v : variants()) {
    if (!cost_refusal(v).empty()) continue;
    for (const bool uses_published_sizes : {true, false}) {
      CostVariant selected = published_variant(v.id);
      selected.uses_published_sizes = uses_published_sizes;
      for (const Index length : {64, 1000}) {
        CostRequest request = small_request({selected}, {length});
        request.max_bytes = 0;
        std::string error;
        try {
          compute_curves(request);
        } catch (const InputError& e) {
          error = e.what();
        }
        request.max_bytes = std::size_t{1} << 30;
        text += error + (uses_published_sizes ? "\n" : ", with defaults\n");
      }
    }
    const CostCurves curves = compute_curves(small_request({published_variant(v.id)}, {64}));
    const CostPoint& point = curves.series[0].points[0];
    text += v.id + " " + std::to_string(point.tokens) + (curves.series[0].causal ? " causal" : "") +
            " " + v.cost.growth.text() + " " + parameters_text(v, point.values) + "\n";
  }
  EXPECT_TRUE(testing::matches_golden(text, "core/analysis/costs.txt"));
}

// The limit is inclusive: q, k and v (2 heads, 64 tokens, head size 8) need exactly max_bytes.
TEST(CostCurve, AcceptsInputsUpToTheLimit) {
  CostRequest request = small_request({published_variant("full")}, {32, 64});
  request.max_bytes = 3 * 2 * 64 * 8 * 4;
  EXPECT_EQ(compute_curves(request).series[0].points[1].missing, "");
  --request.max_bytes;
  EXPECT_NE(compute_curves(request).series[0].points[1].missing, "");
  EXPECT_EQ(compute_curves(request).series[0].points[0].missing, "");
  // The shortest and the longest length, one head of size 1.
  request = small_request({published_variant("local")}, {1, 2});
  request.heads = request.head_size = 1;
  EXPECT_EQ(compute_curves(request).series[0].points[0].tokens, 1);
  request.lengths = {1, Index{1} << 20};
  request.max_bytes = std::size_t{1} << 20;
  EXPECT_NE(compute_curves(request).series[0].points[1].missing.find("GiB"), std::string::npos);
  request.lengths = {1, (Index{1} << 20) + 1};
  EXPECT_THROW(compute_curves(request), InputError);
  request.lengths = {4, 4};
  EXPECT_THROW(compute_curves(request), InputError);
  request.lengths = {4};
  request.heads = 0;
  EXPECT_THROW(compute_curves(request), InputError);
  request.heads = 1;
  request.head_size = 0;
  EXPECT_THROW(compute_curves(request), InputError);
  EXPECT_EQ(doubling_lengths(1, 2), (std::vector<Index>{1, 2}));
  EXPECT_TRUE(doubling_lengths(0, 64).empty());
  EXPECT_EQ(doubling_lengths(Index{1} << 19, Index{1} << 20).size(), 2u);
  EXPECT_TRUE(doubling_lengths(1, (Index{1} << 20) + 1).empty());
}

TEST(CostCurve, ReportsProgressByLength) {
  std::vector<double> fractions;
  cost_curves(small_request({published_variant("full"), published_variant("local")}, {10, 30}),
              [&](const CostCurves&, double fraction) { fractions.push_back(fraction); });
  ASSERT_EQ(fractions.size(), 4u);
  EXPECT_NEAR(fractions[0], 10 / 80.0, 1e-12);
  EXPECT_NEAR(fractions[1], 20 / 80.0, 1e-12);
  EXPECT_NEAR(fractions[2], 50 / 80.0, 1e-12);
  EXPECT_NEAR(fractions[3], 1, 1e-12);
}

TEST(CostCurve, WritesNumbersInTheirColumns) {
  CostCurves curves = compute_curves(small_request({published_variant("full")}, {10}));
  curves.seconds_per_operation = 0.5;
  CostPoint& point = curves.series[0].points[0];
  EXPECT_EQ(seconds_by_formula(curves, point), 1600);
  point.seconds = 7;
  point.peak_bytes = 9;
  point.missing = "a \"b\", c";
  const std::string csv = to_csv(curves);
  EXPECT_NE(csv.find("full,score = dot,10,10,3200,3360,7,1600,9,L²,\"a \"\"b\"\", c\"\n"),
            std::string::npos)
      << csv;
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
