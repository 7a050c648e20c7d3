#include "core/base/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "core/base/error.h"
#include "core/base/file_beginning.h"
#include "core/base/mapped_file.h"
#include "core/base/stop.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::TemporaryFolder;

std::size_t count_files(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

std::string read_error(const std::filesystem::path& path, std::size_t max_bytes) {
  try {
    read_file(path, max_bytes);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(File, RoundTrips) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "a";
  std::string bytes(100'000, 'x');
  bytes[5] = '\0';
  write_file(path, bytes);
  EXPECT_EQ(read_file(path), bytes);
  write_file(path, {"one", "", "two"});
  EXPECT_EQ(read_file(path), "onetwo");
  write_file(path, "");
  EXPECT_EQ(read_file(path), "");
  EXPECT_EQ(count_files(folder.path()), 1u) << "a temporary file was left";
}

TEST(File, ReportsReadErrors) {
  const TemporaryFolder folder;
  const std::string name = (folder.path() / "a").string();
  EXPECT_EQ(read_error(name, 10), name + ": no such file");
  EXPECT_EQ(read_error(folder.path(), 10), folder.path().string() + ": is a folder");
  write_file(name, "12345");
  EXPECT_EQ(read_file(name, 5), "12345");
  EXPECT_EQ(read_error(name, 4), name + ": larger than 4 bytes");
}

TEST(File, ReportsWriteErrors) {
  const TemporaryFolder folder;
  EXPECT_THROW(write_file(folder.path(), "x"), WorkError);
  EXPECT_THROW(write_file(folder.path() / "missing" / "a", "x"), WorkError);
  EXPECT_THROW(write_file("/dev/full", "x"), WorkError);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full")) << "a device was replaced";
}

// The system's message for a parent that is a file would suggest missing permissions.
TEST(File, NamesOffendingParentFolder) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "file").string(), missing = folder.path() / "none";
  write_file(file, "x");
  const auto message = [](const auto& action) -> std::string {
    try {
      action();
    } catch (const std::runtime_error& e) {
      return e.what();
    }
    return "";
  };
  const std::string below_file = file + "/a/b", below_missing = missing + "/a/b";
  EXPECT_EQ(message([&] { check_writable(below_file); }),
            below_file + ": cannot be written: " + file + " is not a folder");
  EXPECT_EQ(message([&] { write_file(below_file, "x"); }),
            below_file + ": cannot be written: " + file + " is not a folder");
  EXPECT_EQ(message([&] { make_folder(below_file); }),
            below_file + ": cannot be created: " + file + " is not a folder");
  EXPECT_EQ(message([&] { make_folder(file); }), file + ": cannot be created: it is a file");
  EXPECT_EQ(message([&] { read_file(below_file); }),
            below_file + ": cannot be read: " + file + " is not a folder");
  EXPECT_EQ(message([&] { check_writable(below_missing); }),
            below_missing + ": cannot be written: there is no folder " + missing);
  EXPECT_EQ(message([&] { write_file(below_missing, "x"); }),
            below_missing + ": cannot be written: there is no folder " + missing);
}

TEST(File, ChecksWritabilityInAdvance) {
  const TemporaryFolder folder;
  EXPECT_THROW(check_writable(folder.path()), WorkError);
  EXPECT_THROW(check_writable(folder.path() / "none" / "a"), WorkError);
  EXPECT_NO_THROW(check_writable(folder.path() / "a"));
  EXPECT_NO_THROW(check_writable("/dev/null"));
  EXPECT_EQ(count_files(folder.path()), 0u) << "the check left a file";
}

TEST(File, KeepsLinksAndModes) {
  const TemporaryFolder folder;
  const auto target = folder.path() / "target", link = folder.path() / "link";
  write_file(target, "old");
  ASSERT_EQ(::chmod(target.c_str(), 0640), 0);
  std::filesystem::create_symlink("target", link);
  write_file(link, "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(read_file(target), "new");
  struct stat status {};
  ASSERT_EQ(::stat(target.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0640u);
}

// Requests the stop after a moment, as Ctrl-C does.
std::jthread stop_soon(const Stop& stop) {
  return std::jthread([stop] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    stop.request();
  });
}

TEST(File, ReadsAndWritesPipes) {
  const TemporaryFolder folder;
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string bytes(300'000, 'x');  // more than a pipe holds
  std::string read;
  std::jthread reader([&] { read = read_file(pipe); });
  write_file(pipe, bytes);
  reader.join();
  EXPECT_EQ(read, bytes);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe)) << "the pipe was replaced";
  EXPECT_EQ(read_beginning(pipe, 4), "");
}

TEST(File, WaitingForPipesCanBeCancelled) {
  const TemporaryFolder folder;
  const auto pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const bool writes : {false, true}) {
    const Stop stop;
    const StopScope scope(stop);
    const std::jthread thread = stop_soon(stop);
    if (writes) {
      EXPECT_THROW(write_file(pipe, "x"), Stopped);
    } else {
      EXPECT_THROW(read_file(pipe), Stopped);
    }
  }
  EXPECT_THROW(MappedFile{pipe}, InputError);
}

TEST(File, RejectsEndlessDevices) {
  EXPECT_EQ(read_error("/dev/zero", 1 << 30), "/dev/zero: is a device");
  EXPECT_EQ(read_error("/dev/urandom", 1 << 30), "/dev/urandom: is a device");
  EXPECT_EQ(read_file("/dev/null"), "");
}

TEST(File, NextWriteRemovesLeftoversOfKilledProcess) {
  const TemporaryFolder folder;
  const auto write_leftover = [&](const std::string& file, long pid) {
    const auto path =
        folder.path() / ("." + file + ".attnscope-" + std::to_string(pid) + "-abcdef");
    write_file(path, "half");
    return path;
  };
  constexpr long kNoProcess = 999'999'999;  // above any valid process id
  const auto dead_leftover = write_leftover("a", kNoProcess),
             active_file = write_leftover("a", ::getpid()),
             other_leftover = write_leftover("b", kNoProcess);
  write_file(folder.path() / "a", "whole");
  EXPECT_FALSE(file_exists(dead_leftover));
  EXPECT_TRUE(file_exists(active_file)) << "a file that is being written was removed";
  EXPECT_TRUE(file_exists(other_leftover)) << "the leftover of another file was removed";
  EXPECT_EQ(read_file(folder.path() / "a"), "whole");
}

TEST(File, CancelledWriteKeepsOldFile) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "a";
  write_file(path, "before");
  const Stop stop;
  stop.request();
  {
    const StopScope scope(stop);
    EXPECT_THROW(write_file(path, "after"), Stopped);
  }
  EXPECT_EQ(read_file(path), "before");
  EXPECT_EQ(count_files(folder.path()), 1U);
  write_file(path, "after");
  EXPECT_EQ(read_file(path), "after");
}

TEST(File, RemovingUnfinishedFilesKeepsFinishedOnes) {
  const TemporaryFolder folder;
  EXPECT_NO_THROW(remove_unfinished_files());
  write_file(folder.path() / "a", "whole");
  remove_unfinished_files();
  EXPECT_EQ(read_file(folder.path() / "a"), "whole");
}

TEST(File, InvalidNamesDoNotExist) {
  const TemporaryFolder folder;
  const auto path = folder.path() / std::string(5000, 'a');
  EXPECT_FALSE(file_exists(path));
  EXPECT_FALSE(is_folder(path));
  EXPECT_THROW(write_file(path, "x"), WorkError);
  EXPECT_THROW(make_folder(path), WorkError);
  EXPECT_EQ(count_files(folder.path()), 0u);
  const auto longest = folder.path() / std::string(255, 'b');
  write_file(longest, "x");
  EXPECT_EQ(read_file(longest), "x");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
