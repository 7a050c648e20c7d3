// Weights without comparisons of tokens: predicted from the query's own token (dense Synthesizer,
// dynamic convolution), or from positions (gMLP, random Synthesizer).
#include <algorithm>
#include <cmath>

#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/view/mechanism/boxes.h"
#include "core/view/mechanism/mechanism_list.h"
#include "core/view/mechanism/steps.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/matrix_plot.h"
#include "core/view/parts/not_allowed.h"
#include "core/view/parts/range.h"

namespace attnscope {
namespace {

constexpr double kMinGenerated = 9;      // em: a map with its axes
constexpr double kMinWideKernel = 38;    // em: minimum width for the kernel next to the weights
constexpr double kKernelColumn = 0.36;   // fraction of the width for the kernel
constexpr double kSourceFraction = 0.5;  // fraction of the space below the chain for the source

WeightsFrom weights_from(const AttentionTap& tap) {
  const Variant& entry = variant(tap.variant.id);
  return entry.scores.weights_from(tap.variant.values);
}

bool is_generated(const AttentionTap& tap) {
  if (tap.settings() == nullptr || tap.settings()->source != Source::Logits) return false;
  const WeightsFrom from = weights_from(tap);
  return from == WeightsFrom::Token || from == WeightsFrom::Positions;
}

// True if each row has a number per offset (a kernel) instead of one per key.
bool has_kernel(const AttentionTap& tap) {
  return tap.settings()->logits_index != nullptr;
}
bool is_softmax(const AttentionTap& tap) {
  return tap.settings()->normaliser == Normaliser::Softmax;
}

// Numbers that generate the weights, a row per token. Kernels: softmax of the logits, by offset
// from the farthest previous key to later keys. Otherwise: logits by key.
Tensor generating_numbers(const HeadInput& in) {
  const Tensor logits = in.tap.part()->logits.value();
  const Index rows = logits.dim(1), columns = logits.dim(2);
  Tensor numbers({rows, columns});
  for (Index i = 0; i < rows; ++i) {
    double sum = 0, peak = -std::numeric_limits<double>::infinity();
    for (Index k = 0; k < columns; ++k) peak = std::max<double>(peak, logits(in.head, i, k));
    for (Index k = 0; k < columns; ++k) sum += std::exp(logits(in.head, i, k) - peak);
    for (Index k = 0; k < columns; ++k) {
      const double weight = std::exp(logits(in.head, i, k) - peak) / sum;
      numbers(i, k) = has_kernel(in.tap) ? static_cast<float>(weight) : logits(in.head, i, k);
    }
  }
  return numbers;
}

// Offset of the first number of a kernel; negative offsets are before the token.
Index first_offset(const AttentionTap& tap) {
  const OffsetIndex& index = *tap.settings()->logits_index;
  for (std::size_t n = 0; n < index.column.size(); ++n) {
    if (index.column[n] == 0) return -(index.min + static_cast<Index>(n));
  }
  return 0;
}

TokenAxis kernel_axis(const AttentionTap& tap, Index width) {
  TokenAxis axis;
  axis.titles = {"distance of the key", "distance"};
  for (Index c = 0; c < width; ++c) {
    const Index offset = first_offset(tap) + c;
    axis.labels.push_back((offset > 0 ? "+" : "") + std::to_string(offset));
  }
  return axis;
}

// Form of the Synthesizer ("factorised_dense"); empty for other variants and for mixtures.
std::string synthesizer_form(const AttentionTap& tap) {
  const Values& values = tap.variant.values;
  if (!values.has("plus") || values.choice("plus") != "none") return "";
  return values.choice("mode");
}

bool is_mixture(const AttentionTap& tap) {
  return tap.variant.values.has("plus") && tap.variant.values.choice("plus") != "none";
}

// Boxes of a mixture of two forms: their shares, then the softmax.
std::vector<ChainBox> mixture_chain(const HeadInput& in, const ChainBox& origin, Index query) {
  const Tensor& alpha = in.tap.result.extra.at("synthesizer.alpha");
  const Values& values = in.tap.variant.values;
  const auto term = [&](const char* key, Index n) {
    const Parameter& parameter = *std::ranges::find(variant(in.tap.variant.id).parameters,
                                                    std::string(key), &Parameter::key);
    return percent(static_cast<double>(alpha(in.head, n))) + " " +
           choice_label(parameter, values.choice(key));
  };
  return {origin,
          {term("mode", 0) + " + " + term("plus", 1)},
          {"softmax: the weights of row " + std::to_string(query)}};
}

std::vector<ChainBox> origin_chain(const HeadInput& in, Index query) {
  const AttentionTap& tap = in.tap;
  const std::string position = std::to_string(query);
  const std::string name = "“" + query_label(in.input.trace, tap, query) + "”";
  const std::string width = std::to_string(tap.part()->logits.value().dim(2));
  const bool is_token = weights_from(tap) == WeightsFrom::Token;
  if (is_mixture(tap) && tap.result.extra.contains("synthesizer.alpha")) {
    const std::string origin = is_token ? name + " at position " + position + " only"
                                        : "position " + position + ", for any text";
    return mixture_chain(in, {origin, true}, query);
  }
  if (is_token) {
    if (synthesizer_form(tap) == "factorised_dense") {
      return {{name + " at position " + position + " only", true},
              {"two small networks map it to A and B"},
              {"A repeats, each time multiplied by a number of B"},
              {"softmax: the weights of row " + position}};
    }
    if (has_kernel(tap)) {
      return {{name + " at position " + position + " only", true},
              {"a matrix maps it to " + width + " numbers"},
              {"softmax: its kernel"},
              {"applied to the " + width + " keys around it"}};
    }
    return {{name + " at position " + position + " only", true},
            {"a small network maps it to"},
            {"a number for each of " + width + " positions"},
            {"softmax: the weights of row " + position}};
  }
  if (is_softmax(tap)) {
    return {{"position " + position + ", for any text", true},
            {"row " + position +
             (synthesizer_form(tap) == "factorised_random" ? " of a product R₁ R₂ᵀ"
                                                           : " of a fixed matrix R")},
            {"softmax: the weights of row " + position}};
  }
  return {{"position " + position + ", for any text", true},
          {"row " + position + " of a learned matrix Ψ"},
          {"mixes the values of all positions"},
          {name + " gates the mixture"}};
}

struct GeneratedPlan {
  Box chain_sentence{}, chain{}, left{}, right{};  // left and right include their sentences
  bool has_two_maps = true;                        // false: weights only
  MatrixPlot source{}, weights{};
};

std::optional<GeneratedPlan> plan_generated(const Page& page, const Box& inside,
                                            const HeadInput& in) {
  const double em = page.em(), step = step_height(page);
  GeneratedPlan plan;
  plan.chain_sentence = {inside.x, inside.y, inside.width, step};
  plan.chain = {inside.x, inside.y + step, inside.width, chain_height(page)};
  const Box area = below(inside, plan.chain.bottom() - inside.y + em);
  // Without a softmax the predicted numbers are the weights.
  plan.has_two_maps = is_softmax(in.tap);
  std::tie(plan.left, plan.right) = split(page, area, kSourceFraction);
  if (has_kernel(in.tap) && area.width >= kMinWideKernel * em) {  // the kernel matrix is narrow
    const double left = kKernelColumn * area.width;
    plan.left = {area.x, area.y, left, area.height};
    plan.right = {area.x + left + em, area.y, area.width - left - em, area.height};
  }
  if (!plan.has_two_maps) plan.right = area;
  const TokenAxis rows = query_axis(in.input.trace, in.tap);
  const Box right = below(plan.right, step);
  if (right.height < kMinGenerated * em || right.width < kMinGenerated * em) return {};
  plan.weights =
      place_matrix(page, right, rows, key_axis(in.input.trace, in.tap), colour_bar_width(page));
  if (!(plan.weights.plot.width > 0)) return {};
  if (!plan.has_two_maps) return plan;
  TokenAxis columns = key_axis(in.input.trace, in.tap);
  if (has_kernel(in.tap)) columns = kernel_axis(in.tap, in.tap.part()->logits.value().dim(2));
  // Kernels share the colour bar of the weights.
  plan.source = place_matrix(page, below(plan.left, step), rows, columns,
                             has_kernel(in.tap) ? 0 : colour_bar_width(page));
  if (!(plan.source.plot.width > 0)) return {};
  return plan;
}

void draw_source(Page& page, GeneratedPlan& plan, const HeadInput& in, Index query) {
  const bool is_kernel = has_kernel(in.tap), is_token = weights_from(in.tap) == WeightsFrom::Token;
  draw_step(page, plan.left, 2,
            {is_kernel  ? "Every token predicts its own kernel"
             : is_token ? "Every token predicts a row of numbers"
                        : "A fixed matrix, the same for every text",
             is_kernel  ? "A kernel for each token"
             : is_token ? "A row for each token"
                        : "A fixed matrix",
             "Made"});
  HeatMap cells = matrix_cells(plan.source);
  cells.values = cached_numbers(in, CacheKey("made"), [&] { return generating_numbers(in); });
  ColourRange range;
  if (is_kernel) {
    range.colour_map = in.input.session.view.colour_map;
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
  plan.source.pinned_row = query;
  draw_matrix_frame(page, plan.source, {"more numbers than pixels", "pooled"});
  if (!is_kernel) {
    draw_colour_bar(page, plan.source.right, range, {"number before the softmax", "number", ""});
  }
}

void draw_generated_weights(Page& page, GeneratedPlan& plan, const HeadInput& in, Index query) {
  draw_step(page, plan.right, plan.has_two_maps ? 3 : 2,
            {!plan.has_two_maps   ? "The matrix: the weights of any text"
             : has_kernel(in.tap) ? "Placed along the text, the kernels are the weights"
                                  : "The softmax of each row gives its weights",
             "The weights", "Weights"});
  plan.weights.pinned_row = query;
  HeatMap cells = matrix_cells(plan.weights);
  cells.values =
      cached_numbers(in, CacheKey("made weights"), [&] { return in.tap.attention(in.head); });
  const ColourRange range =
      colour_range(in.input, cells, in.tap, in.head, is_signed(in.tap, in.head));
  cells.least = range.least;
  cells.most = range.most;
  cells.colour_map = range.colour_map;
  page.add(std::move(cells));
  cover_excluded(page, matrix_cells(plan.weights), in.tap, in.head);
  draw_matrix_frame(page, plan.weights, {"more pairs than pixels", "pooled"});
  draw_colour_bar(page, plan.weights.right, range, {"weight", ""});
}

MechanismLayout draw_generated(Page& page, const Box& inside, const HeadInput& in) {
  std::optional<GeneratedPlan> plan = plan_generated(page, inside, in);
  if (!plan) return {.is_too_small = true};
  MechanismLayout layout;
  layout.pair_at = [map_pair_at = pair_at(plan->weights)](Point p) -> std::optional<Pair> {
    const auto [query, key] = map_pair_at(p);
    if (query < 0 || key < 0) return std::nullopt;
    return Pair{query, key};
  };
  Index query = focus_of(in.input, in.tap, in.head).query;
  if (const std::optional<Point>& p = in.input.interaction.pointer) {
    if (const auto pair = layout.pair_at(*p)) query = pair->query;
    if (const Index row = pair_at(plan->source)(*p).first; plan->has_two_maps && row >= 0)
      query = row;
  }
  const bool is_token = weights_from(in.tap) == WeightsFrom::Token;
  draw_step(page, plan->chain_sentence, 1,
            {is_token ? "No comparisons: a query's weights depend on its own token only"
                      : "No comparisons: weights depend on positions only",
             "No comparisons of tokens", "No comparisons"});
  draw_chain(page, plan->chain, origin_chain(in, query));
  if (plan->has_two_maps) draw_source(page, *plan, in, query);
  draw_generated_weights(page, *plan, in, query);
  layout.bottom =
      std::max(plan->weights.bottom(page), plan->has_two_maps ? plan->source.bottom(page) : 0.0);
  return layout;
}

std::vector<ViewData::Matrix> exported_origin(const HeadInput& in) {
  const std::vector<std::string> rows = query_axis(in.input.trace, in.tap).labels;
  const std::vector<std::string> keys = key_axis(in.input.trace, in.tap).labels;
  const Tensor numbers = generating_numbers(in);
  return {{has_kernel(in.tap) ? "kernel" : "made", numbers, rows,
           has_kernel(in.tap) ? kernel_axis(in.tap, numbers.dim(1)).labels : keys},
          {"weight", in.tap.attention(in.head), rows, keys}};
}

}  // namespace

Mechanism generated_mechanism() {
  Mechanism m{"made", "the origin of weights without comparisons of tokens", is_generated,
              draw_generated, exported_origin};
  m.label = "Origin of weights";
  m.shows_weights = true;
  return m;
}

}  // namespace attnscope
