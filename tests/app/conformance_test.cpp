// Cases of tests/conformance run by the built program, one test per file.
#include "tests/support/conformance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "core/tensor/safetensors.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"
#include "tests/support/process.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::ProcessResult;
using testing::TemporaryFolder;
namespace fs = std::filesystem;

const fs::path kFolder = testing::conformance_folder();
const std::string kProgram = testing::program_path();

ProcessResult attend(const std::string& name, bool terms, const fs::path& out,
                     const std::string& backend) {
  std::vector<std::string> arguments = {
      "attend", kFolder / (name + ".safetensors"), "--backend", backend, "-o", out};
  const fs::path spec = kFolder / (name + ".spec.json");
  if (fs::exists(spec)) arguments.insert(arguments.end(), {"--spec", spec});
  if (terms) arguments.push_back("--terms");
  return testing::run_process(kProgram, arguments);
}

void expect_refusal(const ProcessResult& result, const fs::path& out) {
  EXPECT_EQ(result.status, 2) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_GT(result.err.size(), 1u);
  EXPECT_FALSE(fs::exists(out));
}

class Conformance : public ::testing::TestWithParam<std::string> {
 protected:
  void run(const std::string& backend) const {
    const std::string& name = GetParam();
    const TemporaryFolder folder;
    const fs::path out = folder.path() / "out.safetensors";
    if (fs::exists(kFolder / (name + ".reject.txt"))) {
      return expect_refusal(attend(name, false, out, backend), out);
    }
    const SafetensorsFile expected = read_safetensors(kFolder / (name + ".expected.safetensors"));
    const ProcessResult result = attend(name, expected.metadata.contains("terms"), out, backend);
    ASSERT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(result.err, "");
    testing::expect_tensors(read_safetensors(out), expected);
  }
};

TEST_P(Conformance, MatchesExpectedTensors) {
  run("auto");
}

// The program exits with status 2 if a part of the operation cannot run on the GPU.
TEST_P(Conformance, MatchesExpectedTensorsOnGpu) {
  run("gpu");
}

INSTANTIATE_TEST_SUITE_P(Files, Conformance, ::testing::ValuesIn(testing::conformance_names()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(ConformanceFiles, EveryFileBelongsToACase) {
  const std::vector<std::string> names = testing::conformance_names();
  EXPECT_GE(names.size(), 130u);
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    const std::string file = entry.path().filename().string();
    if (file == "README.md") continue;
    EXPECT_TRUE(std::binary_search(names.begin(), names.end(), file.substr(0, file.find('.'))))
        << file;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
