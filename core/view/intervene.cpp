// What depends on a head, a layer, a pair, a token: the run with a person's changes beside the run
// without them.
#include <algorithm>
#include <cmath>

#include "core/analysis/prediction.h"
#include "core/figure/plain_text.h"
#include "core/model/sample.h"
#include "core/view/colour_bar.h"
#include "core/view/describe.h"
#include "core/view/fact_table.h"
#include "core/view/intervene_clicks.h"
#include "core/view/intervene_data.h"
#include "core/view/matrix_plot.h"
#include "core/view/range.h"
#include "core/view/switch_board.h"
#include "core/view/token_bars.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr double kMostAspect = 4;     // of a map
constexpr double kLargestCell = 5;    // em
constexpr double kLeastMap = 3.5;     // em
constexpr double kLeastLabels = 4.2;  // em of the tokens beside and above the maps
constexpr double kHeading = 1.9;      // em above a map
constexpr double kGap = 1.6;          // em between parts of the picture
constexpr double kLeastBars = 12;     // em: width of the next-token bars
constexpr double kMostBars = 34;      // em
constexpr std::size_t kTokens = 8;    // bars, at most
constexpr std::size_t kLeastTokens = 3;
constexpr double kLeastBarsHeight = 3;  // em
constexpr double kLeastPartWidth = 9;   // em of bars and facts
constexpr double kFactLine = 1.35;      // em
constexpr double kBadges = 2.5;         // em that the table's badges take beyond its numbers
constexpr double kNote = 1.4;           // em: what has no space
constexpr std::size_t kParts = 3;       // beside the maps: switches, bars, facts
constexpr double kChipLine = 1.9;       // em
constexpr double kWide = 1.7;  // width to height from which the parts stand beside the maps

class Interventional {
 public:
  explicit Interventional(const ViewInput& input)
      : input_(input),
        page_(input),
        settings_(input.experiment.view),
        runs_(input),
        before_(runs_.before),
        after_(runs_.after) {}

  ViewLayout lay_out() {
    const Found& after = runs_.second_head;
    const Found& before = runs_.first_head;
    if (after.tap == nullptr) return page_.message(after.headline, after.advice);
    if (after_.given) {
      return page_.message("Nothing to intervene in",
                           "The file holds attention alone, and no model that could be run again "
                           "with a change. Choose a model and a text.");
    }
    if (before.tap == nullptr)
      return page_.message(runs_.first + ": " + before.headline, before.advice);
    const Box inside = page_.frame(picture_title(after_) + " · interventions", caption_text());
    foresees_ = after_.logits.defined();
    facts_ = facts();
    if (!place(inside, before, after)) return no_space(page_);
    draw_maps(before, after);
    draw_board();
    draw_bars();
    draw_facts();
    draw_candidates();
    draw_missing();
    return finish();
  }

 private:
  double em() const { return page_.em(); }

  Index position() const { return shown_position(settings_, after_); }

  std::string caption_text() const {
    std::string changes;
    for (const Intervention& i : input_.experiment.interventions) {
      changes += (changes.empty() ? "" : "; ") + describe(i);
    }
    const std::string about = "Layer " + std::to_string(settings_.layer) + ", head " +
                              std::to_string(settings_.head) + ", before and after" +
                              (changes.empty() ? ": nothing is changed." : ": " + changes + ".");
    return caption(after_, about);
  }

  std::vector<Fact> facts() const {
    const auto text = [](const Trace& trace, const auto& of) -> std::string {
      const auto known = prediction(trace);
      return known ? of(*known) : "–";
    };
    const auto fact = [&](const char* name, const auto& of) {
      return Fact{name, text(before_, of), text(after_, of)};
    };
    return {fact("Bits per token", [](const Prediction& p) { return fixed(p.bits_per_token, 3); }),
            fact("Perplexity", [](const Prediction& p) { return brief(p.perplexity, 4); })};
  }

  // Beside or below the maps, whichever leaves out least; the maps themselves go last.
  bool place(const Box& inside, const Found& before, const Found& after) {
    const bool wide = inside.width > kWide * inside.height;
    for (std::size_t lost = 0; lost <= kParts; ++lost) {
      for (const bool beside : {wide, !wide}) {
        place_nothing();
        Box rest = inside;
        if (lost > 0) reserve_note(rest);
        divide(rest, beside);
        if (place_maps(before, after) && missing().size() <= lost) return true;
      }
    }
    place_nothing();
    maps_ = inside;
    reserve_note(maps_);
    return place_maps(before, after);
  }

  void place_nothing() {
    board_ = {};
    board_at_ = {};
    bars_ = facts_box_ = candidates_ = note_ = {};
    others_bottom_ = 0;
  }

  // A line at the end of `rest` for what has no space.
  void reserve_note(Box& rest) {
    rest.height -= kNote * em();
    note_ = {rest.x, rest.bottom(), rest.width, kNote * em()};
  }

  // The parts that have no space.
  std::vector<std::string> missing() const {
    std::vector<std::string> names;
    if (board_.width <= 0) names.emplace_back("the switches");
    if (bars_.height < kLeastBarsHeight * em() && foresees_) {
      names.emplace_back("the next token");
    }
    if (facts_box_.width <= 0 && foresees_) names.emplace_back("perplexity");
    return names;
  }

  void draw_missing() {
    const std::vector<std::string> names = missing();
    if (names.empty()) return;
    std::string list = names.front();
    for (std::size_t n = 1; n < names.size(); ++n) {
      list += (n + 1 < names.size() ? ", " : " and ") + names[n];
    }
    page_.faint_text({note_.x, note_.y + note_.height / 2},
                     page_.fitting({"No space for " + list + ": make the picture larger.",
                                    "No space for " + list, "Some parts have no space"},
                                   page_.small(), note_.width),
                     page_.small());
  }

  // The space for the maps, and for everything else below or `beside` them.
  void divide(const Box& inside, bool beside) {
    Box rest = inside;
    const bool offers = !input_.framed && settings_.pinned_query >= 0;
    if (offers) {
      candidates_ = {inside.x, inside.bottom() - kChipLine * em(), inside.width, kChipLine * em()};
      rest.height -= kChipLine * em() + 0.5 * em();
    }
    const double row = token_bar_height(page_, true);
    const double title = 1.7 * em();
    Box others = rest;
    if (beside) {
      others.width = std::clamp(0.36 * rest.width, std::min(kLeastBars * em(), 0.5 * rest.width),
                                kMostBars * em());
      others.x = rest.right() - others.width;
      maps_ = {rest.x, rest.y, rest.width - others.width - kGap * em(), rest.height};
      place_column(others, row, title);
      return;
    }
    const BoardSize board = switch_board_size(page_, after_, 0.42 * rest.width, 0.42 * rest.height);
    const double full = title + kTokens * row + 0.6 * em() + facts_height(0.5 * rest.width);
    const double height = std::min(std::max(full, board.height), 0.42 * rest.height);
    others.y = rest.bottom() - height;
    others.height = height;
    maps_ = {rest.x, rest.y, rest.width, rest.height - height - kGap * em()};
    if (board.width > 0) {
      board_ = board;
      board_at_ = {rest.x, others.y};
    }
    const double taken = board.width > 0 ? board.width + kGap * em() : 0;
    const Box right{rest.x + taken, others.y, rest.width - taken, height};
    place_bars(right, row, title);
    others_bottom_ = others.bottom();
  }

  // A table, or where that is too wide, a line for each.
  bool facts_in_table(double width) const {
    return width >= fact_table_width(page_, facts_) + kBadges * em();
  }
  double facts_height(double width) const {
    return facts_in_table(width) ? fact_table_height(page_, facts_.size())
                                 : static_cast<double>(facts_.size()) * kFactLine * em();
  }

  // One below the other: switches, bars, facts.
  void place_column(const Box& box, double row, double title) {
    BoardSize board;  // bars give way to it
    for (const std::size_t tokens : {kLeastTokens, std::size_t{1}, std::size_t{0}}) {
      if (board.width > 0) break;
      const double bars = tokens > 0 ? title + static_cast<double>(tokens) * row : 0;
      const double least = bars + facts_height(box.width) + kGap * em();
      board = switch_board_size(page_, after_, box.width, std::max(0.0, box.height - least));
    }
    double y = box.y;
    if (board.width > 0) {
      board_ = board;
      board_at_ = {box.x, y};
      y += board.height + kGap * em();
    }
    place_bars({box.x, y, box.width, box.bottom() - y}, row, title);
    others_bottom_ = box.bottom();
  }

  // Of the bars as many as leave space for the facts.
  void place_bars(const Box& box, double row, double title) {
    const double width = std::min(box.width, kMostBars * em());
    if (width < kLeastPartWidth * em()) return;
    bars_ = {box.x, box.y, width, 0};
    const double facts = facts_height(width);
    const double gap = 0.6 * em(), bars = box.height - facts - gap;
    const bool both = bars >= title + row;
    if (both) bars_.height = std::min(bars, title + kTokens * row);
    if (!both && box.height < facts) {
      bars_.height = std::min(box.height, title + kTokens * row);
      return;
    }
    facts_box_ = {box.x, both ? bars_.bottom() + gap : box.y, width, facts};
  }

  bool place_maps(const Found& before, const Found& after) {
    const bool shared = same_tokens(before_, after_);
    const double share = 0.2 * std::min(maps_.width, maps_.height);
    const double most =
        std::clamp(share, std::min(kLeastLabels * em(), 0.3 * maps_.width), 10 * em());
    const auto matrix = [&](const Trace& trace, const AttentionTap& tap) {
      MatrixPlot m;
      m.scale = input_.scale;
      m.rows = query_axis(trace, tap);
      m.columns = key_axis(trace, tap);
      m.left = axis_depth_left(page_, m.rows, most);
      set_visible(m, cell_window(settings_));
      return m;
    };
    left_ = matrix(before_, *before.tap);
    right_ = matrix(after_, *after.tap);
    right_.row_labels = !shared;
    if (shared) right_.left = 0;
    const auto keys = static_cast<double>(left_.columns.count());
    const auto queries = static_cast<double>(left_.rows.count());
    const double aspect = std::clamp(keys / queries, 1 / kMostAspect, kMostAspect);
    const double available = (maps_.width - left_.left - right_.left - kGap * em()) / 2;
    double width = std::min(available, keys * kLargestCell * em());
    left_.top = right_.top = axis_depth_top(page_, left_.columns, std::max(width, em()), most);
    const double below = 0.6 * em() + level_colour_bar_height(page_);
    const double above = kHeading * em() + left_.top;
    width = std::min(width, (maps_.height - above - below) * aspect);
    const double height = width / aspect;
    if (width < kLeastMap * em() || height <= 0) return false;
    const double all = left_.left + 2 * width + kGap * em() + right_.left;
    const double x = maps_.x + (maps_.width - all) / 2;
    const double spare = page_.spare_above(maps_.height, above + height + below);
    left_.plot = {x + left_.left, maps_.y + spare + above, width, height};
    right_.plot = {left_.plot.right() + kGap * em() + right_.left, left_.plot.y, width, height};
    maps_bottom_ = left_.plot.bottom() + below;
    hover();
    // Where the picture ends with its content the rest moves up to the maps.
    move_up(board_at_.y > maps_.bottom() || bars_.y > maps_.bottom());
    return true;
  }

  void move_up(bool below) {
    if (!below || !input_.framed || !input_.tight) return;
    const double spare = maps_.bottom() - maps_bottom_;
    if (!(spare > 0)) return;
    board_at_.y -= spare;
    bars_.y -= spare;
    facts_box_.y -= spare;
    others_bottom_ -= spare;
  }

  void hover() {
    if (!input_.pointer) return;
    for (const MatrixPlot* m : {&left_, &right_}) {
      const auto [row, column] = pair_at(*m)(*input_.pointer);
      if (row < 0) continue;
      left_.hovered_row = right_.hovered_row = row;
      left_.hovered_column = right_.hovered_column = column;
    }
  }

  void draw_maps(const Found& before, const Found& after) {
    const bool off = is_off(input_.experiment.interventions, settings_.layer, settings_.head) ||
                     is_off(input_.experiment.interventions, settings_.layer);
    draw_map(left_, before, runs_.first, first_colour(), "");
    draw_map(right_, after, runs_.second, second_colour(),
             off ? "switched off: its output is not used" : "");
    for (const Intervention& i : input_.experiment.interventions) draw_mark(i);
  }

  void draw_map(const MatrixPlot& m, const Found& found, const std::string& badge, Colour colour,
                const std::string& remark) {
    HeatMap cells = matrix_cells(m);
    exact_ = std::min(exact_, set_cells(cells, input_, *found.tap, found.head).exact);
    const ColourRange range = colour_range(input_, cells, is_signed(*found.tap, found.head));
    cells.least = range.least;
    cells.most = range.most;
    cells.colour_map = range.colour_map;
    page_.add(cells);
    draw_matrix_frame(page_, m, {});
    const double y = m.plot.y - m.top - 0.45 * kHeading * em();
    const double x = m.plot.x + draw_badge(page_, {m.plot.x, y}, badge, colour) + 0.5 * em();
    page_.faint_text({x, y}, page_.ellipsised(remark, em(), m.plot.right() - x), em());
    std::vector<std::string> names{"attention weight", "weight"};
    if (m.pooled()) names.insert(names.begin(), "attention weight, each pixel its largest");
    draw_level_colour_bar(page_, {m.plot.x, m.plot.bottom() + 0.6 * em()}, m.plot.width, range,
                          names);
  }

  // Outlines what is forbidden (crossed out) or forced in the shown head.
  void draw_mark(const Intervention& i) {
    const bool of_pairs =
        i.kind == Intervention::Kind::Forbid || i.kind == Intervention::Kind::Force;
    const bool here =
        (i.layer < 0 || i.layer == settings_.layer) && (i.head < 0 || i.head == settings_.head);
    if (!of_pairs || !here) return;
    const MatrixPlot& m = right_;
    const double cell_width = m.plot.width / m.width, cell_height = m.plot.height / m.height;
    const double first = i.query >= 0 ? static_cast<double>(i.query) : 0;
    const double rows = i.query >= 0 ? 1 : static_cast<double>(m.rows.count());
    const Box box{m.plot.x + (static_cast<double>(i.key) - m.column) * cell_width,
                  m.plot.y + (first - m.row) * cell_height, cell_width, rows * cell_height};
    const Colour colour = page_.theme().accent;
    page_.add(Clip{m.plot});
    page_.add(OutlinedBox{box, colour, 1.5});
    if (i.kind == Intervention::Kind::Forbid && i.query >= 0) {
      page_.add(Line{{{box.x, box.y}, {box.right(), box.bottom()}}, colour, 1});
    }
    page_.add(Clip{});
  }

  void draw_board() {
    if (board_.width <= 0) return;
    std::vector<Handle> handles = draw_switch_board(page_, board_at_, board_, after_);
    handles_.insert(handles_.end(), handles.begin(), handles.end());
  }

  void draw_bars() {
    const std::vector<double> before = next_tokens(before_, position());
    const std::vector<double> after = next_tokens(after_, position());
    if (before.empty() || before.size() != after.size() || bars_.height < kLeastBarsHeight * em()) {
      return;
    }
    TokenBars bars;
    bars.two = true;
    bars.first = first_colour();
    bars.second = second_colour();
    std::vector<std::int32_t> ids;
    for (const auto* side : {&before, &after}) {
      for (const Candidate& c : likeliest(*side, static_cast<Index>(kTokens))) ids.push_back(c.id);
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    const auto larger = [&](std::int32_t id) {
      const auto at = static_cast<std::size_t>(id);
      return std::max(before[at], after[at]);
    };
    std::stable_sort(ids.begin(), ids.end(),
                     [&](std::int32_t a, std::int32_t b) { return larger(a) > larger(b); });
    ids.resize(std::min(ids.size(), kTokens));
    bars.most = larger(ids.front());
    for (const std::int32_t id : ids) {
      const auto at = static_cast<std::size_t>(id);
      bars.bars.push_back({token_label(after_, id), before[at], after[at]});
    }
    const std::string& label = after_.tokens[static_cast<std::size_t>(position())].label;
    page_.text({bars_.x, bars_.y + 0.6 * em()},
               page_.fitting({"What comes after “" + label + "”", "Next token", "Next"}, em(),
                             bars_.width),
               em());
    const double title = 1.7 * em();
    draw_token_bars(page_, {bars_.x, bars_.y + title, bars_.width, bars_.height - title}, bars);
  }

  void draw_facts() {
    if (facts_box_.width <= 0) return;
    if (!facts_in_table(facts_box_.width)) {
      double y = facts_box_.y + kFactLine / 2 * em();
      for (const Fact& fact : facts_) {
        const std::string values = fact.a + " → " + fact.b;
        page_.text(
            {facts_box_.x, y},
            page_.fitting({fact.name + "  " + values, values}, page_.small(), facts_box_.width),
            page_.small());
        y += kFactLine * em();
      }
      return;
    }
    draw_fact_table(page_, facts_box_, runs_.first, runs_.second, facts_);
  }

  void draw_candidates() {
    const Index at = settings_.pinned_query;
    if (candidates_.width <= 0 || at >= static_cast<Index>(before_.tokens.size()) ||
        before_.tokens.size() != after_.tokens.size()) {
      return;
    }
    const TraceToken& own = before_.tokens[static_cast<std::size_t>(at)];
    const std::int32_t now = after_.tokens[static_cast<std::size_t>(at)].id;
    double x = candidates_.x;
    const double y = candidates_.y + candidates_.height / 2;
    const std::string lead = "Token " + std::to_string(at) + ":";
    page_.faint_text({x, y}, lead, em());
    x += page_.width_of(lead, em()) + 0.6 * em();
    std::vector<std::int32_t> ids = replacements(before_, at);
    ids.insert(ids.begin(), own.id);
    for (const std::int32_t id : ids) {
      const std::string label = id == own.id ? own.label : token_label(before_, id);
      const double width = page_.width_of(label, em()) + em();
      if (x + width > candidates_.right()) break;
      const bool chosen = id == now;
      const Box box{x, y - 0.75 * em(), width, 1.5 * em()};
      const Colour ground =
          chosen ? page_.theme().accent : blend(page_.theme().background, page_.theme().line, 0.45);
      page_.add(FilledBox{box, ground, 0.3 * em()});
      page_.add(Text{{x + width / 2, y},
                     label,
                     chosen ? ink_on(ground) : page_.theme().text,
                     em(),
                     Align::Middle});
      handles_.push_back(replacement_handle(box, at, id == own.id ? -1 : id));
      x += width + 0.4 * em();
    }
  }

  ViewLayout finish() {
    for (Handle& handle : pair_handles(input_, before_, left_, right_)) {
      handles_.push_back(std::move(handle));
    }
    const bool in_right = input_.pointer && right_.plot.contains(*input_.pointer);
    ViewLayout layout =
        matrix_layout(page_, in_right ? right_ : left_, std::max(maps_bottom_, others_bottom_));
    const bool two_runs = &before_ != &after_;
    layout.hit = hits_of({{pair_at(left_), settings_.layer, settings_.head, two_runs},
                          {pair_at(right_), settings_.layer, settings_.head}});
    layout.handles = std::move(handles_);
    layout.pending = pending_text(exact_);
    return layout;
  }

  const ViewInput& input_;
  Page page_;
  const ViewSettings& settings_;
  TwoRuns runs_;
  const Trace& before_;
  const Trace& after_;
  std::vector<Fact> facts_;
  bool foresees_ = false;  // whether there is a next token to show
  Box maps_, bars_, facts_box_, candidates_, note_;
  BoardSize board_;
  Point board_at_;
  MatrixPlot left_, right_;  // before and after
  double exact_ = 1;         // share of the maps that is no preview
  double maps_bottom_ = 0, others_bottom_ = 0;
  std::vector<Handle> handles_;
};

// Without its first layer a model loses its footing: something to see at once.
void show_example(Experiment& experiment) {
  if (!experiment.interventions.empty()) return;
  Intervention off;
  off.layer = 0;
  experiment.interventions.push_back(off);
}

}  // namespace

View intervene_view() {
  View view{"intervene", "Intervene",
            "Switch off heads or layers, forbid or force pairs, replace tokens, and see what "
            "changes.",
            true, [](const ViewInput& input) { return Interventional(input).lay_out(); }};
  view.parameters = {
      {.key = "click",
       .label = "A click will",
       .help = "What a click on a pair, or on the label of a key, does: the pair takes no part, or "
               "the query sees nothing else.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("forbid"),
       .choices = {"forbid", "force"}},
      {.key = "heads",
       .label = "in",
       .help = "Where that holds: in the shown head, in its layer, or everywhere.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("this head"),
       .choices = {"this head", "this layer", "all"}}};
  view.example = show_example;
  view.data = intervene_data;
  return view;
}

}  // namespace attnscope
