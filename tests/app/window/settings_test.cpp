#include "app/window/settings.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/base/error.h"
#include "core/base/file.h"
#include "tests/support/compare.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

TEST(Settings, RoundTripThroughFile) {
  const testing::TemporaryFolder folder;
  const auto file = folder.path() / "deeper" / "window.json";
  Settings s;
  s.x = -20;
  s.width = 1280;
  s.height = 800;
  s.dark = true;
  s.scale = 1.5;
  s.left_width = 350;
  s.panels = false;
  s.reduced_motion = true;
  s.folder = "/tmp/ä \"quoted\"";
  s.add_recent("/a");
  s.add_recent("/b \"quoted\"");
  s.add_recent("/a");
  EXPECT_EQ(s.recent, (std::vector<std::string>{"/a", "/b \"quoted\""}));
  save_settings(file, s);
  const LoadedSettings loaded = load_settings(file);
  EXPECT_EQ(loaded.settings, s);
  EXPECT_EQ(loaded.notice, "");
}

TEST(Settings, LimitRecentFiles) {
  Settings s;
  for (int n = 0; n < 20; ++n) s.add_recent("/" + std::to_string(n));
  EXPECT_EQ(s.recent.size(), 10U);
  EXPECT_EQ(s.recent.front(), "/19");
}

TEST(Settings, DefaultWithoutFile) {
  const testing::TemporaryFolder folder;
  const LoadedSettings loaded = load_settings(folder.path() / "none.json");
  EXPECT_EQ(loaded.settings, Settings());
  EXPECT_EQ(loaded.notice, "");
}

class BrokenSettings : public ::testing::TestWithParam<std::string> {};

TEST_P(BrokenSettings, AreIgnoredWithANotice) {
  const testing::TemporaryFolder folder;
  const auto file = folder.path() / "window.json";
  write_file(file, GetParam());
  const LoadedSettings loaded = load_settings(file);
  EXPECT_EQ(loaded.settings, Settings());
  EXPECT_NE(loaded.notice, "");
  EXPECT_EQ(loaded.notice.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Files, BrokenSettings,
                         ::testing::Values("", "{", "[]", "null", "{\"x\": \"left\"}",
                                           "{\"dark\": 1}", "{\"folder\": 7}", "{\"recent\": 7}",
                                           "{\"recent\": [7]}", "\xFF\xFE{}",
                                           std::string(100000, '['),
                                           std::string("{\"x\"\0: 1}", 9)));

TEST(Settings, AreClampedToValidRange) {
  const testing::TemporaryFolder folder;
  const auto file = folder.path() / "window.json";
  write_file(file, R"({"width": 1e99, "scale": 0.001, "left_width": -5, "right_width": 1e9})");
  const Settings s = load_settings(file).settings;
  EXPECT_LE(s.width, 32768);
  EXPECT_EQ(s.scale, 0);
  EXPECT_GE(s.left_width, 200);
  EXPECT_LE(s.right_width, 1000);
}

TEST(Settings, FolderInPlaceOfFileIsReported) {
  const testing::TemporaryFolder folder;
  EXPECT_NE(load_settings(folder.path()).notice, "");
  EXPECT_THROW(save_settings(folder.path(), Settings()), WorkError);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
