// A display list being laid out: text that fits, the frame of title and caption, messages.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "core/view/view.h"

namespace attnscope {

class Page {
 public:
  explicit Page(const ViewInput& input);

  const ViewInput& input() const { return input_; }
  // Of what may be left out: what there is.
  bool has_tokens() const { return !input_.framed || input_.parts.tokens; }
  bool has_colour_bar() const { return !input_.framed || input_.parts.colour_bar; }
  const Theme& theme() const { return input_.theme; }
  double em() const { return input_.font_size; }
  double small() const { return kSmall * em(); }  // font size of ticks, notes and captions

  double width_of(const std::string& text, double size, bool bold = false) const;
  // The text, or as much of it as fits before "…".
  std::string ellipsised(const std::string& text, double size, double most_width,
                         bool bold = false) const;
  // The first of these that fits, longest first; of the last as much as fits.
  std::string fitting(const std::vector<std::string>& candidates, double size,
                      double most_width) const;
  // Broken at spaces, and within a word that is wider than a line; where there are more lines than
  // wanted the last ends in "…".
  std::vector<std::string> wrapped(const std::string& text, double size, double most_width,
                                   std::size_t most_lines = std::numeric_limits<std::size_t>::max(),
                                   bool bold = false) const;

  void add(Item item);
  void text(Point at, const std::string& text, double size, Align align = Align::Start,
            double angle = 0);                                     // in the text colour
  void faint_text(Point at, const std::string& text, double size,  // in the faint one
                  Align align = Align::Start, double angle = 0);

  // A short text on a ground of its own beside `at`, within `within`.
  void tag(Point at, const std::string& text, const Box& within);

  // Puts title and caption where the picture is framed, and returns the space that is left.
  Box frame(const std::string& own_title, const std::string& own_caption);
  // Of content this high in a space this high: where it begins. At the top where the picture is to
  // end with its content, otherwise in the middle.
  double spare_above(double space, double content) const;

  // In place of a picture: what is the matter, and what to do about it.
  ViewLayout message(const std::string& headline, const std::string& advice);

  // The finished list; a tight picture ends below `content_bottom` and the caption.
  DisplayList take(double content_bottom);

 private:
  static constexpr double kSmall = 0.85;
  const ViewInput& input_;
  DisplayList list_;
  double caption_top_ = 0, caption_gap_ = 0;
  std::size_t caption_first_ = 0, caption_last_ = 0;  // items
};

// In place of a picture that has no space.
ViewLayout no_space(Page& page);

// `share` of the way from a to b.
Colour blend(Colour a, Colour b, double share);
// Black or white, whichever is legible on this colour.
Colour ink_on(Colour background);
// A fainter one.
Colour translucent(Colour colour, double opacity);

}  // namespace attnscope
