#include "core/view/export/view_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/analysis/pair.h"
#include "core/base/error.h"
#include "core/base/json.h"
#include "core/figure/text_table.h"
#include "core/model/logit_lens.h"
#include "core/model/sample.h"
#include "core/tensor/npy.h"
#include "core/tensor/safetensors.h"
#include "core/view/export/picture.h"
#include "core/view/session_file.h"
#include "tests/support/compare.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(ViewData, QuotesSpecialCharacters) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
}

// Trace of two tokens with one layer and one head.
Trace small_trace() {
  Trace trace;
  trace.tokens.resize(2);
  trace.tokens[0].label = "a,";
  trace.tokens[1].label = "b";
  AttentionTap tap;
  tap.heads = {0};
  tap.variant = default_variant();
  tap.encoding = default_encoding();
  tap.result.pattern = std::make_shared<const Pattern>(Pattern::causal(2, 2));
  tap.result.attention = Tensor::from({1, 2, 2}, {1, 0, 0.25F, 0.75F});
  trace.attention.push_back(std::move(tap));
  return trace;
}

TEST(ViewData, WritesTokensAndWeights) {
  EXPECT_EQ(to_csv(view_data(small_trace(), Session())),
            "query,\"a,\",b\n\"a,\",1,0\nb,0.25,0.75\n");
}

TEST(ViewData, ExportsVisibleRegionOnly) {
  Session session;
  session.view.row = 1;
  session.view.height = session.view.width = 1;
  EXPECT_EQ(to_csv(view_data(small_trace(), session)), "query,\"a,\"\nb,0.25\n");
}

// The map of 20,000 tokens is too large to store or to export as a whole.
TEST(ViewData, DerivesVisibleRegionOfHugeMap) {
  constexpr Index kLength = 20000;
  Trace trace;
  trace.tokens.resize(kLength);
  AttentionTap tap;
  tap.heads = {0};
  tap.variant = default_variant();
  tap.encoding = default_encoding();
  Part part;
  part.pattern = tap.result.pattern =
      std::make_shared<const Pattern>(Pattern::causal(kLength, kLength));
  part.q = part.k = Tensor::zeros({1, kLength, 1});
  Tensor log_sums({1, kLength});
  for (Index i = 0; i < kLength; ++i) log_sums[i] = std::log(static_cast<float>(i + 1));
  tap.vectors = AttentionVectors{.part = std::make_shared<const Part>(part)};
  tap.result.tiles = cpu_tiles(part, log_sums);
  trace.attention.push_back(std::move(tap));
  Session session;
  EXPECT_THROW(view_data(trace, session), InputError);
  session.view.row = 9999;
  session.view.column = 9998;
  session.view.height = 2;
  session.view.width = 4;
  const ViewData data = view_data(trace, session);
  ASSERT_EQ(data.matrices.size(), 1u);
  const float a = 1.0F / 10000, b = 1.0F / 10001;
  EXPECT_TRUE(testing::close(data.matrices[0].values,
                             Tensor::from({2, 4}, {a, a, 0, 0, b, b, b, 0}), 1e-7));
}

TEST(ViewData, RejectsMissingLayer) {
  Session session;
  session.view.layer = 7;
  EXPECT_THROW(view_data(small_trace(), session), InputError);
}

TEST(ViewData, GridContainsAllHeads) {
  Session session;
  session.view.id = "grid";
  const Trace trace = testing::synthetic_trace(3, 2, 5);
  const ViewData data = view_data(trace, session);
  ASSERT_EQ(data.matrices.size(), 1u);
  const ViewData::Matrix& grid = data.matrices[0];
  ASSERT_EQ(grid.values.shape(), (Shape{3, 2, 5, 5}));
  for (Index layer = 0; layer < 3; ++layer) {
    const Tensor weights = trace.attention[static_cast<std::size_t>(layer)].attention(1);
    for (Index i = 0; i < 25; ++i) {
      EXPECT_EQ(grid.values(layer, Index{1}, i / 5, i % 5), weights[i]);
    }
  }
  const std::string csv = to_csv(data);
  EXPECT_TRUE(csv.starts_with("layer,head,query,The,"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 3 * 2 * 5);
  EXPECT_NE(csv.find("\n2,1,The,"), std::string::npos);
}

TEST(ViewData, NpyAndSafetensorsContainWeights) {
  const Trace trace = testing::synthetic_trace(2, 2, 6);
  Session session;
  session.view.layer = 1;
  const Tensor weights = trace.attention[1].attention(0);
  const auto folder = std::filesystem::path(::testing::TempDir());
  const auto expect_weights = [&](const Tensor& numbers) {
    ASSERT_EQ(numbers.shape(), weights.shape());
    for (Index i = 0; i < weights.size(); ++i) EXPECT_EQ(numbers[i], weights[i]);
  };
  write_view(folder / "view_data.npy", trace, session, {});
  expect_weights(read_npy(folder / "view_data.npy").floats());
  write_view(folder / "view_data.safetensors", trace, session, {});
  const SafetensorsFile file = read_safetensors(folder / "view_data.safetensors");
  expect_weights(file.tensors.at("attention").floats());
  EXPECT_EQ(session_from_json(Json::parse(file.metadata.at("experiment"))), session);
  EXPECT_THROW(write_view(folder / "view_data.txt", trace, session, {}), InputError);
}

TEST(ViewData, PatternIsEmptyForDisallowedPairs) {
  Session session;
  session.view.id = "pattern";
  const std::string csv = to_csv(view_data(small_trace(), session));
  EXPECT_EQ(csv, "query,\"a,\",b\n\"a,\",0,\nb,0,0\n");
}

// Views with other numbers than the map must not export the map.
TEST(ViewData, ViewsExportTheirOwnNumbers) {
  const Trace trace = testing::synthetic_trace(2, 2, 9);
  const Trace model = testing::run_model({});
  Session session;
  session.view.head = 1;
  const auto csv_of = [&](const Trace& run, const std::string& id) {
    session.view.id = id;
    return to_csv(view_data(run, session, testing::findings_of(run)));
  };
  const std::string map = csv_of(trace, "map"), model_map = csv_of(model, "map");
  for (const View& view : views()) {
    EXPECT_TRUE(view.data) << view.id;
    if (view.id == "map" || view.id == "lines" || view.id == "compare") continue;
    if (view.id == "image") continue;  // needs pixels: see ImageView
    const bool needs_model = view.id == "scores" || view.id == "vectors" || view.id == "span" ||
                             view.id == "rope" || view.id == "position" ||
                             view.id == "architecture" || view.id == "block";
    const Trace& run = needs_model ? model : trace;
    if (!view.objection(run).empty()) {  // needs segments, steps or gates
      EXPECT_THROW(csv_of(run, view.id), InputError) << view.id;
      continue;
    }
    EXPECT_NE(csv_of(run, view.id), needs_model ? model_map : map) << view.id;
  }
  EXPECT_EQ(csv_of(trace, "lines"), map);  // the lines of one head show its weights
  set_view_values(session.view, "lines", [] {
    Values values = default_values(view("lines").options.parameters);
    values.set("all", true);
    return values;
  }());
  session.view.id = "lines";
  EXPECT_EQ(view_data(trace, session).matrices.at(0).name, "attention of head 0");
}

TEST(ViewData, DepthListsPredictionsOfEachLayer) {
  const Trace trace = testing::synthetic_trace(4, 2, 9);
  Session session;
  session.view.id = "depth";
  set_view_value(session.view, "depth", "threshold", 0.3);
  const Findings found = testing::findings_of(trace);
  const ViewData data = view_data(trace, session, found);
  ASSERT_EQ(data.matrices.size(), 3u);
  const ViewData::Matrix& guesses = data.matrices[0];
  ASSERT_EQ(guesses.values.shape(), (Shape{9 * 4, 9}));
  const LogitLens& lens = *found.get(Findings::lens);
  for (Index i = 0; i < 9; ++i) {
    for (Index layer = 0; layer < 4; ++layer) {
      const Index row = 4 * i + layer;
      EXPECT_EQ(guesses.values(row, 0), static_cast<float>(i));
      EXPECT_EQ(guesses.values(row, 1), static_cast<float>(layer));
      EXPECT_EQ(guesses.values(row, 2), static_cast<float>(lens.guess(layer, i)));
      EXPECT_EQ(guesses.values(row, 3), lens.probability(layer, i));
      EXPECT_EQ(guesses.values(row, 7), lens.guess(layer, i) == lens.guess(3, i) ? 1 : 0);
    }
  }
  const std::vector<Index> exits = exit_layers(lens, Confidence::Margin, 0.3);
  for (Index i = 0; i < 9; ++i) {
    EXPECT_EQ(data.matrices[1].values(i, 2),
              static_cast<float>(exits[static_cast<std::size_t>(i)]));
  }
  EXPECT_EQ(data.matrices[2].values(0, 0), static_cast<float>(exit_summary(lens, exits).saved));
  EXPECT_NE(to_csv(data).find("guess,position,layer,token id,probability"), std::string::npos);
  session.view.row = 2;  // visible rows 2 to 4
  session.view.height = 3;
  EXPECT_EQ(view_data(trace, session, found).matrices[1].rows,
            (std::vector<std::string>{"␣keeper", "␣turned", "␣the"}));
}

TEST(ViewData, NextMatchesSamplingDistribution) {
  const Trace trace = testing::synthetic_trace(1, 1, 9);
  Session session;
  session.view.pinned_query = 4;
  session.view = testing::settings_with("next", R"({"temperature": 0.5, "top_k": 2})");
  session.view.id = "next";
  session.view.pinned_query = 4;
  const ViewData data = view_data(trace, session);
  ASSERT_EQ(data.matrices.size(), 2u);
  const ViewData::Matrix& next = data.matrices[0];
  ASSERT_EQ(next.values.shape(), (Shape{13, 4}));
  const Tensor logits = trace.logits.value().slice(4, 1).reshaped({13});
  const std::vector<double> unscaled = probabilities(logits, {});
  const std::vector<double> scaled = probabilities(logits, {.temperature = 0.5, .top_k = 2});
  float sampled_count = 0;
  for (Index row = 0; row < 13; ++row) {
    const auto id = static_cast<std::size_t>(next.values(row, 0));
    EXPECT_EQ(next.values(row, 1), static_cast<float>(unscaled[id]));
    EXPECT_EQ(next.values(row, 2), static_cast<float>(scaled[id]));
    EXPECT_LE(next.values(row, 1), next.values(std::max<Index>(0, row - 1), 1));
    sampled_count += next.values(row, 3);
  }
  EXPECT_EQ(sampled_count, 1);
  EXPECT_EQ(data.matrices[1].name, "surprise");
  EXPECT_EQ(data.matrices[1].values(3, 0), trace.token_bits[3]);
}

TEST(ViewData, InterveneContainsBothRuns) {
  const Trace baseline = testing::synthetic_trace(2, 2, 9);
  Trace changed = testing::synthetic_trace(2, 2, 9);
  for (float& weight : changed.attention[1].result.attention) weight /= 2;
  for (Index v = 0; v < 13; ++v) changed.logits.value()(8, v) = static_cast<float>(v);
  Session session;
  session.view.id = "intervene";
  session.view.layer = 1;
  session.run.interventions = {intervention_from_text("off layer=0")};
  const Findings found = testing::findings_of(changed, &baseline);
  const ViewData data = view_data(changed, session, found);
  ASSERT_EQ(data.matrices.size(), 4u);
  EXPECT_EQ(data.matrices[0].name, "attention before");
  EXPECT_EQ(data.matrices[1].name, "attention after");
  for (Index i = 0; i < 81; ++i) {
    EXPECT_EQ(data.matrices[0].values[i], 2 * data.matrices[1].values[i]);
  }
  const ViewData::Matrix& next = data.matrices[2];
  EXPECT_EQ(next.columns, (std::vector<std::string>{"token id", "before", "after"}));
  EXPECT_EQ(next.values(0, 0), 12);  // the most likely token after the intervention
  const std::vector<double> baseline_probabilities =
      probabilities(baseline.logits.value().slice(8, 1).reshaped({13}), {});
  EXPECT_EQ(next.values(0, 1), static_cast<float>(baseline_probabilities[12]));
  EXPECT_EQ(data.matrices[3].rows[1], "perplexity");
  const auto folder = std::filesystem::path(::testing::TempDir());
  EXPECT_THROW(write_view(folder / "runs.npy", changed, session, {}, found), InputError);
  write_view(folder / "runs.safetensors", changed, session, {}, found);
  const SafetensorsFile file = read_safetensors(folder / "runs.safetensors");
  EXPECT_EQ(file.tensors.size(), 4u);
  EXPECT_EQ(Json::parse(file.metadata.at("next token.columns")), Json(next.columns));
}

TEST(ViewData, ExplanatoryViewsExportTheirOwnNumbers) {
  const Trace trace = testing::run_model({});
  const AttentionTap& tap = trace.attention[0];
  Session session;
  session.view.head = 1;
  session.view.pinned_query = 9;
  session.view.pinned_key = 4;
  const auto numbers_of = [&](const char* view) {
    session.view.id = view;
    return view_data(trace, session);
  };
  const auto pair = pair_score(*tap.part(), 1, 9, 4);
  const auto close = [](float actual, double expected) {
    return std::abs(static_cast<double>(actual) - expected) <= 1e-4;
  };
  EXPECT_TRUE(close(numbers_of("scores").matrices.back().values(9, 4), pair->score));
  const ViewData vectors = numbers_of("vectors");
  EXPECT_TRUE(close(vectors.matrices[0].values(3, 7), pair->product));
  const ViewData rope = numbers_of("rope");
  ASSERT_EQ(rope.matrices[0].columns[64 + 5], "5");
  EXPECT_TRUE(close(rope.matrices[0].values(0, 64 + 5), pair->score));
  const ViewData span = numbers_of("span");
  ASSERT_EQ(span.matrices.size(), 4u);
  EXPECT_EQ(span.matrices[1].name, "attention with a span");
  EXPECT_EQ(span.matrices[1].values.shape(), (Shape{12, 12}));
  EXPECT_GT(span.matrices[0].values(11, 0), 0);
  EXPECT_EQ(span.matrices[1].values(11, 0), 0);
  EXPECT_TRUE(close(span.matrices[2].values(0, 6), 0.5));  // z = 4, R = 4
  EXPECT_EQ(span.matrices[3].values.shape(), (Shape{4, 5}));
  EXPECT_EQ(span.matrices[3].rows[1], "layer 0, head 1");
  const ViewData position = numbers_of("position");
  EXPECT_EQ(position.matrices[0].values.shape(), (Shape{8, 65}));
  EXPECT_TRUE(close(position.matrices[1].values(0, 64), 1));
  EXPECT_EQ(position.matrices[1].columns.front(), "-64");
  for (const char* view : {"scores", "vectors", "span"}) {
    session.view.id = view;
    EXPECT_THROW(view_data(testing::synthetic_trace(1, 2, 5), session), InputError) << view;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
