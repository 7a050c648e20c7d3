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
  std::thread::id inside;
  GLint major = 0;
  thread.run([&] {
    inside = std::this_thread::get_id();
    glGetIntegerv(GL_MAJOR_VERSION, &major);
  });
  EXPECT_NE(inside, std::this_thread::get_id());
  EXPECT_EQ(major, 4);
}

TEST(GlThread, RethrowsErrors) {
  GlThread thread(make_headless_context());
  EXPECT_THROW(thread.run([] { throw WorkError("no"); }), WorkError);
  int ran = 0;
  thread.run([&] { ++ran; });
  EXPECT_EQ(ran, 1);
}

TEST(GlThread, RunsNestedWorkImmediately) {
  GlThread thread(make_headless_context());
  int ran = 0;
  thread.run([&] { thread.run([&] { ++ran; }); });
  EXPECT_EQ(ran, 1);
}

TEST(GlThread, ServesUrgentWorkDuringLongWork) {
  GlThread thread(make_headless_context());
  std::atomic<bool> started = false, urgent = false;
  std::thread caller([&] {
    while (!started) std::this_thread::yield();
    thread.run_urgent([&] { urgent = true; });
  });
  thread.run([&] {
    started = true;
    while (!urgent) thread.serve();  // only this call can end the loop
  });
  caller.join();
  EXPECT_TRUE(urgent);
}

TEST(GlThread, FinishesPostedWork) {
  std::atomic<int> done = 0;
  {
    GlThread thread(make_headless_context());
    for (int i = 0; i < 100; ++i) thread.post([&] { ++done; });
  }
  EXPECT_EQ(done, 100);
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
