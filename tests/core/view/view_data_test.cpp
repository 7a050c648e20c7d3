#include "core/view/view_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/analysis/pair.h"
#include "core/base/error.h"
#include "core/tensor/npy.h"
#include "core/tensor/safetensors.h"
#include "core/view/picture.h"
#include "tests/core/view/model_trace.h"
#include "tests/core/view/synthetic.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace {

TEST(ViewData, QuotesWhatNeedsIt) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
}

// A trace with one layer of one head over two tokens.
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
  EXPECT_EQ(to_csv(view_data(small_trace(), Experiment())),
            "query,\"a,\",b\n\"a,\",1,0\nb,0.25,0.75\n");
}

TEST(ViewData, OfAPartHasItsNumbersAlone) {
  Experiment experiment;
  experiment.view.row = 1;
  experiment.view.height = experiment.view.width = 1;
  EXPECT_EQ(to_csv(view_data(small_trace(), experiment)), "query,\"a,\"\nb,0.25\n");
}

// Too large to be kept, or to be exported whole: 8 heads over 20,000 tokens.
TEST(ViewData, OfAPartOfAHugeMapIsDerived) {
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
  tap.result.part = std::make_shared<const Part>(part);
  tap.result.tiles = cpu_tiles(part, log_sums);
  trace.attention.push_back(std::move(tap));
  Experiment experiment;
  EXPECT_THROW(view_data(trace, experiment), InputError);
  experiment.view.row = 9999;
  experiment.view.column = 9998;
  experiment.view.height = 2;
  experiment.view.width = 4;
  const ViewData data = view_data(trace, experiment);
  ASSERT_EQ(data.matrices.size(), 1u);
  const float a = 1.0F / 10000, b = 1.0F / 10001;
  EXPECT_TRUE(testing::close(data.matrices[0].values,
                             Tensor::from({2, 4}, {a, a, 0, 0, b, b, b, 0}), 1e-7));
}

TEST(ViewData, TheHeadMustBeThere) {
  Experiment experiment;
  experiment.view.layer = 7;
  EXPECT_THROW(view_data(small_trace(), experiment), InputError);
}

TEST(ViewData, GridHasAllHeads) {
  Experiment experiment;
  experiment.view.id = "grid";
  const Trace trace = testing::synthetic_trace(3, 2, 5);
  const ViewData data = view_data(trace, experiment);
  ASSERT_EQ(data.matrices.size(), 1u);
  const ViewData::Matrix& all = data.matrices[0];
  ASSERT_EQ(all.values.shape(), (Shape{3, 2, 5, 5}));
  for (Index layer = 0; layer < 3; ++layer) {
    const Tensor one = trace.attention[static_cast<std::size_t>(layer)].attention(1);
    for (Index i = 0; i < 25; ++i) {
      EXPECT_EQ(all.values(layer, Index{1}, i / 5, i % 5), one[i]);
    }
  }
  const std::string csv = to_csv(data);
  EXPECT_TRUE(csv.starts_with("layer,head,query,The,"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 3 * 2 * 5);
  EXPECT_NE(csv.find("\n2,1,The,"), std::string::npos);
}

TEST(ViewData, FilesHoldTheNumbers) {
  const Trace trace = testing::synthetic_trace(2, 2, 6);
  Experiment experiment;
  experiment.view.layer = 1;
  const Tensor weights = trace.attention[1].attention(0);
  const auto folder = std::filesystem::path(::testing::TempDir());
  const auto expect_weights = [&](const Tensor& numbers) {
    ASSERT_EQ(numbers.shape(), weights.shape());
    for (Index i = 0; i < weights.size(); ++i) EXPECT_EQ(numbers[i], weights[i]);
  };
  write_view(folder / "view_data.npy", trace, experiment, {});
  expect_weights(read_npy(folder / "view_data.npy").floats());
  write_view(folder / "view_data.safetensors", trace, experiment, {});
  const SafetensorsFile file = read_safetensors(folder / "view_data.safetensors");
  expect_weights(file.tensors.at("attention").floats());
  EXPECT_EQ(experiment_from_json(nlohmann::json::parse(file.metadata.at("experiment"))),
            experiment);
  EXPECT_THROW(write_view(folder / "view_data.txt", trace, experiment, {}), InputError);
}

TEST(ViewData, PatternIsEmptyWhereNothingIsAllowed) {
  Experiment experiment;
  experiment.view.id = "pattern";
  const std::string csv = to_csv(view_data(small_trace(), experiment));
  EXPECT_EQ(csv, "query,\"a,\",b\n\"a,\",0,\nb,0,0\n");
}

TEST(ViewData, ViewsThatExplainGiveTheirOwnNumbers) {
  const Trace trace = testing::run_model({});
  const AttentionTap& tap = trace.attention[0];
  Experiment experiment;
  experiment.view.head = 1;
  experiment.view.pinned_query = 9;
  experiment.view.pinned_key = 4;
  const auto of = [&](const char* view) {
    experiment.view.id = view;
    return view_data(trace, experiment);
  };
  const auto pair = pair_score(*tap.result.part, 1, 9, 4);
  const auto close = [](float got, double expected) {
    return std::abs(static_cast<double>(got) - expected) <= 1e-4;
  };
  EXPECT_TRUE(close(of("scores").matrices.back().values(9, 4), pair->score));
  const ViewData vectors = of("vectors");
  EXPECT_TRUE(close(vectors.matrices[0].values(3, 7), pair->product));
  const ViewData rope = of("rope");
  ASSERT_EQ(rope.matrices[0].columns[64 + 5], "5");
  EXPECT_TRUE(close(rope.matrices[0].values(0, 64 + 5), pair->score));
  const ViewData span = of("span");
  EXPECT_EQ(span.matrices[0].values.shape(), (Shape{12, 12}));
  EXPECT_EQ(span.matrices[0].values(11, 0), 0);
  const ViewData position = of("position");
  EXPECT_EQ(position.matrices[0].values.shape(), (Shape{8, 65}));
  EXPECT_TRUE(close(position.matrices[1].values(0, 64), 1));
  EXPECT_EQ(position.matrices[1].columns.front(), "-64");
  for (const char* view : {"scores", "vectors", "span"}) {
    experiment.view.id = view;
    EXPECT_THROW(view_data(testing::synthetic_trace(1, 2, 5), experiment), InputError) << view;
  }
}

}  // namespace
}  // namespace attnscope
