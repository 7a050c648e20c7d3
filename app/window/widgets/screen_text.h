// Text in the form that ImGui draws: in visual order, with codes (shaped_glyphs.h) for pieces that
// ImGui cannot lay out.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope::window {

// Part of a line, drawn as one run.
struct VisualPart {
  enum class Kind {
    Plain,     // drawn as it is, character by character
    Shaped,    // one code
    CodePoint  // a character without a glyph as "U+4E2D", an invalid byte as "0xE4"
  };
  // Characters within a shaped part that share a glyph, and their share of its width.
  struct Cluster {
    std::size_t begin = 0, end = 0;  // bytes of the line
    double share = 1;
  };
  Kind kind = Kind::Plain;
  std::size_t begin = 0, end = 0;  // bytes of the line
  std::string drawn{};
  bool is_rtl = false;
  std::vector<Cluster> clusters{};  // in logical order; Plain: empty
};
using VisualParts = std::vector<VisualPart>;

// Parts of lines that were laid out before, by base direction.
class LineCache {
 public:
  std::shared_ptr<const VisualParts> find(std::string_view line, bool is_rtl) const;  // null: none
  void add(std::string_view line, bool is_rtl, std::shared_ptr<const VisualParts> parts);
  void clear();

 private:
  static constexpr std::size_t kMaxBytes = 1 << 19;  // bytes of text; parts use many times more
  std::map<std::string, std::shared_ptr<const VisualParts>, std::less<>> lines_[2];
  std::size_t bytes_ = 0;
};

// Parts in visual order, from left to right. `line`: no line breaks; `is_rtl`: base direction.
std::shared_ptr<const VisualParts> visual_parts(std::string_view line, bool is_rtl);

// Converts a text of any number of lines for ImGui. Measure, wrap and draw the result.
std::string on_screen(std::string_view text);

// True for line breaks, tabs, and characters with a glyph in the window's font. Reports other
// characters to the Fonts object, which can then load more of them.
bool is_drawable(char32_t character);

}  // namespace attnscope::window
