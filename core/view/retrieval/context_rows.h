// Places in a text that were found, one below the other: words before, the word itself, words
// after, and numbers beside.
#pragma once

#include <string>
#include <vector>

#include "core/view/parts/page.h"

namespace attnscope {

struct ContextRow {
  std::string before, value, after;
  Colour ground;              // behind the value
  std::string first, second;  // numbers
  double share = 0;           // 0..1: a bar behind the second
};

struct ContextTable {
  std::vector<std::string> before_title, value_title;  // the first that fits
  std::string first_title, second_title;
  std::vector<ContextRow> rows;
};

// As many rows as fit. Returns their boxes.
std::vector<Box> draw_context_rows(Page& page, const Box& box, const ContextTable& table);
double context_row_height(const Page& page);

}  // namespace attnscope
