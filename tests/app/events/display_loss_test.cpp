// The program on a display whose server ends.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>

#include "core/base/file.h"
#include "tests/app/events/desktop.h"
#include "tests/app/events/small_model.h"
#include "tests/support/compare.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

// While it exists, child processes that start write their standard error to a file.
class ErrorRedirection {
 public:
  explicit ErrorRedirection(const std::filesystem::path& path) : original_(dup(STDERR_FILENO)) {
    const int file = open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    dup2(file, STDERR_FILENO);
    close(file);
  }
  ~ErrorRedirection() {
    dup2(original_, STDERR_FILENO);
    close(original_);
  }
  ErrorRedirection(const ErrorRedirection&) = delete;
  ErrorRedirection& operator=(const ErrorRedirection&) = delete;

 private:
  int original_;
};

TEST(DisplayLoss, EndsWithOneLine) {
  const testing::TemporaryFolder folder;
  save_small_model(folder.path() / "model");
  const std::filesystem::path errors = folder.path() / "errors.txt";
  auto display = std::make_unique<Display>(800, 600);
  auto redirection = std::make_unique<ErrorRedirection>(errors);
  Program program(*display, folder.path(), {"--model", (folder.path() / "model").string()});
  redirection.reset();
  program.wait_for("a window");
  display.reset();
  EXPECT_EQ(program.wait_for_end(), 1);
  EXPECT_EQ(read_file(errors),
            "attnscope: the connection to the display broke; the next start offers unsaved "
            "changes\n");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
