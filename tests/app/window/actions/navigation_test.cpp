#include "app/window/actions/navigation.h"

#include <gtest/gtest.h>

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

TEST(Navigation, ZoomKeepsPointUnderPointer) {
  const Cells area{10, 20, 40, 40};
  const double row = 17, column = 50;
  const Cells zoomed = zoom_cells(area, 2, row, column, 100, 100);
  EXPECT_DOUBLE_EQ(zoomed.height, 20);
  EXPECT_DOUBLE_EQ(zoomed.width, 20);
  EXPECT_DOUBLE_EQ((row - zoomed.row) / zoomed.height, (row - area.row) / area.height);
  EXPECT_DOUBLE_EQ((column - zoomed.column) / zoomed.width, (column - area.column) / area.width);
}

TEST(Navigation, ZoomStaysInside) {
  Cells area{0, 0, 10, 10};
  for (int i = 0; i < 50; ++i) area = zoom_cells(area, 1.3, 9.5, 0.5, 10, 10);
  EXPECT_GE(area.height, 2);
  EXPECT_GE(area.row, 0);
  EXPECT_LE(area.row + area.height, 10 + 1e-9);
  for (int i = 0; i < 50; ++i) area = zoom_cells(area, 1 / 1.3, 9.5, 0.5, 10, 10);
  EXPECT_NEAR(area.height, 10, 1e-9);
  EXPECT_NEAR(area.row, 0, 1e-9);
}

TEST(Navigation, PanningStopsAtEdges) {
  const Cells area{4, 4, 4, 4};
  EXPECT_DOUBLE_EQ(pan_cells(area, 1, -1, 10, 10).row, 5);
  EXPECT_DOUBLE_EQ(pan_cells(area, 1, -1, 10, 10).column, 3);
  EXPECT_DOUBLE_EQ(pan_cells(area, 100, -100, 10, 10).row, 6);
  EXPECT_DOUBLE_EQ(pan_cells(area, 100, -100, 10, 10).column, 0);
}

TEST(Navigation, AcceptsNonSquareMatrices) {
  Cells area{0, 0, 3, 300};
  for (int i = 0; i < 50; ++i) area = zoom_cells(area, 1.2, 1, 100, 3, 300);
  EXPECT_GE(area.height, 2 - 1e-9);
  EXPECT_LE(area.row + area.height, 3 + 1e-9);
  EXPECT_GE(area.width, 2);
}

TEST(Navigation, ZoomEndsAtOneToken) {
  const Cells zoomed = zoom_cells({0, 0, 1, 1}, 2, 0.5, 0.5, 1, 1);
  EXPECT_DOUBLE_EQ(zoomed.height, 1);
  EXPECT_DOUBLE_EQ(zoomed.width, 1);
}

TEST(Navigation, WholeMatrixIsStoredAsUnzoomed) {
  ViewSettings view;
  show(view, {2, 2, 5, 5}, 10, 10);
  EXPECT_DOUBLE_EQ(view.width, 5);
  show(view, {0, 0, 10, 10}, 10, 10);
  EXPECT_DOUBLE_EQ(view.width, 0);
}

// Map of 6 x 4 cells at (100, 50), of which rows 2 to 4 are visible.
ViewLayout map_layout() {
  ViewLayout layout;
  layout.plot = {100, 50, 80, 60};
  layout.row = 2;
  layout.height = 3;
  layout.width = 4;
  return layout;
}

TEST(Navigation, LabelsSelectRowOrColumn) {
  const ViewLayout layout = map_layout();
  EXPECT_EQ(label_at(layout, {60, 75}, 6, 4), (LabelAt{3, -1}));
  EXPECT_EQ(label_at(layout, {145, 20}, 6, 4), (LabelAt{-1, 2}));
  EXPECT_EQ(label_at(layout, {145, 75}, 6, 4), std::nullopt);  // cell
  EXPECT_EQ(label_at(layout, {60, 20}, 6, 4), std::nullopt);   // corner
  EXPECT_EQ(label_at(layout, {60, 105}, 4, 4), std::nullopt);  // beyond the last row
  EXPECT_EQ(label_at(layout, {190, 75}, 6, 4), std::nullopt);
}

TEST(Navigation, PicturesWithoutRowsAndColumnsHaveNoLabels) {
  ViewLayout layout = map_layout();
  layout.columns_run_across = false;
  EXPECT_EQ(label_at(layout, {60, 75}, 6, 4), std::nullopt);
  EXPECT_EQ(label_at(ViewLayout(), {60, 75}, 6, 4), std::nullopt);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
