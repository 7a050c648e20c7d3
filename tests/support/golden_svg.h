// Golden SVG files of display lists, written so that a diff shows which items changed.
//
// One element per line, coordinates with one decimal, text as <text>. A heat map is a rectangle
// whose <title> summarises its cells. Handles and hit targets are elements, too.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/figure/display_list.h"
#include "core/view/view.h"

namespace attnscope::testing {

// Text measure with characters of equal width, so that layouts do not depend on installed fonts.
class PlainMeasure : public TextMeasure {
 public:
  double width(const std::string& text, double size, bool bold) const override;
};

std::string readable_svg(const DisplayList& list);
// Adds the plot area, the handles, and the hits at 3 x 3 points of the plot, or of the page if
// there is no plot.
std::string readable_svg(const ViewLayout& layout);

::testing::AssertionResult matches_golden_svg(const DisplayList& list, const std::string& path);
::testing::AssertionResult matches_golden_svg(const ViewLayout& layout, const std::string& path);

// Page size and appearance of a view.
struct PageStyle {
  double width = 900, height = 620;
  bool framed = true, dark = false;
  std::optional<Point> pointer{};
};
// Lays out the session's view with PlainMeasure.
ViewLayout lay_out_plain(const Trace& trace, const Session& session, const Findings& findings,
                         const PageStyle& style = {});

// Describes each matrix of the view's data on a line: name, shape, minimum, maximum, mean, number
// of missing values, first and last row label. Returns the error message if the view has no data
// for this trace, or "" if the view never exports data.
std::string describe_data(const Trace& trace, const Session& session, const Findings& findings);

}  // namespace attnscope::testing
