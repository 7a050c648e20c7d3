#include "tests/support/conformance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/experiment/attend.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"

namespace attnscope::testing {

namespace fs = std::filesystem;

fs::path conformance_folder() {
  return source_folder() / "tests" / "conformance";
}

std::vector<std::string> conformance_names() {
  std::vector<std::string> names;
  const std::string ending = ".safetensors", expected = ".expected.safetensors";
  for (const auto& entry : fs::directory_iterator(conformance_folder())) {
    const std::string file = entry.path().filename().string();
    if (file.ends_with(ending) && !file.ends_with(expected)) {
      names.push_back(file.substr(0, file.size() - ending.size()));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

void expect_tensors(const SafetensorsFile& got, const SafetensorsFile& expected) {
  ASSERT_FALSE(expected.tensors.empty());
  for (const auto& [name, tensor] : expected.tensors) {
    const auto it = got.tensors.find(name);
    ASSERT_TRUE(it != got.tensors.end()) << name << " is missing";
    ASSERT_EQ(to_string(it->second.dtype), to_string(tensor.dtype)) << name;
    ASSERT_EQ(it->second.shape, tensor.shape) << name;
    if (tensor.dtype == DType::F32) {
      EXPECT_TRUE(close(it->second.floats(), tensor.floats(), 2e-5)) << name;
    } else {
      const Index bytes = element_count(tensor.shape) * byte_size(tensor.dtype);
      EXPECT_TRUE(std::equal(tensor.bytes, tensor.bytes + bytes, it->second.bytes)) << name;
    }
  }
}

void expect_conformance(const std::string& name) {
  const fs::path prefix = conformance_folder() / name;
  const fs::path spec_file = prefix.string() + ".spec.json";
  const auto spec = fs::exists(spec_file) ? std::optional(read_file(spec_file)) : std::nullopt;
  const auto run_attend = [&](bool reports_terms) {
    return attend(read_safetensors(prefix.string() + ".safetensors"), spec, reports_terms,
                  cpu_backend());
  };
  if (fs::exists(prefix.string() + ".reject.txt")) {
    EXPECT_THROW(run_attend(false), InputError) << name;
    return;
  }
  const SafetensorsFile expected = read_safetensors(prefix.string() + ".expected.safetensors");
  expect_tensors(run_attend(expected.metadata.contains("terms")).out, expected);
}

}  // namespace attnscope::testing
