// The path on its grid, achieved against desired return, and action probabilities.

#include "core/view/parts/fact_table.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/shapes.h"
#include "core/view/parts/token_bars.h"
#include "core/view/trajectory/walk_panels.h"

namespace attnscope {

void draw_path_panel(Page& page, const WalkPicture& picture) {
  const auto& [rollouts, walk, steps] = picture.part;
  std::vector<bool> solved(static_cast<std::size_t>(Grid::kCells));
  for (const Rollout& rollout : rollouts.all) {
    if (rollout.target_steps == rollout.fewest_steps() && rollout.reached &&
        rollout.steps() == rollout.target_steps) {
      solved[static_cast<std::size_t>(rollout.start)] = true;
    }
  }
  const WalkGrid& grid = picture.places.grid;
  const Index hovered = picture.focus.cell;
  const std::string title = hovered >= 0 && hovered != Grid::kGoal
                                ? "Click: start from " + describe_start(walk.world, hovered)
                                : "Path from " + describe_start(walk.world, walk.start);
  page.text({grid.box.x, grid.box.y - WalkMeasures::title / 2 * page.em()},
            page.fitting({title, "Path"}, page.em(), grid.box.width), page.em());
  if (walk.world == World::Grid) {
    draw_walk(page, grid, walk, steps, solved);
  } else {
    draw_plane_walk(page, grid, walk, steps, solved);
  }
  if (hovered >= 0) page.add(OutlinedBox{grid.cell_box(hovered), page.theme().accent, 2});
}

Chart draw_returns(Page& page, const WalkPicture& picture) {
  const Rollouts& rollouts = picture.part.rollouts;
  const Rollout& walk = picture.part.walk;
  const double worst = static_cast<double>(Grid::return_to_go(rollouts.max_steps + 1));
  const ChartAxis x{worst - 0.05, 0, {"desired return", "desired"}};
  const ChartAxis y{worst - 0.05, 0, {"return achieved", "achieved"}};
  const bool is_grid = rollouts.world == World::Grid;
  const std::vector<LegendEntry> entries{
      {page.theme().faint_text, "as desired", false, true},
      {first_colour(), is_grid ? "mean of all cells" : "mean of all starts", false, true},
      {second_colour(), is_grid ? "from this cell" : "from this start", false, true}};
  Box box = picture.places.chart;
  const double legend_space = legend_height(page, entries, box.width);
  draw_legend(page, entries, {box.x, box.y, box.width, legend_space});
  box.y += legend_space + 0.4 * page.em();
  box.height -= legend_space + 0.4 * page.em();
  const Chart chart = place_chart(page, box, x, y);
  if (chart.empty()) return chart;
  draw_chart(page, chart);
  draw_curve(page, chart, {{worst, worst}, {0, 0}}, page.theme().faint_text, 1);
  std::vector<Point> mean, from_start;
  for (Index target_steps = 1; target_steps <= rollouts.max_steps; ++target_steps) {
    const double desired = static_cast<double>(Grid::return_to_go(target_steps));
    mean.push_back({desired, rollouts.mean_achieved(target_steps)});
    from_start.push_back({desired, rollouts.find(walk.start, target_steps)->achieved()});
  }
  draw_curve(page, chart, mean, first_colour(), 2);
  draw_curve(page, chart, from_start, second_colour(), 2);
  for (const Point& p : from_start) {
    page.add(disc({chart.at_x(p.x), chart.at_y(p.y)}, 2.5, second_colour()));
  }
  const Point current{chart.at_x(walk.target_return()), chart.at_y(walk.achieved())};
  page.add(Line{{{current.x, chart.plot.y}, {current.x, chart.plot.bottom()}},
                translucent(page.theme().accent, 0.6),
                1});
  page.add(disc(current, 5, page.theme().accent));
  return chart;
}

void draw_actions(Page& page, const WalkPicture& picture) {
  const Box& box = picture.places.actions;
  const Rollout& walk = picture.part.walk;
  const Index t = picture.focus.row;
  const double title_height = WalkMeasures::title * page.em();
  const std::string step = "Step " + std::to_string(t + 1);
  const std::string desired = return_text(picture.part.remaining_return(t)) + " still desired";
  page.text({box.x, box.y + title_height / 2},
            page.fitting({step + (walk.world == World::Grid ? ", in " : ", at ") +
                              describe_place(walk, t) + ", with " + desired + " for:",
                          step + ", " + desired + ":", step},
                         page.em(), box.width),
            page.em());
  const Box below{box.x, box.y + title_height, box.width, box.height - title_height};
  if (walk.world == World::Plane) return draw_move(page, below, picture);
  TokenBars bars;
  bars.first = first_colour();
  bars.marked = walk.actions[static_cast<std::size_t>(t)];
  for (Index action = 0; action < Grid::kActions; ++action) {
    bars.bars.push_back({std::string(action_arrow(action)) + " " + action_name(action),
                         static_cast<double>(walk.probabilities(t, action)), 0,
                         action == bars.marked ? "taken" : ""});
  }
  draw_token_bars(page, below, bars);
}

}  // namespace attnscope
