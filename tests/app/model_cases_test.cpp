// Cases of tests/model-cases run by the built program, one test per folder.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/json.h"
#include "core/base/lower_case.h"
#include "core/tensor/safetensors.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"
#include "tests/support/process.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::ProcessResult;
using testing::TemporaryFolder;
namespace fs = std::filesystem;

const fs::path kFolder = testing::source_folder() / "tests" / "model-cases";

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

std::string read_text(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

std::vector<std::string> to_strings(const Json& list) {
  std::vector<std::string> result;
  for (const Json& word : list) result.push_back(word.text());
  return result;
}

// Copy of a case's folder, in which commands run.
class Case {
 public:
  explicit Case(const std::string& name) : source_(kFolder / name) {
    fs::copy(source_, folder_.path(), fs::copy_options::recursive);
    description_ = Json::parse(read_text(source_ / "case.json"));
  }

  ProcessResult run(const std::string& backend) const {
    if (description_.contains("before")) {
      for (const Json& command : description_["before"]) {
        const ProcessResult result = run_program(to_strings(command));
        if (result.status != 0) return result;
      }
    }
    std::vector<std::string> arguments{
        description_.contains("command") ? description_["command"].text() : "run", "--model", "."};
    for (const std::string& word : to_strings(description_["arguments"])) arguments.push_back(word);
    arguments.insert(arguments.end(), {"--backend", backend, "-o", "out.safetensors"});
    return run_program(arguments);
  }

  bool is_refused() const { return fs::exists(source_ / "reject.txt"); }
  std::string expected_word() const {
    std::istringstream text(read_text(source_ / "reject.txt"));
    std::string word;
    text >> word;
    return word;
  }
  fs::path out() const { return folder_.path() / "out.safetensors"; }
  SafetensorsFile expected() const { return read_safetensors(source_ / "expected.safetensors"); }

 private:
  ProcessResult run_program(const std::vector<std::string>& arguments) const {
    std::vector<std::string> command_line{"-C", folder_.path(), testing::program_path()};
    command_line.insert(command_line.end(), arguments.begin(), arguments.end());
    return testing::run_process("/usr/bin/env", command_line);
  }

  fs::path source_;
  TemporaryFolder folder_;
  Json description_;
};

void expect_floats(const std::string& name, const Tensor& actual, const Tensor& expected) {
  double max_expected = 0, max_difference = 0;
  for (Index i = 0; i < expected.size(); ++i) {
    max_expected = std::max(max_expected, std::abs(static_cast<double>(expected[i])));
    const double difference =
        std::abs(static_cast<double>(actual[i]) - static_cast<double>(expected[i]));
    if (!(difference <= max_difference)) max_difference = difference;
    if (std::isnan(max_difference)) break;  // NaN is the largest difference
  }
  const double relative_tolerance = name.starts_with("gradient.") ? 1e-3 : 1e-4;
  const double tolerance = std::max(relative_tolerance * max_expected, 1e-6);
  EXPECT_TRUE(max_difference <= tolerance)
      << name << " is off by " << max_difference << ", allowed " << tolerance;
}

void expect_tensors(const SafetensorsFile& actual, const SafetensorsFile& expected) {
  ASSERT_FALSE(expected.tensors.empty());
  for (const auto& [name, tensor] : expected.tensors) {
    const auto found = actual.tensors.find(name);
    ASSERT_TRUE(found != actual.tensors.end()) << name << " is missing";
    ASSERT_EQ(to_string(found->second.dtype), to_string(tensor.dtype)) << name;
    ASSERT_EQ(found->second.shape, tensor.shape) << name;
    if (tensor.dtype == DType::F32) {
      expect_floats(name, found->second.floats(), tensor.floats());
    } else {
      const IntTensor a = found->second.integers(), b = tensor.integers();
      EXPECT_TRUE(std::ranges::equal(a, b)) << name;
    }
  }
  for (const auto& [name, tensor] : actual.tensors) {
    if (name == "attention" || name.starts_with("attention.")) {
      EXPECT_TRUE(expected.tensors.contains(name)) << name << " is unexpected";
    }
  }
}

void expect_refusal(const ProcessResult& result, const Case& model_case) {
  EXPECT_EQ(result.status, 2) << result.err;
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
  const std::string expected = lower_case(model_case.expected_word());
  EXPECT_NE(lower_case(result.err).find(expected), std::string::npos) << result.err;
  EXPECT_FALSE(fs::exists(model_case.out()));
}

class ModelCase : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(ModelCase, MatchesExpectedTensors) {
  const auto& [name, backend] = GetParam();
  const Case model_case(name);
  const ProcessResult result = model_case.run(backend);
  if (model_case.is_refused()) return expect_refusal(result, model_case);
  ASSERT_EQ(result.status, 0) << result.err;
  expect_tensors(read_safetensors(model_case.out()), model_case.expected());
}

INSTANTIATE_TEST_SUITE_P(All, ModelCase,
                         ::testing::Combine(::testing::ValuesIn(case_names()),
                                            ::testing::Values("cpu", "gpu")),
                         [](const auto& info) {
                           std::string name =
                               std::get<0>(info.param) + "_on_" + std::get<1>(info.param);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
