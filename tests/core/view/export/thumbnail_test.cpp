#include "core/view/export/thumbnail.h"

#include <gtest/gtest.h>

#include <set>

#include "core/base/error.h"
#include "core/experiment/run.h"
#include "core/figure/render.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

Traces traces_of(Index tokens) {
  return Traces(std::make_shared<Trace>(testing::synthetic_trace(2, 2, tokens)));
}

std::size_t count_colours(const Image& image) {
  std::set<std::uint32_t> colours;
  for (std::size_t i = 0; i + 3 < image.rgba.size(); i += 4) {
    colours.insert(static_cast<std::uint32_t>(image.rgba[i] << 16 | image.rgba[i + 1] << 8 |
                                              image.rgba[i + 2]));
  }
  return colours.size();
}

TEST(Thumbnail, DependsOnHeadViewAndTheme) {
  const Traces traces = traces_of(9);
  Session session;
  const Image map = thumbnail(traces, session);
  EXPECT_EQ(map.width, 495);
  EXPECT_EQ(map.height, 330);
  EXPECT_GT(count_colours(map), 20U);
  session.view.head = 1;
  EXPECT_NE(thumbnail(traces, session).rgba, map.rgba);
  session.view.head = 0;
  session.view.id = "lines";
  EXPECT_NE(thumbnail(traces, session).rgba, map.rgba);
  session.view.id = "map";
  EXPECT_EQ(thumbnail(traces, session).rgba, map.rgba);
  ThumbnailOptions dark;
  dark.dark = true;
  EXPECT_LT(thumbnail(traces, session, dark).rgba[0], 100);
  EXPECT_GT(map.rgba[0], 200);
}

// A thumbnail draws the display list of an exported picture without title and caption.
TEST(Thumbnail, MatchesExportedCells) {
  const Traces traces = traces_of(9);
  const ThumbnailOptions options;
  const ViewLayout layout = view("map").lay_out({.trace = *traces.trace,
                                                 .session = Session(),
                                                 .canvas = {.width = options.width,
                                                            .height = options.height,
                                                            .font_size = 8,
                                                            .theme = Theme::light(),
                                                            .measure = file_text_measure(),
                                                            .scale = options.scale},
                                                 .figure = {.framed = false}});
  EXPECT_EQ(thumbnail(traces, Session()).rgba, render_image(layout.list, options.scale).rgba);
}

TEST(Thumbnail, RejectsMissingLayer) {
  Session session;
  session.view.layer = 7;
  EXPECT_THROW(thumbnail(traces_of(9), session), InputError);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
