// Positions of a line's characters on the screen, for cursor, selection and pointer.
#pragma once

#include <imgui.h>

#include <string>
#include <string_view>
#include <vector>

#include "app/window/widgets/screen_text.h"

namespace attnscope::window {

// One line, laid out with ImGui's current font. Offsets are in bytes from the start of the line,
// positions in pixels from its left end.
class LineLayout {
 public:
  struct Cluster {  // characters that the cursor passes in one step
    std::size_t begin = 0, end = 0;
    double left = 0, width = 0;
    bool is_rtl = false;
  };
  struct Run {
    std::string drawn;  // text for ImGui
    double left = 0;
    bool is_code_point = false;  // replaces a character without a glyph
  };

  // `is_rtl`: base direction.
  LineLayout(std::string_view line, bool is_rtl);

  double width() const { return width_; }
  const std::vector<Cluster>& clusters() const { return clusters_; }  // in visual order
  const std::vector<Run>& runs() const { return runs_; }
  double position_of(std::size_t offset) const;  // position of a cursor at the offset
  std::size_t offset_at(double position) const;  // offset of the nearest cursor position

 private:
  void add_plain(const VisualPart& part, std::string_view text);

  bool is_rtl_;
  double width_ = 0;
  std::vector<Cluster> clusters_;
  std::vector<Run> runs_;
};

}  // namespace attnscope::window
