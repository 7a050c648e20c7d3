#include "core/view/intervene/intervene_parts.h"

#include <algorithm>

#include "core/view/parts/token_bars.h"

namespace attnscope {
namespace {

constexpr double kPartGap = 1.6;       // em between parts
constexpr double kSmallGap = 0.6;      // em between bars and facts below them
constexpr double kMaxPartBars = 34;    // em: width of the bars
constexpr double kMinPartBars = 13;    // em: width of bars with facts to their right
constexpr double kMinPartWidth = 9;    // em: width of bars with facts below them
constexpr double kMaxBoard = 0.42;     // fraction of a row's width
constexpr double kMaxWideBoard = 0.6;  // fraction, for boards that do not fit in kMaxBoard
constexpr double kBadgeSpace = 2.5;    // em: badges of a fact table

// True if each fact fits with its name, as a table or as lines.
bool do_facts_fit(const Page& page, const std::vector<Fact>& facts, double width) {
  return do_facts_fit_as_table(page, facts, width) ||
         std::all_of(facts.begin(), facts.end(), [&](const Fact& fact) {
           return page.width_of(fact_lines(fact).back(), page.small()) <= width;
         });
}

double facts_height(const Page& page, const std::vector<Fact>& facts, double width) {
  return do_facts_fit_as_table(page, facts, width)
             ? fact_table_height(page, facts.size())
             : static_cast<double>(facts.size()) * kFactLine * page.em();
}

double bars_height(const Page& page, std::size_t tokens) {
  return kBarsTitle * page.em() + static_cast<double>(tokens) * token_bar_height(page, true);
}

// Places bars above the facts; if both do not fit, the facts only.
void place_bars(PanelLayout& parts, const Page& page, const Box& box, const PanelContent& content) {
  const double width = std::min(box.width, kMaxPartBars * page.em());
  if (!content.predicts_token || width < kMinPartWidth * page.em()) return;
  const double gap = kSmallGap * page.em();
  double facts_space = facts_height(page, content.facts, width);
  // Lines of facts need less height than their table, which leaves more space for bars.
  if (box.height < bars_height(page, kMinTokenBars) + gap + facts_space) {
    facts_space =
        std::min(facts_space, static_cast<double>(content.facts.size()) * kFactLine * page.em());
  }
  const double space = box.height - facts_space - gap, max_bars = bars_height(page, kMaxTokenBars);
  const bool do_bars_fit = space >= bars_height(page, 1);
  if (do_bars_fit || box.height < facts_space) {
    parts.bars = {box.x, box.y, width, std::min(do_bars_fit ? space : box.height, max_bars)};
  }
  if (box.height < facts_space || !do_facts_fit(page, content.facts, width)) return;
  parts.facts = {box.x, do_bars_fit ? parts.bars.bottom() + gap : box.y, width, facts_space};
}

// Places the facts to the right of the bars if the box is wide and low, else below them.
void place_bars_and_facts(PanelLayout& parts, const Page& page, const Box& box,
                          const PanelContent& content) {
  const double em = page.em(),
               table_width = fact_table_width(page, content.facts) + kBadgeSpace * em;
  const double bars_width = std::min(box.width - table_width - kPartGap * em, kMaxPartBars * em);
  const bool is_low = box.height < bars_height(page, kMinTokenBars) + kSmallGap * em +
                                       facts_height(page, content.facts, box.width);
  const double min_height =
      std::max(bars_height(page, 2), fact_table_height(page, content.facts.size()));
  if (!content.predicts_token || bars_width < kMinPartBars * em || !is_low ||
      box.height < min_height) {
    return place_bars(parts, page, box, content);
  }
  parts.bars = {box.x, box.y, bars_width, std::min(box.height, bars_height(page, kMaxTokenBars))};
  parts.facts = {parts.bars.right() + kPartGap * em, box.y, table_width,
                 fact_table_height(page, content.facts.size())};
}

void set_bottom_and_omitted(PanelLayout& parts, const Page& page, const PanelContent& content,
                            double top) {
  parts.bottom = std::max(
      {top, parts.board_corner.y + parts.board.height, parts.bars.bottom(), parts.facts.bottom()});
  if (parts.board.width <= 0) parts.omitted.emplace_back("the switches");
  if (!content.predicts_token) return;
  if (parts.bars.height < kMinBarsHeight * page.em()) parts.omitted.emplace_back("the next token");
  if (parts.facts.width <= 0) parts.omitted.emplace_back("perplexity");
}

}  // namespace

bool do_facts_fit_as_table(const Page& page, const std::vector<Fact>& facts, double width) {
  return width >= fact_table_width(page, facts) + kBadgeSpace * page.em();
}

std::vector<std::string> fact_lines(const Fact& fact) {
  const std::string values = "  " + fact.a + " → " + fact.b;
  return {fact.name + values, fact.name.substr(0, fact.name.find(' ')) + values};
}

PanelLayout place_column(const Page& page, const Box& box, const PanelContent& content) {
  const double gap = kPartGap * page.em();
  PanelLayout parts;
  // Fewer bars leave more space for the board.
  for (std::size_t tokens = kMinTokenBars + 1; tokens-- > 0;) {
    const double bars_space = tokens > 0 ? bars_height(page, tokens) : 0;
    const double reserved = content.predicts_token
                                ? bars_space + facts_height(page, content.facts, box.width) + gap
                                : 0;
    const BoardSize board =
        switch_board_size(page, content.trace, box.width, std::max(0.0, box.height - reserved));
    if (parts.board.width <= 0 || (board.width > 0 && !board.is_partial)) parts.board = board;
    if (parts.board.width > 0 && !parts.board.is_partial) break;
  }
  Box remaining = box;
  if (parts.board.width > 0) {
    parts.board_corner = {box.x, box.y};
    remaining.y += parts.board.height + gap;
    remaining.height -= parts.board.height + gap;
  }
  place_bars(parts, page, remaining, content);
  set_bottom_and_omitted(parts, page, content, box.y);
  return parts;
}

PanelLayout place_row(const Page& page, const Box& box, const PanelContent& content) {
  PanelLayout parts;
  parts.board = switch_board_size(page, content.trace, kMaxBoard * box.width, box.height);
  if (parts.board.width <= 0 || parts.board.is_partial) {
    parts.board = switch_board_size(page, content.trace, kMaxWideBoard * box.width, box.height);
  }
  Box remaining = box;
  if (parts.board.width > 0) {
    parts.board_corner = {box.x, box.y};
    remaining.x += parts.board.width + kPartGap * page.em();
    remaining.width = box.right() - remaining.x;
  }
  place_bars_and_facts(parts, page, remaining, content);
  set_bottom_and_omitted(parts, page, content, box.y);
  return parts;
}

std::size_t bars_that_fit(const Page& page, const Box& bars) {
  const double rows = (bars.height - kBarsTitle * page.em()) / token_bar_height(page, true) + 1e-6;
  return rows > 0 ? static_cast<std::size_t>(rows) : 0;
}

void move_down(PanelLayout& parts, double distance) {
  parts.board_corner.y += distance;
  parts.bars.y += distance;
  parts.facts.y += distance;
  parts.bottom += distance;
}

}  // namespace attnscope
