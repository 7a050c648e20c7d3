#include "core/view/pattern/paint.h"

#include <gtest/gtest.h>

#include "core/part/mask_rows.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using Cells = std::vector<Cell>;

TEST(Paint, StrokesHaveNoGaps) {
  EXPECT_EQ(stroke_cells("brush", {{0, 0}, {0, 3}, {2, 3}}),
            (Cells{{0, 0}, {0, 0}, {0, 1}, {0, 2}, {0, 3}, {0, 3}, {1, 3}, {2, 3}}));
  EXPECT_EQ(stroke_cells("line", {{3, 0}, {9, 9}, {0, 3}}),
            (Cells{{3, 0}, {2, 1}, {1, 2}, {0, 3}}));
  EXPECT_EQ(stroke_cells("rectangle", {{2, 1}, {9, 9}, {1, 2}}),
            (Cells{{1, 1}, {1, 2}, {2, 1}, {2, 2}}));
  EXPECT_TRUE(stroke_cells("brush", {}).empty());
}

TEST(Paint, ChangesWholeMasks) {
  const ByteTensor mask = ByteTensor::from({2, 2}, {1, 1, 0, 0});
  const auto changed_rows = [&](const char* operation) {
    return mask_rows(apply_to_mask(mask, operation));
  };
  EXPECT_EQ(changed_rows("invert"), (MaskRows{{}, {0, 2}}));
  EXPECT_EQ(changed_rows("mirror"), (MaskRows{{0, 2}, {0, 1}}));
  EXPECT_EQ(changed_rows("allow"), (MaskRows{{0, 2}, {0, 2}}));
  EXPECT_EQ(changed_rows("forbid"), (MaskRows{{}, {}}));
  EXPECT_EQ(mask_rows(mask), (MaskRows{{0, 2}, {}}));  // unchanged
}

TEST(Paint, MaskOfHeadMatchesPattern) {
  const Trace trace = testing::synthetic_trace(testing::window_and_global(9, 2, 1));
  const AttentionTap& tap = trace.attention[0];
  const ByteTensor mask = mask_of_head(tap, 0);
  for (Index i = 0; i < 9; ++i) {
    for (Index j = 0; j < 9; ++j) {
      EXPECT_EQ(mask(i, j) != 0, tap.result.pattern->allowed(0, i, j));
    }
  }
}

// View of a trace whose attention is a painted mask.
struct Canvas {
  explicit Canvas(const MaskRows& rows) {
    trace = testing::synthetic_trace(testing::window_and_global(4, 1, 0));
    trace.attention[0].variant = mask_choice(rows);
    session.run.variant = mask_choice(rows);
    session.view.id = "pattern";
  }
  void set_parameter(const char* key, Value value) {
    set_view_value(session.view, "pattern", key, std::move(value));
  }
  // Mask after a stroke through the centres of the cells (row, column) in `path`.
  MaskRows mask_after_stroke(const std::vector<Cell>& path) {
    testing::LayoutOptions options;
    options.settings = session.view;
    const ViewLayout layout = testing::lay_out_view(trace, "pattern", options);
    if (layout.handles.empty()) return {};
    std::vector<Point> points;
    for (const auto& [i, j] : path) {
      points.push_back({layout.plot.x + (static_cast<double>(j) + 0.5) * layout.plot.width / 4,
                        layout.plot.y + (static_cast<double>(i) + 0.5) * layout.plot.height / 4});
    }
    Session painted = session;
    layout.handles.back().stroke(points, painted);
    return painted.run.variant->values.get<MaskRows>("rows");
  }
  Trace trace;
  Session session;
};

TEST(Paint, StrokesChangeMaskOfSession) {
  Canvas canvas({{0, 1}, {}, {}, {}});
  EXPECT_EQ(canvas.mask_after_stroke({{1, 1}, {1, 3}}), (MaskRows{{0, 1}, {1, 4}, {}, {}}));
  canvas.set_parameter("symmetric", true);
  EXPECT_EQ(canvas.mask_after_stroke({{1, 2}}), (MaskRows{{0, 1}, {2, 3}, {1, 2}, {}}));
  canvas.set_parameter("paint", std::string("forbid"));
  EXPECT_EQ(canvas.mask_after_stroke({{0, 0}}), (MaskRows{{}, {}, {}, {}}));
  canvas.set_parameter("tool", std::string("look"));
  EXPECT_TRUE(canvas.mask_after_stroke({{0, 0}}).empty());
}

TEST(Paint, StrokesOutsidePlotAreClampedToEdge) {
  Canvas canvas({{}, {}, {}, {}});
  EXPECT_EQ(canvas.mask_after_stroke({{3, 3}, {3, 40}, {40, 40}}), (MaskRows{{}, {}, {}, {3, 4}}));
}

TEST(Paint, ShorterTextKeepsRestOfMask) {
  Canvas canvas({{}, {}, {}, {}, {5, 6}, {0, 6}});
  EXPECT_EQ(canvas.mask_after_stroke({{0, 0}}), (MaskRows{{0, 1}, {}, {}, {}, {5, 6}, {0, 6}}));
  Canvas longer({{}, {}});
  EXPECT_EQ(longer.mask_after_stroke({{0, 0}}), (MaskRows{{0, 1}, {}, {2, 3}, {3, 4}}));
}

TEST(Paint, PaintsVariantOfSelectedHeadGroup) {
  Session session;
  session.run.groups = {{{0}, {}, mask_choice({{0, 1}}), std::nullopt},
                        {{1}, {}, mask_choice({{0, 2}}), std::nullopt},
                        {{}, {1}, std::nullopt, default_encoding()}};
  session.view.layer = 1;
  session.view.head = 1;
  EXPECT_EQ(&governing_variant(session), &session.run.groups[1].variant);
  session.view.layer = 2;
  EXPECT_EQ(&governing_variant(session), &session.run.variant);
}

// Changes of the whole mask keep the pairs that a shorter text or causal order hides.
TEST(Paint, ChangesKeepHiddenPartOfMask) {
  const ByteTensor current = ByteTensor::from({2, 2}, {1, 0, 0, 1});
  Choice custom{"custom", default_values(variant("custom").parameters)};
  custom.values.set("rows", MaskRows{{1, 2}, {}, {0, 1}});
  EXPECT_EQ(mask_rows(mask_as_painted(custom, current)), (MaskRows{{1, 2}, {}, {0, 1}}));
  EXPECT_EQ(mask_rows(mask_as_painted(std::nullopt, current)), (MaskRows{{0, 1}, {1, 2}}));
  EXPECT_EQ(mask_rows(mask_as_painted(default_variant(), current)), (MaskRows{{0, 1}, {1, 2}}));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
