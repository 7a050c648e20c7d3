#include "app/gpu/gl_thread.h"

#include <epoxy/gl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "core/base/error.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(GlThread, RunsWorkWithCurrentContext) {
  GlThread thread(make_headless_context());
  EXPECT_FALSE(thread.description().empty());
  std::thread::id work_thread;
  GLint major = 0;
  thread.run([&] {
    work_thread = std::this_thread::get_id();
    glGetIntegerv(GL_MAJOR_VERSION, &major);
  });
  EXPECT_NE(work_thread, std::this_thread::get_id());
  EXPECT_EQ(major, 4);
}

TEST(GlThread, RethrowsErrors) {
  GlThread thread(make_headless_context());
  EXPECT_THROW(thread.run([] { throw WorkError("no"); }), WorkError);
  int runs = 0;
  thread.run([&] { ++runs; });
  EXPECT_EQ(runs, 1);
}

TEST(GlThread, RunsNestedWorkImmediately) {
  GlThread thread(make_headless_context());
  int runs = 0;
  thread.run([&] { thread.run([&] { ++runs; }); });
  EXPECT_EQ(runs, 1);
}

TEST(GlThread, ServesUrgentWorkDuringLongWork) {
  GlThread thread(make_headless_context());
  std::atomic<bool> has_started = false, is_served = false;
  std::thread caller([&] {
    while (!has_started) std::this_thread::yield();
    thread.run_urgent([&] { is_served = true; });
  });
  thread.run([&] {
    has_started = true;
    while (!is_served) thread.serve();  // only this call can end the loop
  });
  caller.join();
  EXPECT_TRUE(is_served);
}

TEST(GlThread, FinishesPostedWork) {
  std::atomic<int> completed = 0;
  {
    GlThread thread(make_headless_context());
    for (int i = 0; i < 100; ++i) thread.post([&] { ++completed; });
  }
  EXPECT_EQ(completed, 100);
}

TEST(GlThread, ServesManyCallers) {
  GlThread thread(make_headless_context());
  int sum = 0;  // used on the thread only
  std::vector<std::thread> callers;
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      for (int i = 0; i < 50; ++i) thread.run([&] { ++sum; });
    });
  }
  for (auto& c : callers) c.join();
  EXPECT_EQ(sum, 200);
}

// A context that cannot be made current.
class BrokenContext : public GlContext {
 public:
  void make_current() override { throw WorkError("GPU: broken"); }
  void release() override {}
};

TEST(GlThread, ReportsWhyContextIsMissing) {
  try {
    GlThread thread(std::make_unique<BrokenContext>());
    FAIL() << "no error";
  } catch (const WorkError& e) {
    EXPECT_STREQ(e.what(), "GPU: broken");
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
