// OpenGL that fails: at each of its answers during a run, in its compiler, and for good.
#include <epoxy/gl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "app/gpu/compute_backend.h"
#include "app/gpu/provider.h"
#include "core/base/file.h"
#include "core/experiment/runner.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// What OpenGL says is replaced where epoxy keeps its functions, for as long as this lives.
class Failure {
 public:
  // The error is told at the answer after so many good ones; `lost`: at all that follow, too.
  Failure(int after, GLenum error, bool lost) {
    left_ = after;
    error_ = error;
    lost_ = lost;
    told_ = false;
    real_ = epoxy_glGetError;
    epoxy_glGetError = [] {
      const int left = left_--;
      if (left > 0 || (left < 0 && !lost_)) return real_();
      told_ = true;
      // A lost context goes on with its error; others are told once.
      return left == 0 || left % 2 == 0 ? error_.load() : GLenum{GL_NO_ERROR};
    };
  }
  ~Failure() { epoxy_glGetError = real_; }
  Failure(const Failure&) = delete;
  Failure& operator=(const Failure&) = delete;
  static bool told() { return told_; }

 private:
  static inline std::atomic<int> left_;
  static inline std::atomic<GLenum> error_;
  static inline std::atomic<bool> lost_, told_;
  static inline decltype(epoxy_glGetError) real_;
};

class FailingGpu : public ::testing::Test {
 protected:
  FailingGpu() {
    const std::string name = ComputeBackend(make_headless_context()).name();
    const std::string cpu = cpu_backend().name();
    write_file(file_, "0.1\t" + name + "\t" + cpu + "\n4\t" + name + ", shared memory\t" + name +
                          ", registers\n");
    experiment_.text = "the cat sat on the mat";
    experiment_.backend = BackendChoice::Cpu;
    expected_ = ExperimentRun(cpu_only()).run(experiment_, Stop())->logits;
    experiment_.backend = BackendChoice::Auto;
  }
  BackendProvider provider() const {
    return gpu_backends([] { return make_headless_context(); }, file_);
  }
  static bool tells(const Trace& trace, const std::string& words) {
    return std::ranges::any_of(trace.notes, [&](const std::string& note) {
      return note.find(words) != std::string::npos;
    });
  }

  testing::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "backends.txt";
  Experiment experiment_;
  Tensor expected_;
};

// What the GPU fails at is computed by the CPU, and the run's notes name what failed.
TEST_F(FailingGpu, AtEachAnswerTheCpuGoesOnAndSaysSo) {
  for (const bool lost : {false, true}) {
    const BackendProvider backends = provider();
    ASSERT_NE(backends(BackendChoice::Gpu).backend, nullptr);
    int failed = 0;
    for (int after = 0; after < 200; after += after < 8 ? 1 : 5) {
      SCOPED_TRACE((lost ? "lost after " : "out of memory after ") + std::to_string(after));
      ExperimentRun run(backends);
      std::shared_ptr<const Trace> trace;
      {
        const Failure failure(after, lost ? GL_CONTEXT_LOST : GL_OUT_OF_MEMORY, lost);
        ASSERT_NO_THROW(trace = run.run(experiment_, Stop()));
        if (!Failure::told()) break;
      }
      ++failed;
      EXPECT_TRUE(testing::close(trace->logits, expected_, 1e-4));
      EXPECT_TRUE(tells(*trace, lost ? "context lost while" : "memory"));
    }
    EXPECT_GT(failed, 3);
    // Where the device works again, so does the next run.
    if (!lost) {
      EXPECT_FALSE(tells(*ExperimentRun(backends).run(experiment_, Stop()), "GPU:"));
    }
  }
}

TEST_F(FailingGpu, WithoutAContextOrADeviceAutoSaysSo) {
  const BackendProvider backends = provider();
  std::shared_ptr<const Trace> trace;
  {
    const Failure failure(0, GL_CONTEXT_LOST, true);  // while it is made
    ASSERT_NO_THROW(trace = ExperimentRun(backends).run(experiment_, Stop()));
  }
  EXPECT_TRUE(testing::close(trace->logits, expected_, 1e-4));
  EXPECT_TRUE(tells(*trace, "context lost while"));
}

TEST_F(FailingGpu, AShaderThatDoesNotCompileIsNamed) {
  // Once without: epoxy looks its functions up when they are called first.
  static_cast<void>(ExperimentRun(provider()).run(experiment_, Stop()));
  const BackendProvider backends = provider();
  static decltype(epoxy_glGetShaderiv) real;
  real = epoxy_glGetShaderiv;
  epoxy_glGetShaderiv = [](GLuint shader, GLenum what, GLint* answer) {
    real(shader, what, answer);
    if (what == GL_COMPILE_STATUS) *answer = GL_FALSE;
  };
  std::shared_ptr<const Trace> trace;
  EXPECT_NO_THROW(trace = ExperimentRun(backends).run(experiment_, Stop()));
  epoxy_glGetShaderiv = real;
  ASSERT_NE(trace, nullptr);
  EXPECT_TRUE(testing::close(trace->logits, expected_, 1e-4));
  EXPECT_TRUE(tells(*trace, ".comp") || tells(*trace, ".glsl")) << trace->notes.size();
}

// Asked for by name it is refused, in words.
TEST_F(FailingGpu, AskedForByNameItIsRefused) {
  const BackendProvider backends = provider();
  experiment_.backend = BackendChoice::Gpu;
  ASSERT_NO_THROW(ExperimentRun(backends).run(experiment_, Stop()));
  const Failure failure(2, GL_OUT_OF_MEMORY, false);
  EXPECT_THROW(ExperimentRun(backends).run(experiment_, Stop()), InputError);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
