// GPU resources of the compute passes: buffers, textures, limits, programs. For the GL thread only.
#pragma once

#include <epoxy/gl.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <utility>

#include "app/gpu/gl_thread.h"
#include "app/gpu/shader.h"
#include "core/tensor/tensor.h"

namespace attnscope {

// Target seconds of a compute pass, so that cancellation takes at most 50 ms.
inline constexpr double kChunkSeconds = 0.012;

// A buffer that grows on demand and never shrinks.
class Buffer {
 public:
  Buffer() { glGenBuffers(1, &name_); }
  ~Buffer() { glDeleteBuffers(1, &name_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void reserve(std::int64_t bytes) {
    bytes = std::max<std::int64_t>(bytes, 16);  // an empty buffer cannot be bound
    if (bytes <= capacity_) return;
    glBindBuffer(GL_COPY_WRITE_BUFFER, name_);
    glBufferData(GL_COPY_WRITE_BUFFER, static_cast<GLsizeiptr>(bytes), nullptr, GL_DYNAMIC_COPY);
    capacity_ = bytes;
  }
  template <class T>
  void upload(const T* numbers, std::size_t count) {
    const auto bytes = static_cast<std::int64_t>(count * sizeof(T));
    reserve(bytes);
    glBindBuffer(GL_COPY_WRITE_BUFFER, name_);
    glBufferSubData(GL_COPY_WRITE_BUFFER, 0, static_cast<GLsizeiptr>(bytes), numbers);
  }
  void upload(const Tensor& t) {
    if (t.defined()) upload(t.data(), static_cast<std::size_t>(t.size()));
  }
  void download(float* numbers, std::int64_t count) const {
    glBindBuffer(GL_COPY_READ_BUFFER, name_);
    glGetBufferSubData(GL_COPY_READ_BUFFER, 0,
                       static_cast<GLsizeiptr>(count * static_cast<std::int64_t>(sizeof(float))),
                       numbers);
  }
  void bind(GLuint binding, GLenum target = GL_SHADER_STORAGE_BUFFER) const {
    glBindBufferBase(target, binding, name_);
  }

 private:
  GLuint name_ = 0;
  std::int64_t capacity_ = 0;
};

// An R32F texture array, deleted on destruction unless release() has been called.
class AttentionTexture {
 public:
  AttentionTexture(Index layers, Index rows, Index columns);  // zeros; throws WorkError on failure
  ~AttentionTexture() {
    if (name_ != 0) glDeleteTextures(1, &name_);
  }
  AttentionTexture(const AttentionTexture&) = delete;
  AttentionTexture& operator=(const AttentionTexture&) = delete;

  GLuint name() const { return name_; }
  GLuint release() { return std::exchange(name_, 0); }

 private:
  void clear(Index layers) const;

  GLuint name_ = 0;
};

// Limits of the current context.
struct DeviceLimits {
  std::int64_t buffer_bytes = 0;
  Index texture_size = 0, texture_layers = 0;
  static DeviceLimits of_current_context();
};
// True if OpenGL can create an R32F array texture of this size. Throws WorkError on context loss.
bool texture_fits(const DeviceLimits& limits, Index layers, Index rows, Index columns);

struct ComputeDevice {
  explicit ComputeDevice(GlThread& gl_thread);

  GlThread& thread;
  DeviceLimits limits;
  std::atomic<std::int64_t> max_scores = 0;  // maximum number of scores per chunk
  std::atomic<std::int64_t> dispatches = 0;  // number of dispatches so far
  std::atomic<bool> shared_memory = false;   // kind of shaders (attention.glsl)

  ShaderLibrary shaders;
  Buffer sizes, queries, keys, values, numbers, integers, scores, row_sums, outputs;
  std::map<Defines, double> work_per_second;  // measured multiplications per second
};

}  // namespace attnscope
