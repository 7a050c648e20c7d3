#include "core/view/mechanism/layer_figure.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/figure/colour_map.h"
#include "core/view/mechanism/steps.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/not_allowed.h"
#include "core/view/parts/shapes.h"
#include "core/view/pattern/reach.h"
#include "core/view/pattern/rule_cells.h"

namespace attnscope {
namespace {

constexpr double kMinLayer = 2.1, kMaxLayer = 5;     // em: distance of rows
constexpr double kLeftMargin = 8, kRightMargin = 9;  // em
constexpr double kMinMargined = 40;                  // em: narrower figures have no margins
constexpr double kLevelEnds = 0.8;                   // em above the first and below the last row
constexpr std::size_t kMaxEdges = 3000;
constexpr double kFaintOpacity = 0.3, kPathOpacity = 0.75;

std::size_t as_size(Index n) {
  return static_cast<std::size_t>(n);
}

Index count_of(const ReceptiveField::Tokens& tokens) {
  return static_cast<Index>(std::ranges::count(tokens, char{1}));
}

// Vertical positions of the rows, input at the bottom.
struct Levels {
  double bottom = 0, step = 0;
  double y(Index level) const { return bottom - static_cast<double>(level) * step; }
};
Levels place_levels(const Page& page, const Box& box, Index layers) {
  const double ends = kLevelEnds * page.em();
  return {box.bottom() - ends, (box.height - 2 * ends) / static_cast<double>(layers)};
}

struct LayerLine {
  Index level, query, key;  // from `key` at this level to `query` at the next level
  int rule;
  bool on_path;  // part of a path from the selected key to the query
};

std::vector<LayerLine> attention_lines(const LayerChain& chain, const ReceptiveField& field) {
  std::vector<LayerLine> edges;
  const auto layers = static_cast<Index>(field.cone.size()) - 1;
  for (Index level = layers - 1; level >= 0; --level) {
    for (Index i = 0; i < chain.length(); ++i) {
      if (!field.cone[as_size(level) + 1][as_size(i)]) continue;
      ReceptiveField::Tokens is_visited(as_size(chain.length()), 0);  // visited by any head
      chain.visit_keys(level, i, [&](const LayerChain::AttendedKey& attended) {
        if (is_visited[as_size(attended.key)]) return;
        is_visited[as_size(attended.key)] = 1;
        const bool on_path = field.on_path[as_size(level) + 1][as_size(i)] &&
                             field.on_path[as_size(level)][as_size(attended.key)];
        edges.push_back({level, i, attended.key, attended.rule, on_path});
      });
    }
  }
  return edges;
}

void draw_layer_lines(Page& page, const TokenColumns& columns, const Levels& levels,
                      const std::vector<LayerLine>& edges, bool on_path) {
  const auto lines = std::ranges::count(edges, on_path, &LayerLine::on_path);
  if (static_cast<std::size_t>(lines) > kMaxEdges) return;
  for (const LayerLine& edge : edges) {
    if (edge.on_path != on_path) continue;
    const Colour colour =
        translucent(rule_colour(as_size(edge.rule)), on_path ? kPathOpacity : kFaintOpacity);
    page.add(Line{{{columns.centre(edge.key), levels.y(edge.level)},
                   {columns.centre(edge.query), levels.y(edge.level + 1)}},
                  colour,
                  on_path ? 1.25 : 1});
  }
}

// Draws the tokens of a row. Tokens in the receptive field are filled.
void draw_level(Page& page, const TokenColumns& columns, double y,
                const ReceptiveField::Tokens& field, const ReceptiveField::Tokens& on_path) {
  const double em = page.em(), radius = std::min(0.36 * em, 0.36 * columns.cell());
  const Colour unreached = blend(page.theme().background, page.theme().line, 0.8);
  const Colour reached = blend(page.theme().background, page.theme().faint_text, 0.75);
  constexpr double kMinDisc = 1.6;  // pixels
  if (radius < kMinDisc) {
    for (Index n = 0; n < columns.tokens.count(); ++n) {
      if (!field[as_size(n)]) continue;
      page.add(FilledBox{{columns.centre(n) - columns.cell() / 2, y - 0.2 * em,
                          std::max(1.0, columns.cell()), 0.4 * em},
                         on_path[as_size(n)] ? page.theme().text : reached});
    }
    return;
  }
  for (Index n = 0; n < columns.tokens.count(); ++n) {
    const Point centre{columns.centre(n), y};
    if (field[as_size(n)]) {
      page.add(disc(centre, radius, on_path[as_size(n)] ? page.theme().text : reached));
    } else {
      page.add(disc(centre, 0.5 * radius, unreached));
    }
  }
}

void draw_path(Page& page, const TokenColumns& columns, const Levels& levels,
               const ReceptiveField& field, Pair pair) {
  const double radius = std::max(3.0, std::min(0.45 * page.em(), 0.45 * columns.cell()));
  for (std::size_t level = 0; level < field.path.size(); ++level) {
    const Hop& hop = field.path[level];
    const Colour colour =
        hop.rule < 0 ? page.theme().faint_text : rule_colour(static_cast<std::size_t>(hop.rule));
    page.add(Line{{{columns.centre(hop.key), levels.y(static_cast<Index>(level))},
                   {columns.centre(hop.query), levels.y(static_cast<Index>(level) + 1)}},
                  colour,
                  4});
  }
  for (std::size_t level = 1; level < field.path.size(); ++level) {
    page.add(disc({columns.centre(field.path[level].key), levels.y(static_cast<Index>(level))},
                  radius, page.theme().text));
  }
  const auto top = static_cast<Index>(field.cone.size()) - 1;
  page.add(disc({columns.centre(pair.key), levels.y(0)}, 1.2 * radius, key_colour(page.theme())));
  page.add(
      disc({columns.centre(pair.query), levels.y(top)}, 1.2 * radius, query_colour(page.theme())));
}

// Writes the size of the receptive field next to the rows, and the rule of each hop between them.
void draw_margins(Page& page, const TokenColumns& columns, const Levels& levels,
                  const LayerChain& chain, const ReceptiveField& field, double margin_left) {
  const double em = page.em(), size = page.small();
  const double right = columns.left + columns.width + 0.8 * em;
  const double max_left = columns.left - 0.8 * em - margin_left;
  const auto layers = static_cast<Index>(field.cone.size()) - 1;
  for (Index level = 0; level <= layers; ++level) {
    const double y = levels.y(level);
    const std::string number = std::to_string((level - 1) % chain.layers());
    if (max_left > 3 * em) {
      page.faint_text({columns.left - 0.8 * em, y},
                      page.fitting(level == 0 ? std::vector<std::string>{"the tokens", "input"}
                                              : std::vector<std::string>{"after layer " + number,
                                                                         "layer " + number},
                                   size, max_left),
                      size, Align::End);
    }
    const double max_right = page.input().canvas.width - right;
    if (max_right < 4 * em) continue;
    const Index count = count_of(field.cone[as_size(level)]);
    const std::string count_text = std::to_string(count) + " of " + std::to_string(chain.length());
    page.text({right, y},
              level == layers
                  ? page.fitting({"the query", "query"}, size, max_right)
                  : page.fitting({"reached by " + count_text, count_text}, size, max_right),
              size);
    if (level == layers || field.path.empty() || levels.step < 2 * 1.25 * size) continue;
    const Hop& hop = field.path[as_size(level)];
    if (hop.rule < 0) continue;
    const double middle = y - levels.step / 2, swatch = 0.7 * em;
    page.add(FilledBox{
        {right, middle - swatch / 2, swatch, swatch}, rule_colour(as_size(hop.rule)), 0.15 * em});
    page.faint_text({right + 1.1 * em, middle},
                    page.ellipsised(hop.name, size, max_right - 1.1 * em), size);
  }
}

}  // namespace

LayerMargins layer_margins(const Page& page, double width) {
  const double em = page.em();
  if (width < kMinMargined * em) return {0, 0};
  return {kLeftMargin * em, kRightMargin * em};
}

double min_layers_height(const Page& page, Index layers) {
  return (2 * kLevelEnds + kMinLayer * static_cast<double>(layers)) * page.em();
}

double layers_height(const Page& page, Index layers, double spare) {
  const double max_height = (2 * kLevelEnds + kMaxLayer * static_cast<double>(layers)) * page.em();
  return std::clamp(spare, min_layers_height(page, layers), max_height);
}

void draw_layers(Page& page, const TokenColumns& columns, const Box& box, const LayerChain& chain,
                 const ReceptiveField& field, Pair pair, double margin_left) {
  const auto layers = static_cast<Index>(field.cone.size()) - 1;
  const Levels levels = place_levels(page, box, layers);
  const std::vector<LayerLine> edges = attention_lines(chain, field);
  draw_layer_lines(page, columns, levels, edges, false);
  draw_layer_lines(page, columns, levels, edges, true);
  for (Index level = 0; level <= layers; ++level) {
    draw_level(page, columns, levels.y(level), field.cone[as_size(level)],
               field.on_path[as_size(level)]);
  }
  draw_path(page, columns, levels, field, pair);
  draw_margins(page, columns, levels, chain, field, margin_left);
}

std::vector<std::string> describe_path(const ReceptiveField& field, const std::string& query,
                                       const std::string& key) {
  const auto layers = std::to_string(field.cone.size() - 1);
  if (field.path.empty()) {
    return {key + " does not reach " + query + " through " + layers + " layers",
            "no path from " + key + " to " + query, "no path"};
  }
  std::string rules;
  Index hops = 0;
  for (const Hop& hop : field.path) {
    if (hop.rule < 0) continue;
    rules += (hops == 0 ? "" : ", then ") + hop.name;
    ++hops;
  }
  if (hops == 0)
    return {"The residual connection keeps each token's information: " + query + " is its own key",
            "itself"};
  const std::string steps = hops == 1 ? "one step" : std::to_string(hops) + " steps";
  return {"From " + key + " to " + query + " in " + steps + ": " + rules,
          "From " + key + " to " + query + " in " + steps, key + " to " + query, steps};
}

Index head_in_layer(const HeadInput& in) {
  return in.tap.heads[static_cast<std::size_t>(in.head)];
}

Tensor cached_reach(const ViewInput& input, Index layers) {
  const TracePart part = input.part();
  const auto make = [&] { return reach_matrix(input.trace, part, layers); };
  if (input.cache == nullptr) return make();
  return input.cache->matrix(source_of(input.trace), CacheKey("reach", layers, part), make);
}

Index layers_to_show(const ViewInput& input, const LayerChain& chain) {
  const Tensor reach = cached_reach(input, chain.shown_layers());
  Index longest = 1;
  for (const float count : reach) {
    if (!std::isnan(count)) longest = std::max(longest, static_cast<Index>(count));
  }
  return longest;
}

namespace {

constexpr const char* kReachColours = "viridis";

// Samples one colour more than needed and skips the brightest.
Colour reach_colour(Index layer, Index layers) {
  return colour_map(kReachColours).at(static_cast<double>(layer) / static_cast<double>(layers + 1));
}

std::vector<LegendEntry> reach_legend(const Theme& theme, Index layers) {
  std::vector<LegendEntry> entries;
  for (Index n = 0; n <= layers; ++n) {
    entries.push_back({reach_colour(n, layers), n == 0 ? "itself" : std::to_string(n)});
  }
  entries.push_back({excluded_colour(theme), "never, or later"});
  return entries;
}

}  // namespace

double reach_legend_height(const Page& page, Index layers, double width) {
  return legend_height(page, reach_legend(page.theme(), layers), width);
}

void draw_reach_map(Page& page, const Box& box, MatrixPlot& plot, const ViewInput& input,
                    Index layers, int number, Pair pair) {
  draw_step(page, box, number,
            {"Number of layers until a key reaches a query", "Layers until a key reaches a query",
             "Layers until reached", "Layers"});
  draw_legend(page, reach_legend(page.theme(), layers),
              {box.x, box.y + step_height(page), box.width, box.height - step_height(page)});
  HeatMap cells = matrix_cells(plot);
  cells.values = cached_reach(input, layers);
  cells.colour_map = kReachColours;
  cells.most = static_cast<double>(layers + 1);
  cells.missing = excluded_colour(page.theme());
  page.add(std::move(cells));
  plot.pinned_row = pair.query;
  plot.pinned_column = pair.key;
  draw_matrix_frame(page, plot, {"more pairs than pixels", "pooled"});
}

Index farthest_key(const LayerChain& chain, Index query, Index layers) {
  Index farthest = query;
  for (Index n = 1; n <= layers; ++n) {
    const ReceptiveField field = receptive_field(chain, query, query, n);
    const ReceptiveField fewer_layers = receptive_field(chain, query, query, n - 1);
    Index key = query;
    for (Index j = 0; j < chain.length(); ++j) {
      if (!field.cone[0][as_size(j)] || fewer_layers.cone[0][as_size(j)]) continue;
      if (std::abs(j - query) > std::abs(key - query)) key = j;
    }
    if (key == query) break;
    farthest = key;
  }
  return farthest;
}

}  // namespace attnscope
