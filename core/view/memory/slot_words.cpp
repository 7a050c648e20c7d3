
#include "core/view/memory/memory_panels.h"

namespace attnscope {
namespace {

constexpr double kPale = 0.75;  // fraction of background in the colour of forgotten words

// Last column of each token up to the end of the segment; -1 if there is none.
std::vector<Index> token_columns(const ShownMemory& memory) {
  std::vector<Index> columns(static_cast<std::size_t>(memory.last_token() + 1), -1);
  for (std::size_t c = 0; c < memory.sources.size(); ++c) {
    const RowSource& source = memory.sources[c];
    if (source.first < 0) continue;
    for (Index token = source.first; token <= source.last(); token += source.step) {
      columns[static_cast<std::size_t>(token)] = static_cast<Index>(c);
    }
  }
  return columns;
}

}  // namespace

SlotWords slot_words(const ShownMemory& memory, const Theme& theme, Index marked_column) {
  SlotWords words;
  const std::vector<Index> columns = token_columns(memory);
  const Colour forgotten = blend(theme.line, theme.background, kPale);
  for (std::size_t first = 0; first < columns.size();) {
    const Index column = columns[first];
    std::size_t end = first + 1;
    if (column < 0) {
      while (end < columns.size() && columns[end] < 0) ++end;
      words.items.push_back(
          {std::to_string(end - first) + (remembers(memory.trace) ? " forgotten" : " not seen"),
           forgotten});
    } else {
      // A contiguous window is one box; scattered rows of a slot are separate boxes.
      std::string label = memory.trace.tokens[first].label;
      for (; end < columns.size() && columns[end] == column; ++end) {
        label += memory.trace.tokens[end].label;
      }
      words.items.push_back({label, slot_colour(memory.kind_of(column)), column == marked_column});
    }
    words.columns.push_back(column);
    first = end;
  }
  return words;
}

double panel_title_height(const Page& page) {
  return 1.6 * page.em();
}

void draw_panel_title(Page& page, const Box& box, const std::vector<std::string>& candidates) {
  page.add(Text{{box.x, box.y + 0.7 * page.em()},
                page.fitting(candidates, page.em(), box.width / 1.08),  // bold text is wider
                page.theme().text,
                page.em(),
                Align::Start,
                0,
                true});
}

}  // namespace attnscope
