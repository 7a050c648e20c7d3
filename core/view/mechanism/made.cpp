// Weights without comparisons of tokens: predicted from the query's own token (dense Synthesizer,
// dynamic convolution), or from positions (gMLP, random Synthesizer).
#include <algorithm>
#include <cmath>

#include "core/figure/colour_map.h"
#include "core/view/mechanism/boxes.h"
#include "core/view/mechanism/mechanism_list.h"
#include "core/view/mechanism/steps.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/matrix_plot.h"
#include "core/view/parts/not_allowed.h"
#include "core/view/parts/range.h"

namespace attnscope {
namespace {

constexpr double kMinMade = 9;        // em: a map with its axes
constexpr double kKernelBeside = 38;  // em: from this width on, the kernel is next to the weights
constexpr double kKernelColumn = 0.36;
constexpr double kMadeShare =
    0.5;  // share of the space below the chain, for the origin of the weights

WeightsFrom weights_from(const AttentionTap& tap) {
  const Variant& v = variant(tap.variant.id);
  return v.scores.weights_from(tap.variant.values);
}

bool is_made(const AttentionTap& tap) {
  const Part* part = tap.result.part.get();
  if (part == nullptr || part->source != Source::Logits || !part->logits.defined()) return false;
  const WeightsFrom from = weights_from(tap);
  return from == WeightsFrom::Token || from == WeightsFrom::Positions;
}

// True if each row has a number per offset (a kernel) instead of one per key.
bool has_kernel(const AttentionTap& tap) {
  return tap.result.part->logits_index != nullptr;
}
bool is_softmax(const AttentionTap& tap) {
  return tap.result.part->normaliser == Normaliser::Softmax;
}

// A row for each token: kernels after their softmax, from the farthest key before the token to the
// farthest after it; otherwise the numbers before the softmax.
Tensor made_matrix(const MechanismOf& of) {
  const Part& part = *of.tap.result.part;
  const Tensor& logits = part.logits.value();
  const Index rows = logits.dim(1), columns = logits.dim(2);
  Tensor made({rows, columns});
  for (Index i = 0; i < rows; ++i) {
    double sum = 0, most = -std::numeric_limits<double>::infinity();
    for (Index c = 0; c < columns; ++c) most = std::max<double>(most, logits(of.head, i, c));
    for (Index c = 0; c < columns; ++c) sum += std::exp(logits(of.head, i, c) - most);
    for (Index c = 0; c < columns; ++c) {
      const double share = std::exp(logits(of.head, i, c) - most) / sum;
      made(i, c) = has_kernel(of.tap) ? static_cast<float>(share) : logits(of.head, i, c);
    }
  }
  return made;
}

// Offset of the first number of a kernel; negative: before the token.
Index first_offset(const AttentionTap& tap) {
  const OffsetIndex& index = *tap.result.part->logits_index;
  for (std::size_t n = 0; n < index.column.size(); ++n) {
    if (index.column[n] == 0) return -(index.least + static_cast<Index>(n));
  }
  return 0;
}

TokenAxis kernel_axis(const AttentionTap& tap, Index width) {
  TokenAxis axis;
  axis.titles = {"distance of the key", "distance"};
  for (Index c = 0; c < width; ++c) {
    const Index offset = first_offset(tap) + c;
    axis.labels.push_back((offset < 0   ? "−"
                           : offset > 0 ? "+"
                                        : "") +
                          std::to_string(std::abs(offset)));
  }
  return axis;
}

std::vector<ChainBox> chain_of(const MechanismOf& of, Index query) {
  const AttentionTap& tap = of.tap;
  const std::string place = std::to_string(query);
  const std::string name = "“" + query_label(of.input.trace, tap, query) + "”";
  const std::string width = std::to_string(tap.result.part->logits.value().dim(2));
  if (weights_from(tap) == WeightsFrom::Token) {
    if (has_kernel(tap)) {
      return {{name + " at place " + place + " only", true},
              {"a matrix maps it to " + width + " numbers"},
              {"softmax: its kernel"},
              {"applied to the " + width + " keys around it"}};
    }
    return {{name + " at place " + place + " only", true},
            {"a small network maps it to"},
            {"a number for each of " + width + " positions"},
            {"softmax: the weights of row " + place}};
  }
  if (is_softmax(tap)) {
    return {{"position " + place + ", for any text", true},
            {"row " + place + " of a fixed matrix R"},
            {"softmax: the weights of row " + place}};
  }
  return {{"position " + place + ", for any text", true},
          {"row " + place + " of a learned matrix Ψ"},
          {"mixes the values of all positions"},
          {name + " gates the mixture"}};
}

struct MadePlan {
  Box chain_sentence{}, chain{}, left{}, right{};  // left and right include their sentences
  bool two = true;                                 // two maps; false: weights only
  MatrixPlot made{}, weights{};
};

std::optional<MadePlan> plan_made(const Page& page, const Box& inside, const MechanismOf& of) {
  const double em = page.em(), step = step_height(page);
  MadePlan plan;
  plan.chain_sentence = {inside.x, inside.y, inside.width, step};
  plan.chain = {inside.x, inside.y + step, inside.width, chain_height(page)};
  const Box rest = below(inside, plan.chain.bottom() - inside.y + em);
  // Without a softmax the predicted numbers are the weights.
  plan.two = is_softmax(of.tap);
  std::tie(plan.left, plan.right) = split(page, rest, kMadeShare);
  if (has_kernel(of.tap) && rest.width >= kKernelBeside * em) {  // the kernel matrix is narrow
    const double left = kKernelColumn * rest.width;
    plan.left = {rest.x, rest.y, left, rest.height};
    plan.right = {rest.x + left + em, rest.y, rest.width - left - em, rest.height};
  }
  if (!plan.two) plan.right = rest;
  const TokenAxis rows = query_axis(of.input.trace, of.tap);
  const Box right = below(plan.right, step);
  if (right.height < kMinMade * em || right.width < kMinMade * em) return {};
  plan.weights =
      place_matrix(page, right, rows, key_axis(of.input.trace, of.tap), colour_bar_width(page));
  if (!(plan.weights.plot.width > 0)) return {};
  if (!plan.two) return plan;
  TokenAxis columns = key_axis(of.input.trace, of.tap);
  if (has_kernel(of.tap)) {
    columns = kernel_axis(of.tap, of.tap.result.part->logits.value().dim(2));
  }
  // Kernels share the colour bar of the weights.
  plan.made = place_matrix(page, below(plan.left, step), rows, columns,
                           has_kernel(of.tap) ? 0 : colour_bar_width(page));
  if (!(plan.made.plot.width > 0)) return {};
  return plan;
}

void draw_what_is_made(Page& page, MadePlan& plan, const MechanismOf& of, Index query) {
  const bool kernel = has_kernel(of.tap), token = weights_from(of.tap) == WeightsFrom::Token;
  draw_step(page, plan.left, 2,
            {kernel  ? "Every token predicts its own kernel"
             : token ? "Every token predicts a row of numbers"
                     : "A fixed matrix, the same for every text",
             kernel  ? "A kernel for each token"
             : token ? "A row for each token"
                     : "A fixed matrix",
             "Made"});
  HeatMap cells = matrix_cells(plan.made);
  cells.values = cached_numbers(of, CacheKey("made"), [&] { return made_matrix(of); });
  ColourRange range;
  if (kernel) {
    range.colour_map = of.input.session.view.colour_map;
    if (colour_map(range.colour_map).diverging()) range.colour_map = "viridis";
    range.most = 1;
  } else {
    range.colour_map = diverging_colours(page.theme());
    range.most = std::max(1e-6, largest_visible_magnitude(cells));
    range.least = -range.most;
  }
  cells.least = range.least;
  cells.most = range.most;
  cells.colour_map = range.colour_map;
  page.add(std::move(cells));
  plan.made.pinned_row = query;
  draw_matrix_frame(page, plan.made, {"more numbers than pixels", "pooled"});
  if (!kernel) {
    draw_colour_bar(page, plan.made.right, range, {"number before the softmax", "number", ""});
  }
}

void draw_weights_made(Page& page, MadePlan& plan, const MechanismOf& of, Index query) {
  draw_step(page, plan.right, plan.two ? 3 : 2,
            {!plan.two            ? "The matrix: the weights of any text"
             : has_kernel(of.tap) ? "Placed along the text, the kernels are the weights"
                                  : "The softmax of each row gives its weights",
             "The weights", "Weights"});
  plan.weights.pinned_row = query;
  HeatMap cells = matrix_cells(plan.weights);
  cells.values =
      cached_numbers(of, CacheKey("made weights"), [&] { return of.tap.attention(of.head); });
  const ColourRange range =
      colour_range(of.input, cells, of.tap, of.head, is_signed(of.tap, of.head));
  cells.least = range.least;
  cells.most = range.most;
  cells.colour_map = range.colour_map;
  page.add(std::move(cells));
  cover_not_allowed(page, matrix_cells(plan.weights), of.tap, of.head);
  draw_matrix_frame(page, plan.weights, {"more pairs than pixels", "pooled"});
  draw_colour_bar(page, plan.weights.right, range, {"weight", ""});
}

MechanismLayout draw_made(Page& page, const Box& inside, const MechanismOf& of) {
  std::optional<MadePlan> plan = plan_made(page, inside, of);
  if (!plan) return {.no_space = true};
  MechanismLayout layout;
  layout.pair_at = [at = pair_at(plan->weights)](Point p) -> std::optional<Pair> {
    const auto [query, key] = at(p);
    if (query < 0 || key < 0) return std::nullopt;
    return Pair{query, key};
  };
  Index query = focus_of(of.input, of.tap, of.head).query;
  if (const std::optional<Point>& p = of.input.interaction.pointer) {
    if (const auto pair = layout.pair_at(*p)) query = pair->query;
    if (const Index row = pair_at(plan->made)(*p).first; plan->two && row >= 0) query = row;
  }
  const bool token = weights_from(of.tap) == WeightsFrom::Token;
  draw_step(page, plan->chain_sentence, 1,
            {token ? "No comparisons: a query's weights depend on its own token only"
                   : "No comparisons: weights depend on positions only",
             "No comparisons of tokens", "No comparisons"});
  draw_chain(page, plan->chain, chain_of(of, query));
  if (plan->two) draw_what_is_made(page, *plan, of, query);
  draw_weights_made(page, *plan, of, query);
  layout.bottom = std::max(plan->weights.bottom(page), plan->two ? plan->made.bottom(page) : 0.0);
  return layout;
}

std::vector<ViewData::Matrix> made_numbers(const MechanismOf& of) {
  const std::vector<std::string> rows = query_axis(of.input.trace, of.tap).labels;
  const std::vector<std::string> keys = key_axis(of.input.trace, of.tap).labels;
  const Tensor made = made_matrix(of);
  return {{has_kernel(of.tap) ? "kernel" : "made", made, rows,
           has_kernel(of.tap) ? kernel_axis(of.tap, made.dim(1)).labels : keys},
          {"weight", of.tap.attention(of.head), rows, keys}};
}

}  // namespace

Mechanism made_mechanism() {
  Mechanism m{"made", "the origin of weights without comparisons of tokens", is_made, draw_made,
              made_numbers};
  m.label = "Origin of weights";
  m.weights = true;
  return m;
}

}  // namespace attnscope
