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
  Settings settings;
  settings.x = -20;
  settings.width = 1280;
  settings.height = 800;
  settings.dark = true;
  settings.scale = 1.5;
  settings.left_width = 350;
  settings.panels = false;
  settings.simple = false;
  settings.reduced_motion = true;
  settings.folder = "/tmp/ä \"quoted\"";
  settings.add_recent("/a");
  settings.add_recent("/b \"quoted\"");
  settings.add_recent("/a");
  EXPECT_EQ(settings.recent, (std::vector<std::string>{"/a", "/b \"quoted\""}));
  save_settings(file, settings);
  const LoadedSettings loaded = load_settings(file);
  EXPECT_EQ(loaded.settings, settings);
  EXPECT_EQ(loaded.notice, "");
}

TEST(Settings, LimitRecentFiles) {
  Settings settings;
  for (int n = 0; n < 20; ++n) settings.add_recent("/" + std::to_string(n));
  EXPECT_EQ(settings.recent.size(), 10U);
  EXPECT_EQ(settings.recent.front(), "/19");
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
  const Settings settings = load_settings(file).settings;
  EXPECT_LE(settings.width, 32768);
  EXPECT_EQ(settings.scale, 0);
  EXPECT_GE(settings.left_width, 200);
  EXPECT_LE(settings.right_width, 1000);
}

TEST(Settings, ReportsFolderInsteadOfFile) {
  const testing::TemporaryFolder folder;
  EXPECT_NE(load_settings(folder.path()).notice, "");
  EXPECT_THROW(save_settings(folder.path(), Settings()), WorkError);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
