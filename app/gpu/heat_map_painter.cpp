#include "app/gpu/heat_map_painter.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "app/gpu/context.h"
#include "app/gpu/gl_attention.h"
#include "app/gpu/gl_state.h"
#include "app/gpu/shader.h"
#include "core/base/error.h"
#include "core/base/home.h"
#include "core/figure/colour_map.h"
#include "core/figure/heat_map.h"

namespace attnscope {
namespace {

// Uniform locations and texture units in the shaders.
constexpr GLint kFirstSampler = 0, kSecondSampler = 1;
constexpr GLint kPlane = 2, kByMagnitude = 3;                        // heat_map_numbers.frag
constexpr GLint kCorner = 2, kRange = 3, kMissing = 4, kHollow = 5;  // heat_map.frag

constexpr Index kMaxUploadedNumbers = Index{1} << 20;  // maximum cells of an uploaded map

TexturePtr make_r32f(int width, int height, const float* numbers) {
  glActiveTexture(GL_TEXTURE0);
  auto texture = std::make_shared<Texture>(GL_TEXTURE_2D);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_R32F, width, height, 0, GL_RED, GL_FLOAT, numbers);
  return texture;
}

struct NumbersKey {
  const void* numbers;  // storage or device handle
  Index plane, rows, columns;
  double row, column, height, width;
  int pixel_width, pixel_height;
  bool pooled, by_magnitude;
  auto operator<=>(const NumbersKey&) const = default;
};

NumbersKey numbers_key(const HeatMap& map, int width, int height) {
  const Shape shape = map.device ? map.device->shape() : map.values.shape();
  const void* storage = map.device ? static_cast<const void*>(map.device.get())
                                   : static_cast<const void*>(map.values.data());
  return {storage,
          map.plane,
          shape[shape.size() - 2],
          shape[shape.size() - 1],
          map.row,
          map.column,
          map.height,
          map.width,
          width,
          height,
          map.max_pooled,
          colour_map(map.colour_map).diverging()};
}

}  // namespace

struct HeatMapPainter::State {
  State() : shaders(home_folder() / "shaders") {
    glGenVertexArrays(1, &vertex_array);
    glGenFramebuffers(1, &framebuffer);
    GLint size = 0;
    glGetIntegerv(GL_MAX_TEXTURE_SIZE, &size);
    max_size = size;
  }
  ~State() {
    glDeleteVertexArrays(1, &vertex_array);
    glDeleteFramebuffers(1, &framebuffer);
  }

  struct CachedTexture {
    Tensor values;  // keeps the address in the key valid
    std::shared_ptr<const DeviceTensor> device;
    TexturePtr texture;
    bool was_drawn = true;  // drawn in the current frame
  };

  ShaderLibrary shaders;
  GLuint vertex_array = 0, framebuffer = 0;
  Index max_size = 0;
  std::map<std::tuple<const void*, Index, Index>, CachedTexture> cells;  // uploaded host numbers
  std::map<NumbersKey, CachedTexture> numbers;                           // pixel numbers
  std::map<std::string, TexturePtr> colours;

  GLuint value_texture(const Tensor& values);
  TexturePtr number_texture(const HeatMap& map, int width, int height, bool shares_with_backend);
  void mark_drawn(const HeatMap& map, int width, int height);
  TexturePtr compute_numbers(const HeatMap& map, Index rows, Index columns, GLuint cell_texture,
                             int width, int height);
  GLuint colour_texture(const std::string& id);
};

namespace {

// Texture of cell ranges [first, last): cells of each pixel column (row 0) and pixel row (row 1).
TexturePtr make_ranges(const HeatMap& map, Index rows, Index columns, int width, int height) {
  const int length = std::max(width, height);
  std::vector<std::int32_t> ranges(static_cast<std::size_t>(length) * 4, 0);
  const auto fill = [&](std::size_t next, const std::vector<CellRange>& cells) {
    for (const CellRange& c : cells) {
      ranges[next++] = static_cast<std::int32_t>(c.first);
      ranges[next++] = static_cast<std::int32_t>(c.last);
    }
  };
  fill(0, cells_of_pixels(map.column, map.width, width, columns, map.max_pooled));
  fill(static_cast<std::size_t>(length) * 2,
       cells_of_pixels(map.row, map.height, height, rows, map.max_pooled));
  glActiveTexture(GL_TEXTURE0);
  auto texture = std::make_shared<Texture>(GL_TEXTURE_2D);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RG32I, length, 2, 0, GL_RG_INTEGER, GL_INT, ranges.data());
  return texture;
}

}  // namespace

GLuint HeatMapPainter::State::value_texture(const Tensor& values) {
  const auto key =
      std::make_tuple(static_cast<const void*>(values.data()), values.dim(0), values.dim(1));
  if (const auto found = cells.find(key); found != cells.end()) {
    found->second.was_drawn = true;
    return found->second.texture->name();
  }
  glActiveTexture(GL_TEXTURE0);
  auto texture = std::make_shared<Texture>(GL_TEXTURE_2D_ARRAY);
  glTexImage3D(GL_TEXTURE_2D_ARRAY, 0, GL_R32F, static_cast<GLsizei>(values.dim(1)),
               static_cast<GLsizei>(values.dim(0)), 1, 0, GL_RED, GL_FLOAT, values.data());
  cells[key] = {values, nullptr, texture};
  return texture->name();
}

GLuint HeatMapPainter::State::colour_texture(const std::string& id) {
  TexturePtr& texture = colours[id];
  if (!texture) {
    std::vector<std::uint8_t> rgba;
    for (const Colour& c : colour_map(id).colours) rgba.insert(rgba.end(), {c.r, c.g, c.b, c.a});
    glActiveTexture(GL_TEXTURE0);
    texture = std::make_shared<Texture>(GL_TEXTURE_2D);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, static_cast<GLsizei>(rgba.size() / 4), 1, 0, GL_RGBA,
                 GL_UNSIGNED_BYTE, rgba.data());
  }
  return texture->name();
}

TexturePtr HeatMapPainter::State::compute_numbers(const HeatMap& map, Index rows, Index columns,
                                                  GLuint cell_texture, int width, int height) {
  const TexturePtr ranges = make_ranges(map, rows, columns, width, height);
  TexturePtr result = make_r32f(width, height, nullptr);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, framebuffer);
  glFramebufferTexture2D(GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, result->name(),
                         0);
  glDisable(GL_BLEND);
  glDisable(GL_SCISSOR_TEST);
  glViewport(0, 0, width, height);
  glUseProgram(shaders.drawing("box.vert", "heat_map_numbers.frag"));
  bind(0, GL_TEXTURE_2D_ARRAY, cell_texture);
  bind(1, GL_TEXTURE_2D, ranges->name());
  glUniform1i(kFirstSampler, 0);
  glUniform1i(kSecondSampler, 1);
  glUniform1i(kPlane, map.device ? static_cast<GLint>(map.plane) : 0);
  glUniform1i(kByMagnitude, colour_map(map.colour_map).diverging() ? 1 : 0);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  glFramebufferTexture2D(GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, 0, 0);
  return result;
}

TexturePtr HeatMapPainter::State::number_texture(const HeatMap& map, int width, int height,
                                                 bool shares_with_backend) {
  const NumbersKey key = numbers_key(map, width, height);
  const Index rows = key.rows, columns = key.columns;
  if (const auto found = numbers.find(key); found != numbers.end()) {
    found->second.was_drawn = true;
    return found->second.texture;
  }
  const auto* gpu_attention = dynamic_cast<const GlAttention*>(map.device.get());
  TexturePtr texture;
  if (gpu_attention != nullptr && shares_with_backend) {
    texture = compute_numbers(map, rows, columns, gpu_attention->texture(), width, height);
  } else if (rows <= max_size && columns <= max_size && rows <= kMaxUploadedNumbers / columns) {
    HeatMap host_map = map;
    host_map.values = heat_map_cells(map);
    host_map.device = nullptr;
    texture =
        compute_numbers(host_map, rows, columns, value_texture(host_map.values), width, height);
  } else {  // pooling on the CPU is faster than uploading so many cells
    texture = make_r32f(width, height, heat_map_pixels(map, width, height).data());
  }
  numbers[key] = {map.values, map.device, texture};
  return texture;
}

void HeatMapPainter::State::mark_drawn(const HeatMap& map, int width, int height) {
  const auto found = numbers.find(numbers_key(map, width, height));
  if (found != numbers.end()) found->second.was_drawn = true;
}

HeatMapPainter::HeatMapPainter(bool shares_with_backend)
    : shares_with_backend_(shares_with_backend) {}

HeatMapPainter::~HeatMapPainter() = default;

void HeatMapPainter::draw(const HeatMap& map, const PixelBox& box, const PixelBox& clip,
                          int framebuffer_height) {
  const bool has_values = map.device != nullptr || !map.values.empty();
  if (!has_values || box.width <= 0 || box.height <= 0 || !(map.width > 0) || !(map.height > 0)) {
    return;
  }
  if (clip.width <= 0 || clip.height <= 0) {
    if (state_) state_->mark_drawn(map, box.width, box.height);
    return;
  }
  const SavedGlState saved;
  if (!state_) state_ = std::make_unique<State>();
  if (box.width > state_->max_size || box.height > state_->max_size) {
    throw WorkError("GPU: a heat map of " + std::to_string(box.width) + " x " +
                    std::to_string(box.height) + " pixels: expected at most " +
                    std::to_string(state_->max_size));
  }
  GLint target = 0;
  glGetIntegerv(GL_DRAW_FRAMEBUFFER_BINDING, &target);
  begin_painting(state_->vertex_array);
  const TexturePtr numbers =
      state_->number_texture(map, box.width, box.height, shares_with_backend_);
  const GLuint colours = state_->colour_texture(map.colour_map);

  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, static_cast<GLuint>(target));
  set_target_box(box, clip, framebuffer_height);
  glUseProgram(state_->shaders.drawing("box.vert", "heat_map.frag"));
  bind(0, GL_TEXTURE_2D, numbers->name());
  bind(1, GL_TEXTURE_2D, colours);
  glUniform1i(kFirstSampler, 0);
  glUniform1i(kSecondSampler, 1);
  glUniform2i(kCorner, box.x, framebuffer_height - box.y);
  glUniform2f(kRange, static_cast<float>(map.least), static_cast<float>(map.most));
  glUniform4f(kMissing, static_cast<float>(map.missing.r) / 255.0F,
              static_cast<float>(map.missing.g) / 255.0F,
              static_cast<float>(map.missing.b) / 255.0F,
              static_cast<float>(map.missing.a) / 255.0F);
  glUniform1i(kHollow, map.hollow ? 1 : 0);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  check_gl("drawing a heat map");
}

void HeatMapPainter::end_frame() {
  if (!state_) return;
  const auto remove_undrawn = [](auto& textures) {
    for (auto entry = textures.begin(); entry != textures.end();) {
      const bool was_drawn = std::exchange(entry->second.was_drawn, false);
      entry = was_drawn ? std::next(entry) : textures.erase(entry);
    }
  };
  remove_undrawn(state_->cells);
  remove_undrawn(state_->numbers);
}

int HeatMapPainter::cached_textures() const {
  return state_ ? static_cast<int>(state_->cells.size() + state_->numbers.size()) : 0;
}

Image read_framebuffer(int width, int height) {
  Image image{width, height,
              std::vector<std::uint8_t>(static_cast<std::size_t>(width) *
                                        static_cast<std::size_t>(height) * 4)};
  GLint buffer = 0;
  glGetIntegerv(GL_PIXEL_PACK_BUFFER_BINDING, &buffer);
  glBindBuffer(GL_PIXEL_PACK_BUFFER, 0);
  glPixelStorei(GL_PACK_ALIGNMENT, 4);
  glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, image.rgba.data());
  glBindBuffer(GL_PIXEL_PACK_BUFFER, static_cast<GLuint>(buffer));
  check_gl("reading the framebuffer");
  const std::ptrdiff_t row = static_cast<std::ptrdiff_t>(width) * 4;  // bottom row first in OpenGL
  for (std::ptrdiff_t y = 0; y < height / 2; ++y) {
    std::swap_ranges(image.rgba.begin() + y * row, image.rgba.begin() + (y + 1) * row,
                     image.rgba.begin() + (height - 1 - y) * row);
  }
  return image;
}

}  // namespace attnscope
