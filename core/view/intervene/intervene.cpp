// Intervene view: the run with the user's interventions (heads, layers, pairs, tokens) next to the
// run without them.
#include <algorithm>

#include "core/analysis/sentences.h"
#include "core/view/intervene/intervene_clicks.h"
#include "core/view/intervene/intervene_parts.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/focus.h"
#include "core/view/parts/prediction_words.h"
#include "core/view/parts/range.h"
#include "core/view/parts/reading.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr double kMaxAspect = 4;    // maximum width / height of a map, or the inverse
constexpr double kMaxMapCell = 5;   // em
constexpr double kMinMap = 3.5;     // em
constexpr double kMinLabels = 4.2;  // em of token labels next to and above the maps
// Labels get up to kFullLabels (em), within kLabelShare of the width.
constexpr double kFullLabels = 6;
constexpr double kLabelShare = 0.14;
constexpr double kGap = 1.6;     // em between maps and panels
constexpr double kMinBars = 15;  // em: width of the column next to the maps
constexpr double kMaxBars = 34;  // em
// Bars may shrink the maps to this fraction of their width without bars.
constexpr double kMinMapFraction = 0.65;
// Panels are omitted if they would make the maps narrower than kMinMapSide and than kMinShare of
// the width without panels. This rule does not apply if the maps are narrower than kSmallMap
// anyway.
constexpr double kSmallMap = 200;  // units
constexpr double kMinShare = 0.8;
constexpr double kNoteLine = 1.4;    // em: note about omitted panels
constexpr std::size_t kMaxLack = 6;  // lack_of() if switches, bars and facts are omitted
constexpr double kChipLine = 1.9;    // em: row of replacement tokens
constexpr double kMinHeight = 28;    // em: higher windows always reserve the row
constexpr double kPanelFractions[] = {0.42, 0.36, 0.3, 0.26, 0.22, 0.18};  // sizes of panels to try

// Reason why interventions do not affect this attention; empty if they do.
std::string objection_to_tap(const AttentionTap& tap) {
  const bool applies =
      tap.address.stack == Stack::Decoder && tap.address.kind == AttentionKind::Self;
  if (applies) return "";
  return "Interventions apply to the decoder's self-attention; this is " +
         std::string(tap.address.stack == Stack::Encoder ? "the encoder's." : "cross-attention.");
}

class InterveneLayout {
 public:
  explicit InterveneLayout(const ViewInput& input)
      : input_(input),
        page_(input),
        settings_(input.session.view),
        runs_(input),
        first_run_(runs_.first_run),
        second_run_(runs_.second_run) {}

  ViewLayout lay_out() {
    const SelectedTap& second = runs_.second_tap;
    const SelectedTap& first = runs_.first_tap;
    if (second.tap == nullptr) return page_.message(second.headline, second.advice);
    if (second_run_.is_imported) {
      return page_.message("No interventions possible",
                           "The file holds only attention, without a model that could run again "
                           "with a change. Choose a model and a text.");
    }
    if (const std::string reason = objection_to_tap(*second.tap); !reason.empty()) {
      return page_.message("No interventions here", reason);
    }
    if (runs_.is_pending) return page_.message(first.headline, first.advice);
    if (first.tap == nullptr)
      return page_.message(runs_.first_label + ": " + first.headline, first.advice);
    const Box inside = page_.frame(picture_title(second_run_) + " · interventions",
                                   intervene_caption(input_, runs_));
    if (second_run_.logits.defined()) {
      bars_name_ = "the next token";
      facts_ = facts();
    } else {
      similarities_ = state_similarities(first_run_, second_run_);
      if (!similarities_.empty()) bars_name_ = "the change of states";
    }
    set_axes();
    if (!place_all(inside)) return no_space(page_);
    draw_maps(first, second);
    draw_board();
    if (similarities_.empty()) {
      draw_next_token(page_, panels_.bars, runs_, position());
    } else {
      draw_state_changes(page_, panels_.bars, runs_, similarities_);
    }
    draw_quality(page_, panels_.facts, runs_, facts_);
    append(draw_replacements(page_, chips_, runs_, settings_.pinned_query < 0 ? -1 : position()));
    draw_note();
    return finish();
  }

 private:
  double em() const { return page_.em(); }

  Index position() const {
    return selected_position(settings_, second_run_, *runs_.second_tap.tap);
  }

  std::vector<Fact> facts() const {
    return {{"Bits per token", describe_bits_per_token(first_run_),
             describe_bits_per_token(second_run_)},
            {"Perplexity", describe_perplexity(first_run_), describe_perplexity(second_run_)}};
  }

  // Places the maps, and the panels next to or below them: omits as few panels as possible, then
  // maximises the maps. Returns false if the maps do not fit.
  bool place_all(const Box& inside) {
    Box available = inside;
    // Reserves space for chips even without a selection, so that selecting a token moves nothing.
    if (!input_.figure.framed &&
        (settings_.pinned_query >= 0 || available.height >= kMinHeight * em())) {
      chips_ = {inside.x, inside.bottom() - kChipLine * em(), inside.width, kChipLine * em()};
      available.height -= kChipLine * em() + 0.5 * em();
    }
    const double min_width = min_map_width(available);
    std::optional<Division> first;
    Box first_space, first_note;
    for (std::size_t lack = 0; lack < kMaxLack; ++lack) {
      Box space = available;
      note_ = {};
      if (lack > 1 || (runs_.has_run_b && !input_.figure.framed)) reserve_note(space);
      const std::optional<Division> best = division_with_bars(space, lack, min_width);
      if (best && best->map_width >= min_width) {
        divide(space, *best);
        return place_maps();
      }
      if (best && !first) {
        first = best;
        first_space = space;
        first_note = note_;
      }
    }
    if (first) {
      note_ = first_note;
      divide(first_space, *first);
      return place_maps();
    }
    place_without_panels(available);
    return place_maps();
  }

  void place_without_panels(const Box& available) {
    maps_ = available;
    reserve_note(maps_);
    panels_ = place_row(page_, {}, {second_run_, facts_, bars_name_});  // omits all panels
    is_stacked_ = has_lower_panels_ = false;
  }

  // Minimum width of the maps with panels, in pixels; 0: any width.
  double min_map_width(const Box& available) {
    place_without_panels(available);
    if (!place_maps() || left_.plot.width < kSmallMap) return 0;
    return std::min(kMinMapSide, kMinShare * left_.plot.width);
  }

  // Amount of missing content: 2 per omitted panel, 1 for switches of only some layers.
  static std::size_t lack_of(const PanelLayout& panels) {
    return 2 * panels.omitted.size() + (panels.board.is_partial ? 1 : 0);
  }

  // Division of the space between maps and panels.
  struct Division {
    bool has_side_panels = false;   // panels are to the right of the maps; false: below
    double panel_fraction = 0;      // fraction of the width or height
    bool has_stacked_maps = false;  // false: side by side
    double map_width = 0;           // pixels
  };

  // Division with as many bars, up to kMinTokenBars, as the limits kMinMapFraction and `min_width`
  // allow.
  std::optional<Division> division_with_bars(const Box& space, std::size_t lack, double min_width) {
    std::optional<Division> best = largest_maps(space, lack, 0);
    if (!best || bars_name_.empty()) return best;
    const double limit =
        std::max(kMinMapFraction * best->map_width, std::min(min_width, best->map_width));
    for (std::size_t bars = kMinTokenBars; bars > 1; --bars) {
      const std::optional<Division> division = largest_maps(space, lack, bars);
      if (division && division->map_width >= limit) return division;
    }
    return best;
  }

  // Division with the largest maps, lack_of() at most `lack`, and at least `bars` bars. Among
  // divisions with nearly equal maps, the one with the most space for the panels.
  std::optional<Division> largest_maps(const Box& space, std::size_t lack, std::size_t bars) {
    constexpr double kMinGrowth = 1.04;  // smaller gains count as equal
    std::optional<Division> best;
    double best_width = 0;
    for (const bool has_stacked_maps : {false, true}) {
      if (has_stacked_maps && input_.figure.tight) continue;  // would make the picture long
      for (const bool has_side_panels : {false, true}) {
        for (const double fraction : kPanelFractions) {
          const Division division{has_side_panels, fraction, has_stacked_maps, 0};
          divide(space, division);
          const double min_width = kMinGrowth * best_width;
          if (bars_that_fit(page_, panels_.bars) < bars) continue;
          if (lack_of(panels_) > lack || max_map_width() <= min_width || !place_maps()) continue;
          if (left_.plot.width <= min_width) continue;
          best = division;
          best_width = best->map_width = left_.plot.width;
        }
      }
    }
    return best;
  }

  // Places the panels, and the area of the maps in the space that remains.
  void divide(const Box& space, const Division& division) {
    const PanelContent content{second_run_, facts_, bars_name_};
    is_stacked_ = division.has_stacked_maps;
    maps_ = space;
    Box panels = space;
    if (division.has_side_panels) {
      const double min_width = std::min(kMinBars * em(), 0.36 * space.width);
      panels.width = std::clamp(division.panel_fraction * space.width, min_width, kMaxBars * em());
      panels.x = space.right() - panels.width;
      maps_.width -= panels.width + kGap * em();
      panels_ = place_column(page_, panels, content);
    } else {
      panels.height = division.panel_fraction * space.height;
      panels_ = place_row(page_, panels, content);
      if (lack_of(panels_) > 0) {  // too narrow for bars beside the switches
        PanelLayout column = place_column(page_, panels, content);
        if (lack_of(column) < lack_of(panels_)) panels_ = std::move(column);
      }
      const double panels_height = panels_.bottom - panels.y;
      move_down(panels_, space.bottom() - panels_.bottom);
      maps_.height -= panels_height + kGap * em();
    }
    has_lower_panels_ = !division.has_side_panels;
  }

  // Reserves the lowest line of `space` for a note on omitted panels or on run B.
  void reserve_note(Box& space) {
    space.height -= kNoteLine * em();
    note_ = {space.x, space.bottom(), space.width, kNoteLine * em()};
  }

  void draw_note() {
    const std::vector<std::string>& names = panels_.omitted;
    std::vector<std::string> texts;
    if (!names.empty()) {
      std::string list = names.front();
      for (std::size_t n = 1; n < names.size(); ++n) {
        list += (n + 1 < names.size() ? ", " : " and ") + names[n];
      }
      texts = {"No space for " + list + ": enlarge the picture.", "No space for " + list,
               "Some parts have no space"};
    } else if (runs_.has_run_b && !input_.figure.framed) {  // in files the caption explains B
      texts = {"B is a separate run, not A before its changes. Clear B to see their effect.",
               "B is not A before its changes: clear B to see their effect.",
               "B is not A before its changes", "B: another run"};
    }
    if (texts.empty()) return;
    page_.faint_text({note_.x, note_.y + note_.height / 2},
                     page_.fitting(texts, page_.small(), note_.width), page_.small());
  }

  void set_axes() {
    const auto set = [&](MatrixPlot& map, const Trace& trace, const AttentionTap& tap) {
      map.scale = input_.canvas.scale;
      map.rows = query_axis(trace, tap);
      map.columns = key_axis(trace, tap);
      set_visible(map, cell_window(settings_));
      // Marks the token whose replacements are listed.
      if (!input_.figure.framed && settings_.pinned_query < map.rows.count()) {
        map.pinned_row = settings_.pinned_query;
      }
    };
    set(left_, first_run_, *runs_.first_tap.tap);
    set(right_, second_run_, *runs_.second_tap.tap);
  }

  double aspect() const {
    const auto keys = static_cast<double>(left_.columns.count());
    const auto queries = static_cast<double>(left_.rows.count());
    return std::clamp(keys / queries, 1 / kMaxAspect, kMaxAspect);
  }

  // Upper limit of the maps' width, without their axes.
  double max_map_width() const {
    const double columns = is_stacked_ ? 1 : 2, rows = is_stacked_ ? 2 : 1;
    const double border = kMapHeading * em() + horizontal_colour_bar_height(page_);
    return std::min(maps_.width / columns, (maps_.height / rows - border) * aspect());
  }

  bool place_maps() {
    const bool is_shared = have_same_labels(first_run_, second_run_);
    const double preferred_depth = 0.2 * std::min(maps_.width, maps_.height);
    const double min_depth =
        std::max(kMinLabels * em(), std::min(kFullLabels * em(), kLabelShare * maps_.width));
    const double max_depth =
        std::clamp(preferred_depth, std::min(min_depth, 0.3 * maps_.width), 10 * em());
    right_.row_labels = is_stacked_ || !is_shared;
    const auto keys = static_cast<double>(left_.columns.count());
    const double gap = kGap * em(), columns = is_stacked_ ? 1 : 2, rows = is_stacked_ ? 2 : 1;
    const double below = 0.6 * em() + horizontal_colour_bar_height(page_);
    double width = keys * kMaxMapCell * em(), sides = 0, above = 0, border = 0;
    left_.top = left_.left = right_.left = 0;
    // Deeper axes shrink the maps, which may deepen the axes again.
    for (double former_depth = -1; former_depth < left_.top + left_.left + right_.left;) {
      former_depth = left_.top + left_.left + right_.left;
      for (MatrixPlot* map : {&left_, &right_}) {
        const double length = std::max(width, em());
        left_.top = std::max(left_.top, axis_depth_top(page_, map->columns, length, max_depth));
        map->left =
            std::max(map->left, axis_depth_left(page_, map->rows, length / aspect(), max_depth));
      }
      if (is_stacked_) left_.left = right_.left = std::max(left_.left, right_.left);
      if (!right_.row_labels) right_.left = 0;
      sides = is_stacked_ ? left_.left : left_.left + gap + right_.left;
      above = kMapHeading * em() + left_.top;
      border = rows * (above + below) + (is_stacked_ ? gap : 0);
      width = std::min(
          {width, (maps_.width - sides) / columns, (maps_.height - border) / rows * aspect()});
    }
    right_.top = left_.top;
    const double height = width / aspect();
    if (width < kMinMap * em() || height <= 0) return false;
    const double x = maps_.x + (maps_.width - sides - columns * width) / 2;
    const double margin = page_.top_margin(maps_.height, border + rows * height);
    left_.plot = {x + left_.left, maps_.y + margin + above, width, height};
    const double right_x = left_.plot.right() + gap + right_.left;
    const double lower_y = left_.plot.bottom() + below + gap + above;
    right_.plot = {is_stacked_ ? left_.plot.x : right_x, is_stacked_ ? lower_y : left_.plot.y,
                   width, height};
    maps_bottom_ = right_.plot.bottom() + below;
    mark_hovered_cell();
    // In tight pictures the panels move up to the maps.
    if (has_lower_panels_ && input_.figure.framed && input_.figure.tight &&
        maps_.bottom() > maps_bottom_) {
      move_down(panels_, maps_bottom_ - maps_.bottom());
    }
    return true;
  }

  void mark_hovered_cell() {
    if (!input_.interaction.pointer) return;
    for (const MatrixPlot* map : {&left_, &right_}) {
      const auto [row, column] = pair_at(*map)(*input_.interaction.pointer);
      if (row < 0) continue;
      left_.hovered_row = right_.hovered_row = row;
      left_.hovered_column = right_.hovered_column = column;
    }
  }

  void draw_maps(const SelectedTap& first, const SelectedTap& second) {
    const bool is_head_off =
        is_off(input_.session.run.interventions, settings_.layer, settings_.head) ||
        is_off(input_.session.run.interventions, settings_.layer);
    std::vector<std::string> remarks;
    if (is_head_off) remarks = {"switched off: its output is not used", "switched off", "off"};
    exact_ = draw_run_map(page_, left_, first, runs_.first_label, first_colour(), {});
    exact_ = std::min(
        exact_, draw_run_map(page_, right_, second, runs_.second_label, second_colour(), remarks));
    for (const Intervention& i : input_.session.run.interventions) draw_change(page_, right_, i);
  }

  void draw_board() {
    if (panels_.board.width <= 0) return;
    append(draw_switch_board(page_, panels_.board_corner, panels_.board, second_run_));
  }
  void append(const std::vector<Handle>& handles) {
    handles_.insert(handles_.end(), handles.begin(), handles.end());
  }

  ViewLayout finish() {
    // Clicks change run A. The first run is B, or without a B, A before its interventions.
    const Trace& pattern_run = runs_.has_run_b ? second_run_ : first_run_;
    for (Handle& handle : pair_handles(input_, pattern_run, left_, right_)) {
      handles_.push_back(std::move(handle));
    }
    const bool is_pointer_in_right =
        input_.interaction.pointer && right_.plot.contains(*input_.interaction.pointer);
    ViewLayout layout = matrix_layout(page_, is_pointer_in_right ? right_ : left_,
                                      std::max({maps_bottom_, panels_.bottom, note_.bottom()}));
    const bool has_two_runs = &first_run_ != &second_run_;
    layout.hit =
        hit_test({{pair_at(left_), runs_.first_view.layer, runs_.first_view.head, has_two_runs},
                  {pair_at(right_), settings_.layer, settings_.head}});
    layout.handles = std::move(handles_);
    layout.pending = pending_text(exact_);
    return layout;
  }

  const ViewInput& input_;
  Page page_;
  const ViewSettings& settings_;
  TwoRuns runs_;
  const Trace& first_run_;
  const Trace& second_run_;
  std::vector<Fact> facts_;
  std::string bars_name_;             // see PanelContent
  std::vector<double> similarities_;  // of final states, if the run predicts no tokens
  Box maps_, chips_, note_;
  PanelLayout panels_;  // switches, bars, facts
  bool has_lower_panels_ = false, is_stacked_ = false;
  MatrixPlot left_, right_;  // first and second run
  double exact_ = 1;         // fraction of exact values in the maps
  double maps_bottom_ = 0;
  std::vector<Handle> handles_;
};

// Switches the first layer off, which visibly degrades a model.
void show_example(Session& session) {
  if (!session.run.interventions.empty()) return;
  Intervention off;
  off.layer = 0;
  session.run.interventions.push_back(off);
}

}  // namespace

View intervene_view() {
  return {
      .id = "intervene",
      .label = "Intervene",
      .group = "Model",
      .summary =
          "Switch off heads or layers, forbid or force pairs, replace tokens, and see the changes.",
      .lay_out = [](const ViewInput& input) { return InterveneLayout(input).lay_out(); },
      .reading = fixed_reading(
          "Change the model and see the effect: before on the left, after on the right. Click a "
          "cell to forbid a pair, a switch to turn off a head or layer.",
          {{"Perplexity",
            "number of equally likely tokens that would be as uncertain; higher is worse."}}),
      .data = intervene_data,
      .findings = {{Findings::reference.id}, {Findings::maps.id}},
      .options = {.parameters = {{.key = "click",
                                  .label = "Click action",
                                  .help = "Effect of a click on a pair or a key label: exclude the "
                                          "pair, or let the query attend to nothing else.",
                                  .kind = Parameter::Kind::Choice,
                                  .initial = std::string("forbid"),
                                  .choices = {"forbid", "force"}},
                                 {.key = "heads",
                                  .label = "in",
                                  .help = "Scope of the change: the shown head, its layer, or all.",
                                  .kind = Parameter::Kind::Choice,
                                  .initial = std::string("this head"),
                                  .choices = {"this head", "this layer", "all"}}}},
      .content = {.objection =
                      [](const Trace& trace) {
                        if (trace.is_imported)
                          return std::string(
                              "The attention was read from a file: there is no model to run.");
                        return objection_to_all(
                            trace, [](const AttentionTap& tap) { return objection_to_tap(tap); });
                      },
                  .example = show_example},
      .cells = {.zoom = true}};
}

}  // namespace attnscope
