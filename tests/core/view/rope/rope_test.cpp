#include <gtest/gtest.h>

#include <cmath>

#include "core/analysis/pair.h"
#include "core/view/parts/focus.h"
#include "core/view/rope/rope_turn.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::lay_out_view;
using testing::LayoutOptions;
using testing::run_model;
using testing::settings_with;
using testing::TracedModel;

RopeTurn rope_turn_of(const Trace& trace, const ViewSettings& settings) {
  return rope_turn(testing::ViewInputFixture(trace, settings).input, view_values(settings, "rope"));
}

bool contains_text(const ViewLayout& layout, const std::string& part) {
  for (const Text& text : testing::texts(layout.list)) {
    if (text.text.find(part) != std::string::npos) return true;
  }
  return false;
}

TEST(Rope, ScoreMatchesRun) {
  for (const char* style : {"interleaved", "half"}) {
    for (const char* parameters :
         {"", R"(, "dims": 4, "base": 50)", R"(, "offset": 11, "factor": 2)"}) {
      const Trace trace = run_model({.encoding = std::string(R"({"type": "rope", "style": ")") +
                                                 style + "\"" + parameters + "}",
                                     .kv_heads = 1});
      for (Index query = 0; query < 12; query += 3) {
        ViewSettings settings;
        settings.layer = settings.head = 1;
        settings.pinned_query = query;
        settings.pinned_key = query / 2;
        const RopeTurn turn = rope_turn_of(trace, settings);
        const auto pair = pair_score(*trace.find({1, 1})->part(), 1, query, query / 2);
        ASSERT_TRUE(pair.has_value());
        EXPECT_EQ(turn.offset(), static_cast<double>(query - query / 2));
        const double score = rotated_score(turn, turn.offset());
        EXPECT_TRUE(std::abs(score - pair->score) <= 1e-5 * std::max(1.0, std::abs(score)))
            << style << parameters << " " << score << " " << pair->score;
      }
    }
  }
}

TEST(Rope, ScoreDependsOnOffsetOnly) {
  const Trace trace = run_model({});
  const RopeTurn turn = rope_turn_of(trace, {});
  const auto product = [&](double query, double key) {
    const Tensor q = rotated(turn, turn.query, query), k = rotated(turn, turn.key, key);
    double sum = 0;
    for (Index i = 0; i < q.size(); ++i) {
      sum += static_cast<double>(q[i]) * static_cast<double>(k[i]);
    }
    return turn.scale * sum;
  };
  for (const double offset : {-5.0, 0.0, 3.0, 7.5}) {
    const double score = rotated_score(turn, offset);
    for (const double shift : {0.0, 1.0, 40.0}) {
      EXPECT_TRUE(std::abs(product(10 + offset + shift, 10 + shift) - score) <= 1e-5);
    }
  }
  const std::vector<Point> curve = score_by_offset(turn, 6, 4);
  ASSERT_EQ(curve.size(), 49u);
  for (const Point& p : curve) {
    EXPECT_TRUE(std::abs(p.y - rotated_score(turn, p.x)) <= 1e-5) << p.x;
  }
  EXPECT_EQ(curve.front().x, -6);
  EXPECT_EQ(curve.back().x, 6);
}

TEST(Rope, PairsRotateByFrequency) {
  const Trace trace = run_model({});
  const RopeTurn turn =
      rope_turn_of(trace, settings_with("rope", R"({"vectors": "unit", "base": 100})"));
  ASSERT_EQ(turn.pairs.size(), 4u);
  for (std::size_t t = 0; t < 4; ++t) {
    EXPECT_TRUE(std::abs(turn.pairs[t].frequency - std::pow(100, -0.25 * static_cast<double>(t))) <=
                1e-12);
    const Tensor v = rotated(turn, turn.query, 3);
    const double angle = std::atan2(v[turn.pairs[t].second], v[turn.pairs[t].first]);
    EXPECT_TRUE(std::abs(std::remainder(angle - 3 * turn.pairs[t].frequency, 2 * M_PI)) <= 1e-5);
  }
  EXPECT_EQ(rope_turn_of(trace, settings_with("rope", R"({"pairs": 2})")).pairs.size(), 2u);
  EXPECT_EQ(rope_turn_of(trace, settings_with("rope", R"({"pairs": 900})")).pairs.size(), 4u);
}

// Angle in degrees from the first to the last point of an arc.
double swept_degrees(const Line& arc, Point centre) {
  double sum = 0;
  for (std::size_t n = 1; n < arc.points.size(); ++n) {
    const auto angle = [&](Point p) { return std::atan2(centre.y - p.y, p.x - centre.x); };
    sum += std::remainder(angle(arc.points[n]) - angle(arc.points[n - 1]), 2 * M_PI);
  }
  return sum * 180 / M_PI;
}

TEST(Rope, ArcMatchesPrintedAngle) {
  const Trace trace = run_model({.head_size = 16});
  LayoutOptions options;
  options.width = 1000;
  for (const char* positions : {R"({"query": 9, "key": 2})", R"({"query": 3, "key": 8.5})"}) {
    options.settings = settings_with("rope", positions);
    const ViewLayout layout = lay_out_view(trace, "rope", options);
    std::vector<double> arcs;
    std::optional<Point> centre;
    for (const Item& item : layout.list.items) {
      const Line* line = std::get_if<Line>(&item);
      if (line == nullptr || line->thickness != 1.2) continue;
      if (line->points.size() == 2) {
        centre = line->points[0];
      } else if (centre) {
        arcs.push_back(swept_degrees(*line, *centre));
      }
    }
    std::size_t pair = 0;
    for (const Text& text : testing::texts(layout.list)) {
      if (!text.text.starts_with("pair ")) continue;
      ASSERT_LT(pair, arcs.size());
      const double degrees = std::stod(text.text.substr(text.text.find(',') + 1));
      EXPECT_TRUE(std::abs(arcs[pair] - degrees) <= 0.6) << text.text << " " << arcs[pair];
      ++pair;
    }
    EXPECT_EQ(pair, 8u);
  }
}

TEST(Rope, WorksWithAnyModel) {
  LayoutOptions options;
  EXPECT_TRUE(
      contains_text(lay_out_view(run_model({.encoding = "alibi"}), "rope", options), "ALiBi"));
  EXPECT_FALSE(contains_text(lay_out_view(run_model({}), "rope", options), "effect of RoPE"));
  LayoutOptions window_options;
  window_options.framed = false;
  EXPECT_TRUE(
      contains_text(lay_out_view(run_model({.encoding = "alibi"}), "rope", window_options),
                    "encoding is ALiBi, linear bias: this picture shows the effect of RoPE"));
  for (const Parameter& parameter : view("rope").options.parameters) {
    EXPECT_NE(parameter.unset_label, "the model's") << parameter.key;  // the model may have no RoPE
  }
  EXPECT_TRUE(contains_text(lay_out_view(testing::synthetic_trace(1, 2, 9), "rope", options),
                            "records no q and k"));
  options.settings = settings_with("rope", R"({"base": 7})");
  EXPECT_TRUE(contains_text(lay_out_view(run_model({}), "rope", options), "set in this view"));
}

TEST(Rope, DrawsCirclesAndCurveOrNoteInLittleSpace) {
  const Trace trace = run_model({});
  LayoutOptions options;
  options.framed = false;
  options.font_size = 14;
  options.width = 428;
  for (const double height : {200.0, 225.0, 260.0, 300.0, 420.0}) {
    options.height = height;
    const ViewLayout layout = lay_out_view(trace, "rope", options);
    EXPECT_EQ(testing::layout_error(layout.list), "") << height;
    EXPECT_TRUE(contains_text(layout, "λ = ")) << height;
    EXPECT_TRUE(contains_text(layout, "score")) << height;
    // The layout has either the curve or a note that the curve is missing.
    EXPECT_NE(layout.handles.size() == 4, contains_text(layout, "no space for the score curve"))
        << height;
    EXPECT_TRUE(height < 225 || layout.handles.size() == 4) << height;
  }
}

TEST(Rope, LabelsExampleVectors) {
  Trace trace = testing::synthetic_trace(1, 2, 9);
  trace.is_imported = true;
  EXPECT_TRUE(contains_text(lay_out_view(trace, "rope"), "xample, not from the file"));
  EXPECT_FALSE(contains_text(lay_out_view(trace, "rope"), "The run's encoding"));
  EXPECT_FALSE(contains_text(lay_out_view(run_model({}), "rope"), "xample"));
}

TEST(Rope, DraggingMovesPositions) {
  const Trace trace = run_model({});
  LayoutOptions options;
  options.settings = settings_with("rope", R"({"query": 20, "key": 12})");
  const ViewLayout layout = lay_out_view(trace, "rope", options);
  ASSERT_EQ(layout.handles.size(), 4u);
  Session session;
  session.view = options.settings;
  const auto value = [&](const char* key) { return view_values(session.view, "rope").real(key); };
  const auto centre = [](const Box& b) { return Point{b.x + b.width / 2, b.y + b.height / 2}; };
  // Drags the query to the key.
  layout.handles[2].drag(centre(layout.handles[3].area), session);
  EXPECT_EQ(value("query"), 12);
  EXPECT_EQ(value("key"), 12);
  // Drags both; the offset does not change.
  const Point bar = centre(layout.handles[1].area);
  layout.handles[1].drag({bar.x + 60, bar.y}, session);
  EXPECT_EQ(value("query") - value("key"), 8);
  EXPECT_GT(value("key"), 12);
  // Drags beyond the ends of the ruler.
  layout.handles[1].drag({bar.x + 9000, bar.y}, session);
  EXPECT_EQ(value("query"), 64);
  EXPECT_EQ(value("key"), 56);
  layout.handles[1].drag({-9000, bar.y}, session);
  EXPECT_EQ(value("key"), 0);
  // Drags inside the curve.
  const Box plot = layout.handles[0].area;
  layout.handles[0].drag({plot.x + plot.width / 2, plot.y}, session);
  EXPECT_EQ(value("query"), value("key"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
