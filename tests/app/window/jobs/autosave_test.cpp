#include "app/window/jobs/autosave.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "core/base/file.h"
#include "core/view/session_file.h"
#include "tests/support/compare.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

SharedSession session_with_text(const std::string& text) {
  Session session;
  session.run.text = text;
  return share(session);
}

int file_count(const std::filesystem::path& folder) {
  int count = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) count += file.exists();
  return count;
}

// Id of a process that has ended.
pid_t ended_process() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

TEST(Autosave, WritesAChangeWithinTwoSeconds) {
  const testing::TemporaryFolder folder;
  Autosave autosave(folder.path());
  EXPECT_EQ(autosave.save_if_due(session_with_text("a"), 0), "");
  EXPECT_FALSE(autosave.due());
  autosave.save_if_due(session_with_text("ab"), 1);
  ASSERT_TRUE(autosave.due());
  EXPECT_LE(*autosave.due(), 3);
  EXPECT_EQ(file_count(folder.path()), 0);
  autosave.save_if_due(session_with_text("abc"), 2);  // typing does not postpone saving
  autosave.save_if_due(session_with_text("abcd"), 3);
  EXPECT_EQ(file_count(folder.path()), 1);
  EXPECT_FALSE(autosave.due());
}

TEST(Autosave, RemovesFileOnCleanExit) {
  const testing::TemporaryFolder folder;
  Autosave autosave(folder.path());
  autosave.save_if_due(session_with_text("a"), 0);
  autosave.save_if_due(session_with_text("b"), 1);
  autosave.save_if_due(session_with_text("b"), 9);
  EXPECT_EQ(file_count(folder.path()), 1);
  autosave.finish();
  EXPECT_EQ(file_count(folder.path()), 0);
}

TEST(Autosave, OffersSessionOfEndedProcess) {
  const testing::TemporaryFolder folder;
  const Autosave autosave(folder.path());
  EXPECT_TRUE(autosave.abandoned_sessions().empty());
  const std::string abandoned = "autosave-" + std::to_string(ended_process()) + ".json";
  const std::string running = "autosave-" + std::to_string(getpid()) + ".json";
  write_file(folder.path() / running, "{}");
  write_file(folder.path() / "autosave-x.json", "{}");
  write_file(folder.path() / "window.json", "{}");
  EXPECT_TRUE(autosave.abandoned_sessions().empty());
  save_session(folder.path() / abandoned, *session_with_text("lost and found"));
  ASSERT_EQ(autosave.abandoned_sessions().size(), 1U);
  EXPECT_EQ(load_session(autosave.abandoned_sessions()[0].file).run.text, "lost and found");
}

TEST(Autosave, OffersAllAbandonedSessionsNewestFirst) {
  const testing::TemporaryFolder folder;
  const auto now = std::filesystem::file_time_type::clock::now();
  for (int hours = 1; hours <= 3; ++hours) {
    const auto file = folder.path() / ("autosave-" + std::to_string(ended_process()) + ".json");
    save_session(file, *session_with_text(std::to_string(hours) + " hours ago"));
    std::filesystem::last_write_time(file, now - std::chrono::hours(hours));
  }
  const auto sessions = Autosave(folder.path()).abandoned_sessions();
  ASSERT_EQ(sessions.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(load_session(sessions[i].file).run.text, std::to_string(i + 1) + " hours ago");
  }
}

// The id of a killed process may be reused.
TEST(Autosave, OffersSessionDespiteReusedProcessId) {
  const testing::TemporaryFolder folder;
  const auto file = folder.path() / "autosave-1.json";
  save_session(file, *session_with_text("before the restart of the machine"));
  const auto sessions = Autosave(folder.path()).abandoned_sessions();
  ASSERT_EQ(sessions.size(), 1U);
  EXPECT_EQ(sessions[0].file, file);
}

// The restored session's file exists until the next write, in case the program is killed before.
TEST(Autosave, KeepsRestoredSessionUntilNextWrite) {
  const testing::TemporaryFolder folder;
  const auto old_file = folder.path() / ("autosave-" + std::to_string(ended_process()) + ".json");
  save_session(old_file, *session_with_text("lost and found"));
  Autosave autosave(folder.path());
  autosave.save_if_due(session_with_text("a"), 0);
  autosave.replace(old_file);
  autosave.save_if_due(session_with_text("lost and found"), 1);
  autosave.save_if_due(session_with_text("lost and found"), 1.9);
  EXPECT_TRUE(file_exists(old_file));
  autosave.save_if_due(session_with_text("lost and found"), 3);
  EXPECT_FALSE(file_exists(old_file));
  EXPECT_EQ(file_count(folder.path()), 1);
  autosave.finish();
  EXPECT_EQ(file_count(folder.path()), 0);
}

TEST(Autosave, ReportsWriteErrorOnce) {
  const testing::TemporaryFolder folder;
  write_file(folder.path() / "file", "");
  Autosave autosave(folder.path() / "file");  // not a folder
  autosave.save_if_due(session_with_text("a"), 0);
  autosave.save_if_due(session_with_text("b"), 1);
  EXPECT_NE(autosave.save_if_due(session_with_text("b"), 5), "");
  autosave.save_if_due(session_with_text("c"), 6);
  EXPECT_EQ(autosave.save_if_due(session_with_text("c"), 9), "");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
