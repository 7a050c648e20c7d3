#include "app/window/widgets/screen_text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>
#include <utility>

#include "app/window/utf8.h"
#include "app/window/widgets/fonts.h"
#include "core/figure/render.h"
#include "core/figure/text_shaping.h"

namespace attnscope::window {
namespace {

constexpr std::size_t kMaxPieceClusters = 24;  // a longer word is drawn in several pieces

Fonts* current_fonts() {
  return static_cast<Fonts*>(ImGui::GetIO().UserData);
}

bool is_invalid_byte(const CodePoint& c) {
  return c.value == 0xFFFD && c.bytes == 1;
}

// Combining marks, which are drawn with the letter before them.
bool is_mark(char32_t c) {
  return (c >= 0x0300 && c <= 0x036F) || (c >= 0x0483 && c <= 0x0489) ||
         (c >= 0x20D0 && c <= 0x20FF);
}

bool is_plain(const CodePoint& c) {
  return is_drawable(c.value) && !is_mark(c.value) && !is_invalid_byte(c);
}

bool is_plain(std::string_view text) {
  for (std::size_t offset = 0; offset < text.size();) {
    const CodePoint c = code_point_at(text, offset);
    if (!is_plain(c)) return false;
    offset += c.bytes;
  }
  return true;
}

bool is_space(std::string_view text) {
  return text == " " || text == "\t";
}

// `line` with "?" in place of each byte that cannot be shaped.
std::string shapeable(std::string_view line) {
  std::string text(line);
  for (std::size_t offset = 0; offset < text.size();) {
    const CodePoint c = code_point_at(text, offset);
    if (is_invalid_byte(c) || c.value < 0x20 || c.value == 0x7F) text[offset] = '?';
    offset += c.bytes;
  }
  return text;
}

// List of a line's parts in visual order.
class PartList {
 public:
  explicit PartList(std::string_view line) : line_(line) {}
  VisualParts take() { return std::move(parts_); }

  // `is_rtl`: true only for a space in text from right to left.
  void add_plain(std::size_t begin, std::size_t end, bool is_rtl) {
    const std::string_view text = line_.substr(begin, end - begin);
    VisualPart* last = parts_.empty() ? nullptr : &parts_.back();
    if (last != nullptr && last->kind == VisualPart::Kind::Plain && last->end == begin &&
        !last->is_rtl && !is_rtl) {
      last->drawn += text;
      last->end = end;
    } else {
      parts_.push_back({.begin = begin, .end = end, .drawn = std::string(text), .is_rtl = is_rtl});
    }
  }

  void add_code_points(std::size_t begin, std::size_t end, bool is_rtl) {
    std::array<char, 16> code;
    for (std::size_t offset = begin; offset < end;) {
      const CodePoint c = code_point_at(line_, offset);
      const std::size_t next = offset + c.bytes;
      if (is_invalid_byte(c)) {
        std::snprintf(code.data(), code.size(), "0x%02X",
                      static_cast<unsigned char>(line_[offset]));
      } else {
        std::snprintf(code.data(), code.size(), "U+%04X", static_cast<unsigned>(c.value));
      }
      parts_.push_back({.kind = VisualPart::Kind::CodePoint,
                        .begin = offset,
                        .end = next,
                        .drawn = code.data(),
                        .is_rtl = is_rtl,
                        .clusters = {{offset, next, 1}}});
      offset = next;
    }
  }

  // `clusters`: clusters of one piece of text, in visual order.
  void add_shaped(std::span<const ShapedCluster> clusters) {
    const bool is_rtl = clusters.front().is_rtl;
    VisualPart part{.kind = VisualPart::Kind::Shaped, .is_rtl = is_rtl};
    double total = 0;
    for (const ShapedCluster& c : clusters) {
      part.clusters.push_back({c.begin, c.end, c.advance});
      total += c.advance;
    }
    if (is_rtl) std::reverse(part.clusters.begin(), part.clusters.end());
    part.begin = part.clusters.front().begin;
    part.end = part.clusters.back().end;
    for (VisualPart::Cluster& c : part.clusters) {
      c.share = total > 0 ? c.share / total : 1 / static_cast<double>(clusters.size());
    }
    const std::string text(line_.substr(part.begin, part.end - part.begin));
    const double bold = file_text_measure().width(text, kMeasuredSize, true) / kMeasuredSize;
    Fonts* fonts = current_fonts();
    const auto code =
        fonts == nullptr ? std::nullopt : fonts->shaped().code(text, is_rtl, {total, bold});
    if (code) {
      part.drawn = *code;
      parts_.push_back(std::move(part));
    } else {
      add_code_points(part.begin, part.end, is_rtl);
    }
  }

 private:
  std::string_view line_;
  VisualParts parts_;
};

// False for invisible text, such as a zero-width space, and for text without glyphs.
bool is_visible(const ShapedCluster& cluster, std::string_view text) {
  const CodePoint c = code_point_at(text, 0);
  return cluster.has_glyphs && cluster.advance > 0 && !is_invalid_byte(c) && c.value >= ' ' &&
         c.value != 0x7F;
}

VisualParts compute_parts(std::string_view line, bool is_rtl) {
  PartList parts(line);
  if (!is_rtl && is_plain(line)) {
    if (!line.empty()) parts.add_plain(0, line.size(), false);
    return parts.take();
  }
  const std::vector<ShapedCluster> clusters = shape_line(shapeable(line), is_rtl);
  const auto text_of = [&](const ShapedCluster& c) {
    return line.substr(c.begin, c.end - c.begin);
  };
  for (std::size_t i = 0; i < clusters.size();) {
    const ShapedCluster& first = clusters[i];
    const std::string_view text = text_of(first);
    std::size_t end = i + 1;
    if (is_space(text) || (!first.is_rtl && is_plain(text))) {
      parts.add_plain(first.begin, first.end, first.is_rtl);
    } else if (!is_visible(first, text)) {
      parts.add_code_points(first.begin, first.end, first.is_rtl);
    } else {
      const auto continues = [&](const ShapedCluster& c) {
        return first.is_rtl && c.is_rtl && c.has_glyphs && c.end == clusters[end - 1].begin &&
               !is_space(text_of(c)) && end - i < kMaxPieceClusters;
      };
      while (end < clusters.size() && continues(clusters[end])) ++end;
      parts.add_shaped(std::span(clusters).subspan(i, end - i));
    }
    i = end;
  }
  return parts.take();
}

// Appends the drawn text of a line's parts, with a space between code points.
void append(std::string& result, const VisualParts& parts) {
  const VisualPart* previous = nullptr;
  for (const VisualPart& part : parts) {
    const bool is_code_point = part.kind == VisualPart::Kind::CodePoint;
    if (previous != nullptr && is_code_point && part.drawn.starts_with("U+") &&
        previous->kind == VisualPart::Kind::CodePoint && previous->drawn.starts_with("U+")) {
      result += ' ';
    }
    result += part.drawn;
    previous = &part;
  }
}

}  // namespace

std::shared_ptr<const VisualParts> LineCache::find(std::string_view line, bool is_rtl) const {
  const auto& lines = lines_[is_rtl ? 1 : 0];
  const auto found = lines.find(line);
  return found == lines.end() ? nullptr : found->second;
}

void LineCache::add(std::string_view line, bool is_rtl, std::shared_ptr<const VisualParts> parts) {
  if (bytes_ + line.size() > kMaxBytes) clear();
  bytes_ += line.size();
  lines_[is_rtl ? 1 : 0].emplace(line, std::move(parts));
}

void LineCache::clear() {
  for (auto& lines : lines_) lines.clear();
  bytes_ = 0;
}

std::shared_ptr<const VisualParts> visual_parts(std::string_view line, bool is_rtl) {
  Fonts* fonts = current_fonts();
  if (fonts == nullptr) return std::make_shared<VisualParts>(compute_parts(line, is_rtl));
  LineCache& cache = fonts->lines();
  if (const auto found = cache.find(line, is_rtl)) return found;
  auto parts = std::make_shared<VisualParts>(compute_parts(line, is_rtl));
  cache.add(line, is_rtl, parts);
  return parts;
}

std::string on_screen(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  std::string result;
  const bool is_rtl = is_rtl_label(text);
  for (std::size_t begin = 0;;) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    append(result, *visual_parts(text.substr(begin, end - begin), is_rtl));
    if (end == text.size()) return result;
    result += '\n';
    begin = end + 1;
  }
}

bool is_drawable(char32_t character) {
  if (character == '\n' || character == '\t') return true;
  if (character > 0xFFFF) return false;                          // ImGui's characters have 16 bits
  if (character >= 0xE000 && character <= 0xF8FF) return false;  // codes of shaped pieces
  ImFont* font = ImGui::GetIO().Fonts->Fonts[0];
#if IMGUI_VERSION_NUM >= 19200
  return font->IsGlyphInFont(static_cast<ImWchar>(character));
#else
  if (font->FindGlyphNoFallback(static_cast<ImWchar>(character)) != nullptr) return true;
  if (Fonts* fonts = current_fonts()) fonts->report_missing(character);
  return false;
#endif
}

}  // namespace attnscope::window
