// Page: a display list under construction, with text fitting, title and caption, messages.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "core/view/view.h"

namespace attnscope {

class Page {
 public:
  explicit Page(const ViewInput& input);

  const ViewInput& input() const { return input_; }
  // Optional parts of framed pictures.
  bool has_tokens() const { return !input_.figure.framed || input_.figure.parts.tokens; }
  bool has_colour_bar() const { return !input_.figure.framed || input_.figure.parts.colour_bar; }
  const Theme& theme() const { return input_.canvas.theme; }
  double em() const { return input_.canvas.font_size; }
  // Font size of ticks, notes and captions.
  double small() const { return legible(kSmall * em()); }
  // `size`, or Canvas::min_font_size if that is larger.
  double legible(double size) const { return std::max(size, input_.canvas.min_font_size); }
  bool is_legible(double size) const { return size >= input_.canvas.min_font_size; }

  double width_of(const std::string& text, double size, bool bold = false) const;
  // The text, shortened with "…" if it is wider than `max_width`.
  std::string ellipsised(const std::string& text, double size, double max_width,
                         bool bold = false) const;
  // The first candidate that fits (longest first), else the last candidate, shortened.
  std::string fitting(const std::vector<std::string>& candidates, double size,
                      double max_width) const;
  // Wraps at spaces, and inside words wider than a line. Replaces a separator "·" by the end of the
  // line if lines break next to it. With more than `max_lines` lines, the last
  // one ends in "…".
  std::vector<std::string> wrapped(const std::string& text, double size, double max_width,
                                   std::size_t max_lines = std::numeric_limits<std::size_t>::max(),
                                   bool bold = false) const;

  // Adds an item. Removes space markers from texts unless ViewSettings::space_markers is set.
  void add(Item item);
  void text(Point at, const std::string& text, double size, Align align = Align::Start,
            double angle = 0);                                     // drawn in Theme::text
  void faint_text(Point at, const std::string& text, double size,  // drawn in Theme::faint_text
                  Align align = Align::Start, double angle = 0);

  // Draws a short boxed text next to `at`, inside `within`.
  void tag(Point at, const std::string& text, const Box& within);

  // Adds title and caption to framed pictures and returns the remaining space.
  Box frame(const std::string& default_title, const std::string& default_caption);
  // Offset that centres content of height `content` in `space`; 0 if the picture is cropped.
  double top_margin(double space, double content) const;

  // Replaces the picture by a message: the problem, and advice on how to solve it. `pending`: a
  // computation in progress whose result will replace the message.
  ViewLayout message(const std::string& headline, const std::string& advice,
                     const std::string& pending = "");

  // Returns the finished list. Tight pictures end below the content and the caption.
  DisplayList take(double content_bottom);

 private:
  bool hides_markers(const std::string& text) const;

  static constexpr double kSmall = 0.85;
  const ViewInput& input_;
  DisplayList list_;
  double caption_top_ = 0, caption_gap_ = 0;
  std::size_t caption_first_ = 0, caption_last_ = 0;  // range of the caption's items
};

ViewLayout no_space(Page& page);

// Interpolates from a (fraction 0) to b (fraction 1).
Colour blend(Colour a, Colour b, double fraction);
// Black or white, for contrast on `background`.
Colour ink_on(Colour background);
// `colour` with its alpha scaled by `opacity`.
Colour translucent(Colour colour, double opacity);

}  // namespace attnscope
