#include <gtest/gtest.h>

#include <cmath>

#include "core/analysis/pair.h"
#include "core/base/json.h"
#include "core/figure/plain_text.h"
#include "core/view/position/position_panels.h"
#include "tests/support/compare.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::lay_out_view;
using testing::run_model;

PositionPanels panels_of(const Trace& trace, Index head, Index reach) {
  Session session;
  session.view.head = head;
  session.view.pinned_query = 7;
  session.view.pinned_key = 3;
  const ViewInput input{.trace = trace,
                        .session = session,
                        .canvas = {.theme = Theme::light(), .measure = file_text_measure()}};
  return position_panels(input, trace.attention[0], head, reach);
}

double value_at_offset(const PositionPanel& panel, Index head, Index offset) {
  for (const PositionPanel::Curve& curve : panel.curves) {
    if (curve.head >= 0 && curve.head != head) continue;
    for (const Point& p : curve.points) {
      if (p.x == static_cast<double>(offset)) return p.y;
    }
  }
  return std::nan("");
}

PositionPanel first_curve_panel(const PositionPanels& panels) {
  for (const PositionPanel& panel : panels.panels) {
    if (!panel.curves.empty()) return panel;
  }
  throw std::runtime_error("no curves");
}

TEST(Position, EveryEncodingHasContent) {
  for (const Encoding& method : encodings()) {
    Json choice = to_json(Choice{method.id, default_values(method.parameters)});
    const Trace trace = run_model({.encoding = choice.dump()});
    const ViewLayout layout = lay_out_view(trace, "position");
    EXPECT_EQ(layout.refusal, "") << method.id;
    EXPECT_EQ(testing::layout_error(layout.list), "") << method.id;
    for (const PositionPanel& panel : panels_of(trace, 1, 20).panels) {
      EXPECT_NE(panel.cells.defined(), !panel.curves.empty()) << method.id;
      for (Index n = 0; n < panel.cells.size(); ++n) {
        const Index row = n / panel.cells.dim(1), column = n % panel.cells.dim(1);
        const bool is_offset_later =
            row > panel.cells.dim(0) / 2 || (row == panel.cells.dim(0) / 2 && column > row);
        const bool is_later_key =
            panel.is_square && (panel.first_row < 0 ? is_offset_later : column > row);
        EXPECT_EQ(std::isfinite(panel.cells[n]), !is_later_key) << method.id;
      }
      for (const PositionPanel::Curve& curve : panel.curves) {
        EXPECT_EQ(curve.points.size(), 41u) << method.id;
        for (const Point& p : curve.points) EXPECT_TRUE(std::isfinite(p.y)) << method.id;
      }
    }
  }
}

TEST(Position, CurvesMatchTermsOfPairs) {
  struct Case {
    const char* encoding;
    Term term;
  };
  for (const auto& [encoding, term] :
       {Case{"alibi", Term::Bias}, Case{"t5", Term::Bias},
        Case{R"({"type": "relative_bias", "clip": 3})", Term::Bias},
        Case{R"({"type": "relative_factor", "clip": 3})", Term::Factor},
        Case{"distance_aware", Term::Factor},
        Case{R"({"type": "shaw", "clip": 4})", Term::ContentPosition},
        Case{R"({"type": "deberta", "clip": 4})", Term::ContentPosition},
        Case{"transformer_xl", Term::ContentPosition}}) {
    const Trace trace = run_model({.encoding = encoding, .kv_heads = 1});
    const Part& part = *trace.attention[0].part();
    for (const Index head : {0, 1}) {
      const PositionPanel curves = first_curve_panel(panels_of(trace, head, 20));
      for (Index key = 0; key < 12; ++key) {
        const double expected = pair_score(part, head, 7, key)->terms.at(term);
        EXPECT_TRUE(std::abs(value_at_offset(curves, head, 7 - key) - expected) <= 1e-4)
            << encoding << " head " << head << " key " << key << ": "
            << value_at_offset(curves, head, 7 - key) << ", expected " << expected;
      }
    }
  }
}

TEST(Position, BiasesAreAlsoShownByPair) {
  for (const char* encoding : {"alibi", "t5", R"({"type": "relative_factor", "clip": 3})"}) {
    const Trace trace = run_model({.encoding = encoding});
    const Part& part = *trace.attention[0].part();
    const Term term = part.factor ? Term::Factor : Term::Bias;
    for (const Index head : {0, 1}) {
      const PositionPanel matrix = panels_of(trace, head, 20).panels.back();
      ASSERT_EQ(matrix.cells.shape(), (Shape{21, 21})) << encoding;
      for (Index key = 0; key <= 7; ++key) {
        const double expected = pair_score(part, head, 7, key)->terms.at(term);
        const auto actual = static_cast<double>(matrix.cells(7, key));
        EXPECT_TRUE(std::abs(actual - expected) <= 1e-4) << encoding << " " << key;
      }
      EXPECT_TRUE(std::isnan(matrix.cells(7, 8))) << encoding;
    }
  }
}

// Rows and columns of an offset in an image of 4 columns.
TEST(Position, BiasesOfImagesAreShownByRowAndColumn) {
  const Trace trace = run_model(
      {.encoding = R"({"type": "relative_bias_2d", "width": 4, "clip": 2})", .causal = false});
  const Part& part = *trace.attention[0].part();
  for (const Index head : {0, 1}) {
    const PositionPanels content = panels_of(trace, head, 20);
    ASSERT_EQ(content.panels.size(), 2u);
    const Tensor& offsets = content.panels[0].cells;
    ASSERT_EQ(offsets.shape(), (Shape{5, 5}));
    EXPECT_EQ(content.panels[0].first_row, -2);
    for (Index key = 0; key < 12; ++key) {
      const double expected = pair_score(part, head, 6, key)->terms.at(Term::Bias);
      const Index row = key / 4 - 1, column = key % 4 - 2;
      const auto by_offset = static_cast<double>(offsets(row + 2, column + 2));
      const auto by_pair = static_cast<double>(content.panels[1].cells(6, key));
      EXPECT_TRUE(std::abs(by_offset - expected) <= 1e-4) << head << " " << key;
      EXPECT_TRUE(std::abs(by_pair - expected) <= 1e-4) << head << " " << key;
    }
  }
}

TEST(Position, UnusedOffsetsAreMarked) {
  const auto marks_unused = [](const Trace& trace) {
    for (const Text& text : testing::texts(lay_out_view(trace, "position").list)) {
      if (text.text.starts_with("never used")) return true;
    }
    return false;
  };
  for (const char* encoding : {"alibi", "t5", "rope"}) {
    EXPECT_TRUE(marks_unused(run_model({.encoding = encoding}))) << encoding;
    EXPECT_FALSE(marks_unused(run_model({.encoding = encoding, .causal = false}))) << encoding;
  }
  EXPECT_FALSE(marks_unused(
      run_model({.encoding = "sinusoidal"})));  // similarities do not depend on direction
}

TEST(Position, VectorsMatchEncoding) {
  const Trace trace = run_model({.encoding = "sinusoidal"});
  const PositionPanels content = panels_of(trace, 0, 20);
  const Tensor& cells = content.panels[0].cells;  // [d, positions]
  EXPECT_EQ(cells.shape(), (Shape{16, 21}));
  for (Index p = 0; p < 21; ++p) {
    for (Index t = 0; t < 8; ++t) {
      const double angle = static_cast<double>(p) * std::pow(10000, -static_cast<double>(t) / 8);
      EXPECT_TRUE(std::abs(static_cast<double>(cells(2 * t, p)) - std::sin(angle)) <= 1e-5);
      EXPECT_TRUE(std::abs(static_cast<double>(cells(2 * t + 1, p)) - std::cos(angle)) <= 1e-5);
    }
  }
  EXPECT_TRUE(std::abs(content.panels[1].cells(4, 4) - 1) <= 1e-5F);
}

TEST(Position, PointerReportsNumbers) {
  const Trace trace = run_model({.encoding = "alibi"});
  const double expected = value_at_offset(first_curve_panel(panels_of(trace, 0, 64)), 0, 10);
  testing::LayoutOptions options;
  bool is_value_shown = false;
  for (double x = 5; x < options.width; x += 2) {
    options.pointer = Point{x, 250};
    for (const Text& text : testing::texts(lay_out_view(trace, "position", options).list)) {
      is_value_shown = is_value_shown || text.text == "head 0, offset 10: " + brief(expected);
    }
  }
  EXPECT_TRUE(is_value_shown);
}

// A position vector with one component of 25 times the others, as in BERT models.
TEST(Position, OutlierLeavesOtherValuesColoured) {
  Trace trace = run_model({.encoding = "learned", .context = 65});
  Tensor table = trace.attention[0].encoding_weights.at("pos.embedding").value().copy();
  float largest = 0;
  for (const float v : table) largest = std::max(largest, std::abs(v));
  table(3, 5) = 25 * largest;
  trace.attention[0].encoding_weights["pos.embedding"] = Var(table);
  const ViewLayout layout = lay_out_view(trace, "position", {});
  const auto map = std::ranges::find_if(
      layout.list.items, [](const Item& item) { return std::holds_alternative<HeatMap>(item); });
  ASSERT_NE(map, layout.list.items.end());
  EXPECT_TRUE(std::get<HeatMap>(*map).most <= static_cast<double>(largest));
  EXPECT_TRUE(testing::shows_text(layout.list, "≥ "));
  EXPECT_TRUE(testing::shows_text(layout.list, "≤ −"));
}

TEST(Position, TrainedVectorsEndAtContext) {
  const Trace trace = run_model({.encoding = "learned", .context = 17});
  const PositionPanels content = panels_of(trace, 0, 500);
  EXPECT_EQ(content.reach, 16);
  const Tensor& table = trace.attention[0].encoding_weights.at("pos.embedding").value();
  EXPECT_EQ(content.panels[0].cells(3, 16), table(16, 3));
}

TEST(Position, RotationPreservesProductAtOffsetZero) {
  const PositionPanel curve = first_curve_panel(panels_of(run_model({}), 0, 20));
  EXPECT_TRUE(std::abs(value_at_offset(curve, 0, 0) - 1) <= 1e-5);
  double expected = 0;
  for (int t = 0; t < 4; ++t) expected += std::cos(5 * std::pow(10000, -t / 4.0)) / 4;
  EXPECT_TRUE(std::abs(value_at_offset(curve, 0, 5) - expected) <= 1e-5);
}

PositionPanels study_of(const Trace& trace, const char* show, Index shift = 3) {
  const testing::ViewInputFixture fixture(trace, ViewSettings());
  return position_study_panels(fixture.input, trace.attention[0], show, 40, shift);
}

TEST(Position, StudiesAreLegible) {
  for (const char* encoding : {"sinusoidal", "learned"}) {
    const Trace trace = run_model({.encoding = encoding, .length = 40});
    for (const char* show : {kShowShift, kShowRegression, kShowSubspaces}) {
      for (const double width : {1100.0, 500.0}) {
        testing::LayoutOptions options;
        options.width = width;
        options.settings =
            testing::settings_with("position", std::string(R"({"show": ")") + show + R"("})");
        const ViewLayout layout = lay_out_view(trace, "position", options);
        EXPECT_EQ(layout.refusal, "") << encoding << " " << show;
        EXPECT_EQ(testing::layout_error(layout.list), "") << encoding << " " << show;
      }
    }
  }
}

TEST(Position, ShiftMatrixReachesLaterPositions) {
  const PositionPanels content = study_of(run_model({.encoding = "sinusoidal"}), kShowShift, 5);
  ASSERT_EQ(content.panels.size(), 4u);
  EXPECT_EQ(content.panels[0].cells.shape(), (Shape{16, 16}));
  for (const Point& p : content.panels[1].curves[0].points) EXPECT_TRUE(p.y <= 1e-5);
  EXPECT_TRUE(content.panels[1].curves[1].points[0].y > 0.1);  // without the map
  EXPECT_TRUE(testing::close(content.panels[2].cells, content.panels[3].cells, 1e-5));
}

// Waves of every length determine the position; random vectors do not.
TEST(Position, RegressionPredictsHeldOutPositions) {
  const auto mean_error = [](const PositionPanel& panel) {
    double sum = 0;
    for (const Point& p : panel.curves[0].points) sum += std::abs(p.y - p.x) / 41;
    return sum;
  };
  const Trace sinusoidal = run_model({.encoding = "sinusoidal", .length = 40});
  const PositionPanels content = study_of(sinusoidal, kShowRegression);
  ASSERT_EQ(content.panels.size(), 2u);
  EXPECT_TRUE(mean_error(content.panels[0]) <= 0.5);
  // The untrained states contain the sinusoids; shuffled positions are not in them.
  EXPECT_TRUE(content.panels[1].curves[0].points[0].y > 0.5);
  EXPECT_TRUE(content.panels[1].curves[1].points[0].y < 0.4);
  EXPECT_EQ(content.panels[1].curves[0].points.size(), 3u);  // embedding and two layers
  const Trace rotary = run_model({.length = 40});
  EXPECT_EQ(study_of(rotary, kShowRegression).panels.size(), 1u);    // states alone
  EXPECT_NE(study_of(run_model({}), kShowRegression).headline, "");  // a short text
}

TEST(Position, SubspacesAreMeasured) {
  const PositionPanels content =
      study_of(run_model({.encoding = "sinusoidal", .length = 40}), kShowSubspaces);
  ASSERT_EQ(content.panels.size(), 3u);
  const std::vector<Point>& recovered = content.panels[0].curves[1].points;
  EXPECT_EQ(recovered.front().y, 1);  // without directions, nothing of the position is left
  const PositionPanel& shares = content.panels[1];
  EXPECT_TRUE(std::abs(shares.curves[0].points.back().y - 1) <= 1e-6);
  for (const PositionPanel::Curve& curve : content.panels[2].curves) {
    for (const Point& p : curve.points) EXPECT_TRUE(p.y >= 0 && p.y <= 90.001) << curve.name;
  }
}

TEST(Position, StudiesOfVectorsRefuseOtherEncodings) {
  const Trace trace = run_model({.encoding = "alibi"});
  for (const char* show : {kShowShift, kShowSubspaces}) {
    EXPECT_NE(study_of(trace, show).advice.find("ALiBi"), std::string::npos) << show;
  }
  EXPECT_NE(study_of(run_model({.encoding = "sinusoidal"}), kShowShift, 39).advice, "");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
