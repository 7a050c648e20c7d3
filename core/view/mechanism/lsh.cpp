// LSH: hashing into buckets, sorting by bucket, attention within buckets, as in the Reformer paper.
#include <algorithm>
#include <cmath>

#include "core/view/mechanism/mechanism_list.h"
#include "core/view/mechanism/rule_line.h"
#include "core/view/mechanism/sorted_map.h"
#include "core/view/mechanism/steps.h"
#include "core/view/mechanism/token_strip.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/matrix_plot.h"
#include "core/view/parts/not_allowed.h"
#include "core/view/parts/pattern_cells.h"

namespace attnscope {
namespace {

constexpr Index kMaxHashed = 2048;      // tokens
constexpr double kHashFraction = 0.22;  // fraction of the height: strip of hash rounds, with labels
constexpr double kSortedFraction = 0.2;  // fraction of the height: sorted strip
constexpr double kTextLine = 0.5;        // em: row of bucket colours from which the lines start
constexpr double kLinesFraction = 0.06;  // fraction of the height: lines to the sorted tokens
constexpr double kChunkLine = 0.9;       // em
constexpr double kMapTitles = 2.9;       // em: titles above a map
constexpr double kMinSortedMap = 9;      // em
constexpr double kLowPage = 46;          // em: minimum height of a picture with all labels

const IntTensor& buckets_of(const AttentionTap& tap) {
  return tap.result.extra_counts.at("lsh.bucket");  // [rounds, h, L]
}

bool shows_hashes(const AttentionTap& tap) {
  const auto buckets = tap.result.extra_counts.find("lsh.bucket");
  return buckets != tap.result.extra_counts.end() && buckets->second.dim(2) == tap.queries() &&
         tap.queries() == tap.keys() && tap.queries() <= kMaxHashed;
}

struct Round {
  Index number = 0, count = 0;  // number of this round, from 0, and count of rounds
  Index chunk = 0;              // tokens per chunk; 0: no chunks
  std::vector<Index> bucket;    // bucket of each token
  TokenOrder order;
  // True if the round lets the query attend to the key.
  bool admits(Index query, Index key) const {
    const auto q = static_cast<std::size_t>(query), k = static_cast<std::size_t>(key);
    if (q == k || bucket[q] != bucket[k]) return false;
    if (chunk == 0) return true;
    const Index distance = order.place[q] / chunk - order.place[k] / chunk;
    return distance == 0 || distance == 1;
  }
};

Round selected_round(const HeadInput& in) {
  const IntTensor& buckets = buckets_of(in.tap);
  Round round;
  round.count = buckets.dim(0);
  const Index requested = view_values(in.input.session.view, "mechanism").integer("round");
  round.number = std::clamp<Index>(requested - 1, 0, round.count - 1);
  round.chunk = in.tap.variant.values.integer("chunk");
  for (Index i = 0; i < buckets.dim(2); ++i) {
    round.bucket.push_back(buckets[(round.number * buckets.dim(1) + in.head) * buckets.dim(2) + i]);
  }
  round.order = sorted_by(round.bucket);
  return round;
}

// Buckets of all rounds by token.  [rounds, L]
Tensor bucket_rows(const HeadInput& in) {
  const IntTensor& buckets = buckets_of(in.tap);
  Tensor rows({buckets.dim(0), buckets.dim(2)});
  for (Index n = 0; n < rows.dim(0); ++n) {
    for (Index i = 0; i < rows.dim(1); ++i) {
      rows(n, i) = static_cast<float>(buckets[(n * buckets.dim(1) + in.head) * buckets.dim(2) + i]);
    }
  }
  return rows;
}

Tensor row_of(const std::vector<Index>& numbers, const TokenOrder& order) {
  Tensor row({1, static_cast<Index>(numbers.size())});
  for (Index n = 0; n < row.size(); ++n) {
    const auto token = static_cast<std::size_t>(order.token[static_cast<std::size_t>(n)]);
    row[n] = static_cast<float>(numbers[token]);
  }
  return row;
}

// Allowed pairs, as two matrices [L, L]. `by_round`: bucket of each pair that the round admits.
// `others`: 1 for each other allowed pair. All other cells are NaN.
struct PairKinds {
  Tensor by_round, others;
};
PairKinds pair_kinds(const HeadInput& in, const Round& round) {
  const Index length = in.tap.queries();
  const auto make_kinds = [&](bool in_round) {
    Tensor kinds = pattern_rules(*in.tap.result.pattern, in.head, {0, 0, length, length, 1, 1});
    for (Index i = 0; i < length; ++i) {
      const auto bucket = static_cast<float>(round.bucket[static_cast<std::size_t>(i)]);
      for (Index j = 0; j < length; ++j) {
        float& kind = kinds(i, j);
        if (std::isnan(kind)) continue;
        kind = round.admits(i, j) != in_round ? NAN : in_round ? bucket : 1;
      }
    }
    return kinds;
  };
  return {cached_numbers(in, CacheKey("pairs of round", round.number),
                         [&] { return make_kinds(true); }),
          cached_numbers(in, CacheKey("pairs of others", round.number),
                         [&] { return make_kinds(false); })};
}

struct LshPlan {
  Round round;
  KindColours colours;
  TokenStrip hashed, text, sorted;
  Box sentences[3];
  Box left, right;  // maps including titles
  MatrixPlot sorted_map, pairs;
  bool is_low = false;  // little space: labels that appear elsewhere are omitted

  // Token at a point; -1 if there is none.
  Index token_at(Point p) const {
    if (const Index i = hashed.at(p); i >= 0) return i;
    if (const Index i = text.at(p); i >= 0) return i;
    if (const Index n = sorted.at(p); n >= 0) return round.order.token[static_cast<std::size_t>(n)];
    return -1;
  }
};

// Places two maps side by side, or stacked in tall boxes.
void place_lsh_maps(const Page& page, const Box& box, const HeadInput& in, LshPlan& plan) {
  const double titles = kMapTitles * page.em();
  std::tie(plan.left, plan.right) = split(page, box);
  TokenAxis queries = query_axis(in.input.trace, in.tap), keys = key_axis(in.input.trace, in.tap);
  if (plan.is_low) keys.titles = {};
  TokenAxis sorted_queries = reordered(queries, plan.round.order),
            sorted_keys = reordered(keys, plan.round.order);
  if (plan.is_low) {
    for (TokenAxis* axis : {&queries, &keys, &sorted_queries, &sorted_keys}) {
      *axis = with_index_labels(std::move(*axis));
    }
  }
  plan.sorted_map = place_matrix(page, below(plan.left, titles), sorted_queries, sorted_keys,
                                 colour_bar_width(page));
  plan.pairs = place_matrix(page, below(plan.right, titles), queries, keys, 0);
}

std::optional<LshPlan> plan_lsh(const Page& page, const Box& inside, const HeadInput& in) {
  const double em = page.em(), step = step_height(page);
  const Tensor rows = bucket_rows(in);
  const Round round = selected_round(in);
  const KindColours colours(row_of(round.bucket, in_text_order(in.tap.queries())), rows);
  const TokenStrip empty{{}, {}, {}, colours};
  LshPlan plan{round, colours, empty, empty, empty, {}, {}, {}, {}, {}, false};
  plan.is_low = inside.height < kLowPage * em;
  TokenAxis tokens = query_axis(in.input.trace, in.tap);
  tokens.titles = {};
  std::vector<std::string> names;
  for (Index n = 0; n < plan.round.count; ++n) names.push_back("round " + std::to_string(n + 1));
  const double left = strip_left(page, names);

  Box area = inside;
  const auto next_step = [&](Box& box) {
    box = {area.x, area.y, area.width, step};
    area = below(area, step);
  };
  next_step(plan.sentences[0]);
  plan.hashed = place_strip(page, {area.x, area.y, area.width, kHashFraction * inside.height},
                            tokens, names, rows, colours);
  area = below(area, plan.hashed.bottom() - area.y);
  next_step(plan.sentences[1]);
  const Box line{area.x + left, area.y, area.width - left, kTextLine * em};
  plan.text = place_strip(page, line, {}, {},
                          row_of(plan.round.bucket, in_text_order(in.tap.queries())), colours);
  area = below(area, line.height + kLinesFraction * inside.height);
  const Box sorted_box{line.x, area.y, line.width, kSortedFraction * inside.height};
  const TokenAxis sorted_tokens = plan.is_low ? TokenAxis() : reordered(tokens, plan.round.order);
  plan.sorted = place_strip(page, sorted_box, sorted_tokens, {},
                            row_of(plan.round.bucket, plan.round.order), colours);
  area = below(area, plan.sorted.bottom() - area.y + kChunkLine * em);
  next_step(plan.sentences[2]);
  for (const TokenStrip* strip : {&plan.hashed, &plan.text, &plan.sorted}) {
    if (!(strip->cells.width > 0)) return {};
  }
  if (area.height < (kMinSortedMap + kMapTitles) * em) return {};
  place_lsh_maps(page, area, in, plan);
  if (!(plan.sorted_map.plot.width > 0) || !(plan.pairs.plot.width > 0)) return {};
  return plan;
}

// Draws lines from each token to its sorted position.
void draw_links(Page& page, const LshPlan& plan, Index marked) {
  const double from = plan.text.bottom(), to = plan.sorted.cells.y - plan.sorted.depth;
  const auto draw_link = [&](Index i, double opacity, double thickness) {
    const auto token = static_cast<std::size_t>(i);
    page.add(
        Line{{{plan.text.centre(i), from}, {plan.sorted.centre(plan.round.order.place[token]), to}},
             translucent(plan.colours(plan.round.bucket[token]), opacity),
             thickness});
  };
  // Draws only as many lines as are distinguishable.
  constexpr double kMinSpacing = 2;  // pixels
  const auto count = static_cast<double>(plan.text.kinds.dim(1));
  const auto step = static_cast<Index>(std::ceil(kMinSpacing * count / plan.text.cells.width));
  for (Index i = 0; i < plan.text.kinds.dim(1); i += step) {
    if (i != marked) draw_link(i, 0.55, 1.2);
  }
  if (marked >= 0) draw_link(marked, 1, 3.5);
}

// Draws a line for each chunk below the sorted tokens.
void draw_chunks(Page& page, const LshPlan& plan) {
  if (plan.round.chunk == 0) return;
  const Index length = plan.sorted.kinds.dim(1);
  const double half = plan.sorted.cells.width / static_cast<double>(length) / 2;
  const double y = plan.sorted.bottom() + kChunkLine / 2 * page.em();
  const double inset = std::min(half / 2, 2.0);
  for (Index first = 0; first < length; first += plan.round.chunk) {
    const Index last = std::min(first + plan.round.chunk, length) - 1;
    page.add(Line{{{plan.sorted.centre(first) - half + inset, y},
                   {plan.sorted.centre(last) + half - inset, y}},
                  page.theme().text,
                  2});
  }
}

void draw_sentences(Page& page, const LshPlan& plan, const HeadInput& in, Index marked) {
  const std::string round_text =
      plan.round.count > 1 ? " of round " + std::to_string(plan.round.number + 1) : std::string();
  draw_step(page, plan.sentences[0], 1,
            {"Hash: random directions assign every token to a bucket (colour); similar vectors "
             "tend to share one",
             "Hash: similar vectors tend to share a bucket (colour)", "Hash into buckets"});
  const std::string chunks = plan.round.chunk == 0
                                 ? std::string()
                                 : ", then cut into chunks of " + std::to_string(plan.round.chunk);
  draw_step(page, plan.sentences[1], 2,
            {"Sort: the buckets" + round_text + " in order" + chunks +
                 (chunks.empty() ? ", each in text order"
                                 : ": a token attends within its chunk and the previous one"),
             "Sort by bucket" + round_text + chunks, "Sort by bucket"});
  const Index attended_count =
      in.tap.result.pattern->row_size(in.tap.result.pattern->heads() > 1 ? in.head : 0, marked);
  const std::string count = std::to_string(attended_count) + " of " + std::to_string(in.tap.keys());
  const std::string token =
      "“" + query_label(in.input.trace, in.tap, marked) + "” (" + std::to_string(marked) + ")";
  draw_step(
      page, plan.sentences[2], 3,
      {"Attend: a token attends only within its bucket, " + token + " at " + count + " tokens",
       "Attend within the bucket: " + token + " attends to " + count, "Attend: " + count,
       "Attend"});
}

// Draws a title over a map. Returns the box of the line below the title.
Box draw_map_title(Page& page, const Box& box, const MatrixPlot& map,
                   const std::vector<std::string>& titles) {
  const double em = page.em(), width = box.right() - map.plot.x;
  const bool is_narrow = width < page.width_of(titles.back(), em);
  const double x = is_narrow ? box.x : map.plot.x;
  page.text({x, box.y + 0.7 * em}, page.fitting(titles, em, box.right() - x), em);
  return {x, box.y + 1.4 * em, box.right() - x, 1.5 * em};
}

void draw_maps(Page& page, LshPlan& plan, const HeadInput& in, Index marked) {
  const Index place = plan.round.order.place[static_cast<std::size_t>(marked)];
  const std::vector<std::string> pooled{"more pairs than pixels", "pooled"};
  const Box below_left = draw_map_title(page, plan.left, plan.sorted_map,
                                        {"Weights, tokens sorted by bucket", "Weights, sorted"});
  page.faint_text({below_left.x, below_left.y + below_left.height / 2},
                  page.fitting({"a block of pairs for each bucket", "a block for each bucket", ""},
                               page.small(), below_left.width),
                  page.small());
  plan.sorted_map.pinned_row = plan.sorted_map.pinned_column = place;
  const ColourRange range =
      draw_sorted_weights(page, in, plan.sorted_map, plan.round.order, plan.round.order,
                          CacheKey("lsh", plan.round.number));
  outline_blocks(page, plan.sorted_map, plan.round.bucket, plan.round.bucket, plan.colours);
  draw_matrix_frame(page, plan.sorted_map, pooled);
  draw_colour_bar(page, plan.sorted_map.right, range, {"weight", ""});

  const Box below_right =
      draw_map_title(page, plan.right, plan.pairs, {"Pairs in text order", "Pairs, text order"});
  const Theme& theme = page.theme();
  const Colour other_pairs = blend(theme.background, theme.text, 0.5);
  std::vector<LegendEntry> legend;
  const PairKinds kinds = pair_kinds(in, plan.round);
  const bool has_others = std::ranges::any_of(kinds.others, [](float x) { return !std::isnan(x); });
  if (has_others) {
    legend.push_back(
        {other_pairs, plan.round.count > 1 ? "another round, or self" : "itself alone"});
  }
  legend.push_back({excluded_colour(theme), "not allowed"});
  draw_legend(page, legend, below_right);
  plan.pairs.pinned_row = plan.pairs.pinned_column = marked;
  page.add(FilledBox{plan.pairs.plot, excluded_colour(theme)});
  HeatMap cells = matrix_cells(plan.pairs);
  cells.colour_map = "grey";  // the value 1 is grey, visible in any theme
  cells.most = 2;
  cells.values = kinds.others;
  page.add(cells);
  constexpr double kLastBucket = 255;
  cells.colour_map = "categories";
  cells.most = kLastBucket;
  cells.values = plan.colours.categories(kinds.by_round);
  page.add(std::move(cells));
  draw_matrix_frame(page, plan.pairs, pooled);
}

MechanismLayout draw_lsh(Page& page, const Box& inside, const HeadInput& in) {
  std::optional<LshPlan> plan = plan_lsh(page, inside, in);
  if (!plan) return {.is_too_small = true};
  MechanismLayout layout;
  layout.pair_at = [order = plan->round.order, sorted = pair_at(plan->sorted_map),
                    text = pair_at(plan->pairs)](Point p) -> std::optional<Pair> {
    Pair pair = sorted_pair_at(sorted, order, order, p);
    if (pair.query < 0) std::tie(pair.query, pair.key) = text(p);
    if (pair.query < 0 || pair.key < 0) return std::nullopt;
    return pair;
  };
  Index marked = -1;
  if (const std::optional<Point>& p = in.input.interaction.pointer) {
    marked = plan->token_at(*p);
    if (const auto pair = layout.pair_at(*p); marked < 0 && pair) marked = pair->query;
  }
  if (marked < 0) marked = focus_of(in.input, in.tap, in.head).query;
  draw_sentences(page, *plan, in, marked);
  draw_strip(page, plan->hashed, marked);
  draw_links(page, *plan, marked);
  draw_strip(page, plan->text, marked);
  draw_strip(page, plan->sorted, plan->round.order.place[static_cast<std::size_t>(marked)]);
  draw_chunks(page, *plan);
  draw_maps(page, *plan, in, marked);
  layout.bottom = std::max(plan->sorted_map.bottom(page), plan->pairs.bottom(page));
  return layout;
}

std::vector<ViewData::Matrix> lsh_numbers(const HeadInput& in) {
  const Round round = selected_round(in);
  const std::vector<std::string> labels = query_axis(in.input.trace, in.tap).labels;
  std::vector<std::string> rounds, sorted;
  for (Index n = 0; n < round.count; ++n) rounds.push_back("round " + std::to_string(n + 1));
  for (const Index i : round.order.token) sorted.push_back(labels[static_cast<std::size_t>(i)]);
  const std::string round_name = rounds[static_cast<std::size_t>(round.number)];
  return {{"bucket", bucket_rows(in), rounds, labels, {"round"}},
          {"position after sorting",
           row_of(round.order.place, in_text_order(in.tap.queries())),
           {round_name},
           labels,
           {"round"}},
          {"weight, sorted", reordered(in.tap.attention(in.head), round.order, round.order), sorted,
           sorted}};
}

}  // namespace

Mechanism lsh_mechanism() {
  Mechanism m{"lsh", "tokens that share the buckets of a hash", shows_hashes, draw_lsh,
              lsh_numbers};
  m.parameters = {"round"};
  m.label = "Buckets";
  m.shows_weights = true;
  return m;
}

}  // namespace attnscope
