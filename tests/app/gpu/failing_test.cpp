// OpenGL failures: an error at each error query of a run, a lost context, a failing shader
// compiler.
#include <epoxy/gl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "app/gpu/compute_backend.h"
#include "app/gpu/provider.h"
#include "core/base/file.h"
#include "core/experiment/run.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Replaces OpenGL's error reporting in epoxy's function table during its lifetime.
class Failure {
 public:
  // Reports `error` once after `successful_queries` error queries, or repeatedly if `is_lost`.
  Failure(int successful_queries, GLenum error, bool is_lost) {
    remaining_ = successful_queries;
    error_ = error;
    repeats_ = is_lost;
    reported_ = false;
    original_ = epoxy_glGetError;
    epoxy_glGetError = [] {
      const int remaining = remaining_--;
      if (remaining > 0 || (remaining < 0 && !repeats_)) return original_();
      reported_ = true;
      // A lost context reports an error at every second query. At the other queries, check_gl()
      // stops draining errors.
      return remaining == 0 || remaining % 2 == 0 ? error_.load() : GLenum{GL_NO_ERROR};
    };
  }
  ~Failure() { epoxy_glGetError = original_; }
  Failure(const Failure&) = delete;
  Failure& operator=(const Failure&) = delete;
  static bool was_reported() { return reported_; }

 private:
  static inline std::atomic<int> remaining_;
  static inline std::atomic<GLenum> error_;
  static inline std::atomic<bool> repeats_, reported_;
  static inline decltype(epoxy_glGetError) original_;
};

class FailingGpu : public ::testing::Test {
 protected:
  FailingGpu() {
    const std::string name = ComputeBackend(make_headless_context()).name();
    const std::string cpu = cpu_backend().name();
    write_file(file_, "0.1\t" + name + "\t" + cpu + "\n4\t" + name + ", shared memory\t" + name +
                          ", registers\n");
    session_.run.text = "the cat sat on the mat";
    session_.run.backend = BackendChoice::Cpu;
    expected_logits_ = ExperimentRun(cpu_only()).run(session_.run)->logits;
    session_.run.backend = BackendChoice::Auto;
  }
  BackendProvider provider() const {
    return gpu_backends([] { return make_headless_context(); }, file_);
  }
  static bool has_note(const Trace& trace, const std::string& expected) {
    return std::ranges::any_of(trace.notes, [&](const std::string& note) {
      return note.find(expected) != std::string::npos;
    });
  }

  testing::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "backends.txt";
  Session session_;
  Tensor expected_logits_;
};

// The CPU computes the parts that fail on the GPU, and the run's notes name the error.
TEST_F(FailingGpu, FallsBackToCpuWithNoteAtEveryQuery) {
  for (const bool is_lost : {false, true}) {
    const BackendProvider backends = provider();
    ASSERT_NE(backends(BackendChoice::Gpu).backend, nullptr);
    int failures = 0;
    for (int successful_queries = 0; successful_queries < 200;
         successful_queries += successful_queries < 8 ? 1 : 5) {
      SCOPED_TRACE((is_lost ? "lost after " : "out of memory after ") +
                   std::to_string(successful_queries));
      ExperimentRun run(backends);
      std::shared_ptr<const Trace> trace;
      {
        const Failure failure(successful_queries, is_lost ? GL_CONTEXT_LOST : GL_OUT_OF_MEMORY,
                              is_lost);
        ASSERT_NO_THROW(trace = run.run(session_.run));
        if (!Failure::was_reported()) break;
      }
      ++failures;
      EXPECT_TRUE(testing::close(trace->logits, expected_logits_, 1e-4));
      EXPECT_TRUE(has_note(*trace, is_lost ? "context lost while" : "memory"));
    }
    EXPECT_GT(failures, 3);
    // The next run uses the recovered device.
    if (!is_lost) {
      EXPECT_FALSE(has_note(*ExperimentRun(backends).run(session_.run), "GPU:"));
    }
  }
}

TEST_F(FailingGpu, AutoFallsBackIfContextIsLostAtStart) {
  const BackendProvider backends = provider();
  std::shared_ptr<const Trace> trace;
  {
    const Failure failure(0, GL_CONTEXT_LOST, true);  // while the device is created
    ASSERT_NO_THROW(trace = ExperimentRun(backends).run(session_.run));
  }
  EXPECT_TRUE(testing::close(trace->logits, expected_logits_, 1e-4));
  EXPECT_TRUE(has_note(*trace, "context lost while"));
}

TEST_F(FailingGpu, NamesShaderThatDoesNotCompile) {
  // Warm-up: epoxy resolves its functions on their first call.
  static_cast<void>(ExperimentRun(provider()).run(session_.run));
  const BackendProvider backends = provider();
  static decltype(epoxy_glGetShaderiv) original;
  original = epoxy_glGetShaderiv;
  epoxy_glGetShaderiv = [](GLuint shader, GLenum parameter, GLint* value) {
    original(shader, parameter, value);
    if (parameter == GL_COMPILE_STATUS) *value = GL_FALSE;
  };
  std::shared_ptr<const Trace> trace;
  EXPECT_NO_THROW(trace = ExperimentRun(backends).run(session_.run));
  epoxy_glGetShaderiv = original;
  ASSERT_NE(trace, nullptr);
  EXPECT_TRUE(testing::close(trace->logits, expected_logits_, 1e-4));
  EXPECT_TRUE(has_note(*trace, ".comp") || has_note(*trace, ".glsl")) << trace->notes.size();
}

// An explicit GPU choice fails with the reason.
TEST_F(FailingGpu, RejectsExplicitGpuChoice) {
  const BackendProvider backends = provider();
  session_.run.backend = BackendChoice::Gpu;
  ASSERT_NO_THROW(ExperimentRun(backends).run(session_.run));
  const Failure failure(2, GL_OUT_OF_MEMORY, false);
  EXPECT_THROW(ExperimentRun(backends).run(session_.run), InputError);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
