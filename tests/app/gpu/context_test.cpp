#include "app/gpu/context.h"

#include <epoxy/gl.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "core/base/error.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Context, HeadlessContextHasComputeShaders) {
  auto context = make_headless_context();
  context->make_current();
  context->require_compute();
  EXPECT_GE(epoxy_gl_version(), 43);
  EXPECT_NE(context->describe().find(", OpenGL 4."), std::string::npos) << context->describe();
  context->release();
}

TEST(Context, WorksOnAnotherThread) {
  auto context = make_headless_context();
  std::thread([&] {
    context->make_current();
    GLuint texture = 0;
    glGenTextures(1, &texture);
    EXPECT_NE(texture, 0u);
    glDeleteTextures(1, &texture);
    context->release();
  }).join();
}

TEST(Context, CreationPreservesCurrentContext) {
  auto first = make_headless_context();
  first->make_current();
  GLuint buffer = 0;
  glGenBuffers(1, &buffer);
  glBindBuffer(GL_ARRAY_BUFFER, buffer);
  auto second = make_headless_context();
  GLint bound = 0;
  glGetIntegerv(GL_ARRAY_BUFFER_BINDING, &bound);
  EXPECT_EQ(static_cast<GLuint>(bound), buffer);
  glDeleteBuffers(1, &buffer);
  first->release();
}

TEST(Context, SharesTextures) {
  auto first = make_headless_context();
  auto second = make_headless_context(first.get());
  first->make_current();
  GLuint texture = 0;
  glGenTextures(1, &texture);
  glBindTexture(GL_TEXTURE_2D, texture);
  glTexStorage2D(GL_TEXTURE_2D, 1, GL_R32F, 2, 2);
  glFinish();
  first->release();
  second->make_current();
  EXPECT_TRUE(glIsTexture(texture));
  glDeleteTextures(1, &texture);
  second->release();
}

TEST(Context, ReportsPendingErrors) {
  auto context = make_headless_context();
  context->make_current();
  EXPECT_NO_THROW(check_gl("nothing"));
  glEnable(0xffff);
  try {
    check_gl("enabling nonsense");
    FAIL() << "no error";
  } catch (const WorkError& e) {
    EXPECT_STREQ(e.what(), "GPU: OpenGL: invalid enum while enabling nonsense");
  }
  EXPECT_NO_THROW(check_gl("nothing"));  // the error is consumed
  context->release();
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
