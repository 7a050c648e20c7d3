
#include "core/view/memory/memory_panels.h"

namespace attnscope {
namespace {

constexpr double kPale = 0.75;  // of forgotten words

// Column of each token up to the end of the segment; -1: none. Later columns take precedence.
std::vector<Index> column_of_tokens(const ShownMemory& shown) {
  std::vector<Index> columns(static_cast<std::size_t>(shown.last_token() + 1), -1);
  for (std::size_t c = 0; c < shown.sources.size(); ++c) {
    const RowSource& source = shown.sources[c];
    if (source.first < 0) continue;
    for (Index at = source.first; at <= source.last(); at += source.step) {
      columns[static_cast<std::size_t>(at)] = static_cast<Index>(c);
    }
  }
  return columns;
}

}  // namespace

SlotWords slot_words(const ShownMemory& shown, const Theme& theme, Index marked) {
  SlotWords words;
  const std::vector<Index> columns = column_of_tokens(shown);
  const Colour forgotten = blend(theme.line, theme.background, kPale);
  for (std::size_t at = 0; at < columns.size();) {
    const Index column = columns[at];
    std::size_t end = at + 1;
    if (column < 0) {
      while (end < columns.size() && columns[end] < 0) ++end;
      words.items.push_back({std::to_string(end - at) + " forgotten", forgotten});
    } else {
      // A contiguous window is one box; scattered rows of a slot are separate boxes.
      std::string label = shown.trace.tokens[at].label;
      for (; end < columns.size() && columns[end] == column; ++end) {
        label += shown.trace.tokens[end].label;
      }
      words.items.push_back({label, slot_colour(shown.kind_of(column)), column == marked});
    }
    words.columns.push_back(column);
    at = end;
  }
  return words;
}

double panel_title_height(const Page& page) {
  return 1.6 * page.em();
}

void draw_panel_title(Page& page, const Box& box, const std::vector<std::string>& candidates) {
  page.add(Text{{box.x, box.y + 0.7 * page.em()},
                page.fitting(candidates, page.em(), box.width / 1.08),  // allows for bold text
                page.theme().text,
                page.em(),
                Align::Start,
                0,
                true});
}

}  // namespace attnscope
