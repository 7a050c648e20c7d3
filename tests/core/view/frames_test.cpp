#include "core/view/frames.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "tests/core/figure/picture.h"
#include "tests/core/view/model_trace.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

std::string refusal(const std::function<void()>& work) {
  try {
    work();
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

Experiment of_view(const std::string& view) {
  Experiment experiment;
  experiment.text = "x";
  experiment.view.id = view;
  return experiment;
}

FrameOptions options(const std::string& text, int count) {
  FrameOptions frames = frames_from_text(text);
  frames.count = count;
  return frames;
}

TEST(Frames, FromText) {
  const FrameOptions frames = frames_from_text("query=-1.5:64");
  EXPECT_EQ(frames.key, "query");
  EXPECT_EQ(frames.from, -1.5);
  EXPECT_EQ(frames.to, 64);
  for (const char* text : {"", "query", "query=", "query=1", "=1:2", "query=1:", "query=a:b",
                           "query=1:2x", "query=nan:2", "query=1:inf", "query:1=2"}) {
    EXPECT_NE(refusal([&] { frames_from_text(text); }).find("KEY=FROM:TO"), std::string::npos)
        << text;
  }
}

TEST(Frames, NumbersInNames) {
  EXPECT_EQ(numbered("a/rope-%03d.png", 7), fs::path("a/rope-007.png"));
  EXPECT_EQ(numbered("%d%%.png", 12), fs::path("12%%.png"));
  EXPECT_EQ(numbered("50%-%2d.png", 123), fs::path("50%-123.png"));
  EXPECT_TRUE(is_numbered("x-%d.png"));
  for (const char* name :
       {"x.gif", "x%.png", "x%s.png", "x%3.png", "x%12345678901234567890d.png", "%d/x.png"}) {
    EXPECT_FALSE(is_numbered(name)) << name;
  }
}

TEST(Frames, MoveOneNumber) {
  const Experiment experiment = of_view("rope");
  const FrameOptions frames = options("query=10:20", 5);
  for (int n = 0; n < 5; ++n) {
    EXPECT_DOUBLE_EQ(view_values(frame_of(experiment, frames, n).view, "rope").real("query"),
                     10 + 2.5 * n);
  }
  EXPECT_EQ(
      view_values(frame_of(experiment, options("reach=8:16", 3), 1).view, "rope").integer("reach"),
      12);
}

TEST(Frames, RefusedBeforeAnythingIsWritten) {
  testing::TemporaryFolder folder;
  const auto refused = [&](const std::string& view, const std::string& text, int count,
                           const std::string& name) {
    return refusal(
        [&] { check_frames(folder.path() / name, of_view(view), options(text, count)); });
  };
  EXPECT_NE(refused("rope", "queri=1:2", 5, "a.gif").find("query, key, base"), std::string::npos);
  EXPECT_NE(refused("map", "query=1:2", 5, "a.gif"), "");
  EXPECT_NE(refused("rope", "reach=8:100000", 5, "a.gif").find("reach"), std::string::npos);
  EXPECT_NE(refused("rope", "query=1:2", 1, "a.gif").find("frames"), std::string::npos);
  EXPECT_NE(refused("rope", "query=1:2", 5, "a.png").find("numbered"), std::string::npos);
  EXPECT_NE(refused("rope", "query=1:2", 5, "a-%d.bmp"), "");
  EXPECT_EQ(refused("rope", "query=1:2", 5, "a-%d.png"), "");
}

TEST(Frames, NumberedPicturesAreThoseOfTheirExperiments) {
  testing::TemporaryFolder folder;
  const Trace trace = testing::run_model({});
  PictureOptions picture;
  picture.scale = 1;
  std::vector<double> shares;
  write_frames(folder.path() / "r-%02d.png", trace, of_view("rope"), picture,
               options("query=0:6", 3), nullptr, [&](double share) { shares.push_back(share); },
               {});
  EXPECT_EQ(shares.front(), 0);
  EXPECT_EQ(shares.back(), 1);
  for (int n = 0; n < 3; ++n) {
    const fs::path path = numbered(folder.path() / "r-%02d.png", n);
    const Experiment made = load_session(path);
    EXPECT_EQ(view_values(made.view, "rope").real("query"), 3.0 * n);
    const fs::path alone = folder.path() / "alone.png";
    write_view(alone, trace, made, picture);
    EXPECT_EQ(testing::decode_png(read_file(path)).rgba,
              testing::decode_png(read_file(alone)).rgba);
  }
}

TEST(Frames, StopsWhenAsked) {
  testing::TemporaryFolder folder;
  const Trace trace = testing::run_model({});
  PictureOptions picture;
  picture.scale = 0.5;
  const Stop stop;
  int seen = 0;
  EXPECT_THROW(write_frames(
                   folder.path() / "a.gif", trace, of_view("rope"), picture,
                   options("query=0:6", 9), nullptr,
                   [&](double) {
                     if (++seen == 3) stop.request();
                   },
                   stop),
               Stopped);
  EXPECT_TRUE(fs::is_empty(folder.path()));
  write_frames(folder.path() / "a.gif", trace, of_view("span"), picture, options("z=0:6", 4),
               nullptr, {}, {});
  EXPECT_EQ(read_file(folder.path() / "a.gif").substr(0, 6), "GIF89a");
}

}  // namespace
}  // namespace attnscope
