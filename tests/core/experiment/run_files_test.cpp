#include "core/experiment/run_files.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/experiment/imported_tensors.h"
#include "core/tensor/npy.h"
#include "core/tensor/safetensors.h"
#include "core/view/session_file.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

namespace fs = std::filesystem;

class RunFilesTest : public ::testing::Test {
 protected:
  fs::path path(const std::string& name) const { return folder_.path() / name; }

  // A file with attention of two tokens; the first weight of row 1 is `weight`.
  RunSpec run_of(const std::string& name, float weight = 0.25F) const {
    const Tensor attention = Tensor::from({2, 2}, {1, 0, weight, 1 - weight});
    if (name.ends_with(".npy")) {
      write_npy(path(name), stored(attention));
    } else {
      write_safetensors(path(name), SafetensorsFile{{{"attention", stored(attention)}}, {}});
    }
    RunSpec run;
    run.tensors.file = path(name);
    return run;
  }
  static float weight_of(const RunSpec& run) {
    return read_imported_tensors(run.tensors).attention.front()(0, 1, 0);
  }

  testing::TemporaryFolder folder_;
};

TEST_F(RunFilesTest, EmbeddedTensorsReplaceMissingFiles) {
  for (const char* name : {"a.npy", "a.safetensors"}) {
    RunSpec run = run_of(name);
    write_file(path("names.txt"), "one\ntwo\n");
    run.tensors.tokens = path("names.txt");
    embed_tensor_files(run);
    fs::remove(path(name));
    fs::remove(path("names.txt"));
    Session session;
    session.run = run;
    const RunSpec restored = session_from_json(to_json(session)).run;
    ASSERT_NE(restored.tensors.embedded, nullptr) << name;
    EXPECT_EQ(restored, run) << name;  // equal contents are one object
    EXPECT_EQ(missing_file(restored), "") << name;
    EXPECT_EQ(weight_of(restored), 0.25F) << name;
    EXPECT_EQ(read_imported_tensors(restored.tensors).tokens.back(), "two") << name;
  }
}

TEST_F(RunFilesTest, EmbedsOnlyFilesUpToLimit) {
  RunSpec run = run_of("a.npy");
  write_file(path("names.txt"), std::string(kMaxEmbeddedBytes, 'x'));
  run.tensors.tokens = path("names.txt");
  embed_tensor_files(run);
  EXPECT_EQ(run.tensors.embedded, nullptr);
  run.tensors.tokens.clear();
  embed_tensor_files(run);
  EXPECT_NE(run.tensors.embedded, nullptr);
}

// The picture keeps showing its own numbers after the file has changed.
TEST_F(RunFilesTest, FileReplacesEmbeddedTensorsOnlyIfEqual) {
  RunSpec run = run_of("a.npy");
  embed_tensor_files(run);
  RunSpec unchanged = run;
  find_files(unchanged, folder_.path());
  EXPECT_EQ(unchanged.tensors.embedded, nullptr);
  run_of("a.npy", 0.75F);
  find_files(run, folder_.path());
  EXPECT_NE(run.tensors.embedded, nullptr);
  EXPECT_EQ(weight_of(run), 0.25F);
}

TEST_F(RunFilesTest, FindsMovedFilesNextToSession) {
  RunSpec run = run_of("a.npy");
  run.input = path("digit.safetensors");
  run.tensors.file = path("old") / "a.npy";
  EXPECT_EQ(missing_file(run), run.tensors.file);
  find_files(run, folder_.path());
  EXPECT_EQ(run.tensors.file, path("a.npy"));
  EXPECT_EQ(missing_file(run), path("digit.safetensors"));
}

TEST_F(RunFilesTest, LocatesFilesMovedTogether) {
  RunSpec run = run_of("a.npy");
  run.tensors.file = "/old/b.npy";
  run.tensors.tokens = "/old/names.txt";
  write_file(path("names.txt"), "one\ntwo\n");
  locate_missing_file(run, path("a.npy"));
  EXPECT_EQ(missing_file(run), "");
  EXPECT_EQ(run.tensors.file, path("a.npy"));
  EXPECT_EQ(run.tensors.tokens, path("names.txt"));
}

TEST_F(RunFilesTest, RejectsDamagedEmbeddedTensors) {
  Session session;
  session.run = run_of("a.npy");
  embed_tensor_files(session.run);
  Json json = to_json(session);
  json["tensors"]["embedded"]["file"] = "not base64";
  EXPECT_THROW(session_from_json(json), InputError);
  json["tensors"]["embedded"]["file"] = "Zm9v";
  const RunSpec run = session_from_json(json).run;
  EXPECT_THROW(read_imported_tensors(run.tensors), InputError);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
