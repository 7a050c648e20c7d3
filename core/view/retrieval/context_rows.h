// Table of retrieved contexts: words before, the token itself, words after, and two numbers per
// row.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/page.h"

namespace attnscope {

struct ContextRow {
  std::string before, value, after;
  Colour ground;              // background of the value
  std::string first, second;  // numbers
  double share = 0;           // in [0, 1]: bar behind `second`
};

struct ContextTable {
  std::vector<std::string> before_title, value_title;  // longest first
  std::string first_title, second_title;
  std::vector<ContextRow> rows;
};

// Draws as many rows as fit. Returns their boxes.
std::vector<Box> draw_context_rows(Page& page, const Box& box, const ContextTable& table);
double context_row_height(const Page& page);

}  // namespace attnscope
