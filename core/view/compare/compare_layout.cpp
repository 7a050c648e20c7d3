#include "core/view/compare/compare_layout.h"

#include <algorithm>
#include <iterator>

#include "core/view/parts/colour_bar.h"

namespace attnscope {
namespace {

constexpr double kMaxAspect = 4;      // maximum aspect ratio of a map
constexpr double kLargestCell = 5.5;  // em
constexpr double kMinPlot = 4;        // em
constexpr double kLargeMap = 14;      // em: only smaller maps get a shorter table
constexpr double kShortGain = 1.04;   // minimum enlargement of maps by a shorter table
constexpr double kReadable = 12;      // em: only smaller maps get no table
constexpr double kOmitGain = 1.25;    // minimum enlargement of maps by omitting the table
constexpr double kCutLabels = 1.5;  // em: maximum label depth if maps would be illegible otherwise
constexpr double kHeading = 2.0;    // em, heading with one line of text
constexpr double kHeadingLine = 1.3;  // em
constexpr double kBadgeGap = 0.5;     // em
constexpr double kBarGap = 0.6;       // em between a map and its colour bar
constexpr double kFoot = 1.6;         // em below a map without colour bar: range of its row bars
constexpr double kGap = 1.6;          // em between maps
constexpr double kWordGap = 0.8;      // em next to a heading
constexpr double kRowGap = 1.0;       // em between rows of maps, and above the table and notes
constexpr double kRowBars = 5.0;      // em
constexpr double kRowBarsGap = 0.8;   // em

constexpr const char* kNoTable = "No space for the table of facts.";

enum class TablePlace { Slot, Below, Right, None };  // Slot: after the last map of a row

struct Arrangement {
  Index columns = 1, rows = 1;
  TablePlace table = TablePlace::None;
  bool bars_below = true;  // colour bars below the maps; false: next to them
  double map_width = 0, map_height = 0;
  std::vector<double> left;  // depth of the query axes, by column
  double top = 0;            // depth of the key axes
};

class ComparisonPlacer {
 public:
  ComparisonPlacer(const Page& page, const Box& inside, const Sides& sides, std::vector<Show> shown,
                   const std::vector<Fact>& facts, std::string note)
      : page_(page),
        inside_(inside),
        sides_(sides),
        shown_(std::move(shown)),
        note_(std::move(note)),
        titles_width_(axis_titles_width(page)),
        bar_width_(colour_bar_width(page)) {
    set_facts(facts);
    set_notes(note_);
    for (const Side* side : {&sides.a, &sides.b}) {
      axes_.push_back({measured(page, query_axis(*side->trace, *side->tap)),
                       measured(page, key_axis(*side->trace, *side->tap))});
      axes_.back().rows.titles = axes_.back().columns.titles = {};  // drawn in the corner
    }
  }

  std::optional<ComparisonPlaces> place() {
    if (facts_.empty()) return place_maps(arrange(false));
    Arrangement best = arrange(true);
    if (best.map_width < kLargeMap * em()) best = with_short_table(std::move(best));
    if (best.map_width < kReadable * em()) {
      append_note(kNoTable);
      const Arrangement without_table = arrange(false);
      if (without_table.map_width > kOmitGain * best.map_width) {
        best = without_table;
      } else {
        set_notes(note_);
      }
    }
    if (best.map_width < kMinPlot * em()) {
      append_note(kNoTable);
      best = arrange(false, kCutLabels * em());
    }
    if (best.map_width < kMinPlot * em() && shown_.size() > 2) {
      shown_ = {Show::First, Show::Second};  // two maps may be legible where three are not
      set_notes("No space for A − B and the table of facts.");
      best = arrange(false, kCutLabels * em());
    }
    return place_maps(best);
  }

 private:
  struct Axes {
    TokenAxis rows, columns;
  };

  // Places the maps with headings of one or two lines; nullopt if the maps are illegible.
  std::optional<ComparisonPlaces> place_maps(const Arrangement& best) {
    if (best.map_width < kMinPlot * em() || best.map_height <= 0) return std::nullopt;
    ComparisonPlaces places = place(best);
    if (set_headings(places)) return places;
    heading_lines_ = 2;
    const Arrangement two_line = arrange(best.table != TablePlace::None);
    if (two_line.map_width < kMinPlot * em()) return places;
    places = place(two_line);
    set_headings(places);
    return places;
  }

  void set_facts(const std::vector<Fact>& facts) {
    facts_ = facts;
    table_width_ = fact_table_width(page_, facts_);
    min_table_width_ = min_fact_table_width(page_, facts_);
  }

  // Reduces the table to essential facts in small font if that enlarges the maps by kShortGain.
  Arrangement with_short_table(Arrangement full) {
    const std::vector<Fact> all_facts = facts_;
    std::vector<Fact> essential;
    std::copy_if(all_facts.begin(), all_facts.end(), std::back_inserter(essential),
                 [](const Fact& fact) { return fact.essential; });
    set_facts(essential);
    is_table_short_ = true;
    Arrangement shorter = arrange(true);
    if (shorter.map_width > kShortGain * full.map_width) return shorter;
    set_facts(all_facts);
    is_table_short_ = false;
    return full;
  }

  double em() const { return page_.em(); }

  void set_notes(const std::string& text) { notes_ = page_.wrapped(text, em(), inside_.width); }
  void append_note(const std::string& sentence) {
    set_notes(note_ + (note_.empty() ? "" : " ") + sentence);
  }

  const AttentionTap& tap_a() const { return *sides_.a.tap; }
  const Axes& axes_of(Show show) const { return axes_[&sides_.of(show) == &sides_.a ? 0 : 1]; }

  double aspect() const {
    return std::clamp(static_cast<double>(tap_a().keys()) / static_cast<double>(tap_a().queries()),
                      1 / kMaxAspect, kMaxAspect);
  }

  // False if map `n` shares the row labels of the first map in its row.
  bool has_row_labels(std::size_t n, Index columns) const {
    const bool shares_rows = sides_.has_difference() && sides_.have_same_labels;
    return !shares_rows || static_cast<Index>(n) % columns == 0;
  }

  double row_bars_width(Show show) const {
    const bool is_shown = show == Show::Difference && sides_.has_divergence();
    return is_shown ? (kRowBars + kRowBarsGap) * em() : 0;
  }

  double heading_height() const {
    return kHeading * em() + static_cast<double>(heading_lines_ - 1) * heading_line_height(page_);
  }
  // Height of everything above and below a row of maps.
  double overhead(const Arrangement& a) const {
    const double bar = kBarGap * em() + horizontal_colour_bar_height(page_);
    return heading_height() + a.top + (a.bars_below ? bar : kFoot * em());
  }

  // False if the next map's colour bar also applies to map `n`.
  bool has_bar(std::size_t n, const Arrangement& a) const {
    if (a.bars_below || shown_[n] == Show::Difference) return true;
    const bool is_same_row = (static_cast<Index>(n) + 1) % a.columns != 0;
    return !is_same_row || n + 1 == shown_.size() || shown_[n + 1] == Show::Difference;
  }
  double vertical_bar_width(std::size_t n, const Arrangement& a) const {
    return !a.bars_below && has_bar(n, a) ? bar_width_ : 0;
  }
  // Width of everything to the right of a map.
  double right_of(std::size_t n, const Arrangement& a) const {
    return vertical_bar_width(n, a) + row_bars_width(shown_[n]);
  }

  double table_height() const {
    return is_table_short_ ? min_fact_table_height(page_, facts_.size())
                           : fact_table_height(page_, facts_.size());
  }

  double notes_height() const {
    const auto lines = static_cast<double>(notes_.size());
    return lines > 0 ? (lines * kLineHeight + kRowGap) * em() : 0;
  }

  // Width of everything but the maps in a row of the arrangement, in pixels.
  double row_width(const Arrangement& a, Index row) const {
    double width = 0;
    Index column = 0;
    for (std::size_t n = static_cast<std::size_t>(row * a.columns);
         n < shown_.size() && column < a.columns; ++n, ++column) {
      width += a.left[static_cast<std::size_t>(column)] + right_of(n, a);
      if (column > 0) width += kGap * em();
    }
    if (column < a.columns && a.table == TablePlace::Slot) width += kGap * em() + min_table_width_;
    return width;
  }
  double maps_in_row(const Arrangement& a, Index row) const {
    return static_cast<double>(
        std::min(a.columns, static_cast<Index>(shown_.size()) - row * a.columns));
  }

  // Height of everything but the maps.
  double fixed_height(const Arrangement& a) const {
    const auto rows = static_cast<double>(a.rows);
    return rows * overhead(a) + (rows - 1) * kRowGap * em() + notes_height() +
           (a.table == TablePlace::Below ? table_height() + kRowGap * em() : 0);
  }

  // Sets the size of the maps from the depths of the axes.
  void size_maps(Arrangement& a) const {
    const auto keys = static_cast<double>(std::max(tap_a().keys(), sides_.b.tap->keys()));
    double width = keys * kLargestCell * em();
    const double table_space = a.table == TablePlace::Right ? table_width_ + 2 * kGap * em() : 0;
    for (Index row = 0; row < a.rows; ++row) {
      width =
          std::min(width, (inside_.width - table_space - row_width(a, row)) / maps_in_row(a, row));
    }
    const double height = (inside_.height - fixed_height(a)) / static_cast<double>(a.rows);
    a.map_width = std::max(0.0, std::min(width, height * aspect()));
    a.map_height = a.map_width / aspect();
    const bool slot_overflows =
        a.table == TablePlace::Slot && overhead(a) + a.map_height < table_height();
    const bool page_overflows = a.table == TablePlace::Right && inside_.height < table_height();
    if (slot_overflows || page_overflows) a.map_width = a.map_height = 0;
  }

  // The arrangement in `columns` columns; axes and maps constrain each other's size, see
  // settled_depths().
  Arrangement in_columns(Index columns, TablePlace table, bool bars_below,
                         double max_label_depth) const {
    Arrangement a;
    a.columns = columns;
    a.bars_below = bars_below;
    a.rows = (static_cast<Index>(shown_.size()) + columns - 1) / columns;
    a.table = table;
    a.left.assign(static_cast<std::size_t>(columns), 0);
    for (;;) {
      size_maps(a);
      std::vector<double> left = a.left;
      double top = a.top;
      for (std::size_t n = 0; n < shown_.size(); ++n) {
        const Axes& axes = axes_of(shown_[n]);
        top = std::max(top, axis_depth_top(page_, axes.columns, a.map_width, max_label_depth));
        if (!has_row_labels(n, columns)) continue;
        double& depth = left[n % left.size()];
        depth = std::max({depth, titles_width_,
                          axis_depth_left(page_, axes.rows, a.map_height, max_label_depth)});
      }
      if (left == a.left && top == a.top) return a;
      a.left = left;
      a.top = top;
    }
  }

  Arrangement arrange(bool with_table, double max_label_depth) const {
    Arrangement best;
    const auto maps = static_cast<Index>(shown_.size());
    for (Index columns = maps; columns >= 1; --columns) {
      for (const TablePlace table :
           {TablePlace::Slot, TablePlace::Below, TablePlace::Right, TablePlace::None}) {
        if ((table != TablePlace::None) != with_table) continue;
        if (table == TablePlace::Slot && maps % columns == 0) continue;
        for (const bool bars_below : {true, false}) {
          Arrangement a = in_columns(columns, table, bars_below, max_label_depth);
          if (a.map_width > best.map_width) best = std::move(a);
        }
      }
    }
    return best;
  }

  // Shortens labels that would shrink the maps by more than kMaxLoss.
  Arrangement arrange(bool with_table) const {
    constexpr double kMaxLoss = 0.2, kLegible = 5;  // fraction of a map's width; width in em
    const Arrangement legible = arrange(with_table, kLegible * em());
    for (const double max_depth : {10.0, 8.0, 6.5}) {
      const Arrangement a = arrange(with_table, max_depth * em());
      if (a.map_width >= (1 - kMaxLoss) * legible.map_width && a.map_width >= kMinPlot * em()) {
        return a;
      }
    }
    return legible;
  }

  ComparisonPlaces place(const Arrangement& a) const {
    double maps_width = 0;
    for (Index row = 0; row < a.rows; ++row) {
      maps_width = std::max(maps_width, row_width(a, row) + maps_in_row(a, row) * a.map_width);
    }
    const double table_space = a.table == TablePlace::Right ? table_width_ + 2 * kGap * em() : 0;
    const double row_height = overhead(a) + a.map_height + kRowGap * em();
    const double x = inside_.x + std::max(0.0, (inside_.width - maps_width - table_space) / 2);
    const double y = inside_.y;  // unused space is at the bottom
    ComparisonPlaces places;
    double right = x;  // right edge of the row so far
    for (std::size_t n = 0; n < shown_.size(); ++n) {
      const Index row = static_cast<Index>(n) / a.columns,
                  column = static_cast<Index>(n) % a.columns;
      right = (column == 0 ? x : right + kGap * em()) + a.left[static_cast<std::size_t>(column)];
      const double above = heading_height() + a.top;
      places.panels.push_back(
          panel(n, {right, y + static_cast<double>(row) * row_height + above}, a));
      right += a.map_width + right_of(n, a);
    }
    double bottom = y + static_cast<double>(a.rows) * row_height - kRowGap * em();
    if (a.table != TablePlace::None) {
      places.table = table_box(a, places.panels, x + maps_width, bottom);
      bottom = std::max(bottom, places.table->bottom());
    }
    places.facts = facts_;
    places.notes = notes_;
    places.notes_start = {inside_.x, bottom + kRowGap * em()};
    places.bottom = bottom + notes_height();
    return places;
  }

  Box table_box(const Arrangement& a, const std::vector<ComparisonPanel>& panels, double right,
                double bottom) const {
    Box box{inside_.x, bottom + kRowGap * em(), inside_.width, table_height()};
    const Box& last = panels.back().matrix.plot;
    if (a.table == TablePlace::Below) {
      box.width = std::min(box.width, 1.2 * table_width_);
      box.x = inside_.x + (inside_.width - box.width) / 2;
      return box;
    }
    // The table is next to the last map, or to the right of all maps.
    box.x = a.table == TablePlace::Right
                ? right + 2 * kGap * em()
                : last.right() + right_of(panels.size() - 1, a) + kGap * em();
    box.width = std::min(1.1 * table_width_, inside_.right() - box.x);
    box.y = std::max(inside_.y, std::min(last.y, bottom - table_height()));
    return box;
  }

  ComparisonPanel panel(std::size_t n, Point at, const Arrangement& a) const {
    const Show show = shown_[n];
    MatrixPlot m;
    m.scale = page_.input().canvas.scale;
    m.rows = axes_of(show).rows;
    m.columns = axes_of(show).columns;
    m.plot = {at.x, at.y, a.map_width, a.map_height};
    m.row_labels = has_row_labels(n, a.columns);
    m.left = m.row_labels ? a.left[n % a.left.size()] : 0;
    m.top = a.top;
    // Both maps show the same fraction of their texts, which can differ in length.
    const double row_scale =
        static_cast<double>(m.rows.count()) / static_cast<double>(tap_a().queries());
    const double column_scale =
        static_cast<double>(m.columns.count()) / static_cast<double>(tap_a().keys());
    const CellWindow requested = cell_window(page_.input().session.view);
    set_visible(m, {requested.row * row_scale, requested.column * column_scale,
                    requested.height * row_scale, requested.width * column_scale});
    ComparisonPanel panel{show, m, at.y - a.top - heading_height() + 0.5 * kHeading * em()};
    panel.is_bar_below = a.bars_below;
    const double bar = vertical_bar_width(n, a), bars_x = m.plot.right() + bar + kRowBarsGap * em();
    panel.row_bars = {bars_x, m.plot.y, kRowBars * em(), m.plot.height};
    if (a.bars_below) {
      panel.colour_bar = Box{m.plot.x, m.plot.bottom() + kBarGap * em(), m.plot.width, 0};
    } else if (has_bar(n, a)) {
      panel.colour_bar = Box{m.plot.right(), m.plot.y, bar, m.plot.height};
    }
    return panel;
  }

  double heading_end(const ComparisonPlaces& places, std::size_t n) const {
    const Box& plot = places.panels[n].matrix.plot;
    if (n + 1 < places.panels.size() && places.panels[n + 1].matrix.plot.y == plot.y) {
      const MatrixPlot& next = places.panels[n + 1].matrix;
      return next.plot.x - next.left - kWordGap * em();
    }
    const bool beside_table = places.table && places.table->y < plot.bottom();
    return beside_table ? places.table->x - kWordGap * em() : inside_.right();
  }

  // Selects the longest heading that fits above each map, else wraps the shortest.
  // Returns false if any heading is wrapped.
  bool set_headings(ComparisonPlaces& places) const {
    std::vector<ComparisonPanel>& panels = places.panels;
    bool all_fit = true;
    for (std::size_t n = 0; n < panels.size(); ++n) {
      ComparisonPanel& panel = panels[n];
      if (panel.show == Show::Difference) continue;
      const Side& side = sides_.of(panel.show);
      const double room =
          heading_end(places, n) - panel.matrix.plot.x - heading_indent(page_, side.letter);
      const std::vector<std::string> candidates =
          headings(side, &side == &sides_.a ? sides_.b : sides_.a);
      const auto fitting =
          std::find_if(candidates.begin(), candidates.end(),
                       [&](const std::string& text) { return page_.width_of(text, em()) <= room; });
      panel.heading = page_.wrapped(fitting != candidates.end() ? *fitting : candidates.back(),
                                    em(), room, heading_lines_);
      all_fit &= fitting != candidates.end();
    }
    return all_fit;
  }

  const Page& page_;
  const Box inside_;
  const Sides& sides_;
  std::vector<Show> shown_;
  std::vector<Fact> facts_;  // rows of the table
  bool is_table_short_ = false;
  const std::string note_;
  std::vector<std::string> notes_;                // wrapped lines
  double table_width_ = 0, min_table_width_ = 0;  // cached: slow to measure
  const double titles_width_, bar_width_;
  std::vector<Axes> axes_;  // axes of A, axes of B
  std::size_t heading_lines_ = 1;
};

}  // namespace

double heading_line_height(const Page& page) {
  return kHeadingLine * page.em();
}

double heading_indent(const Page& page, const char* letter) {
  return badge_width(page, letter) + kBadgeGap * page.em();
}

std::optional<ComparisonPlaces> place_comparison(const Page& page, const Box& inside,
                                                 const Sides& sides, std::vector<Show> shown,
                                                 const std::vector<Fact>& facts,
                                                 const std::string& note) {
  return ComparisonPlacer(page, inside, sides, std::move(shown), facts, note).place();
}

}  // namespace attnscope
