#include "app/gpu/provider.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "app/gpu/calibration.h"
#include "app/gpu/compute_backend.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "tests/app/gpu/part_cases.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Calibrations are stored in a temporary folder.
class Provider : public ::testing::Test {
 protected:
  BackendProvider headless() const {
    return gpu_backends([] { return make_headless_context(); }, file_);
  }
  void write_calibration(const std::string& gpu, double ratio) const {
    std::filesystem::create_directories(file_.parent_path());
    write_file(file_, std::to_string(ratio) + "\t" + gpu + "\t" + cpu_backend().name() + "\n");
  }

  testing::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "cache" / "backends.txt";
};

TEST_F(Provider, CpuNeedsNoContext) {
  const BackendProvider provider = gpu_backends([]() -> std::unique_ptr<GlContext> {
    ADD_FAILURE() << "made a context";
    throw WorkError("no");
  });
  EXPECT_EQ(provider(BackendChoice::Cpu).backend, &cpu_backend());
}

TEST_F(Provider, FallsBackToCpuWithoutContext) {
  int attempts = 0;
  const BackendProvider provider = gpu_backends([&]() -> std::unique_ptr<GlContext> {
    ++attempts;
    throw WorkError("GPU: no EGL library (libEGL.so.1)");
  });
  const BackendOffer gpu = provider(BackendChoice::Gpu);
  EXPECT_EQ(gpu.backend, nullptr);
  EXPECT_EQ(gpu.note, "GPU: no EGL library (libEGL.so.1)");
  const BackendOffer automatic = provider(BackendChoice::Auto);
  EXPECT_EQ(automatic.backend, &cpu_backend());
  EXPECT_EQ(automatic.note, "GPU: no EGL library (libEGL.so.1)");
  EXPECT_EQ(attempts, 1);
}

TEST_F(Provider, GpuChoiceUsesGpu) {
  const BackendProvider provider = headless();
  const BackendOffer offer = provider(BackendChoice::Gpu);
  ASSERT_NE(offer.backend, nullptr) << offer.note;
  auto* gpu = dynamic_cast<ComputeBackend*>(offer.backend);
  ASSERT_NE(gpu, nullptr);
  const std::int64_t dispatches = gpu->dispatch_count();
  gpu->run(testing::base_part({}), {.output = true});
  EXPECT_GT(gpu->dispatch_count(), dispatches);
}

TEST_F(Provider, AutoChoosesFasterBackend) {
  const std::string device = headless()(BackendChoice::Gpu).backend->name();
  write_calibration(device, 15);
  const BackendProvider slow_gpu = headless();
  EXPECT_EQ(slow_gpu(BackendChoice::Auto).backend, &cpu_backend());
  write_calibration(device, 0.1);
  const BackendProvider fast_gpu = headless();
  const BackendOffer offer = fast_gpu(BackendChoice::Auto);
  ASSERT_NE(offer.backend, nullptr);
  EXPECT_EQ(offer.backend->name(), device);
  const Part part = testing::base_part({});
  EXPECT_TRUE(testing::close(offer.backend->run(part, {.output = true}).output,
                             cpu_backend().run(part, {.output = true}).output));
}

TEST_F(Provider, AutoDoesNotMeasureSoftwareRenderer) {
  ComputeBackend gpu(make_headless_context());
  if (!gpu.is_software()) GTEST_SKIP() << gpu.name();
  const BackendOffer offer = headless()(BackendChoice::Auto);
  EXPECT_EQ(offer.backend, &cpu_backend());
  EXPECT_EQ(offer.note, "");
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(Provider, CachesCalibration) {
  ComputeBackend gpu(make_headless_context());
  const double first = cached_time_ratio(gpu, cpu_backend(), file_);
  EXPECT_GT(first, 0);
  const std::int64_t dispatches = gpu.dispatch_count();
  EXPECT_GT(dispatches, 0);
  const double second = cached_time_ratio(gpu, cpu_backend(), file_);
  EXPECT_EQ(gpu.dispatch_count(), dispatches) << "measured again";
  EXPECT_NEAR(second / first, 1, 1e-3);
}

TEST_F(Provider, CachesShaderCalibration) {
  ComputeBackend gpu(make_headless_context());
  const double first = cached_shared_memory_ratio(gpu, file_);
  EXPECT_GT(first, 0);
  const std::int64_t dispatches = gpu.dispatch_count();
  EXPECT_NEAR(cached_shared_memory_ratio(gpu, file_) / first, 1, 1e-3);
  EXPECT_EQ(gpu.dispatch_count(), dispatches) << "measured again";
}

TEST_F(Provider, RepeatsCalibrationIfFileIsInvalid) {
  std::filesystem::create_directories(file_.parent_path());
  write_file(file_, std::string("nan\tx\ty\n-1\n\0\xff\tz\n", 16));
  EXPECT_GT(cached_time_ratio(cpu_backend(), cpu_backend(), file_), 0);
  EXPECT_GT(cached_time_ratio(cpu_backend(), cpu_backend(), std::nullopt), 0);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
