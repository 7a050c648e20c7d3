// Cases of tests/model-cases run by the built program, one test per folder.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/json.h"
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

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

std::vector<std::string> words(const Json& list) {
  std::vector<std::string> result;
  for (const Json& word : list) result.push_back(word.text());
  return result;
}

// Copy of a case's folder, in which commands run.
class Case {
 public:
  explicit Case(const std::string& name) : source_(kFolder / name) {
    fs::copy(source_, folder_.path(), fs::copy_options::recursive);
    description_ = Json::parse(text_of(source_ / "case.json"));
  }

  ProcessResult run(const std::string& backend) const {
    if (description_.contains("before")) {
      for (const Json& command : description_["before"]) {
        const ProcessResult before = program(words(command));
        if (before.status != 0) return before;
      }
    }
    std::vector<std::string> arguments{
        description_.contains("command") ? description_["command"].text() : "run", "--model", "."};
    for (const std::string& word : words(description_["arguments"])) arguments.push_back(word);
    arguments.insert(arguments.end(), {"--backend", backend, "-o", "out.safetensors"});
    return program(arguments);
  }

  bool is_refused() const { return fs::exists(source_ / "reject.txt"); }
  std::string refusal_word() const {
    std::istringstream text(text_of(source_ / "reject.txt"));
    std::string word;
    text >> word;
    return word;
  }
  fs::path out() const { return folder_.path() / "out.safetensors"; }
  SafetensorsFile expected() const { return read_safetensors(source_ / "expected.safetensors"); }

 private:
  ProcessResult program(const std::vector<std::string>& arguments) const {
    std::vector<std::string> all{"-C", folder_.path(), testing::program_path()};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return testing::run_process("/usr/bin/env", all);
  }

  fs::path source_;
  TemporaryFolder folder_;
  Json description_;
};

void expect_floats(const std::string& name, const Tensor& got, const Tensor& expected) {
  double most = 0, worst = 0;
  for (Index i = 0; i < expected.size(); ++i) {
    most = std::max(most, std::abs(static_cast<double>(expected[i])));
    const double apart = std::abs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
    if (!(apart <= worst)) worst = apart;
    if (std::isnan(worst)) break;  // worse than any number
  }
  const double share = name.starts_with("gradient.") ? 1e-3 : 1e-4;
  const double allowed = std::max(share * most, 1e-6);
  EXPECT_TRUE(worst <= allowed) << name << " is off by " << worst << ", allowed " << allowed;
}

void expect_tensors(const SafetensorsFile& got, const SafetensorsFile& expected) {
  ASSERT_FALSE(expected.tensors.empty());
  for (const auto& [name, tensor] : expected.tensors) {
    const auto found = got.tensors.find(name);
    ASSERT_TRUE(found != got.tensors.end()) << name << " is missing";
    ASSERT_EQ(to_string(found->second.dtype), to_string(tensor.dtype)) << name;
    ASSERT_EQ(found->second.shape, tensor.shape) << name;
    if (tensor.dtype == DType::F32) {
      expect_floats(name, found->second.floats(), tensor.floats());
    } else {
      const IntTensor a = found->second.integers(), b = tensor.integers();
      EXPECT_TRUE(std::ranges::equal(a, b)) << name;
    }
  }
  for (const auto& [name, tensor] : got.tensors) {
    if (name == "attention" || name.starts_with("attention.")) {
      EXPECT_TRUE(expected.tensors.contains(name)) << name << " is one too many";
    }
  }
}

void expect_refusal(const ProcessResult& result, const Case& of) {
  EXPECT_EQ(result.status, 2) << result.err;
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
  const auto lower = [](std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
  };
  EXPECT_NE(lower(result.err).find(lower(of.refusal_word())), std::string::npos) << result.err;
  EXPECT_FALSE(fs::exists(of.out()));
}

class ModelCase : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(ModelCase, MatchesExpectedTensors) {
  const auto& [name, backend] = GetParam();
  const Case one(name);
  const ProcessResult result = one.run(backend);
  if (one.is_refused()) return expect_refusal(result, one);
  ASSERT_EQ(result.status, 0) << result.err;
  expect_tensors(read_safetensors(one.out()), one.expected());
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
