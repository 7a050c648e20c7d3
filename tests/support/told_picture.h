// How a picture is laid out, in a few numbers that are kept beside the tests: whatever moves, grows
// or changes its colour by mistake changes one of them.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/figure/display_list.h"
#include "core/view/view.h"

namespace attnscope::testing {

// Letters all as wide: places do not hang on the fonts that a machine has.
class PlainMeasure : public TextMeasure {
 public:
  double width(const std::string& text, double size, bool bold) const override;
};

// A line for each kind of item: how many, and sums over them, each weighed by its order, of places,
// sizes, colours and numbers.
std::string told(const DisplayList& list);

// The same with what lies under points spread over the page, and its handles; of a picture that
// shows nothing, why.
std::string told(const ViewLayout& layout);

// A line for each matrix: its shape and sums over its numbers.
std::string told(const ViewData& data);

// On what page, and how, a view is looked at.
struct Sight {
  double width, height;
  bool framed = true, dark = false;
  std::optional<Point> pointer{};
};
// Of the experiment's view of a trace.
std::string told_view(const Trace& trace, const Experiment& experiment, const Findings& findings,
                      const Sight& sight);
// A line for each of many sizes of the page: how many items of each kind there are, and sums of
// where they stand. What is left out where there is no room, and from where on.
std::string told_sizes(const Trace& trace, const Experiment& experiment, const Findings& findings);
// Of its numbers; why there are none.
std::string told_data(const Trace& trace, const Experiment& experiment, const Findings& findings);

// That `text` is what `file`, below the tests' folder, holds, but for numbers, which may differ by
// `absolute` and a share `relative` (processors do not round alike). With ATTNSCOPE_WRITE_TOLD in
// the environment the file is written instead.
::testing::AssertionResult is_nearly_as_told(const std::string& text, const std::string& file,
                                             double relative, double absolute);

}  // namespace attnscope::testing
