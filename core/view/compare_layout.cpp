#include "core/view/compare_layout.h"

#include <algorithm>

#include "core/view/colour_bar.h"

namespace attnscope {
namespace {

constexpr double kMostAspect = 4;     // of a map
constexpr double kLargestCell = 5.5;  // em
constexpr double kLeastPlot = 4;      // em
constexpr double kHeading = 2.0;      // em above a map
constexpr double kBarGap = 0.6;       // em between a map and its colour bar
constexpr double kGap = 1.6;          // em between maps
constexpr double kRowBars = 5.0;      // em
constexpr double kRowBarsGap = 0.8;   // em
constexpr double kLeastLabels = 5;    // em of tokens beside and above the maps

struct Arrangement {
  Index columns = 1, rows = 1;
  double map_width = 0, map_height = 0;
  bool table_in_slot = false;  // in the place of a map, else below all
  bool table = true;
};

class Placing {
 public:
  Placing(const Page& page, const Box& inside, const Sides& sides, std::vector<Show> shown,
          const std::vector<Fact>& facts)
      : page_(page), inside_(inside), sides_(sides), shown_(std::move(shown)), facts_(facts) {}

  std::optional<ComparisonPlaces> place() {
    Arrangement best = arrange();
    if (best.map_width < kLeastPlot * em()) {
      least_labels_ = 0;  // cut labels rather than none
      best = arrange();
    }
    if (best.map_width < kLeastPlot * em() && shown_.size() > 2) {
      shown_ = {Show::First, Show::Second};  // a small picture of both rather than none of all
      best = arrange();
    }
    if (best.map_width < kLeastPlot * em() || best.map_height <= 0) return std::nullopt;
    return place(best);
  }

 private:
  double em() const { return page_.em(); }

  // The labels of the first map in a row hold for all of it where the texts are the same.
  bool has_row_labels(std::size_t n, Index columns) const {
    const bool shares_rows = sides_.has_difference() && sides_.same_tokens;
    return !shares_rows || static_cast<Index>(n) % columns == 0;
  }

  double most_labels() const {
    const double share = 0.16 * std::min(inside_.width, inside_.height);
    return std::clamp(share, least_labels_, 10 * em());
  }

  double row_bars_width(Show show) const {
    const bool shown = show == Show::Difference && sides_.has_divergence();
    return shown ? (kRowBars + kRowBarsGap) * em() : 0;
  }

  const AttentionTap& tap_a() const { return *sides_.a.tap; }

  double aspect() const {
    return std::clamp(static_cast<double>(tap_a().keys()) / static_cast<double>(tap_a().queries()),
                      1 / kMostAspect, kMostAspect);
  }

  TokenAxis rows(Show show) const {
    return query_axis(*sides_.of(show).trace, *sides_.of(show).tap);
  }
  TokenAxis columns(Show show) const {
    return key_axis(*sides_.of(show).trace, *sides_.of(show).tap);
  }

  // The space left and right of the maps in one column of the arrangement.
  std::pair<double, double> sides_of_column(Index column, Index columns) const {
    double left = 0, right = 0;
    for (std::size_t n = 0; n < shown_.size(); ++n) {
      if (static_cast<Index>(n) % columns != column) continue;
      if (has_row_labels(n, columns)) {
        left = std::max(left, axis_depth_left(page_, rows(shown_[n]), most_labels()));
      }
      right = std::max(right, row_bars_width(shown_[n]));
    }
    return {left, right};
  }

  double top_of(Show show, double width) const {
    return axis_depth_top(page_, columns(show), width, most_labels());
  }

  // What a row of maps needs above and below them.
  double overhead(double width) const {
    double top = 0;
    for (const Show show : shown_) top = std::max(top, top_of(show, width));
    return kHeading * em() + top + kBarGap * em() + level_colour_bar_height(page_);
  }

  double table_height() const { return fact_table_height(page_, facts_.size()); }

  // Below the maps, where the table has no place among them.
  double refusal_height() const { return sides_.has_difference() ? 0 : 2.5 * em(); }

  // The largest maps in so many columns.
  Arrangement in_columns(Index columns, bool with_table) const {
    Arrangement a;
    a.columns = columns;
    const auto maps = static_cast<Index>(shown_.size());
    a.rows = (maps + columns - 1) / columns;
    a.table = with_table;
    a.table_in_slot = with_table && maps < a.columns * a.rows;
    double width = inside_.width - static_cast<double>(columns - 1) * kGap * em();
    for (Index c = 0; c < columns; ++c) {
      const auto [left, right] = sides_of_column(c, columns);
      width -= left + right;
    }
    const auto keys = static_cast<double>(std::max(tap_a().keys(), sides_.b.tap->keys()));
    width = std::min(width / static_cast<double>(columns), keys * kLargestCell * em());
    const double table =
        a.table_in_slot ? 0 : (with_table ? table_height() + em() : 0) + refusal_height();
    const auto count = static_cast<double>(a.rows);
    const double height =
        (inside_.height - table - (count - 1) * em()) / count - overhead(std::max(width, em()));
    a.map_width = std::max(0.0, std::min(width, height * aspect()));
    a.map_height = a.map_width / aspect();
    return a;
  }

  Arrangement arrange() const {
    Arrangement best;
    for (const bool with_table : {true, false}) {
      for (Index columns = 1; columns <= static_cast<Index>(shown_.size()); ++columns) {
        const Arrangement a = in_columns(columns, with_table);
        // The table goes where it makes the maps unreadable.
        const bool readable = best.map_width >= 2 * kLeastPlot * em();
        if (a.map_width > best.map_width && !(readable && !with_table)) best = a;
      }
    }
    return best;
  }

  ComparisonPlaces place(const Arrangement& a) const {
    std::vector<double> left, x;
    double all = -kGap * em();
    for (Index c = 0; c < a.columns; ++c) {
      const auto [before, after] = sides_of_column(c, a.columns);
      left.push_back(before);
      x.push_back(all + kGap * em());
      all += kGap * em() + before + a.map_width + after;
    }
    const double above = overhead(a.map_width) - kBarGap * em() - level_colour_bar_height(page_);
    const double row_height = overhead(a.map_width) + a.map_height + em();
    double content = static_cast<double>(a.rows) * row_height - em();
    if (!a.table_in_slot) content += refusal_height();
    if (a.table && !a.table_in_slot) content += em() + table_height();
    const double first_x = inside_.x + std::max(0.0, (inside_.width - all) / 2);
    const double first_y = inside_.y + page_.spare_above(inside_.height, content);
    const auto slot = [&](std::size_t n) {
      const auto columns = static_cast<std::size_t>(a.columns);
      return Point{first_x + x[n % columns] + left[n % columns],
                   first_y + static_cast<double>(n / columns) * row_height + above};
    };
    ComparisonPlaces places;
    for (std::size_t n = 0; n < shown_.size(); ++n) {
      places.panels.push_back(panel(n, slot(n), a, left[n % left.size()]));
    }
    places.bottom = first_y + content;
    const std::size_t free = shown_.size();
    const double from = slot(free).x - left[free % left.size()] * (a.table ? 0.8 : 0);
    const Box table = a.table_in_slot ? table_in_slot({from, slot(free).y}, places.bottom, a)
                                      : table_below(places.bottom);
    if (a.table) places.table = table;
    if (!sides_.has_difference()) places.refusal = refusal_box(table, places.bottom, a);
    return places;
  }

  Box table_in_slot(Point at, double bottom, const Arrangement& a) const {
    Box box{at.x, at.y, inside_.right() - at.x, std::max(0.0, bottom - at.y)};
    box.width = std::min(box.width, 1.1 * fact_table_width(page_, facts_));
    box.width = std::max(box.width, std::min(a.map_width, inside_.right() - at.x));
    return box;
  }

  Box table_below(double bottom) const {
    Box box{inside_.x, bottom - table_height(), inside_.width, table_height()};
    box.width = std::min(box.width, 1.2 * fact_table_width(page_, facts_));
    box.x = inside_.x + (inside_.width - box.width) / 2;
    return box;
  }

  Box refusal_box(Box table, double bottom, const Arrangement& a) const {
    if (a.table_in_slot) {
      table.y += table_height() + em();
      table.height -= table_height() + em();
      return table;
    }
    const double below = a.table ? em() + table_height() : 0;
    return {inside_.x, bottom - below - 1.5 * em(), inside_.width, 1.5 * em()};
  }

  ComparisonPanel panel(std::size_t n, Point at, const Arrangement& a, double left) const {
    const Show show = shown_[n];
    MatrixPlot m;
    m.scale = page_.input().scale;
    m.rows = rows(show);
    m.columns = columns(show);
    m.left = left;
    m.plot = {at.x, at.y, a.map_width, a.map_height};
    m.row_labels = has_row_labels(n, a.columns);
    m.top = top_of(show, a.map_width);
    // The same part of the text in both, however many tokens it has in each.
    const double down =
        static_cast<double>(m.rows.count()) / static_cast<double>(tap_a().queries());
    const double right =
        static_cast<double>(m.columns.count()) / static_cast<double>(tap_a().keys());
    const CellWindow asked = cell_window(page_.input().experiment.view);
    set_visible(m,
                {asked.row * down, asked.column * right, asked.height * down, asked.width * right});
    return {show, m, m.plot.y - m.top - 0.45 * kHeading * em(),
            Point{m.plot.x, m.plot.bottom() + kBarGap * em()},
            Box{m.plot.right() + kRowBarsGap * em(), m.plot.y, kRowBars * em(), m.plot.height}};
  }

  const Page& page_;
  const Box inside_;
  const Sides& sides_;
  std::vector<Show> shown_;
  const std::vector<Fact>& facts_;
  double least_labels_ = kLeastLabels * em();
};

}  // namespace

std::optional<ComparisonPlaces> place_comparison(const Page& page, const Box& inside,
                                                 const Sides& sides, std::vector<Show> shown,
                                                 const std::vector<Fact>& facts) {
  return Placing(page, inside, sides, std::move(shown), facts).place();
}

}  // namespace attnscope
