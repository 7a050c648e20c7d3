#include "core/view/retrieval/context_rows.h"

#include <algorithm>

namespace attnscope {
namespace {

constexpr double kContextRow = 1.55;  // em
constexpr double kColumnGap = 0.6;    // em
constexpr double kMaxValue = 0.24;    // fraction of the width for the values

// The text, or as much of its end as fits, after "…".
std::string fitting_end(const Page& page, const std::string& text, double size, double width) {
  if (page.width_of(text, size) <= width) return text;
  std::string suffix = text;
  while (!suffix.empty() && page.width_of("…" + suffix, size) > width) {
    std::size_t n = 1;
    while (n < suffix.size() && (static_cast<unsigned char>(suffix[n]) & 0xC0) == 0x80) ++n;
    suffix.erase(0, n);
  }
  return "…" + suffix;
}

}  // namespace

double context_row_height(const Page& page) {
  return kContextRow * page.em();
}

std::vector<Box> draw_context_rows(Page& page, const Box& box, const ContextTable& table) {
  const double em = page.em(), size = page.small(), gap = kColumnGap * em;
  const double line = context_row_height(page);
  double value = page.width_of(table.value_titles.back(), size), first = 0, second = 0;  // widths
  first = page.width_of(table.first_title, size);
  second = page.width_of(table.second_title, size);
  bool has_after = false;
  for (const ContextRow& row : table.rows) {
    value = std::max(value, page.width_of(row.value, em) + 0.6 * em);
    first = std::max(first, page.width_of(row.first_number, size));
    second = std::max(second, page.width_of(row.second_number, size));
    has_after |= !row.words_after.empty();
  }
  value = std::min(value, kMaxValue * box.width);
  const double bar = box.width > 26 * em ? 2.2 * em : 0, numbers = first + second + bar + 3 * gap;
  const double words = box.width - value - numbers - gap;
  if (words < 3 * em) return {};
  const double before = has_after && words > 18 * em ? 0.65 * words : words;
  const double after = words - before;
  const double value_x = box.x + before + gap;
  const double first_x = value_x + value + after + gap + first;
  const double second_x = first_x + gap + second;
  const double header_y = box.y + line / 2;
  page.faint_text({box.x + before, header_y}, page.fitting(table.before_titles, size, before), size,
                  Align::End);
  page.faint_text({value_x, header_y}, page.fitting(table.value_titles, size, value), size);
  page.faint_text({first_x, header_y}, table.first_title, size, Align::End);
  page.faint_text({second_x, header_y}, table.second_title, size, Align::End);
  std::vector<Box> boxes;
  double y = box.y + line;
  for (const ContextRow& row : table.rows) {
    if (y + line > box.bottom() + 0.5) break;
    const double middle = y + line / 2;
    boxes.push_back({box.x, y, box.width, line});
    page.text({box.x + before, middle}, fitting_end(page, row.words_before, size, before), size,
              Align::End);
    const std::string label = page.ellipsised(row.value, em, value - 0.6 * em);
    const double width = page.width_of(label, em) + 0.6 * em;
    page.add(FilledBox{{value_x, y + 0.1 * em, width, line - 0.2 * em}, row.ground, 0.25 * em});
    page.add(Text{{value_x + 0.3 * em, middle}, label, ink_on(row.ground), em});
    if (after > 4 * em) {
      const double x = value_x + width + 0.3 * em;
      page.faint_text({x, middle},
                      page.ellipsised(row.words_after, size, value_x + value + after - x), size);
    }
    page.text({first_x, middle}, row.first_number, size, Align::End);
    page.text({second_x, middle}, row.second_number, size, Align::End);
    page.add(FilledBox{{second_x + 0.4 * em, y + 0.3 * em,
                        std::clamp(row.bar_fraction, 0.0, 1.0) * bar, line - 0.6 * em},
                       page.theme().accent});
    y += line;
  }
  return boxes;
}

}  // namespace attnscope
