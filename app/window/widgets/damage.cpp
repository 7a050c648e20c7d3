#include "app/window/widgets/damage.h"

#include <algorithm>
#include <cmath>

#include "app/window/hash.h"

namespace attnscope::window {
namespace {

// More boxes, each with its own draw calls, cost more than their bounding box.
constexpr std::size_t kMaxBoxes = 24;

PixelBox intersection(const PixelBox& a, const PixelBox& b) {
  const int left = std::max(a.x, b.x), right = std::min(a.x + a.width, b.x + b.width);
  const int top = std::max(a.y, b.y), bottom = std::min(a.y + a.height, b.y + b.height);
  return {left, top, std::max(0, right - left), std::max(0, bottom - top)};
}

bool is_empty(const PixelBox& box) {
  return box.width <= 0 || box.height <= 0;
}

// Maps points of the draw data to framebuffer pixels.
class Frame {
 public:
  explicit Frame(const ImDrawData& data)
      : origin_(data.DisplayPos),
        scale_(data.FramebufferScale),
        width_(static_cast<int>(data.DisplaySize.x * scale_.x)),
        height_(static_cast<int>(data.DisplaySize.y * scale_.y)) {}

  int width() const { return width_; }
  int height() const { return height_; }
  PixelBox bounds() const { return {0, 0, width_, height_}; }
  // True if clip rectangles are pixel boxes without rounding.
  bool is_exact() const {
    return scale_.x == std::floor(scale_.x) && scale_.y == std::floor(scale_.y);
  }

  // Pixels inside a command's clip rectangle. Rounds down, with y from the bottom, like the scissor
  // of ImGui's OpenGL backend. For callbacks, rounds to the nearest pixel, like the painter.
  PixelBox clip(const ImDrawCmd& command) const {
    const float left = (command.ClipRect.x - origin_.x) * scale_.x;
    const float top = (command.ClipRect.y - origin_.y) * scale_.y;
    const float right = (command.ClipRect.z - origin_.x) * scale_.x;
    const float bottom = (command.ClipRect.w - origin_.y) * scale_.y;
    if (!(right > left) || !(bottom > top)) return {};
    PixelBox box;
    if (command.UserCallback != nullptr) {
      const auto pixel = [](float v) { return static_cast<int>(std::lround(v)); };
      box = {pixel(left), pixel(top), pixel(right) - pixel(left), pixel(bottom) - pixel(top)};
    } else {
      const int base = static_cast<int>(static_cast<float>(height_) - bottom);
      const int rows = static_cast<int>(bottom - top);
      box = {static_cast<int>(left), height_ - base - rows, static_cast<int>(right - left), rows};
    }
    return intersection(box, bounds());
  }

  ImVec4 clip_rectangle(const PixelBox& box) const {
    const auto x = [&](int v) { return static_cast<float>(v) / scale_.x + origin_.x; };
    const auto y = [&](int v) { return static_cast<float>(v) / scale_.y + origin_.y; };
    return {x(box.x), y(box.y), x(box.x + box.width), y(box.y + box.height)};
  }

  // Bounding box of a triangle, in pixels.
  PixelBox box_of(const ImVec2& a, const ImVec2& b, const ImVec2& c) const {
    const auto floor_pixel = [](float v) { return static_cast<int>(std::floor(v)); };
    const int left = floor_pixel((std::min({a.x, b.x, c.x}) - origin_.x) * scale_.x);
    const int top = floor_pixel((std::min({a.y, b.y, c.y}) - origin_.y) * scale_.y);
    const int right = floor_pixel((std::max({a.x, b.x, c.x}) - origin_.x) * scale_.x) + 1;
    const int bottom = floor_pixel((std::max({a.y, b.y, c.y}) - origin_.y) * scale_.y) + 1;
    return {left, top, right - left, bottom - top};
  }

 private:
  ImVec2 origin_, scale_;
  int width_, height_;
};

// Calls f(first index, box) for the triangles of a command.
template <typename F>
void for_each_triangle(const Frame& frame, const ImDrawList& list, const ImDrawCmd& command,
                       const F& f) {
  const ImDrawIdx* index = list.IdxBuffer.Data + command.IdxOffset;
  const ImDrawVert* vertex = list.VtxBuffer.Data + command.VtxOffset;
  for (unsigned int i = 0; i + 2 < command.ElemCount; i += 3) {
    const ImDrawIdx* corner = index + i;
    f(corner, frame.box_of(vertex[corner[0]].pos, vertex[corner[1]].pos, vertex[corner[2]].pos));
  }
}

// Adds the command once per box: clipped to the box, with the triangles that overlap it.
void keep_triangles(const Frame& frame, const ImDrawList& list, const ImDrawCmd& command,
                    const std::vector<PixelBox>& boxes, ImVector<ImDrawCmd>& commands,
                    ImVector<ImDrawIdx>& indices) {
  const PixelBox clip = frame.clip(command);
  for (const PixelBox& box : boxes) {
    const PixelBox visible = intersection(clip, box);
    if (is_empty(visible)) continue;
    ImDrawCmd clipped = command;
    clipped.ClipRect = frame.clip_rectangle(visible);
    clipped.IdxOffset = static_cast<unsigned int>(indices.Size);
    for_each_triangle(frame, list, command, [&](const ImDrawIdx* corner, const PixelBox& extent) {
      if (is_empty(intersection(extent, visible))) return;
      for (int n = 0; n < 3; ++n) indices.push_back(corner[n]);
    });
    clipped.ElemCount = static_cast<unsigned int>(indices.Size) - clipped.IdxOffset;
    if (clipped.ElemCount > 0) commands.push_back(clipped);
  }
}

void keep_callback(const Frame& frame, const ImDrawCmd& command, const std::vector<PixelBox>& boxes,
                   ImVector<ImDrawCmd>& commands) {
  const int count = commands.Size;
  ImDrawCmd clipped = command;
  for (const PixelBox& box : boxes) {
    const PixelBox visible = intersection(frame.clip(command), box);
    if (is_empty(visible)) continue;
    clipped.ClipRect = frame.clip_rectangle(visible);
    commands.push_back(clipped);
  }
  if (commands.Size > count) return;
  clipped.ClipRect = {0, 0, 0, 0};
  commands.push_back(clipped);
}

// Identifies a texture, including those that the backend has not uploaded yet.
auto texture_of(const ImDrawCmd& command) {
#if IMGUI_VERSION_NUM >= 19200
  struct Reference {
    const void* data;
    std::uint64_t id;
  };
  return Reference{command.TexRef._TexData, static_cast<std::uint64_t>(command.TexRef._TexID)};
#else
  return command.GetTexID();
#endif
}

PixelBox bounding_box(const std::vector<PixelBox>& boxes) {
  PixelBox bounds = boxes.front();
  for (const PixelBox& b : boxes) {
    const int right = std::max(bounds.x + bounds.width, b.x + b.width);
    const int bottom = std::max(bounds.y + bounds.height, b.y + b.height);
    bounds.x = std::min(bounds.x, b.x);
    bounds.y = std::min(bounds.y, b.y);
    bounds.width = right - bounds.x;
    bounds.height = bottom - bounds.y;
  }
  return bounds;
}

}  // namespace

Damage::Tiles Damage::fingerprints(const ImDrawData& data) const {
  const Frame frame(data);
  const int rows = (height_ + tile_size - 1) / tile_size;
  Tiles tiles(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows), 1);
  const auto add = [&](const PixelBox& box, std::uint64_t fingerprint) {
    if (is_empty(box)) return;
    const int left = box.x / tile_size, right = (box.x + box.width - 1) / tile_size;
    const int top = box.y / tile_size, bottom = (box.y + box.height - 1) / tile_size;
    for (int y = top; y <= bottom; ++y) {
      for (int x = left; x <= right; ++x) {
        std::uint64_t& tile = tiles[static_cast<std::size_t>(y * columns_ + x)];
        tile = Hash(tile).add(fingerprint).value();
      }
    }
  };
  std::vector<std::uint64_t> vertices;
  for (int n = 0; n < data.CmdListsCount; ++n) {
    const ImDrawList& list = *data.CmdLists[n];
    vertices.clear();
    for (const ImDrawVert& v : list.VtxBuffer) vertices.push_back(Hash().add(v).value());
    for (const ImDrawCmd& command : list.CmdBuffer) {
      if (command.UserCallback == ImDrawCallback_ResetRenderState) continue;
      const PixelBox clip = frame.clip(command);
      const Hash clip_hash = Hash().add(clip);
      if (command.UserCallback != nullptr) {
        const Drawing drawing = callback_drawing_(command);
        add(intersection(drawing.box, clip), Hash(clip_hash).add(drawing.fingerprint).value());
        continue;
      }
      const Hash start = Hash(clip_hash).add(texture_of(command));
      const std::uint64_t* vertex = vertices.data() + command.VtxOffset;
      for_each_triangle(frame, list, command, [&](const ImDrawIdx* corner, const PixelBox& extent) {
        Hash triangle = start;
        for (int c = 0; c < 3; ++c) triangle.add(vertex[corner[c]]);
        add(intersection(extent, clip), triangle.value());
      });
    }
  }
  return tiles;
}

// Runs of changed tiles in a row, extended downwards as long as the next row has the same run.
std::vector<PixelBox> Damage::changed_boxes(const Tiles& tiles) const {
  const int rows = static_cast<int>(tiles.size()) / std::max(columns_, 1);
  std::vector<PixelBox> boxes;  // unit: tiles
  const auto has_changed = [&](int x, int y) {
    const auto index = static_cast<std::size_t>(y * columns_ + x);
    return tiles[index] != tiles_[index];
  };
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < columns_;) {
      const int first = x;
      while (x < columns_ && has_changed(x, y)) ++x;
      if (x == first) {
        ++x;
        continue;
      }
      const auto it = std::find_if(boxes.begin(), boxes.end(), [&](const PixelBox& b) {
        return b.x == first && b.width == x - first && b.y + b.height == y;
      });
      if (it != boxes.end()) {
        ++it->height;
      } else {
        boxes.push_back({first, y, x - first, 1});
      }
    }
  }
  if (boxes.size() > kMaxBoxes) boxes = {bounding_box(boxes)};
  for (PixelBox& b : boxes) {
    b = intersection({b.x * tile_size, b.y * tile_size, b.width * tile_size, b.height * tile_size},
                     {0, 0, width_, height_});
  }
  return boxes;
}

std::vector<PixelBox> Damage::update(const ImDrawData& data) {
  const Frame frame(data);
  if (frame.width() != width_ || frame.height() != height_ || !frame.is_exact()) invalidate();
  width_ = frame.width();
  height_ = frame.height();
  columns_ = (width_ + tile_size - 1) / tile_size;
  Tiles tiles = fingerprints(data);
  const std::vector<PixelBox> boxes =
      tiles_.empty() ? std::vector<PixelBox>{frame.bounds()} : changed_boxes(tiles);
  tiles_ = std::move(tiles);
  return boxes;
}

void clip_to_boxes(ImDrawData& data, const std::vector<PixelBox>& boxes) {
  const Frame frame(data);
  const bool covers_screen =
      boxes.size() == 1 && boxes[0].width == frame.width() && boxes[0].height == frame.height();
  if (covers_screen) return;
  for (int n = 0; n < data.CmdListsCount; ++n) {
    ImDrawList& list = *data.CmdLists[n];
    ImVector<ImDrawCmd> commands;
    ImVector<ImDrawIdx> indices;
    for (const ImDrawCmd& command : list.CmdBuffer) {
      if (command.UserCallback == ImDrawCallback_ResetRenderState) {
        commands.push_back(command);
      } else if (command.UserCallback != nullptr) {
        keep_callback(frame, command, boxes, commands);
      } else {
        keep_triangles(frame, list, command, boxes, commands, indices);
      }
    }
    list.CmdBuffer.swap(commands);
    list.IdxBuffer.swap(indices);
  }
}

}  // namespace attnscope::window
