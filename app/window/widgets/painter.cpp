#include "app/window/widgets/painter.h"

#include <epoxy/gl.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "app/window/hash.h"

namespace attnscope::window {
namespace {

ImU32 packed_colour(Colour c) {
  return IM_COL32(c.r, c.g, c.b, c.a);
}

// Draws the items of a display list onto an ImGui draw list.
class Brush {
 public:
  Brush(ImDrawList& draw, ImVec2 origin, double scale, const Fonts& fonts)
      : draw_(draw), origin_(origin), scale_(scale), fonts_(fonts) {}

  ImVec2 to_screen(Point p) const {
    return {origin_.x + static_cast<float>(p.x * scale_),
            origin_.y + static_cast<float>(p.y * scale_)};
  }
  float length(double units) const { return static_cast<float>(units * scale_); }

  void operator()(const FilledBox& item) const {
    const Box& b = item.box;
    draw_.AddRectFilled(to_screen({b.x, b.y}), to_screen({b.right(), b.bottom()}),
                        packed_colour(item.colour), length(item.radius));
  }

  void operator()(const OutlinedBox& item) const {
    const Box& b = item.box;
    const float thickness = stroke(item.thickness);
    const ImVec2 corner = to_screen({b.x, b.y}), end = to_screen({b.right(), b.bottom()});
    // ImGui insets the stroke by half a pixel, so corners at whole pixels give sharp lines.
    draw_.AddRect({std::round(corner.x), std::round(corner.y)},
                  {std::round(end.x), std::round(end.y)}, packed_colour(item.colour), 0, 0,
                  thickness);
  }

  void operator()(const Line& item) const {
    std::vector<ImVec2> points;
    points.reserve(item.points.size());
    for (const Point& p : item.points) points.push_back(to_screen(p));
    if (points.size() < 2) return;
    const float thickness = stroke(item.thickness);
    const bool is_axis_aligned =
        points.size() == 2 && (points[0].x == points[1].x || points[0].y == points[1].y);
    if (is_axis_aligned) {
      fill_axis_aligned(points[0], points[1], thickness, packed_colour(item.colour));
    } else {
      draw_.AddPolyline(points.data(), static_cast<int>(points.size()), packed_colour(item.colour),
                        0, thickness);
    }
  }

  void operator()(const Text& item) const {
    const double pixels = item.size * scale_;
    const auto [font, size] = fonts_.sized(pixels, item.bold);
    const std::string text = on_screen(item.text);
    const ImVec2 extent = font->CalcTextSizeA(size, FLT_MAX, 0, text.c_str());
    const float shift =
        item.align == Align::Start ? 0 : (item.align == Align::Middle ? extent.x / 2 : extent.x);
    // ImGui expects the top of the line. `item.at` and kBaselineShift determine the baseline.
    ImVec2 anchor = to_screen(item.at);
    const auto rounded = [](ImVec2 p) { return ImVec2(std::round(p.x), std::round(p.y)); };
    // On whole pixels, horizontal and vertical text is sharp and the same in each frame.
    const bool is_axis_aligned = std::fmod(item.angle, 90) == 0;
    if (is_axis_aligned && item.angle != 0) anchor = rounded(anchor);
    ImVec2 corner(anchor.x - shift,
                  anchor.y + static_cast<float>(kBaselineShift * pixels) - ascent(font, size));
    if (is_axis_aligned) corner = rounded(corner);
    if (item.angle == 0) {
      draw_.AddText(font, size, corner, packed_colour(item.colour), text.c_str());
      return;
    }
    // AddText() would drop letters that are outside the clip rectangle before the rotation.
    const ImVec4 no_clip(-FLT_MAX, -FLT_MAX, FLT_MAX, FLT_MAX);
    const int first = draw_.VtxBuffer.Size;
    font->RenderText(&draw_, size, corner, packed_colour(item.colour), no_clip, text.data(),
                     text.data() + text.size());
    rotate(first, anchor, item.angle);
  }

  void operator()(const Clip& item) const {
    if (!item.box) {
      draw_.PopClipRect();
      return;
    }
    draw_.PushClipRect(to_screen({item.box->x, item.box->y}),
                       to_screen({item.box->right(), item.box->bottom()}), true);
  }

 private:
  float stroke(double thickness) const { return std::max(1.0F, length(thickness)); }

  // A horizontal or vertical line on whole pixels.
  void fill_axis_aligned(ImVec2 a, ImVec2 b, float thickness, ImU32 colour) const {
    const float width = std::max(1.0F, std::round(thickness));
    if (a.x == b.x) {
      const float left = std::round(a.x - width / 2);
      draw_.AddRectFilled({left, std::min(a.y, b.y)}, {left + width, std::max(a.y, b.y)}, colour);
    } else {
      const float top = std::round(a.y - width / 2);
      draw_.AddRectFilled({std::min(a.x, b.x), top}, {std::max(a.x, b.x), top + width}, colour);
    }
  }

  // Rotates vertex `first` and all later ones counter-clockwise about `centre`.
  void rotate(int first, ImVec2 centre, double degrees) const {
    const double radians = degrees * std::numbers::pi / 180;
    const auto c = static_cast<float>(std::cos(radians)), s = static_cast<float>(std::sin(radians));
    for (int i = first; i < draw_.VtxBuffer.Size; ++i) {
      ImVec2& p = draw_.VtxBuffer[i].pos;
      const float x = p.x - centre.x, y = p.y - centre.y;
      p = {centre.x + c * x + s * y, centre.y - s * x + c * y};
    }
  }

  ImDrawList& draw_;
  ImVec2 origin_;
  double scale_;
  const Fonts& fonts_;
};

// Box in framebuffer pixels; y points downwards from the top edge.
PixelBox pixels(ImVec2 min_corner, ImVec2 max_corner) {
  const ImDrawData& data = *ImGui::GetDrawData();
  const auto x = [&](float v) {
    return static_cast<int>(std::lround((v - data.DisplayPos.x) * data.FramebufferScale.x));
  };
  const auto y = [&](float v) {
    return static_cast<int>(std::lround((v - data.DisplayPos.y) * data.FramebufferScale.y));
  };
  return PixelBox{x(min_corner.x), y(min_corner.y), x(max_corner.x) - x(min_corner.x),
                  y(max_corner.y) - y(min_corner.y)};
}

int framebuffer_height() {
  const ImDrawData& data = *ImGui::GetDrawData();
  return static_cast<int>(std::lround(data.DisplaySize.y * data.FramebufferScale.y));
}

// Hashes the address: painters keep values alive for a frame, so equal addresses have equal values.
void add(Hash& hash, const Tensor& numbers) {
  hash.add(static_cast<const void*>(numbers.data()));
  for (Index d = 0; d < numbers.rank(); ++d) hash.add(numbers.dim(d));
}

void add(Hash& hash, const HeatMap& m) {
  if (m.device) {
    hash.add(static_cast<const void*>(m.device.get()));
  } else {
    add(hash, m.values);
  }
  hash.add(m.plane).add(m.row).add(m.column).add(m.height).add(m.width).add(m.least).add(m.most);
  hash.add(std::hash<std::string>()(m.colour_map)).add(m.missing).add(m.max_pooled).add(m.hollow);
}

}  // namespace

Painter::Painter(bool shares_with_backend) : heat_maps_(shares_with_backend) {}

void Painter::begin_frame() {
  queued_.clear();
  filled_.clear();
}

std::string Painter::end_frame() {
  heat_maps_.end_frame();
  images_.end_frame();
  return std::exchange(problem_, "");
}

void Painter::draw_queued(const ImDrawList*, const ImDrawCmd* command) {
  const QueuedItem& queued = *static_cast<const QueuedItem*>(command->UserCallbackData);
  const ImVec4& clip = command->ClipRect;
  const PixelBox box = pixels(queued.min_corner, queued.max_corner);
  const PixelBox visible = pixels({clip.x, clip.y}, {clip.z, clip.w});
  try {
    if (const auto* map = std::get_if<HeatMap>(queued.item)) {
      queued.painter->heat_maps_.draw(*map, box, visible, framebuffer_height());
    } else {
      queued.painter->images_.draw(std::get<ColourImage>(*queued.item), box, visible,
                                   framebuffer_height());
    }
  } catch (const std::exception& e) {  // must not propagate through ImGui
    queued.painter->problem_ = e.what();
  }
}

// ImGui enables the scissor test, and sets the scissor for each of its own commands.
void Painter::clear_filled(const ImDrawList*, const ImDrawCmd* command) {
  const ClearedBox& filled = *static_cast<const ClearedBox*>(command->UserCallbackData);
  const ImVec4& clip = command->ClipRect;
  const PixelBox box =
      pixels({std::max(filled.min_corner.x, clip.x), std::max(filled.min_corner.y, clip.y)},
             {std::min(filled.max_corner.x, clip.z), std::min(filled.max_corner.y, clip.w)});
  if (box.width <= 0 || box.height <= 0) return;
  const ImVec4 colour = ImGui::ColorConvertU32ToFloat4(filled.colour);
  glScissor(box.x, framebuffer_height() - box.y - box.height, box.width, box.height);
  glClearColor(colour.x, colour.y, colour.z, 1);
  glClear(GL_COLOR_BUFFER_BIT);
}

Damage::Drawing Painter::drawing(const ImDrawCmd& command) {
  Hash hash;
  if (command.UserCallback == clear_filled) {
    const ClearedBox& filled = *static_cast<const ClearedBox*>(command.UserCallbackData);
    hash.add(filled.min_corner).add(filled.max_corner).add(filled.colour);
    return {pixels(filled.min_corner, filled.max_corner), hash.value()};
  }
  const QueuedItem& queued = *static_cast<const QueuedItem*>(command.UserCallbackData);
  hash.add(queued.min_corner).add(queued.max_corner);
  if (const auto* map = std::get_if<HeatMap>(queued.item)) {
    add(hash, *map);
  } else {
    add(hash, std::get<ColourImage>(*queued.item).colours);
  }
  return {pixels(queued.min_corner, queued.max_corner), hash.value()};
}

void Painter::fill(ImDrawList& draw, ImVec2 min_corner, ImVec2 max_corner, ImU32 colour) {
  filled_.push_back({min_corner, max_corner, colour});
  draw.AddCallback(clear_filled, &filled_.back());
}

void Painter::queue(const Item& item, ImVec2 min_corner, ImVec2 max_corner, ImDrawList& draw) {
  queued_.push_back({this, &item, min_corner, max_corner});
  draw.AddCallback(draw_queued, &queued_.back());
  draw.AddCallback(ImDrawCallback_ResetRenderState, nullptr);
}

void Painter::paint(const DisplayList& list, ImDrawList& draw, ImVec2 origin, double scale,
                    const Fonts& fonts) {
  const Brush brush(draw, origin, scale, fonts);
  const ImVec2 end = brush.to_screen({list.width, list.height});
  draw.PushClipRect(origin, end, true);
  fill(draw, origin, end, packed_colour(list.background));
  for (const Item& item : list.items) {
    std::visit(
        [&](const auto& i) {
          using Kind = std::decay_t<decltype(i)>;
          if constexpr (std::is_same_v<Kind, HeatMap> || std::is_same_v<Kind, ColourImage>) {
            queue(item, brush.to_screen({i.box.x, i.box.y}),
                  brush.to_screen({i.box.right(), i.box.bottom()}), draw);
          } else {
            brush(i);
          }
        },
        item);
  }
  draw.PopClipRect();
}

}  // namespace attnscope::window
