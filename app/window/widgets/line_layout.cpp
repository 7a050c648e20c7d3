#include "app/window/widgets/line_layout.h"

#include <algorithm>
#include <cmath>

#include "app/window/utf8.h"
#include "app/window/widgets/fonts.h"

namespace attnscope::window {
namespace {

constexpr double kTabSpaces = 4;

double advance_of(char32_t character) {
  return static_cast<double>(advance(ImGui::GetFont(), ImGui::GetFontSize(), character));
}

double width_of(const std::string& text) {
  return static_cast<double>(ImGui::CalcTextSize(text.c_str()).x);
}

}  // namespace

LineLayout::LineLayout(std::string_view line, bool is_rtl) : is_rtl_(is_rtl) {
  for (const VisualPart& part : *visual_parts(line, is_rtl)) {
    if (part.kind == VisualPart::Kind::Plain) {
      add_plain(part, line.substr(part.begin, part.end - part.begin));
      continue;
    }
    const bool is_code_point = part.kind == VisualPart::Kind::CodePoint;
    const double drawn_width = width_of(part.drawn);
    runs_.push_back({part.drawn, width_, is_code_point});
    double left = part.is_rtl ? width_ + drawn_width : width_;
    for (const VisualPart::Cluster& c : part.clusters) {
      const double step = c.share * drawn_width;
      if (part.is_rtl) left -= step;
      clusters_.push_back({c.begin, c.end, left, step, part.is_rtl});
      if (!part.is_rtl) left += step;
    }
    width_ += drawn_width;
    if (is_code_point) {
      width_ += advance_of(' ');
      clusters_.back().width += advance_of(' ');
    }
  }
}

// Adds a cluster for each character, and runs between tabs and line breaks, which are not drawn.
void LineLayout::add_plain(const VisualPart& part, std::string_view text) {
  bool continues_run = false;
  for (std::size_t offset = 0; offset < text.size();) {
    const CodePoint c = code_point_at(text, offset);
    const bool is_gap = c.value == '\t' || c.value == '\n';
    const double step = c.value == '\t'   ? kTabSpaces * advance_of(' ')
                        : c.value == '\n' ? advance_of(' ')
                                          : advance_of(c.value);
    const std::size_t begin = part.begin + offset;
    clusters_.push_back({begin, begin + c.bytes, width_, step, part.is_rtl});
    if (is_gap) {
      continues_run = false;
    } else {
      if (!continues_run) runs_.push_back({"", width_});
      continues_run = true;
      runs_.back().drawn += text.substr(offset, c.bytes);
    }
    width_ += step;
    offset += c.bytes;
  }
}

double LineLayout::position_of(std::size_t offset) const {
  const Cluster* last = nullptr;  // last cluster in logical order that ends before the offset
  for (const Cluster& c : clusters_) {
    if (offset >= c.begin && offset < c.end) return c.is_rtl ? c.left + c.width : c.left;
    if (c.end <= offset && (last == nullptr || c.end > last->end)) last = &c;
  }
  if (last == nullptr) return is_rtl_ ? width_ : 0;
  return last->is_rtl ? last->left : last->left + last->width;
}

std::size_t LineLayout::offset_at(double position) const {
  std::size_t nearest = 0;
  double min_distance = HUGE_VAL;
  const auto consider = [&](std::size_t offset, double place) {
    const double distance = std::abs(position - place);
    if (distance < min_distance) {
      min_distance = distance;
      nearest = offset;
    }
  };
  for (const Cluster& c : clusters_) {
    consider(c.begin, c.is_rtl ? c.left + c.width : c.left);
    consider(c.end, c.is_rtl ? c.left : c.left + c.width);
  }
  return nearest;
}

}  // namespace attnscope::window
