// Table of retrieved contexts. Each row shows a token with the words before and after it, and two
// numbers.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/page.h"

namespace attnscope {

struct ContextRow {
  std::string words_before, value, words_after;  // `value`: the token
  Colour ground;                                 // background of `value`
  std::string first_number, second_number;
  double bar_fraction = 0;  // length of the bar next to `second_number`, in [0, 1]
};

struct ContextTable {
  std::vector<std::string> before_titles, value_titles;  // candidates, longest first
  std::string first_title, second_title;
  std::vector<ContextRow> rows;
};

// Draws as many rows as fit. Returns their boxes.
std::vector<Box> draw_context_rows(Page& page, const Box& box, const ContextTable& table);
double context_row_height(const Page& page);

}  // namespace attnscope
