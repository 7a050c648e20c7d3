// Facts about two things beside each other, as a small table; coloured badges to tell them apart.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/page.h"

namespace attnscope {

struct Fact {
  std::string name;  // "Perplexity"
  std::string a, b;
  bool essential = false;  // stays where there is space for few
};

// The colours by which the first and the second are known throughout a picture.
Colour first_colour();
Colour second_colour();

// A filled badge around a short text, its left edge's middle at `at`; returns its width.
double draw_badge(Page& page, Point at, const std::string& text, Colour colour);
double badge_width(const Page& page, const std::string& text);

double fact_table_height(const Page& page, std::size_t facts);
double least_fact_table_height(const Page& page, std::size_t facts);  // small letters
// With all texts whole.
double fact_table_width(const Page& page, const std::vector<Fact>& facts);
double least_fact_table_width(const Page& page, const std::vector<Fact>& facts);  // small letters
// Within `box`, headed by badges; in a narrow or low box with smaller letters. Facts that do not
// fit are left out from the end.
void draw_fact_table(Page& page, const Box& box, const std::string& first,
                     const std::string& second, const std::vector<Fact>& facts);

}  // namespace attnscope
