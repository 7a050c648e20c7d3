// Pictures of the view Block: golden files, costs against the counts of the forward pass.
#include <gtest/gtest.h>

#include "core/model/memory_need.h"
#include "core/model/model.h"
#include "core/view/block/attention_cost.h"
#include "core/view/block/block_picture.h"
#include "core/view/block/shape_diagram.h"
#include "core/view/view_values.h"
#include "tests/core/view/families.h"
#include "tests/support/golden.h"
#include "tests/support/golden_svg.h"
#include "tests/support/model_trace.h"
#include "tests/support/small_config.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Session of a model case with the picture selected.
Session block_session(const char* model, const std::string& picture) {
  Session session;
  session.run.model = testing::model_case(model);
  session.run.ids = {1, 7, 4, 9, 2, 6, 13};
  session.view = testing::settings_with("block", R"({"picture": ")" + picture + R"("})");
  session.view.layer = 1;
  session.view.pinned_query = 3;
  return session;
}

const std::pair<const char*, const char*> kCases[] = {
    {"shapes", "decoder-rope"},       {"norm", "decoder-rope"},     {"stream", "decoder-rope"},
    {"feed_forward", "decoder-rope"}, {"gradient", "decoder-rope"}, {"inverse", "join-reversible"},
    {"chunks", "join-reversible"},    {"storage", "decoder-rope"}};

TEST(Block, PicturesMatchGolden) {
  std::string data;
  for (const auto& [picture, model] : kCases) {
    if (std::string_view(picture) == "storage") continue;  // StatesTheMemoryOfTraining
    const Session session = block_session(model, picture);
    testing::ViewRun run(session);
    const Findings findings = run.findings(session);
    data += std::string(picture) + "\n" + testing::describe_data(run.trace(), session, findings);
    if (std::string_view(picture) == "inverse") continue;  // rounding errors differ by processor
    EXPECT_TRUE(testing::matches_golden_svg(testing::lay_out_plain(run.trace(), session, findings),
                                            "golden/views/block-" + std::string(picture) + ".svg"));
  }
  EXPECT_TRUE(testing::matches_golden_rounded(data, "golden/views/block-pictures.txt"));
}

TEST(Block, PicturesAreLegibleAtManySizes) {
  for (const auto& [picture, case_model] : kCases) {
    for (const char* model : {case_model, "decoder-post-norm-biases", "universal-act"}) {
      const Session session = block_session(model, picture);
      testing::ViewRun run(session);
      const Findings findings = run.findings(session);
      for (const auto& [width, height, font] : {std::tuple{900.0, 620.0, 13.0},
                                                {320.0, 640.0, 13.0},
                                                {1500.0, 400.0, 13.0},
                                                {1280.0, 800.0, 24.0},
                                                {120.0, 90.0, 13.0},
                                                {560.0, 1200.0, 16.0}}) {
        const ViewInput input{.trace = run.trace(),
                              .session = session,
                              .findings = findings,
                              .canvas = {.width = width,
                                         .height = height,
                                         .font_size = font,
                                         .theme = Theme::dark(),
                                         .measure = file_text_measure()},
                              .figure = {.framed = width > 600}};
        EXPECT_EQ(testing::layout_error(view("block").lay_out(input).list), "")
            << picture << " of " << model << ", " << width;
      }
    }
  }
}

TEST(Block, StatesTheMemoryOfTraining) {
  const Session session = block_session("decoder-rope", "storage");
  testing::ViewRun run(session);
  const Findings findings = run.findings(session);
  const DisplayList list = testing::lay_out_plain(run.trace(), session, findings).list;
  EXPECT_TRUE(testing::shows_text(list, "the same as bfloat16: ")) << testing::all_text(list);
  EXPECT_TRUE(testing::shows_text(list, "rounded away: 16 bits"));
  const ModelConfig& config = *run.trace().config;
  const LayerMemory memory = layer_memory(config, {7, 0});
  EXPECT_EQ(memory.layers, static_cast<double>(config.layers));
  EXPECT_EQ(memory.input, 4.0 * 7 * static_cast<double>(config.width));
  EXPECT_GT(memory.activations, 4 * memory.input);
  // The estimate of a training differs by the stored half of each layer's input.
  const auto total = [&](bool stores_bfloat) {
    return total_bytes(training_memory_need(
        config, {.length = {7, 0}, .recomputes_layers = true, .stores_bfloat = stores_bfloat}));
  };
  EXPECT_TRUE(std::abs(total(false) - total(true) - memory.layers * memory.input / 2) <= 1e-6);
}

TEST(Block, RefusesWhatTheModelLacks) {
  const auto refusal = [](const char* model, const char* picture) {
    const Session session = block_session(model, picture);
    testing::ViewRun run(session);
    return testing::lay_out_plain(run.trace(), session, run.findings(session)).refusal;
  };
  EXPECT_NE(refusal("decoder-rope", "inverse"), "");
  EXPECT_NE(refusal("rnn_attention-additive", "stream"), "");
  EXPECT_EQ(refusal("decoder-rope", "stream"), "");
  EXPECT_TRUE(refusal("join-reversible", "storage").starts_with("No recomputed layers"));
}

// Multiply-adds that the forward pass counts in the attention of a model without feed-forward.
double counted_attention(Index heads, Index kv_heads, Index head_size) {
  testing::SmallConfig small{
      .context = 32, .layers = 1, .heads = heads, .head_size = head_size, .hidden = 0};
  ModelConfig config = testing::small_config(small);
  config.kv_heads = kv_heads;
  config.model_options.output_head = false;
  config.tied_output = false;
  const Model model = make_model(config, 1);
  IntTensor ids({1, 9});
  for (Index i = 0; i < 9; ++i) ids[i] = static_cast<std::int32_t>(i);
  Work work;
  ForwardOptions options;
  options.work = &work;
  Batch batch;
  batch.ids = ids;
  run(model, batch, options);
  return work.multiply_adds;
}

TEST(AttentionCost, MatchesCountsOfForwardPass) {
  constexpr Index kTokens = 9, kPairs = kTokens * (kTokens + 1) / 2;  // causal
  const AttentionSizes sizes{.queries = kTokens,
                             .keys = kTokens,
                             .projected_keys = kTokens,
                             .width = 16,
                             .heads = 4,
                             .key_heads = 4,
                             .head_size = 4,
                             .pairs = 4.0 * kPairs};
  EXPECT_EQ(attention_cost(sizes).total(), counted_attention(4, 4, 4));
  EXPECT_EQ(attention_cost(with_one_head(sizes)).total(), counted_attention(1, 1, 16));
  EXPECT_EQ(counted_attention(4, 4, 4), counted_attention(1, 1, 16));
  AttentionSizes grouped = sizes;
  grouped.key_heads = 2;
  EXPECT_EQ(attention_cost(grouped).total(), counted_attention(4, 2, 4));
  EXPECT_EQ(attention_cost(with_all_key_heads(grouped)).total(), attention_cost(sizes).total());
}

TEST(AttentionCost, ReadsSizesOfTrace) {
  const Trace trace = testing::run_model({.length = 6, .layers = 2, .heads = 4, .kv_heads = 2});
  const AttentionSizes sizes = attention_sizes(trace, trace.attention.front());
  EXPECT_EQ(sizes.queries, 6);
  EXPECT_EQ(sizes.heads, 4);
  EXPECT_EQ(sizes.key_heads, 2);
  EXPECT_EQ(sizes.pairs, 4 * 21);
}

TEST(ShapeDiagram, NamesShapes) {
  EXPECT_EQ((MatrixBox{"Q", 9, 12, 64, {}}).shape(), "9 × 12 × 64");
  EXPECT_EQ((MatrixBox{"X", 1, 12, 1576, {}}).shape(), "12 × 1,576");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
