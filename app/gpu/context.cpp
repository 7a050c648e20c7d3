#include "app/gpu/context.h"

#include <epoxy/egl.h>
#include <epoxy/gl.h>

#include <array>
#include <mutex>
#include <vector>

#include "core/base/error.h"

namespace attnscope {
namespace {

constexpr int kMinVersion = 43;         // OpenGL 4.3 in epoxy's format
constexpr GLint kStorageBuffers = 8;    // minimum number of storage buffers per compute shader
constexpr int kMaxErrorsToDrain = 100;  // a lost context may report errors endlessly

std::string egl_error() {
  const EGLint code = eglGetError();
  switch (code) {
    case EGL_SUCCESS:
      return "no reason given";
    case EGL_NOT_INITIALIZED:
      return "not initialised";
    case EGL_BAD_ALLOC:
      return "out of memory";
    case EGL_BAD_MATCH:
      return "not supported (EGL_BAD_MATCH)";
    case EGL_BAD_CONTEXT:
      return "bad context";
    case EGL_CONTEXT_LOST:
      return "context lost";
    default:
      return "EGL error " + std::to_string(code);
  }
}

bool has_client_extension(const char* name) {
  return epoxy_has_egl_extension(EGL_NO_DISPLAY, name);
}

// EGL devices, then Mesa's surfaceless platform, which supports only Mesa's drivers.
std::vector<EGLDisplay> headless_displays(std::string& reason) {
  std::vector<EGLDisplay> displays;
  if (!has_client_extension("EGL_EXT_platform_base")) {
    reason = "EGL does not support platforms (EGL_EXT_platform_base)";
    return displays;
  }
  if (has_client_extension("EGL_EXT_platform_device") &&
      has_client_extension("EGL_EXT_device_enumeration")) {
    std::array<EGLDeviceEXT, 16> devices{};
    EGLint count = 0;
    if (eglQueryDevicesEXT(static_cast<EGLint>(devices.size()), devices.data(), &count)) {
      for (EGLint i = 0; i < count; ++i) {
        displays.push_back(eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT,
                                                    devices[static_cast<std::size_t>(i)], nullptr));
      }
    }
  }
  if (has_client_extension("EGL_MESA_platform_surfaceless")) {
    displays.push_back(
        eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, nullptr));
  }
  if (displays.empty()) reason = "EGL has no headless platform";
  return displays;
}

class EglContext : public GlContext {
 public:
  EglContext(EGLDisplay display, EGLContext context) : display_(display), context_(context) {}
  ~EglContext() override {
    if (eglGetCurrentContext() == context_) release();
    eglDestroyContext(display_, context_);
  }
  EglContext(const EglContext&) = delete;
  EglContext& operator=(const EglContext&) = delete;

  void make_current() override {
    // EGL keeps the chosen interface (OpenGL, not OpenGL ES) per thread.
    if (!eglBindAPI(EGL_OPENGL_API) ||
        !eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_)) {
      throw WorkError("GPU: the context cannot be made current: " + egl_error());
    }
  }
  void release() override {
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  }

  EGLDisplay display() const { return display_; }
  EGLContext handle() const { return context_; }

 private:
  EGLDisplay display_;
  EGLContext context_;
};

// Returns null and sets `reason` if the display has no suitable OpenGL 4.3 context. Never
// terminates the display: EGL shares it across the process, so all other contexts would break.
std::unique_ptr<GlContext> create_context(EGLDisplay display, EGLContext shared,
                                          std::string& reason) {
  EGLint major = 0, minor = 0;
  if (display == EGL_NO_DISPLAY || !eglInitialize(display, &major, &minor)) {
    reason = "EGL returned no display: " + egl_error();
    return nullptr;
  }
  if (!epoxy_has_egl_extension(display, "EGL_KHR_surfaceless_context") ||
      !epoxy_has_egl_extension(display, "EGL_KHR_no_config_context")) {
    reason = "EGL does not support surfaceless contexts (EGL_KHR_surfaceless_context)";
    return nullptr;
  }
  if (!eglBindAPI(EGL_OPENGL_API)) {
    reason = "EGL does not support OpenGL";
    return nullptr;
  }
  const std::array<EGLint, 7> attributes{EGL_CONTEXT_MAJOR_VERSION,
                                         4,
                                         EGL_CONTEXT_MINOR_VERSION,
                                         3,
                                         EGL_CONTEXT_OPENGL_PROFILE_MASK,
                                         EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
                                         EGL_NONE};
  const EGLContext handle = eglCreateContext(display, EGL_NO_CONFIG_KHR, shared, attributes.data());
  if (handle == EGL_NO_CONTEXT) {
    reason = "no OpenGL 4.3 context: " + egl_error();
    return nullptr;
  }
  auto context = std::make_unique<EglContext>(display, handle);
  try {
    context->make_current();
    context->require_compute();
    context->release();
  } catch (const WorkError& e) {
    reason = e.what();
    return nullptr;
  }
  return context;
}

class CurrentContextScope {
 public:
  CurrentContextScope()
      : display_(eglGetCurrentDisplay()),
        draw_(eglGetCurrentSurface(EGL_DRAW)),
        read_(eglGetCurrentSurface(EGL_READ)),
        context_(eglGetCurrentContext()) {}
  ~CurrentContextScope() {
    if (context_ != EGL_NO_CONTEXT) eglMakeCurrent(display_, draw_, read_, context_);
  }
  CurrentContextScope(const CurrentContextScope&) = delete;
  CurrentContextScope& operator=(const CurrentContextScope&) = delete;

 private:
  EGLDisplay display_;
  EGLSurface draw_, read_;
  EGLContext context_;
};

}  // namespace

std::string GlContext::describe() const {
  const auto* renderer = reinterpret_cast<const char*>(glGetString(GL_RENDERER));
  const int version = epoxy_gl_version();
  return std::string(renderer == nullptr ? "unknown renderer" : renderer) + ", OpenGL " +
         std::to_string(version / 10) + "." + std::to_string(version % 10);
}

void GlContext::require_compute() const {
  if (!epoxy_is_desktop_gl() || epoxy_gl_version() < kMinVersion) {
    throw WorkError("GPU: expected OpenGL 4.3 with compute shaders, found " + describe());
  }
  GLint buffers = 0;
  glGetIntegerv(GL_MAX_COMPUTE_SHADER_STORAGE_BLOCKS, &buffers);
  if (buffers < kStorageBuffers) {
    throw WorkError("GPU: expected " + std::to_string(kStorageBuffers) +
                    " storage buffers in a compute shader, found " + std::to_string(buffers) +
                    " (" + describe() + ")");
  }
}

std::unique_ptr<GlContext> make_headless_context(const GlContext* shared) {
  static std::mutex egl_mutex;  // EGL displays are process-wide
  const std::lock_guard lock(egl_mutex);
  if (!epoxy_has_egl()) throw WorkError("GPU: no EGL library (libEGL.so.1)");
  const CurrentContextScope scope;
  std::string reason;
  if (shared != nullptr) {
    const auto* egl = dynamic_cast<const EglContext*>(shared);
    if (egl == nullptr)
      throw WorkError("GPU: a headless context can share objects with headless contexts only");
    if (auto context = create_context(egl->display(), egl->handle(), reason)) return context;
  } else {
    for (EGLDisplay display : headless_displays(reason)) {
      if (auto context = create_context(display, EGL_NO_CONTEXT, reason)) return context;
    }
  }
  const std::string prefix = "GPU: ";
  throw WorkError(reason.starts_with(prefix) ? reason : prefix + reason);
}

void check_gl(const char* activity) {
  GLenum first = glGetError();
  if (first == GL_NO_ERROR) return;
  for (int i = 0; i < kMaxErrorsToDrain && glGetError() != GL_NO_ERROR; ++i) {
  }
  const auto name = [](GLenum code) -> std::string {
    switch (code) {
      case GL_OUT_OF_MEMORY:
        return "out of memory";
      case GL_CONTEXT_LOST:
        return "context lost";
      case GL_INVALID_OPERATION:
        return "invalid operation";
      case GL_INVALID_VALUE:
        return "invalid value";
      case GL_INVALID_ENUM:
        return "invalid enum";
      case GL_INVALID_FRAMEBUFFER_OPERATION:
        return "invalid framebuffer operation";
      default:
        return "error " + std::to_string(code);
    }
  };
  throw WorkError("GPU: OpenGL: " + name(first) + " while " + activity);
}

}  // namespace attnscope
