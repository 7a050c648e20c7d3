// Layouts of views that require findings, and a check of their legibility.
#pragma once

#include "core/figure/render.h"
#include "tests/core/experiment/tasks.h"
#include "tests/support/compare.h"
#include "tests/support/synthetic.h"

namespace attnscope::testing {

struct Space {
  double width = 760, height = 640, font_size = 13;
  bool dark = false, framed = true;
  std::optional<Point> pointer{};
};

inline ViewLayout layout_of(const ViewedRun& viewed, const Space& space = {}) {
  return view(viewed.session.view.id)
      .lay_out({.trace = *viewed.trace,
                .session = viewed.session,
                .findings = viewed.findings,
                .canvas = {.width = space.width,
                           .height = space.height,
                           .font_size = space.font_size,
                           .theme = space.dark ? Theme::dark() : Theme::light(),
                           .measure = file_text_measure()},
                .figure = {.framed = space.framed},
                .interaction = {.pointer = space.pointer}});
}

inline void expect_legible(const ViewedRun& viewed, const std::string& context) {
  for (const bool framed : {true, false}) {
    for (const Space& space :
         {Space{}, Space{.width = 1300, .height = 800}, Space{.width = 1200, .height = 300},
          Space{.width = 420, .height = 700}, Space{.width = 300, .height = 260},
          Space{.width = 120, .height = 90}, Space{.width = 900, .height = 640, .font_size = 22}}) {
      Space variation = space;
      variation.framed = framed;
      variation.dark = framed;
      EXPECT_EQ(layout_error(layout_of(viewed, variation).list), "")
          << context << " " << variation.width << " x " << variation.height;
      variation.pointer = Point{variation.width / 2, 0.6 * variation.height};
      EXPECT_EQ(layout_error(layout_of(viewed, variation).list), "")
          << context << " " << variation.width << " x " << variation.height << ", pointed at";
    }
  }
}

}  // namespace attnscope::testing
