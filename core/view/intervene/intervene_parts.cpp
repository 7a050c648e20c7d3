#include "core/view/intervene/intervene_parts.h"

#include <algorithm>

#include "core/view/parts/token_bars.h"

namespace attnscope {
namespace {

constexpr double kPartGap = 1.6;     // em between parts
constexpr double kSmallGap = 0.6;    // em between bars and facts below them
constexpr double kMaxPartBars = 34;  // em: width of the bars
constexpr double kMinPartBars = 13;  // em, with facts next to them
constexpr double kMinPartWidth = 9;  // em of bars and facts
constexpr double kMaxBoard = 0.42;   // share of a row's width
constexpr double kBadges = 2.5;      // em: space for the badges of a fact table

// True if each fact is legible with its name.
bool facts_fit(const Page& page, const std::vector<Fact>& facts, double width) {
  return facts_in_table(page, facts, width) ||
         std::all_of(facts.begin(), facts.end(), [&](const Fact& fact) {
           return page.width_of(fact_lines(fact).back(), page.small()) <= width;
         });
}

double facts_height(const Page& page, const std::vector<Fact>& facts, double width) {
  return facts_in_table(page, facts, width)
             ? fact_table_height(page, facts.size())
             : static_cast<double>(facts.size()) * kFactLine * page.em();
}

double bars_height(const Page& page, std::size_t tokens) {
  return kBarsTitle * page.em() + static_cast<double>(tokens) * token_bar_height(page, true);
}

// Places as many bars as leave space for the facts below them.
void place_bars(PanelLayout& parts, const Page& page, const Box& box, const PanelContent& content) {
  const double width = std::min(box.width, kMaxPartBars * page.em());
  if (!content.predicts_token || width < kMinPartWidth * page.em()) return;
  const double gap = kSmallGap * page.em();
  double facts = facts_height(page, content.facts, width);
  // Draws facts as lines instead of a table if that leaves space for bars.
  if (box.height < bars_height(page, kMinTokenBars) + gap + facts) {
    facts = std::min(facts, static_cast<double>(content.facts.size()) * kFactLine * page.em());
  }
  const double bars = box.height - facts - gap, max_bars = bars_height(page, kMaxTokenBars);
  const bool bars_fit = bars >= bars_height(page, 1);
  if (bars_fit || box.height < facts) {
    parts.bars = {box.x, box.y, width, std::min(bars_fit ? bars : box.height, max_bars)};
  }
  if (box.height < facts || !facts_fit(page, content.facts, width)) return;
  parts.facts = {box.x, bars_fit ? parts.bars.bottom() + gap : box.y, width, facts};
}

// Places bars with facts to their right.
void place_bars_beside(PanelLayout& parts, const Page& page, const Box& box,
                       const PanelContent& content) {
  const double em = page.em(), table = fact_table_width(page, content.facts) + kBadges * em;
  const double bars = std::min(box.width - table - kPartGap * em, kMaxPartBars * em);
  const bool is_low = box.height < bars_height(page, kMinTokenBars) + kSmallGap * em +
                                       facts_height(page, content.facts, box.width);
  const double least =
      std::max(bars_height(page, 2), fact_table_height(page, content.facts.size()));
  if (!content.predicts_token || bars < kMinPartBars * em || !is_low || box.height < least) {
    return place_bars(parts, page, box, content);
  }
  parts.bars = {box.x, box.y, bars, std::min(box.height, bars_height(page, kMaxTokenBars))};
  parts.facts = {parts.bars.right() + kPartGap * em, box.y, table,
                 fact_table_height(page, content.facts.size())};
}

void complete(PanelLayout& parts, const Page& page, const PanelContent& content, double top) {
  parts.bottom = std::max(
      {top, parts.board_at.y + parts.board.height, parts.bars.bottom(), parts.facts.bottom()});
  if (parts.board.width <= 0) parts.missing.emplace_back("the switches");
  if (!content.predicts_token) return;
  if (parts.bars.height < kMinBarsHeight * page.em()) parts.missing.emplace_back("the next token");
  if (parts.facts.width <= 0) parts.missing.emplace_back("perplexity");
}

}  // namespace

bool facts_in_table(const Page& page, const std::vector<Fact>& facts, double width) {
  return width >= fact_table_width(page, facts) + kBadges * page.em();
}

std::vector<std::string> fact_lines(const Fact& fact) {
  const std::string values = "  " + fact.a + " → " + fact.b;
  return {fact.name + values, fact.name.substr(0, fact.name.find(' ')) + values};
}

PanelLayout place_column(const Page& page, const Box& box, const PanelContent& content) {
  const double gap = kPartGap * page.em();
  PanelLayout parts;
  for (std::size_t tokens = kMinTokenBars + 1; tokens-- > 0;) {
    if (parts.board.width > 0) break;  // reduces bars in favour of the board
    const double bars = tokens > 0 ? bars_height(page, tokens) : 0;
    const double least =
        content.predicts_token ? bars + facts_height(page, content.facts, box.width) + gap : 0;
    parts.board =
        switch_board_size(page, content.trace, box.width, std::max(0.0, box.height - least));
  }
  Box rest = box;
  if (parts.board.width > 0) {
    parts.board_at = {box.x, box.y};
    rest.y += parts.board.height + gap;
    rest.height -= parts.board.height + gap;
  }
  place_bars(parts, page, rest, content);
  complete(parts, page, content, box.y);
  return parts;
}

PanelLayout place_row(const Page& page, const Box& box, const PanelContent& content) {
  PanelLayout parts;
  parts.board = switch_board_size(page, content.trace, kMaxBoard * box.width, box.height);
  Box rest = box;
  if (parts.board.width > 0) {
    parts.board_at = {box.x, box.y};
    rest.x += parts.board.width + kPartGap * page.em();
    rest.width = box.right() - rest.x;
  }
  place_bars_beside(parts, page, rest, content);
  complete(parts, page, content, box.y);
  return parts;
}

std::size_t bars_that_fit(const Page& page, const Box& bars) {
  const double rows = (bars.height - kBarsTitle * page.em()) / token_bar_height(page, true) + 1e-6;
  return rows > 0 ? static_cast<std::size_t>(rows) : 0;
}

void move_down(PanelLayout& parts, double by) {
  parts.board_at.y += by;
  parts.bars.y += by;
  parts.facts.y += by;
  parts.bottom += by;
}

}  // namespace attnscope
