// Sinkhorn: blocks of keys are scored, matched to positions and moved to these positions.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/attention/variants/shared/causal_matching.h"
#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/view/mechanism/mechanism_list.h"
#include "core/view/mechanism/sorted_map.h"
#include "core/view/mechanism/steps.h"
#include "core/view/mechanism/token_strip.h"
#include "core/view/parts/matrix_plot.h"

namespace attnscope {
namespace {

constexpr double kStageFraction = 0.22;   // fraction of the height: matrices with titles
constexpr double kStageTitle = 1.5;       // em
constexpr double kStageEdge = 0.6;        // em: block colours along a matrix
constexpr double kStageGap = 1.5;         // em
constexpr double kMinStageSide = 4;       // em
constexpr double kLowSinkhorn = 40;       // em: minimum height of a picture with all labels
constexpr double kBlocksFraction = 0.15;  // fraction of the height: a strip with labels
constexpr double kMovesFraction = 0.05;   // fraction of the height: lines between the strips
constexpr double kMinBlockMap = 7;        // em
constexpr double kMinMove = 0.02;         // minimum weight of a line
constexpr Index kMaxSorted = 2048;        // tokens

bool shows_matching(const AttentionTap& tap) {
  const auto logits = tap.result.extra.find("sinkhorn.logits");
  return logits != tap.result.extra.end() && tap.result.extra.contains("sinkhorn.matching") &&
         tap.queries() == tap.keys() && tap.queries() % logits->second.dim(1) == 0 &&
         tap.queries() <= kMaxSorted;
}

// Matrix of one head.  [n, n]
Tensor head_slice(const Tensor& slices, Index head) {
  const Index n = slices.dim(1);
  Tensor slice({n, n});
  std::copy_n(slices.data() + head * n * n, n * n, slice.data());
  return slice;
}

// Normalises log-weights [n, n] so that the weights of each row, or each column, sum to 1.
void normalise(std::vector<double>& logs, Index n, bool by_column) {
  const Index stride = by_column ? n : 1, line_stride = by_column ? 1 : n;
  for (Index line = 0; line < n; ++line) {
    const auto at = [&](Index i) -> double& {
      return logs[static_cast<std::size_t>(line * line_stride + i * stride)];
    };
    double max_log = at(0), sum = 0;
    for (Index i = 1; i < n; ++i) max_log = std::max(max_log, at(i));
    for (Index i = 0; i < n; ++i) sum += std::exp(at(i) - max_log);
    for (Index i = 0; i < n; ++i) at(i) -= max_log + std::log(sum);
  }
}

// Scores of blocks at positions, at one stage of their normalisation to a matching.
struct Stage {
  std::string name, title;
  Tensor values;            // [n, n]: rows are positions, columns are blocks of keys
  bool has_scores = false;  // true before the first normalisation
};

// Stages of the causal form, which normalises columns first, over earlier places.
std::vector<Stage> causal_stages(const HeadInput& in, std::vector<double> logs, const Stage& scores,
                                 const Tensor& matching) {
  const Index n = matching.dim(0), rounds = in.tap.variant.values.integer("iterations");
  const auto weights = [&] {
    Tensor result = Tensor::zeros({n, n});
    for (Index place = 0; place < n; ++place) {
      for (Index block = 0; block < place; ++block) {
        result(place, block) =
            static_cast<float>(std::exp(logs[static_cast<std::size_t>(place * n + block)]));
      }
    }
    return result;
  };
  std::vector<Stage> stages{scores};
  normalise_earlier_columns(logs, n);
  stages.push_back({"columns of round 1", "columns so far sum to 1", weights()});
  normalise_earlier_rows(logs, n);
  stages.push_back({"rows of round 1", rounds == 1 ? "then rows" : "then rows do", weights()});
  if (rounds > 1) {
    stages.push_back({"matching", "after " + std::to_string(rounds) + " rounds", matching});
  }
  return stages;
}

bool sorts_by_content(const AttentionTap& tap) {
  return tap.variant.values.choice("sorting") == "content";
}

std::vector<Stage> matching_stages(const HeadInput& in) {
  const Values& values = in.tap.variant.values;
  const Tensor logits = head_slice(in.tap.result.extra.at("sinkhorn.logits"), in.head);
  const Index n = logits.dim(0), rounds = values.integer("iterations");
  std::vector<double> logs;
  for (const float x : logits) logs.push_back(static_cast<double>(x) / values.real("temperature"));
  const auto weights = [&] {
    Tensor result({n, n});
    for (Index i = 0; i < result.size(); ++i) {
      result[i] = static_cast<float>(std::exp(logs[static_cast<std::size_t>(i)]));
    }
    return result;
  };
  const Tensor matching = head_slice(in.tap.result.extra.at("sinkhorn.matching"), in.head);
  std::vector<Stage> stages{
      {"logits", sorts_by_content(in.tap) ? "scores of this text" : "scores", logits, true}};
  if (in.tap.causal) return causal_stages(in, std::move(logs), stages.front(), matching);
  normalise(logs, n, false);
  stages.push_back({"rows of round 1", "rows sum to 1", weights()});
  normalise(logs, n, true);
  stages.push_back(
      {"columns of round 1", rounds == 1 ? "then columns" : "then columns do", weights()});
  if (rounds > 1) {
    stages.push_back({"matching", "after " + std::to_string(rounds) + " rounds", matching});
  }
  return stages;
}

struct SinkhornPlan {
  std::vector<Stage> stages;
  std::vector<Box> stage_boxes;   // cells
  Index block = 1;                // tokens per block
  std::vector<Index> best_block;  // block with the largest weight at each position; -1: none
  KindColours colours;
  TokenStrip text, sorted;
  std::array<Box, 3> sentences;
  MatrixPlot map;
  const Tensor& matching() const { return stages.back().values; }
  // Token whose key is sorted to the position of token i; -1: none.
  Index sorted_token(Index i) const {
    const Index best = best_block[static_cast<std::size_t>(i / block)];
    return best < 0 ? -1 : best * block + i % block;
  }
};

std::vector<Index> best_blocks(const Tensor& matching) {
  std::vector<Index> best;
  for (Index place = 0; place < matching.dim(0); ++place) {
    const float* row = matching.data() + place * matching.dim(1);
    const Index largest = std::max_element(row, row + matching.dim(1)) - row;
    best.push_back(row[largest] > 0 ? largest : -1);
  }
  return best;
}

// Places the matrices side by side; omits intermediate ones if space is short.
void place_stages(const Page& page, const Box& box, SinkhornPlan& plan) {
  const double em = page.em(), edge = kStageEdge * em;
  const auto stage_side = [&] {
    const auto count = static_cast<double>(plan.stages.size());
    return std::min(box.height - kStageTitle * em - edge,
                    (box.width + kStageGap * em) / count - kStageGap * em - edge);
  };
  while (plan.stages.size() > 2 && stage_side() < kMinStageSide * em) {
    plan.stages.erase(plan.stages.begin() + 1);
  }
  const double max_gap = 4 * em;
  const auto count = static_cast<double>(plan.stages.size());
  const double spare = box.width - count * (stage_side() + edge);
  const double gap = count > 1 ? std::min(max_gap, spare / (count - 1)) : 0;
  for (std::size_t n = 0; n < plan.stages.size(); ++n) {
    plan.stage_boxes.push_back({box.x + edge + static_cast<double>(n) * (stage_side() + edge + gap),
                                box.y + kStageTitle * em + edge, stage_side(), stage_side()});
  }
}

Tensor block_row(const std::vector<Index>& tokens, Index block) {
  Tensor row({1, static_cast<Index>(tokens.size())});
  for (Index n = 0; n < row.size(); ++n) {
    const Index token = tokens[static_cast<std::size_t>(n)];
    row[n] =
        token < 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(token / block);
  }
  return row;
}

std::optional<SinkhornPlan> plan_sinkhorn(const Page& page, const Box& inside,
                                          const HeadInput& in) {
  const double em = page.em(), step = step_height(page);
  const Index length = in.tap.queries();
  std::vector<Stage> stages = matching_stages(in);
  const Index block = length / stages.front().values.dim(0);
  const std::vector<Index> text_order = in_text_order(length).token;
  const KindColours colours(block_row(text_order, block));
  const TokenStrip empty{{}, {}, {}, colours};
  SinkhornPlan plan{std::move(stages), {}, block, {}, colours, empty, empty, {}, {}};
  plan.best_block = best_blocks(plan.matching());
  TokenOrder sorted_order;
  for (const Index i : text_order) sorted_order.token.push_back(plan.sorted_token(i));
  Box area = inside;
  const auto next_sentence = [&](std::size_t n) {
    plan.sentences[n] = {area.x, area.y, area.width, step};
    area = below(area, step);
  };
  next_sentence(0);
  place_stages(page, {area.x, area.y, area.width, kStageFraction * inside.height}, plan);
  if (plan.stage_boxes.front().width < kMinStageSide * em) return {};
  area = below(area, plan.stage_boxes.front().bottom() - area.y + 0.4 * em);
  next_sentence(1);
  TokenAxis tokens = key_axis(in.input.trace, in.tap);
  tokens.titles = {};
  const std::vector<std::string> names{"blocks", "sorted"};
  const double left = strip_left(page, names), height = kBlocksFraction * inside.height;
  const auto strip_at = [&](double y) { return Box{area.x + left, y, area.width - left, height}; };
  // Low pictures omit these labels, because the axes of the map repeat them in this order.
  const bool is_low = inside.height < kLowSinkhorn * em;
  plan.text = place_strip(page, strip_at(area.y), is_low ? TokenAxis() : tokens, {},
                          block_row(text_order, block), colours);
  area = below(area, plan.text.bottom() - area.y + kMovesFraction * inside.height);
  plan.sorted = place_strip(page, strip_at(area.y), reordered(tokens, sorted_order), {},
                            block_row(sorted_order.token, block), colours);
  area = below(area, plan.sorted.bottom() - area.y + 0.4 * em);
  next_sentence(2);
  if (!(plan.text.cells.width > 0) || !(plan.sorted.cells.width > 0)) return {};
  if (area.height < kMinBlockMap * em) return {};
  plan.text.names = {names[0]};
  plan.sorted.names = {names[1]};
  TokenAxis keys = key_axis(in.input.trace, in.tap);
  if (is_low) keys.titles = {};
  plan.map = place_matrix(page, area, query_axis(in.input.trace, in.tap), std::move(keys),
                          colour_bar_width(page));
  if (!(plan.map.plot.width > 0)) return {};
  return plan;
}

void draw_matrix_numbers(Page& page, const HeatMap& cells, const ColourRange& range, int digits) {
  const double side = cells.box.width / cells.width, size = page.small();
  if (side < page.width_of("0.00", size) + 0.3 * size) return;
  const ColourMap& map = colour_map(range.colour_map);
  for (Index i = 0; i < cells.values.dim(0); ++i) {
    for (Index j = 0; j < cells.values.dim(1); ++j) {
      const auto value = static_cast<double>(cells.values(i, j));
      page.add(Text{{cells.box.x + (static_cast<double>(j) + 0.5) * side,
                     cells.box.y + (static_cast<double>(i) + 0.5) * side},
                    fixed(value, digits),
                    ink_on(map.at(range.position(value))),
                    size,
                    Align::Middle});
    }
  }
}

// Draws a matrix with block colours along its edges; its title ends before `right`.
void draw_stage(Page& page, const SinkhornPlan& plan, std::size_t number, double right) {
  const Stage& stage = plan.stages[number];
  const Box& box = plan.stage_boxes[number];
  const double em = page.em(), edge = kStageEdge * em;
  const auto n = static_cast<double>(stage.values.dim(0));
  ColourRange range{0, 1, "viridis"};
  if (stage.has_scores) {
    float max_score = 0;
    for (const float x : stage.values) max_score = std::max(max_score, std::abs(x));
    const double end = max_score > 0 ? static_cast<double>(max_score) : 1;
    range = {-end, end, diverging_colours(page.theme())};
  }
  page.text({box.x, box.y - edge - kStageTitle / 2 * em},
            page.ellipsised(stage.title, em, right - box.x), em);
  for (Index i = 0; i < stage.values.dim(0); ++i) {
    const double offset = static_cast<double>(i) / n * box.width, side = box.width / n;
    page.add(FilledBox{{box.x - edge, box.y + offset, edge * 0.8, side}, plan.colours(i)});
    page.add(FilledBox{{box.x + offset, box.y - edge, side, edge * 0.8}, plan.colours(i)});
  }
  HeatMap cells;
  cells.box = box;
  cells.values = stage.values;
  cells.height = cells.width = n;
  cells.least = range.least;
  cells.most = range.most;
  cells.colour_map = range.colour_map;
  page.add(cells);
  draw_matrix_numbers(page, cells, range, stage.has_scores ? 1 : 2);
  page.add(OutlinedBox{box, page.theme().line, 1});
}

// Draws lines from each block to the positions that receive it, as wide as the weight.
void draw_moves(Page& page, const SinkhornPlan& plan, Index marked_place) {
  const Tensor& p = plan.matching();
  const double from = plan.text.bottom(), to = plan.sorted.cells.y - plan.sorted.depth;
  const auto centre = [&](const TokenStrip& strip, Index block) {
    return (strip.centre(block * plan.block) + strip.centre((block + 1) * plan.block - 1)) / 2;
  };
  for (Index place = 0; place < p.dim(0); ++place) {
    for (Index block = 0; block < p.dim(1); ++block) {
      const auto weight = static_cast<double>(p(place, block));
      if (!(weight >= kMinMove)) continue;
      page.add(Line{{{centre(plan.text, block), from}, {centre(plan.sorted, place), to}},
                    translucent(plan.colours(block), 0.25 + 0.75 * weight),
                    1 + (place == marked_place ? 6 : 3) * weight});
    }
  }
}

std::vector<std::string> matching_sentences(const AttentionTap& tap) {
  if (tap.causal) {
    return {
        "Match: score of each earlier block of keys (across) for each position (down); columns "
        "and rows are normalised in turn",
        "Match earlier blocks (across) to positions (down): rows sum to 1",
        "Match blocks to positions"};
  }
  if (sorts_by_content(tap)) {
    return {
        "Match: a network reads each block of the text and scores the blocks of keys (across) for "
        "its position (down); rows and columns are normalised in turn",
        "Match: the contents of a block (down) score the blocks of keys (across)",
        "Match blocks to positions"};
  }
  return {
      "Match: score of each block of keys (across) for each position (down); rows and "
      "columns are normalised in turn",
      "Match blocks (across) to positions (down): rows and columns sum to 1",
      "Match blocks to positions"};
}

void draw_sinkhorn_steps(Page& page, const SinkhornPlan& plan, const HeadInput& in, Index marked) {
  const Index place = marked / plan.block, best = plan.best_block[static_cast<std::size_t>(place)];
  draw_step(page, plan.sentences[0], 1, matching_sentences(in.tap));
  std::string gets = "Sort: position " + std::to_string(place) + " has no earlier block";
  if (best >= 0) {
    gets = "Sort: position " + std::to_string(place) + " gets " +
           percent(static_cast<double>(plan.matching()(place, best))) + " of block " +
           std::to_string(best);
  }
  draw_step(page, plan.sentences[1], 2,
            {gets + "; each position gets the blocks by their weights", gets, "Sort the blocks"});
  const std::string name =
      "“" + query_label(in.input.trace, in.tap, marked) + "” (" + std::to_string(marked) + ")";
  const bool adds_dense = in.tap.variant.values.choice("mixture") == "dense";
  draw_step(page, plan.sentences[2], 3,
            {"Attend: " + name + " attends to its own block, " + std::to_string(place) +
                 (best < 0 ? ", alone" : ", and to the block sorted to its position") +
                 (adds_dense ? "; averaged with full attention" : ""),
             name + " attends to block " + std::to_string(place) +
                 (best < 0 ? "" : " and the sorted block"),
             "Attend: own block and sorted one", "Attend"});
}

MechanismLayout draw_sinkhorn(Page& page, const Box& inside, const HeadInput& in) {
  std::optional<SinkhornPlan> plan = plan_sinkhorn(page, inside, in);
  if (!plan) return {.is_too_small = true};
  MechanismLayout layout;
  layout.pair_at = [map_pair_at = pair_at(plan->map)](Point p) -> std::optional<Pair> {
    const auto [query, key] = map_pair_at(p);
    if (query < 0 || key < 0) return std::nullopt;
    return Pair{query, key};
  };
  Pair marked = focus_of(in.input, in.tap, in.head);
  if (const std::optional<Point>& p = in.input.interaction.pointer) {
    marked = layout.pair_at(*p).value_or(marked);
    for (const TokenStrip* strip : {&plan->text, &plan->sorted}) {
      if (const Index token = strip->at(*p); token >= 0) marked.query = token;
    }
  }
  draw_sinkhorn_steps(page, *plan, in, marked.query);
  for (std::size_t n = 0; n < plan->stages.size(); ++n) {
    const bool is_last = n + 1 == plan->stages.size();
    const double right = is_last ? inside.right() : plan->stage_boxes[n + 1].x - 1.5 * page.em();
    draw_stage(page, *plan, n, right);
  }
  draw_moves(page, *plan, marked.query / plan->block);
  draw_strip(page, plan->text, marked.query);
  draw_strip(page, plan->sorted, marked.query);
  plan->map.pinned_row = marked.query;
  plan->map.pinned_column = marked.key;
  const TokenOrder order = in_text_order(in.tap.queries());
  const ColourRange range =
      draw_sorted_weights(page, in, plan->map, order, order, CacheKey("sinkhorn"));
  draw_matrix_frame(page, plan->map, {"more pairs than pixels", "pooled"});
  draw_colour_bar(page, plan->map.right, range, {"weight", ""});
  layout.bottom = plan->map.bottom(page);
  return layout;
}

std::vector<ViewData::Matrix> sinkhorn_numbers(const HeadInput& in) {
  std::vector<ViewData::Matrix> matrices;
  for (Stage& stage : matching_stages(in)) {
    std::vector<std::string> labels;
    for (Index n = 0; n < stage.values.dim(0); ++n) labels.push_back(std::to_string(n));
    matrices.push_back({stage.name, std::move(stage.values), labels, labels, {"place"}});
  }
  matrices.push_back({"weight", in.tap.attention(in.head),
                      query_axis(in.input.trace, in.tap).labels,
                      key_axis(in.input.trace, in.tap).labels});
  return matrices;
}

}  // namespace

Mechanism sinkhorn_mechanism() {
  Mechanism m{"sinkhorn", "blocks of keys sorted to positions", shows_matching, draw_sinkhorn,
              sinkhorn_numbers};
  m.label = "Sorted blocks";
  m.shows_weights = true;
  return m;
}

}  // namespace attnscope
