// Tables that compare facts of two runs, and coloured badges that identify the runs.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/page.h"

namespace attnscope {

struct Fact {
  std::string name;  // "Perplexity"
  std::string a, b;
  bool essential = false;  // for callers that omit other facts if space is short
};

// Colours of the first and second run throughout a picture.
Colour first_colour();
Colour second_colour();

// Draws a filled badge around a short text. `at` is the midpoint of the badge's left edge. Returns
// the badge's width.
double draw_badge(Page& page, Point at, const std::string& text, Colour colour);
double badge_width(const Page& page, const std::string& text);

double fact_table_height(const Page& page, std::size_t facts);
double min_fact_table_height(const Page& page, std::size_t facts);  // in small font
// Width at which no text is shortened.
double fact_table_width(const Page& page, const std::vector<Fact>& facts);
double min_fact_table_width(const Page& page, const std::vector<Fact>& facts);  // in small font
// Draws badges with the texts `first` and `second`, and the table below them, all within `box`.
// Uses the small font if space is short. Omits facts from the end if they do not fit.
void draw_fact_table(Page& page, const Box& box, const std::string& first,
                     const std::string& second, const std::vector<Fact>& facts);

}  // namespace attnscope
