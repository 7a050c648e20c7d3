// The peak memory of loading a checkpoint is close to the file size, for F32 and F16.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/memory_budget.h"
#include "core/checkpoint/checkpoint.h"
#include "core/model/weights.h"
#include "tests/core/experiment/models.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Resident memory of this process in bytes: field "VmHWM" (peak) or "VmRSS" (current).
double resident_memory(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field + ":")) return std::stod(line.substr(field.size() + 1)) * 1024;
  }
  return -1;
}

void write_model(const std::filesystem::path& folder, bool half) {
  Checkpoint checkpoint;
  ModelConfig& config = checkpoint.model.config;
  config.vocabulary = 8000;
  config.context = 16;
  config.width = 1024;
  config.layers = 1;
  config.heads = config.kv_heads = 8;
  config.head_size = 128;
  config.hidden = 4096;
  config.groups = uniform_groups(config, default_variant(), default_encoding());
  for (const WeightSpec& spec : weight_specs(config)) {
    checkpoint.model.weights.emplace(spec.name, Var(Tensor::full(spec.shape, 0.25f)));
  }
  save_checkpoint(folder, checkpoint, half);
}

constexpr const char* kFolder = "ATTNSCOPE_TEST_LOADS";

// Runs in a child process of another test. The exit code is the peak memory of loading in percent
// of the file size.
TEST(CheckpointMemory, DISABLED_MeasureInChildProcess) {
  const char* folder = std::getenv(kFolder);
  ASSERT_NE(folder, nullptr);
  const double before = resident_memory("VmRSS");
  load_checkpoint(folder);
  const auto size = static_cast<double>(
      std::filesystem::file_size(std::filesystem::path(folder) / "model.safetensors"));
  _exit(static_cast<int>((resident_memory("VmHWM") - before) / size * 100));
}

int peak_percent_in_child(const std::filesystem::path& folder) {
  const pid_t child = fork();
  if (child == 0) {
    setenv(kFolder, folder.c_str(), 1);
    execl("/proc/self/exe", "memory", "--gtest_brief=1",
          "--gtest_filter=CheckpointMemory.DISABLED_MeasureInChildProcess",
          "--gtest_also_run_disabled_tests", static_cast<char*>(nullptr));
    _exit(255);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// In addition to the weights, loading may need memory for one matrix, here at most a third of the
// weights.
TEST(CheckpointMemory, PeakIsCloseToFileSize) {
  for (const bool half : {false, true}) {
    const testing::TemporaryFolder folder;
    write_model(folder.path(), half);
    EXPECT_GT(std::filesystem::file_size(folder.path() / "model.safetensors"), 45'000'000U);
    const int percent = peak_percent_in_child(folder.path());
    EXPECT_GT(percent, 50) << "the peak was not measured";
    EXPECT_LT(percent, 150) << (half ? "F16" : "F32");
  }
}

// The reader rejects the file after reading its header.
TEST(CheckpointMemory, RejectsModelBeyondBudgetBeforeReading) {
  const testing::TemporaryFolder folder;
  testing::save_byte_model(folder.path(), 1, 16, 12);
  constexpr std::uint64_t kNumbers = std::uint64_t{70} << 20;
  const std::string header = R"({"a": {"dtype": "F16", "shape": [)" + std::to_string(2 * kNumbers) +
                             R"(], "data_offsets": [0, )" + std::to_string(4 * kNumbers) + "]}}";
  std::string file(8, '\0');
  for (std::size_t n = 0; n < 8; ++n) file[n] = static_cast<char>(header.size() >> (8 * n));
  const std::filesystem::path weights = folder.path() / "model.safetensors";
  write_file(weights, file + header);
  std::filesystem::resize_file(weights, file.size() + header.size() + 4 * kNumbers);  // sparse file
  const std::size_t default_budget = memory_budget();
  set_memory_budget(kMinMemoryBudget);
  std::string refusal;
  try {
    load_checkpoint(folder.path().string());
  } catch (const InputError& e) {
    refusal = e.what();
  }
  set_memory_budget(default_budget);
  EXPECT_NE(refusal.find("its weights need 280 MB of memory, the limit is 256 MB"),
            std::string::npos)
      << refusal;
  EXPECT_THROW(load_checkpoint(folder.path().string()), InputError);  // tensors are missing
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
