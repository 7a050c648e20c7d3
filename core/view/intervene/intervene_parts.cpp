#include "core/view/intervene/intervene_parts.h"

#include <algorithm>
#include <functional>

#include "core/model/sample.h"
#include "core/text/tokenizer.h"
#include "core/view/intervene/intervene_clicks.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/not_allowed.h"
#include "core/view/parts/prediction_words.h"
#include "core/view/parts/range.h"
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
constexpr double kBarsTitle = 1.7;     // em: title above the bars
constexpr double kMinBarsHeight = 3;   // em, including the title
constexpr double kFactLine = 1.35;     // em: line of a fact outside a table
constexpr std::size_t kMaxTokenBars = 8;
constexpr double kBadgeSpace = 2.5;  // em: badges of a fact table

// True if the facts fit as a table; otherwise each fact is drawn as a line of text.
bool do_facts_fit_as_table(const Page& page, const std::vector<Fact>& facts, double width) {
  return width >= fact_table_width(page, facts) + kBadgeSpace * page.em();
}

// Texts for the line of a fact, longest first: "Bits per token  5.8 → 5.7", "Bits  5.8 → 5.7".
std::vector<std::string> fact_lines(const Fact& fact) {
  const std::string values = "  " + fact.a + " → " + fact.b;
  return {fact.name + values, fact.name.substr(0, fact.name.find(' ')) + values};
}

// True if each fact fits with its name, as a table or as lines.
bool do_facts_fit(const Page& page, const std::vector<Fact>& facts, double width) {
  return do_facts_fit_as_table(page, facts, width) ||
         std::all_of(facts.begin(), facts.end(), [&](const Fact& fact) {
           return page.width_of(fact_lines(fact).back(), page.small()) <= width;
         });
}

double facts_height(const Page& page, const std::vector<Fact>& facts, double width) {
  if (facts.empty()) return 0;
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
  if (content.bars_name.empty() || width < kMinPartWidth * page.em()) return;
  const double gap = content.facts.empty() ? 0 : kSmallGap * page.em();
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
  if (content.facts.empty() || box.height < facts_space ||
      !do_facts_fit(page, content.facts, width)) {
    return;
  }
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
  if (content.bars_name.empty() || content.facts.empty() || bars_width < kMinPartBars * em ||
      !is_low || box.height < min_height) {
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
  if (content.bars_name.empty()) return;
  if (parts.bars.height < kMinBarsHeight * page.em()) parts.omitted.push_back(content.bars_name);
  if (parts.facts.width <= 0 && !content.facts.empty()) parts.omitted.emplace_back("perplexity");
}

// `count` tokens, taken in turn from the likeliest tokens of both runs.
std::vector<std::int32_t> likeliest_of_both(const std::vector<double>& first,
                                            const std::vector<double>& second, std::size_t count) {
  const auto limit = static_cast<Index>(count);
  const std::vector<Candidate> lists[] = {likeliest(second, limit), likeliest(first, limit)};
  std::vector<std::int32_t> ids;
  for (std::size_t n = 0; n < count; ++n) {
    for (const std::vector<Candidate>& list : lists) {
      if (n >= list.size() || ids.size() >= count) continue;
      if (std::find(ids.begin(), ids.end(), list[n].id) == ids.end()) ids.push_back(list[n].id);
    }
  }
  return ids;
}

std::size_t bar_rows(const Page& page, const Box& box) {
  return std::clamp<std::size_t>(bars_that_fit(page, box), 1, kMaxTokenBars);
}

// The part of a panel below the title of its bars.
Box below_title(const Page& page, const Box& box) {
  const double title_height = kBarsTitle * page.em();
  return {box.x, box.y + title_height, box.width, box.height - title_height};
}

}  // namespace

PanelLayout place_column(const Page& page, const Box& box, const PanelContent& content) {
  const double gap = kPartGap * page.em();
  PanelLayout parts;
  // Fewer bars leave more space for the board.
  for (std::size_t tokens = kMinTokenBars + 1; tokens-- > 0;) {
    const double bars_space = tokens > 0 ? bars_height(page, tokens) : 0;
    const double reserved = !content.bars_name.empty()
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

double draw_run_map(Page& page, const MatrixPlot& map, const SelectedTap& selected,
                    const std::string& badge, Colour colour,
                    const std::vector<std::string>& remarks) {
  HeatMap cells = matrix_cells(map);
  const ShownCells shown = set_cells(cells, page.input(), *selected.tap, selected.head);
  const ColourRange range = colour_range(page.input(), cells, *selected.tap, selected.head,
                                         is_signed(*selected.tap, selected.head), shown);
  cells.least = range.least;
  cells.most = range.most;
  cells.colour_map = range.colour_map;
  page.add(cells);
  cover_excluded(page, matrix_cells(map), *selected.tap, selected.head);
  draw_matrix_frame(page, map, {});
  const double y = map.plot.y - map.top - 0.45 * kMapHeading * page.em();
  const double x = map.plot.x + draw_badge(page, {map.plot.x, y}, badge, colour) + 0.5 * page.em();
  page.faint_text({x, y}, page.fitting(remarks, page.em(), map.plot.right() - x), page.em());
  std::vector<std::string> names{"attention weight", "weight"};
  if (map.pooled()) names.insert(names.begin(), "attention weight, max-pooled");
  draw_horizontal_colour_bar(page, {map.plot.x, map.plot.bottom() + 0.6 * page.em()},
                             map.plot.width, range, names);
  return shown.exact;
}

void draw_change(Page& page, const MatrixPlot& map, const Intervention& change) {
  const ViewSettings& settings = page.input().session.view;
  const bool changes_pair =
      change.kind == Intervention::Kind::Forbid || change.kind == Intervention::Kind::Force;
  const bool applies_to_head = (change.layer < 0 || change.layer == settings.layer) &&
                               (change.head < 0 || change.head == settings.head);
  if (!changes_pair || !applies_to_head) return;
  const double cell_width = map.plot.width / map.width, cell_height = map.plot.height / map.height;
  const double first_row = change.query >= 0 ? static_cast<double>(change.query) : 0;
  const double rows = change.query >= 0 ? 1 : static_cast<double>(map.rows.count());
  const Box box{map.plot.x + (static_cast<double>(change.key) - map.column) * cell_width,
                map.plot.y + (first_row - map.row) * cell_height, cell_width, rows * cell_height};
  const Colour colour = page.theme().accent;
  page.add(Clip{map.plot});
  page.add(OutlinedBox{box, colour, 1.5});
  if (change.kind == Intervention::Kind::Forbid && change.query >= 0) {
    page.add(Line{{{box.x, box.y}, {box.right(), box.bottom()}}, colour, 1});
  }
  page.add(Clip{});
}

void draw_next_token(Page& page, const Box& box, const TwoRuns& runs, Index position) {
  const std::vector<double> first = next_token_probabilities(runs.first_run, position);
  const std::vector<double> second = next_token_probabilities(runs.second_run, position);
  if (first.empty() || first.size() != second.size() || box.height < kMinBarsHeight * page.em()) {
    return;
  }
  TokenBars bars;
  bars.two = true;
  bars.first = first_colour();
  bars.second = second_colour();
  std::vector<std::int32_t> ids = likeliest_of_both(first, second, bar_rows(page, box));
  if (ids.empty()) return;
  const auto larger = [&](std::int32_t id) {
    const auto index = static_cast<std::size_t>(id);
    return std::max(first[index], second[index]);
  };
  std::stable_sort(ids.begin(), ids.end(),
                   [&](std::int32_t a, std::int32_t b) { return larger(a) > larger(b); });
  bars.most = larger(ids.front());
  for (const std::int32_t id : ids) {
    const auto index = static_cast<std::size_t>(id);
    bars.bars.push_back({token_label(runs.second_run, id), first[index], second[index]});
  }
  const std::string& label = runs.second_run.tokens[static_cast<std::size_t>(position)].label;
  draw_bars_title(page, {box.x, box.y, box.width, 1.2 * page.em()},
                  predicts_masked_tokens(runs.second_run)
                      ? std::vector<std::string>{"Predictions in place of “" + label + "”",
                                                 "In place of “" + label + "”", "This position"}
                      : std::vector<std::string>{"Predictions after “" + label + "”",
                                                 "After “" + label + "”", "Next token", "Next"},
                  bars.most);
  draw_token_bars(page, below_title(page, box), bars);
}

void draw_state_changes(Page& page, const Box& box, const TwoRuns& runs,
                        const std::vector<double>& similarities) {
  if (box.height < kMinBarsHeight * page.em()) return;
  constexpr double kSmallestRange = 1e-6;
  TokenBars bars;
  bars.shares = false;
  bars.first = second_colour();
  bars.most = kSmallestRange;
  for (std::size_t n = 0; n < similarities.size(); ++n) {
    const double change = std::max(0.0, 1 - similarities[n]);
    const std::string label = without_space_markers(runs.second_run.tokens[n].label);
    bars.bars.push_back({std::to_string(n) + " " + label, change});
    bars.most = std::max(bars.most, change);
  }
  std::ranges::stable_sort(bars.bars, std::greater(), &TokenBar::first);
  bars.bars.resize(std::min(bars.bars.size(), bar_rows(page, box)));
  page.text({box.x, box.y + 0.6 * page.em()},
            page.fitting({"Change of the tokens' final states (1 − cosine)",
                          "Final states: 1 − cosine", "1 − cosine"},
                         page.em(), box.width),
            page.em());
  draw_token_bars(page, below_title(page, box), bars);
}

void draw_quality(Page& page, const Box& box, const TwoRuns& runs, const std::vector<Fact>& facts) {
  if (box.width <= 0) return;
  const bool too_low = box.height + 1e-6 < fact_table_height(page, facts.size());
  if (too_low || !do_facts_fit_as_table(page, facts, box.width)) {
    double y = box.y + kFactLine / 2 * page.em();
    for (const Fact& fact : facts) {
      page.text({box.x, y}, page.fitting(fact_lines(fact), page.small(), box.width), page.small());
      y += kFactLine * page.em();
    }
    return;
  }
  draw_fact_table(page, box, runs.first_label, runs.second_label, facts);
}

std::vector<Handle> draw_replacements(Page& page, const Box& line, const TwoRuns& runs,
                                      Index pinned) {
  if (line.width <= 0 || !can_replace(runs.second_run)) return {};
  if (pinned < 0) {
    page.faint_text(
        {line.x, line.y + line.height / 2},
        page.fitting({"Click a token next to the maps to replace it.", "Click a token: replace"},
                     page.small(), line.width),
        page.small());
    return {};
  }
  if (pinned >= static_cast<Index>(runs.first_run.tokens.size()) ||
      runs.first_run.tokens.size() != runs.second_run.tokens.size()) {
    return {};
  }
  const TraceToken& original = runs.first_run.tokens[static_cast<std::size_t>(pinned)];
  const std::int32_t current_id = runs.second_run.tokens[static_cast<std::size_t>(pinned)].id;
  std::vector<Handle> handles;
  double x = line.x;
  const double y = line.y + line.height / 2;
  const std::string prefix = "Token " + std::to_string(pinned) + ":";
  page.faint_text({x, y}, prefix, page.em());
  x += page.width_of(prefix, page.em()) + 0.6 * page.em();
  std::vector<std::int32_t> ids = replacement_candidates(runs.first_run, pinned);
  ids.insert(ids.begin(), original.id);
  for (const std::int32_t id : ids) {
    const std::string label = id == original.id ? original.label : token_label(runs.first_run, id);
    const double width = page.width_of(label, page.em()) + page.em();
    if (x + width > line.right()) break;
    const bool is_current = id == current_id;
    const Box box{x, y - 0.75 * page.em(), width, 1.5 * page.em()};
    const Colour fill =
        is_current ? page.theme().accent : blend(page.theme().background, page.theme().line, 0.45);
    page.add(FilledBox{box, fill, 0.3 * page.em()});
    page.add(Text{{x + width / 2, y},
                  label,
                  is_current ? ink_on(fill) : page.theme().text,
                  page.em(),
                  Align::Middle});
    handles.push_back(replacement_handle(box, pinned, id == original.id ? -1 : id));
    x += width + 0.4 * page.em();
  }
  return handles;
}

}  // namespace attnscope
