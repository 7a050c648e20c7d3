#include "core/checkpoint/hub.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/card.h"
#include "core/checkpoint/checkpoint.h"
#include "tests/support/compare.h"
#include "tests/support/small_config.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

namespace fs = std::filesystem;

// Model cache as the Hugging Face libraries create it: files are in blobs/, and snapshots contain
// links to them.
class Hub : public ::testing::Test {
 protected:
  Hub() {
    for (const char* name : kNames) {
      if (const char* value = std::getenv(name)) environment_[name] = value;
      ::unsetenv(name);
    }
    ::setenv("HF_HUB_CACHE", folder_.path().c_str(), 1);
  }
  ~Hub() override {
    for (const char* name : kNames) {
      ::unsetenv(name);
      if (environment_.contains(name)) ::setenv(name, environment_[name].c_str(), 1);
    }
  }

  // Adds a model with this cache folder and commit. `reference`: name of its file in refs/, or
  // empty for no such file.
  void add(const std::string& folder, const std::string& commit, const std::string& reference) {
    Checkpoint checkpoint;
    checkpoint.model = make_model(testing::small_config({}), 1);
    save_checkpoint(folder_.path() / "made", checkpoint, false);
    const fs::path model = folder_.path() / folder, snapshot = model / "snapshots" / commit;
    fs::create_directories(model / "blobs");
    fs::create_directories(model / "refs");
    fs::create_directories(snapshot);
    int number = 0;
    for (const auto& file : fs::directory_iterator(folder_.path() / "made")) {
      const std::string blob = std::to_string(++number);
      fs::copy_file(file.path(), model / "blobs" / blob, fs::copy_options::overwrite_existing);
      fs::create_symlink(fs::path("../../blobs") / blob, snapshot / file.path().filename());
    }
    if (!reference.empty()) write_file(model / "refs" / reference, commit + "\n");
  }

  static constexpr const char* kNames[] = {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME",
                                           "XDG_CACHE_HOME", "HOME"};
  std::map<std::string, std::string> environment_;
  testing::TemporaryFolder folder_;
};

std::string load_error(const std::string& model) {
  try {
    static_cast<void>(load_checkpoint(model));
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST_F(Hub, FindsDownloadedModels) {
  add("models--org--tiny", "0123abc", "main");
  const fs::path snapshot = folder_.path() / "models--org--tiny" / "snapshots" / "0123abc";
  EXPECT_EQ(hub_folder("org/tiny"), snapshot);
  EXPECT_EQ(hub_folder("org/tiny@0123abc"), snapshot);
  EXPECT_EQ(model_path("org/tiny"), snapshot);
  EXPECT_EQ(hub_folder("org/other"), std::nullopt);
  const Checkpoint checkpoint = load_checkpoint("org/tiny");
  EXPECT_EQ(checkpoint.name, "org/tiny");
  EXPECT_GT(checkpoint.model.config.layers, 0);
  EXPECT_EQ(load_checkpoint("default").name, "default");  // bundled models take precedence
  add("models--older", "77", "main");                     // without an organisation
  EXPECT_EQ(load_checkpoint("older").name, "older");
  EXPECT_EQ(hub_models(), (std::vector<std::string>{"older", "org/tiny"}));
  ASSERT_EQ(downloaded_group().models.size(), 2U);
  EXPECT_EQ(downloaded_group().models[1].name, "org/tiny");
}

TEST_F(Hub, NamesMissingFiles) {
  const std::string none = load_error("org/tiny");
  EXPECT_NE(none.find((folder_.path() / "models--org--tiny").string()), std::string::npos) << none;
  EXPECT_NE(none.find("Hugging Face"), std::string::npos) << none;

  add("models--org--tiny", "0123abc", "other");
  const std::string no_main = load_error("org/tiny");
  EXPECT_NE(no_main.find("refs/main"), std::string::npos) << no_main;
  EXPECT_EQ(hub_folder("org/tiny@other"),
            folder_.path() / "models--org--tiny" / "snapshots" / "0123abc");

  fs::remove(folder_.path() / "models--org--tiny" / "snapshots" / "0123abc" / "config.json");
  const std::string incomplete = load_error("org/tiny@other");
  EXPECT_NE(incomplete.find("0123abc/config.json"), std::string::npos) << incomplete;
  EXPECT_TRUE(hub_models().empty());
  EXPECT_TRUE(downloaded_group().models.empty());
}

TEST_F(Hub, RejectsPathsOutsideCache) {
  for (const char* name :
       {"../x", "org/..", "/etc", "org/a/b", "org/", "/tiny", "org/tiny@../../x", "a b", ""}) {
    EXPECT_FALSE(is_hub_name(name)) << name;
    EXPECT_EQ(hub_folder(name), std::nullopt) << name;
  }
  for (const char* name : {"gpt2", "org/tiny", "org/tiny-1.5_b", "org/tiny@v1.0"}) {
    EXPECT_TRUE(is_hub_name(name)) << name;
  }
}

// A reference file must contain a commit, never a path.
TEST_F(Hub, RejectsReferencesOutsideCache) {
  add("models--org--tiny", "0123abc", "main");
  const fs::path reference = folder_.path() / "models--org--tiny" / "refs" / "main";
  for (const char* commit : {"../../made", "/etc", "..", ""}) {
    write_file(reference, commit);
    const std::string refusal = load_error("org/tiny");
    EXPECT_NE(refusal.find("expected a commit"), std::string::npos) << commit << ": " << refusal;
    EXPECT_TRUE(hub_models().empty());
  }
  EXPECT_FALSE(load_error("org/" + std::string(300, 'x')).empty());
}

TEST_F(Hub, FollowsCacheEnvironmentVariables) {
  ::setenv("HF_HUB_CACHE", "/a", 1);
  ::setenv("HF_HOME", "/b", 1);
  ::setenv("XDG_CACHE_HOME", "/c", 1);
  ::setenv("HOME", "/d", 1);
  EXPECT_EQ(hub_cache(), "/a");
  ::unsetenv("HF_HUB_CACHE");
  EXPECT_EQ(hub_cache(), "/b/hub");
  ::unsetenv("HF_HOME");
  EXPECT_EQ(hub_cache(), "/c/huggingface/hub");
  ::setenv("XDG_CACHE_HOME", "c", 1);
  EXPECT_EQ(hub_cache(), "/d/.cache/huggingface/hub") << "relative paths are invalid";
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(hub_cache(), "/d/.cache/huggingface/hub");
}

TEST_F(Hub, RecognisesValidNames) {
  for (const char* name : {"a..b", "org/a..b", "org/.a", ".a", "org/a@", "org/a@.b", "org/a@b..c",
                           "a*b", "org/a+b", "\xc3\xa4"}) {
    EXPECT_FALSE(is_hub_name(name)) << name;
  }
  for (const char* name : {"a", "org/a.b.c", "org/a@b", "A-1/_b"}) EXPECT_TRUE(is_hub_name(name));
  EXPECT_FALSE(is_hub_name("o rg/tiny"));
  EXPECT_FALSE(is_hub_name("o*rg/tiny@main"));
  // An empty variable counts as unset.
  ::setenv("HF_HUB_CACHE", "", 1);
  ::setenv("HF_HOME", "/home", 1);
  EXPECT_EQ(hub_cache(), "/home/hub");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
