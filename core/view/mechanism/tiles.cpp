// Tiles: FlashAttention on the text, tile by tile, with the running maximum and sum of each query,
// and the bytes moved between slow and fast memory.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/analysis/flash_attention.h"
#include "core/figure/plain_text.h"
#include "core/view/mechanism/mechanism_list.h"
#include "core/view/mechanism/panel.h"
#include "core/view/mechanism/steps.h"
#include "core/view/parts/matrix_plot.h"
#include "core/view/parts/range.h"

namespace attnscope {
namespace {

constexpr double kRunning = 3.6;                   // em: width of m, l and the factor
constexpr double kMinOutput = 5, kMaxOutput = 16;  // em: width of the outputs
constexpr double kColumnGap = 0.8;                 // em
constexpr double kBarRow = 1.5;                    // em
constexpr double kMinBar = 3;                      // em
constexpr double kMinMatrix = 9;                   // em: height with its axis
constexpr double kNumberBytes = 4;                 // single precision
constexpr double kFastBytes = 192 * 1024;          // fast memory of a GPU's processor (A100)
constexpr Index kLongText = 4096;                  // tokens
constexpr Index kBlocksPerSide = 4;                // of the shown matrix, by default

bool shows_tiles(const AttentionTap& tap) {
  return flash_refusal(tap).empty();
}

FlashBlocks shown_blocks(const ViewSettings& settings, const AttentionTap& tap) {
  const Values values = view_values(settings, "mechanism");
  const auto size = [&](const char* key, Index count) {
    const Index quarter = (count + kBlocksPerSide - 1) / kBlocksPerSide;
    return values.has(key) ? std::min(values.integer(key), count) : quarter;
  };
  return {size("tile_rows", tap.queries()), size("tile_columns", tap.keys())};
}

// The algorithm on the text, up to the shown tile.
struct TilesNumbers {
  FlashBlocks blocks;
  FlashOperands operands;
  std::vector<FlashTile> tiles;
  std::size_t shown = 0;  // tiles that are done, the shown one included: at least 1
  FlashState before, state;
  double error = 0;  // of the final output

  const FlashTile& tile() const { return tiles[shown - 1]; }
};

TilesNumbers tiles_numbers(const HeadInput& in) {
  const ViewSettings& settings = in.input.session.view;
  TilesNumbers n;
  n.blocks = shown_blocks(settings, in.tap);
  n.operands = flash_operands(in.tap, in.head, cached_numbers(in, CacheKey("flash scores"), [&] {
                                return flash_scores(in.tap, in.head);
                              }));
  n.tiles = flash_tiles(*in.tap.result.pattern, n.blocks);
  const Values values = view_values(settings, "mechanism");
  const std::size_t middle = (n.tiles.size() + 1) / 2;
  n.shown = values.has("tile")
                ? std::min(static_cast<std::size_t>(values.integer("tile")), n.tiles.size())
                : middle;
  n.before = flash_state(n.operands, n.tiles, n.shown - 1);
  n.state = flash_state(n.operands, n.tiles, n.shown);
  n.error = flash_error(n.operands, flash_state(n.operands, n.tiles, n.tiles.size()));
  return n;
}

// Weights of the keys seen so far: e^(s − m) / l; NaN for other pairs.  [L_q, L_k]
Tensor weights_so_far(const TilesNumbers& n) {
  Tensor weights = Tensor::full(n.operands.scores.shape(), std::numeric_limits<float>::quiet_NaN());
  for (std::size_t t = 0; t < n.shown; ++t) {
    const FlashTile& tile = n.tiles[t];
    for (Index i = tile.query; i < tile.query + tile.queries; ++i) {
      const auto row = static_cast<std::size_t>(i);
      for (Index j = tile.key; j < tile.key + tile.keys; ++j) {
        if (!std::isfinite(n.operands.scores(i, j))) continue;
        weights(i, j) = std::exp(n.operands.scores(i, j) - n.state.m[row]) / n.state.l[row];
      }
    }
  }
  return weights;
}

// A column of numbers by query, NaN where a number is not finite.  [L_q, 1]
Tensor column_of(const std::vector<float>& numbers) {
  Tensor column({static_cast<Index>(numbers.size()), 1});
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const float x = numbers[i];
    column[static_cast<Index>(i)] = std::isfinite(x) ? x : std::numeric_limits<float>::quiet_NaN();
  }
  return column;
}

std::string range_of(Index first, Index count) {
  const std::string text = std::to_string(first);
  return count == 1 ? text : text + " to " + std::to_string(first + count - 1);
}

struct TilesPlan {
  MatrixPlot plot;
  Box m, l, factor, output;
  Box tile_sentence, update_sentence, traffic;
};

double traffic_height(const Page& page) {
  return step_height(page) + (1.5 + 3 * kBarRow + 1.5) * page.em();
}

std::optional<TilesPlan> plan_tiles(const Page& page, const Box& inside, const HeadInput& in) {
  const double em = page.em(), step = step_height(page), gap = kColumnGap * em;
  TilesPlan plan;
  plan.tile_sentence = {inside.x, inside.y, inside.width, step};
  plan.update_sentence = {inside.x, inside.y + step, inside.width, step};
  Box area = below(inside, 2 * step);
  area.height -= traffic_height(page) + 0.8 * em;
  if (area.height < kMinMatrix * em) return {};
  const double fixed_width = 3 * (kRunning * em + gap) + gap;
  const double output = std::min(kMaxOutput * em, 0.22 * inside.width);
  if (output < kMinOutput * em) return {};
  plan.plot = place_matrix(page, area, query_axis(in.input.trace, in.tap),
                           key_axis(in.input.trace, in.tap), fixed_width + output);
  if (!(plan.plot.plot.width > 0) || plan.plot.top < 1.5 * em) return {};
  double x = plan.plot.right.x + gap;
  for (Box* box : {&plan.m, &plan.l, &plan.factor}) {
    *box = {x, plan.plot.plot.y, kRunning * em, plan.plot.plot.height};
    x += kRunning * em + gap;
  }
  plan.output = {x, plan.plot.plot.y, output, plan.plot.plot.height};
  const double bottom = plan.plot.plot.bottom() + 1.9 * em;
  plan.traffic = {inside.x, bottom, inside.width, traffic_height(page)};
  return plan;
}

Box tile_box(const MatrixPlot& plot, const FlashTile& tile) {
  const Box first = plot.cell(tile.query, tile.key);
  return {first.x, first.y, first.width * static_cast<double>(tile.keys),
          first.height * static_cast<double>(tile.queries)};
}

// The rows of the tile's queries, in a column beside the matrix.
Box rows_of_tile(const Box& column, const Box& tile) {
  return {column.x, tile.y, column.width, tile.height};
}

void draw_matrix(Page& page, const TilesPlan& plan, const TilesNumbers& n, const HeadInput& in) {
  HeatMap cells = matrix_cells(plan.plot);
  cells.values = weights_so_far(n);
  const ColourRange range{0, 1, weight_colours(in.input, false).colour_map};
  cells.colour_map = range.colour_map;
  page.add(std::move(cells));
  const Colour veil = translucent(page.theme().background, 0.55);
  for (std::size_t t = 0; t < n.tiles.size(); ++t) {
    const Box box = tile_box(plan.plot, n.tiles[t]);
    if (t + 1 < n.shown) page.add(FilledBox{box, veil});
    page.add(OutlinedBox{box, page.theme().line, 1});
  }
  draw_matrix_frame(page, plan.plot, {});
  const Box current = tile_box(plan.plot, n.tile());
  page.add(OutlinedBox{current, page.theme().accent, 3});
}

// Draws a column of numbers by query, in digits if rows are high enough.
void draw_running(Page& page, const Box& box, const Box& tile, const std::string& title,
                  const std::vector<float>& numbers) {
  const double em = page.em(), row = box.height / static_cast<double>(numbers.size());
  page.text({box.x + box.width / 2, box.y - 0.7 * em}, title, page.small(), Align::Middle);
  if (row < 1.02 * page.small()) {
    const Tensor column = column_of(numbers);
    draw_panel(page, box, column, range_of_numbers(page, column));
  } else {
    page.add(OutlinedBox{box, page.theme().line, 1});
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (std::isnan(numbers[i])) continue;
      const Point at{box.right() - 0.4 * em, box.y + (static_cast<double>(i) + 0.5) * row};
      const std::string text =
          std::isinf(numbers[i]) ? "−∞" : fixed(static_cast<double>(numbers[i]), 2);
      page.text(at, page.fitting({text}, page.small(), box.width - 0.6 * em), page.small(),
                Align::End);
    }
  }
  page.add(OutlinedBox{rows_of_tile(box, tile), page.theme().accent, 2});
}

void draw_state(Page& page, const TilesPlan& plan, const TilesNumbers& n) {
  const double em = page.em();
  const Box tile = tile_box(plan.plot, n.tile());
  draw_running(page, plan.m, tile, "max m", n.state.m);
  draw_running(page, plan.l, tile, "sum l", n.state.l);
  draw_running(page, plan.factor, tile, "rescaled", n.state.rescaling);
  page.text({plan.output.x + plan.output.width / 2, plan.output.y - 0.7 * em},
            page.fitting({"output o so far", "output o"}, page.small(), plan.output.width),
            page.small(), Align::Middle);
  draw_panel(page, plan.output, n.state.output, range_of_numbers(page, n.operands.values));
  page.add(OutlinedBox{rows_of_tile(plan.output, tile), page.theme().accent, 2});
  const std::string error = brief(n.error, 2);
  page.faint_text(
      {plan.plot.plot.x - plan.plot.left, plan.plot.plot.bottom() + 0.9 * em},
      page.fitting({"Colours: weights of the keys seen so far; pale tiles are no longer "
                    "in memory. After the last tile, the output differs from plain "
                    "softmax attention by at most " +
                        error,
                    "After the last tile, the output differs from plain softmax by at "
                    "most " +
                        error,
                    "final error at most " + error},
                   page.small(), plan.output.right() - plan.plot.plot.x + plan.plot.left),
      page.small());
}

void draw_tile_sentences(Page& page, const TilesPlan& plan, const TilesNumbers& n,
                         const HeadInput& in) {
  const FlashTile& tile = n.tile();
  const std::string place =
      "Tile " + std::to_string(n.shown) + " of " + std::to_string(n.tiles.size());
  const std::string pairs =
      "queries " + range_of(tile.query, tile.queries) + ", keys " + range_of(tile.key, tile.keys);
  draw_step(
      page, plan.tile_sentence, 1,
      {place + ": " + pairs + " are loaded to fast memory; only this tile of the scores exists",
       place + ": " + pairs, place});
  Index query = tile.query + tile.queries - 1;
  while (query > tile.query && !std::isfinite(n.state.rescaling[static_cast<std::size_t>(query)]))
    --query;
  const auto row = static_cast<std::size_t>(query);
  const std::string word = "“" + query_label(in.input.trace, in.tap, query) + "”";
  const auto m = static_cast<double>(n.state.m[row]), l = static_cast<double>(n.state.l[row]);
  const bool is_first = !(n.before.l[row] > 0);
  const std::string now = "m = " + fixed(m, 2) + ", l = " + fixed(l, 2);
  const std::string update =
      is_first ? word + " sees its first keys: " + now
               : word + ": m = max(" + fixed(static_cast<double>(n.before.m[row]), 2) +
                     ", tile) = " + fixed(m, 2) + "; sum and output are rescaled by " +
                     brief(static_cast<double>(n.state.rescaling[row]), 2) +
                     ", then the tile is added: l = " + fixed(l, 2);
  draw_step(page, plan.update_sentence, 2,
            {"Update: " + update, update,
             word + ": " + now + "; the old sum and output are multiplied by " +
                 brief(static_cast<double>(n.state.rescaling[row]), 2),
             "Update " + word + ": " + now, now, "Update"});
}

// Bytes that three algorithms move for one text.
struct TrafficBars {
  std::string title, short_title;
  std::vector<std::pair<std::string, double>> bars;  // name and bytes
};

std::string bytes_text(double bytes) {
  const double kilo = bytes / 1024, mega = kilo / 1024;
  return mega >= 1 ? brief(mega, 3) + " MB" : brief(kilo, 3) + " KB";
}

std::string blocks_text(const FlashBlocks& blocks) {
  return std::to_string(blocks.queries) + " × " + std::to_string(blocks.keys);
}

std::vector<TrafficBars> traffic_bars(const TilesNumbers& n, const HeadInput& in) {
  const Index d = n.operands.d, length = in.tap.queries(), keys = in.tap.keys();
  const FlashBlocks large = flash_blocks(kFastBytes / kNumberBytes, d);
  const double moved = numbers_moved(n.tiles, length, d);
  const auto pairs = static_cast<double>(length) * static_cast<double>(keys);
  const double plain = 2 * static_cast<double>(length + keys) * static_cast<double>(d) + 4 * pairs;
  const double large_moved = numbers_moved(flash_tiles(*in.tap.result.pattern, large), length, d);
  const FlashTraffic long_text = flash_traffic(kLongText, d, large, in.tap.causal);
  const std::string size = "d = " + std::to_string(d);
  const std::string largest = "tiles " + blocks_text(large) + " (192 KB)";
  return {{"this text, " + count_text(length, "token") + ", " + size,
           "this text",
           {{"plain", kNumberBytes * plain},
            {"tiles " + blocks_text(n.blocks), kNumberBytes * moved},
            {largest, kNumberBytes * large_moved}}},
          {grouped(kLongText) + " tokens, " + size,
           grouped(kLongText) + " tokens",
           {{"plain", kNumberBytes * long_text.plain}, {largest, kNumberBytes * long_text.tiled}}}};
}

void draw_traffic_bars(Page& page, const Box& box, const TrafficBars& group) {
  const double em = page.em(), row = kBarRow * em;
  page.text({box.x, box.y + 0.7 * em},
            page.fitting({group.title, group.short_title}, em, box.width), em);
  double name_width = 0, most = 0;
  for (const auto& [name, bytes] : group.bars) {
    name_width = std::max(name_width, page.width_of(name, page.small()));
    most = std::max(most, bytes);
  }
  const double number_width = page.width_of("1023.9 MB", page.small()) + 0.8 * em;
  const double left = name_width + 0.8 * em, length = box.width - left - number_width;
  if (length < kMinBar * em) return;
  double y = box.y + 1.5 * em + row / 2;
  for (const auto& [name, bytes] : group.bars) {
    page.text({box.x, y}, name, page.small());
    const double width = length * bytes / most;
    page.add(FilledBox{{box.x + left, y - 0.35 * row, width, 0.7 * row}, page.theme().accent});
    page.text({box.x + left + width + 0.4 * em, y}, bytes_text(bytes), page.small());
    y += row;
  }
}

void draw_traffic(Page& page, const TilesPlan& plan, const TilesNumbers& n, const HeadInput& in) {
  const double em = page.em();
  Box box = draw_step(page, plan.traffic, 3,
                      {"Bytes that this head moves between slow and fast memory: plain attention "
                       "writes and reads all scores, tiles do not",
                       "Bytes moved between slow and fast memory", "Bytes moved"});
  const double gap = 1.5 * em, width = (box.width - gap) / 2;
  const std::vector<TrafficBars> groups = traffic_bars(n, in);
  draw_traffic_bars(page, {box.x, box.y, width, box.height}, groups[0]);
  draw_traffic_bars(page, {box.x + width + gap, box.y, width, box.height}, groups[1]);
  page.faint_text({box.x, plan.traffic.bottom() - 0.75 * em},
                  page.fitting({"Plain: Θ(N·d + N²). Tiles: Θ(N²·d² / M) with a fast memory of M "
                                "numbers, for which tiles of min(d, M/4d) × M/4d fit",
                                "Plain: Θ(N·d + N²); tiles: Θ(N²·d² / M), fast memory M",
                                "Θ(N·d + N²) and Θ(N²·d² / M)"},
                               page.small(), box.width),
                  page.small());
}

MechanismLayout draw_tiles(Page& page, const Box& inside, const HeadInput& in) {
  const std::optional<TilesPlan> plan = plan_tiles(page, inside, in);
  if (!plan) return {.is_too_small = true};
  const TilesNumbers n = tiles_numbers(in);
  draw_tile_sentences(page, *plan, n, in);
  draw_matrix(page, *plan, n, in);
  draw_state(page, *plan, n);
  draw_traffic(page, *plan, n, in);
  MechanismLayout layout;
  layout.bottom = plan->traffic.bottom();
  layout.pair_at = [at = pair_at(plan->plot)](Point p) -> std::optional<Pair> {
    const auto [query, key] = at(p);
    if (query < 0 || key < 0) return std::nullopt;
    return Pair{query, key};
  };
  return layout;
}

std::vector<ViewData::Matrix> tiles_data(const HeadInput& in) {
  const TilesNumbers n = tiles_numbers(in);
  const std::vector<std::string> queries = query_axis(in.input.trace, in.tap).labels;
  Tensor running({in.tap.queries(), 3});
  for (Index i = 0; i < in.tap.queries(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    running(i, 0) = n.state.m[row];
    running(i, 1) = n.state.l[row];
    running(i, 2) = n.state.rescaling[row];
  }
  std::vector<ViewData::Matrix> matrices{
      {"weight so far", weights_so_far(n), queries, key_axis(in.input.trace, in.tap).labels},
      {"running", running, queries, {"m", "l", "rescaling"}},
      {"output so far", n.state.output, queries, {}}};
  for (const TrafficBars& group : traffic_bars(n, in)) {
    ViewData::Matrix bytes{"bytes moved, " + group.short_title,
                           Tensor({1, static_cast<Index>(group.bars.size())}),
                           {"bytes"},
                           {}};
    for (const auto& [name, count] : group.bars) {
      bytes.values[static_cast<Index>(bytes.columns.size())] = static_cast<float>(count);
      bytes.columns.push_back(name);
    }
    matrices.push_back(std::move(bytes));
  }
  matrices.push_back({"final error",
                      Tensor::full({1, 1}, static_cast<float>(n.error)),
                      {"largest difference"},
                      {"output"}});
  return matrices;
}

}  // namespace

Mechanism tiles_mechanism() {
  Mechanism m{"tiles", "FlashAttention, tile by tile with a running maximum and sum", shows_tiles,
              draw_tiles, tiles_data};
  m.label = "Tiles (FlashAttention)";
  m.parameters = {"tile", "tile_rows", "tile_columns"};
  m.shows_weights = true;
  m.scales_to_largest = true;
  m.animation = [](const AttentionTap& tap,
                   const ViewSettings& settings) -> std::optional<Animation> {
    const FlashBlocks blocks = shown_blocks(settings, tap);
    const auto last = static_cast<double>(flash_tiles(*tap.result.pattern, blocks).size());
    if (last < 2) return {};
    return Animation{"tile", 1, last, std::min(12.0, last)};
  };
  m.objection = flash_refusal;
  return m;
}

}  // namespace attnscope
