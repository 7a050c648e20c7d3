#include "core/view/flow/flow_pen.h"

#include <algorithm>
#include <cmath>

#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/view/parts/shapes.h"

namespace attnscope {
namespace {

// Fraction of numbers within the colour range; larger for long vectors, because a pixel shows the
// largest of several numbers.
constexpr double kWithin = 0.985, kWithinMany = 0.998;
constexpr Index kMany = 100;
constexpr double kRadius = 0.45;  // units
constexpr double kBadge = 0.72;
constexpr double kMinTitle = 0.8;  // units, font size
constexpr double kVeilBefore = 0.4, kVeilAfter = 0.62;
constexpr double kNumberAcross = 2.7, kNumberDown = 1.15;  // minimum cell size, in small-font em

}  // namespace

double flow_range(const std::vector<const Tensor*>& tensors) {
  std::vector<float> magnitudes;
  for (const Tensor* tensor : tensors) {
    if (!tensor->defined()) continue;
    for (const float v : *tensor) {
      if (std::isfinite(v)) magnitudes.push_back(std::abs(v));
    }
  }
  if (magnitudes.empty()) return 1;
  const double fraction = tensors.front()->size() > kMany ? kWithinMany : kWithin;
  const auto limit =
      magnitudes.begin() +
      static_cast<std::ptrdiff_t>(fraction * static_cast<double>(magnitudes.size() - 1));
  std::ranges::nth_element(magnitudes, limit);
  return *limit > 0 ? static_cast<double>(*limit) : 1;
}

Colour FlowPen::stage_colour(FlowStage stage) const {
  switch (stage) {
    case FlowStage::Embedding:
      return {208, 86, 130};
    case FlowStage::Vectors:
    case FlowStage::Scores:
    case FlowStage::Softmax:
    case FlowStage::Weighted:
    case FlowStage::Heads:
      return {214, 104, 16};
    case FlowStage::FeedForward:
      return {40, 116, 200};
    case FlowStage::Layers:
      return {120, 100, 210};
    case FlowStage::Next:
      return {40, 150, 90};
    default:
      return {104, 114, 128};
  }
}

void FlowPen::panel(const FlowPanel& panel, const std::string& title,
                    const std::vector<std::string>& notes) {
  if (!panel.is_present()) return;
  const Box& b = panel.box;
  const std::optional<Point>& pointer = page_.input().interaction.pointer;
  const bool is_hovered = pointer && b.contains(*pointer);
  const double edge = is_hovered ? 1.6 : 1;
  const Colour line =
      is_hovered ? stage_colour(panel.stage) : blend(theme().background, theme().line, 0.7);
  page_.add(FilledBox{b, line, kRadius * unit_});
  page_.add(FilledBox{{b.x + edge, b.y + edge, b.width - 2 * edge, b.height - 2 * edge},
                      blend(theme().background, theme().text, 0.025),
                      kRadius * unit_ - edge});
  const double y = b.y + 1.12 * unit_, x = b.x + 1.25 * unit_;
  page_.add(disc({x, y}, kBadge * unit_, stage_colour(panel.stage)));
  page_.add(Text{{x, y},
                 std::to_string(static_cast<int>(panel.stage)),
                 {255, 255, 255, 255},
                 page_.legible(0.86 * unit_),
                 Align::Middle,
                 0,
                 true});
  const double left = x + 1.05 * unit_, right = b.right() - 0.4 * unit_;
  const double title_width = page_.width_of(title, unit_, true);
  // 0.97: the text width does not scale exactly with the font size.
  const double size = unit_ * std::clamp(0.97 * (right - left) / title_width,
                                         page_.legible(kMinTitle * unit_) / unit_, 1.0);
  const double used = text({left, y}, title, size, right - left, Align::Start, theme().text, true);
  for (const std::string& note : notes) {
    if (note.empty() || left + used + unit_ + page_.width_of(note, small()) > right) continue;
    return page_.faint_text({right, y}, note, small(), Align::End);
  }
}

void FlowPen::highlight_current(const FlowPanel& panel) {
  if (current_ == FlowStage::Whole) return;
  const Box& b = panel.box;
  if (panel.stage == current_) {
    // An outline within the frame, because outlines have no round corners.
    const double thickness = std::max(2.0, 0.16 * unit_);
    page_.add(OutlinedBox{
        {b.x + thickness / 2, b.y + thickness / 2, b.width - thickness, b.height - thickness},
        stage_colour(panel.stage),
        thickness});
    return;
  }
  const double opacity = panel.stage < current_ ? kVeilBefore : kVeilAfter;
  // One extra pixel, because the frame may be between pixels.
  page_.add(FilledBox{
      {b.x - 1, b.y - 1, b.width + 2, b.height + 2}, translucent(theme().background, opacity), 0});
}

double FlowPen::text(Point at, const std::string& text, double size, double max_width, Align align,
                     Colour colour, bool bold) {
  const std::string shortened = page_.ellipsised(text, size, max_width, bold);
  if (shortened.empty()) return 0;
  page_.add(Text{at, shortened, colour, size, align, 0, bold});
  return page_.width_of(shortened, size, bold);
}

void FlowPen::message(const Box& box, const std::string& text) {
  const double size = page_.legible(0.88 * unit_), line = kLineHeight * size;
  const auto max_lines = static_cast<std::size_t>(std::max(1.0, std::floor(box.height / line)));
  double y = box.y + line / 2;
  for (const std::string& text_line : page_.wrapped(text, size, box.width, max_lines)) {
    page_.faint_text({box.x, y}, text_line, size);
    y += line;
  }
}

void FlowPen::arrow_along(std::vector<Point> points, FlowStage to_stage) {
  const Colour ink = blend(theme().background, theme().text, to_stage <= current_ ? 0.45 : 0.12);
  const double thickness = std::max(1.3, 0.11 * unit_), head = 0.5 * unit_;
  const Point to = points.back(), from = points[points.size() - 2];
  const double length = std::max(1e-9, std::hypot(to.x - from.x, to.y - from.y));
  const Point back{to.x - (to.x - from.x) / length * head, to.y - (to.y - from.y) / length * head};
  const Point side{(to.y - from.y) / length * head * 0.55, (to.x - from.x) / length * head * 0.55};
  page_.add(Line{std::move(points), ink, thickness});
  page_.add(Line{{{back.x + side.x, back.y - side.y}, to, {back.x - side.x, back.y + side.y}},
                 ink,
                 thickness});
}

void FlowPen::strip(const Box& box, const Tensor& values, double range, FlowSpace space,
                    const std::string& name, bool is_marked) {
  if (!values.defined() || !(box.width > 2) || !(box.height > 1)) return;
  HeatMap map;
  map.box = box;
  map.values = values.reshaped({1, values.size()});
  map.width = static_cast<double>(values.size());
  map.height = 1;
  map.least = -range;
  map.most = range;
  map.colour_map = diverging_colours(theme());
  strips_.push_back({box, values, space, name});
  page_.add(map);
  page_.add(OutlinedBox{box, is_marked ? theme().accent : theme().line, is_marked ? 2.0 : 1.0});
  draw_numbers(strips_.back(), map);
}

void FlowPen::draw_numbers(const Strip& strip, const HeatMap& map) {
  const double cell = strip.box.width / static_cast<double>(strip.values.size());
  const double size = std::min(small(), strip.box.height / kNumberDown);
  if (cell < kNumberAcross * size || size < 0.6 * small() || !page_.is_legible(size)) return;
  const bool fits = std::ranges::all_of(strip.values, [&](float v) {
    return page_.width_of(fixed(static_cast<double>(v), 2), size) <= cell;
  });
  if (!fits) return;
  const ColourMap& colours = colour_map(map.colour_map);
  for (Index n = 0; n < strip.values.size(); ++n) {
    const auto v = static_cast<double>(strip.values[n]);
    page_.add(Text{
        {strip.box.x + (static_cast<double>(n) + 0.5) * cell, strip.box.y + strip.box.height / 2},
        fixed(v, 2),
        ink_on(colours.at((v - map.least) / (map.most - map.least))),
        size,
        Align::Middle});
  }
}

void FlowPen::mark_components(const Box& within) {
  const std::optional<Point>& pointer = page_.input().interaction.pointer;
  if (!pointer) return;
  const auto strip =
      std::ranges::find_if(strips_, [&](const Strip& s) { return s.box.contains(*pointer); });
  if (strip == strips_.end()) return;
  const double fraction = (pointer->x - strip->box.x) / strip->box.width;
  const auto n = std::min(strip->values.size() - 1,
                          static_cast<Index>(fraction * static_cast<double>(strip->values.size())));
  for (const Strip& s : strips_) {
    if (s.space != strip->space || n >= s.values.size()) continue;
    const double cell = s.box.width / static_cast<double>(s.values.size());
    const double x = s.box.x + static_cast<double>(n) * cell;
    page_.add(OutlinedBox{
        {x - 0.5, s.box.y - 1, std::max(2.0, cell) + 1, s.box.height + 2}, theme().text, 1.2});
  }
  page_.tag(*pointer,
            strip->name + ", component " + std::to_string(n) + ": " +
                brief(static_cast<double>(strip->values[n])),
            within);
}

}  // namespace attnscope
