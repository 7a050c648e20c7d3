// Memory of a training step: all activations, or the inputs of recomputed layers as float32 or
// bfloat16, and the rounding of a number (Chen et al., 2016; Child et al., 2019, section 5.4).
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "core/experiment/block_study.h"
#include "core/experiment/finding.h"
#include "core/figure/plain_text.h"
#include "core/model/config.h"
#include "core/model/memory_need.h"
#include "core/model/recomputation.h"
#include "core/tensor/half.h"
#include "core/view/block/block_picture.h"
#include "core/view/mechanism/steps.h"
#include "core/view/parts/chart.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/fact_table.h"
#include "core/view/parts/legend.h"

namespace attnscope {
namespace {

constexpr double kMinMemoryChart = 9, kMaxMemoryChart = 18;  // em: height
constexpr double kMinBit = 0.75, kMaxBit = 1.5;              // em: width of a bit
constexpr double kBitsHeight = 7.5;                          // em
constexpr int kBits = 32, kExponentBits = 8, kKeptBits = 16;

Refusal storage_refusal(const BlockInput& in) {
  const ModelConfig& config = *in.input.trace.config;
  if (const std::string reason = recomputation_refusal(config); !reason.empty()) {
    return {"No recomputed layers",
            capitalised(reason.substr(std::string("checkpointing: ").size())) + "."};
  }
  return study_refusal(block_study(in), "No layer inputs");
}

// A way to keep what the backward pass needs, with the bytes that it keeps of a finished layer, and
// of the layer whose backward pass runs.
struct StorageKind {
  std::string label;
  double kept = 0, active = 0;
  double peak(double layers) const { return layers * kept + active; }
};

LayerMemory memory_of_run(const BlockInput& in) {
  const Trace& trace = in.input.trace;
  const auto tokens = static_cast<Index>(trace.tokens.size());
  const auto source = static_cast<Index>(trace.text_tokens().size());
  const bool has_source = source > 0 && &trace.text_tokens() != &trace.tokens;
  return layer_memory(*trace.config, has_source ? RunLength{source, tokens} : RunLength{tokens, 0});
}

std::vector<StorageKind> storage_kinds(const LayerMemory& memory) {
  return {{"all activations", memory.activations, 0},
          {"inputs of the layers, recomputed", memory.input, memory.activations},
          {"the same as bfloat16", memory.input / 2, memory.activations}};
}

// Kept bytes over time: a unit for each layer forward, then for each layer backward.
std::vector<Point> kept_bytes(const StorageKind& kind, double layers) {
  std::vector<Point> points{{0, 0}, {layers, layers * kind.kept}};
  for (double left = layers; left >= 1; --left) {
    const double start = 2 * layers - left, bytes = left * kind.kept + kind.active;
    points.push_back({start, bytes});
    points.push_back({start + 1, kind.active > 0 ? bytes : bytes - kind.kept});
  }
  points.push_back({2 * layers, 0});
  return points;
}

double draw_memory(Page& page, const Box& box, const LayerMemory& memory) {
  const std::vector<StorageKind> kinds = storage_kinds(memory);
  const Colour colours[] = {page.theme().faint_text, first_colour(), second_colour()};
  std::vector<LegendEntry> entries;
  double most = 0;
  for (std::size_t n = 0; n < kinds.size(); ++n) {
    const double peak = kinds[n].peak(memory.layers);
    entries.push_back({colours[n], kinds[n].label + ": " + bytes_text(peak), false, true});
    most = std::max(most, peak);
  }
  const double legend = legend_height(page, entries, box.width);
  draw_legend(page, entries, {box.x, box.y, box.width, legend});
  const double unit = most >= 1e6 ? 1e6 : 1e3;
  ChartAxis x{0, 2 * memory.layers, {"layers forward, then backward", "time"}};
  x.names = {
      {0, "start"}, {memory.layers, memory.layers >= 2 ? "loss" : ""}, {2 * memory.layers, "end"}};
  ChartAxis y = padded_axis(0, most / unit, true);
  y.titles = {unit == 1e6 ? "MB kept" : "kB kept", unit == 1e6 ? "MB" : "kB"};
  const Box below_legend{box.x, box.y + legend + 0.3 * page.em(), box.width,
                         box.height - legend - 0.3 * page.em()};
  const Chart chart = place_chart(page, below_legend, x, y);
  if (chart.empty()) return box.y + legend;
  draw_chart(page, chart);
  for (std::size_t n = 0; n < kinds.size(); ++n) {
    std::vector<Point> points = kept_bytes(kinds[n], memory.layers);
    for (Point& p : points) p.y /= unit;
    draw_curve(page, chart, points, colours[n], 2);
  }
  return box.bottom();
}

// A number of the token's state in the layer: the one with the largest rounding error.
struct RoundedNumber {
  float exact = 0, rounded = 0;
  double largest_error = 0;  // of all numbers of all tokens, relative to the number
};

std::optional<RoundedNumber> rounded_number(const BlockInput& in) {
  const auto study = block_study(in);
  if (study->norms.empty()) return std::nullopt;
  const Tensor& states = study->norms.front().input;  // [L, d]
  const Tensor rounded = unpack_bfloat(pack_bfloat(states), states.shape());
  RoundedNumber number;
  for (Index n = 0; n < states.size(); ++n) {
    const double error = std::abs(static_cast<double>(states[n] - rounded[n]));
    if (states[n] == 0) continue;
    number.largest_error =
        std::max(number.largest_error, error / std::abs(static_cast<double>(states[n])));
  }
  const Index first = std::min(in.token, states.dim(0) - 1) * states.dim(1);
  double most = -1;
  for (Index n = first; n < first + states.dim(1); ++n) {
    const double error = std::abs(static_cast<double>(states[n] - rounded[n]));
    if (!(error > most)) continue;
    most = error;
    number.exact = states[n];
    number.rounded = rounded[n];
  }
  return number;
}

// The bits of a float32: sign, exponent, and the fraction, whose last 16 bits bfloat16 lacks.
double draw_bits(Page& page, const Box& box, const BlockInput& in, const RoundedNumber& number) {
  const Theme& theme = page.theme();
  const double em = page.em(), cell = std::min(kMaxBit * em, box.width / kBits);
  double y = box.y;
  if (cell >= kMinBit * em) {
    const auto bits = std::bit_cast<std::uint32_t>(number.exact);
    for (int n = 0; n < kBits; ++n) {
      const Colour colour = n == 0               ? theme.accent
                            : n <= kExponentBits ? key_colour(theme)
                                                 : first_colour();
      const bool is_kept = n < kKeptBits;
      const Box bit{box.x + n * cell, y, cell, 1.6 * em};
      if (is_kept) page.add(FilledBox{bit, blend(theme.background, colour, 0.3)});
      page.add(OutlinedBox{bit, theme.line, 1});
      page.add(Text{{bit.x + cell / 2, bit.y + 0.8 * em},
                    bits >> (kBits - 1 - n) & 1 ? "1" : "0",
                    is_kept ? theme.text : theme.faint_text,
                    page.small(),
                    Align::Middle});
    }
    const double name_y = y + 2.3 * em;
    const double kept_end = box.x + kKeptBits * cell, exponent_end = box.x + 9 * cell;
    page.text({box.x, name_y}, page.fitting({"sign, exponent", "exponent"}, page.small(), 9 * cell),
              page.small());
    page.text({exponent_end, name_y},
              page.fitting({"fraction, 7 bits", "fraction"}, page.small(), 7 * cell), page.small());
    page.faint_text({kept_end + 0.3 * em, name_y},
                    page.fitting({"rounded away: 16 bits", "rounded"}, page.small(), 15 * cell),
                    page.small());
    y += 3.2 * em;
  }
  const std::string exact = brief(static_cast<double>(number.exact), 7),
                    rounded = brief(static_cast<double>(number.rounded), 7);
  page.text({box.x, y + 0.75 * em},
            page.fitting({"The least exact number of " + in.word() + ": " + exact +
                              " as float32, 4 bytes, becomes " + rounded + " as bfloat16, 2 bytes.",
                          exact + " becomes " + rounded + ".", rounded},
                         em, box.width),
            em);
  page.text({box.x, y + 2.25 * em},
            page.fitting({"Largest error in this layer: " + percent(number.largest_error, 2) +
                              " of a number. Products and sums stay float32.",
                          "Largest error: " + percent(number.largest_error, 2)},
                         em, box.width),
            em);
  return y + 3 * em;
}

BlockLayout draw_storage(Page& page, const Box& inside, const BlockInput& in) {
  const double em = page.em(), step = step_height(page);
  const auto number = rounded_number(in);
  const double bits = number ? step + (kBitsHeight + 0.6) * em : 0;
  const double chart = std::min(inside.height - step - bits, kMaxMemoryChart * em);
  if (inside.width < 18 * em || chart < kMinMemoryChart * em) return {.is_too_small = true};
  const LayerMemory memory = memory_of_run(in);
  const auto tokens = static_cast<long long>(in.input.trace.tokens.size());
  const Box first =
      draw_step(page, {inside.x, inside.y, inside.width, step + chart}, 1,
                {"Activations kept for the backward pass, during a training step on "
                 "these " +
                     count_text(tokens, "token") + ", with their peaks",
                 "Activations kept during a training step, with their peaks", "Activations kept"});
  double bottom = draw_memory(page, {first.x, first.y, first.width, chart}, memory);
  if (!number) return {.bottom = bottom};
  const Box second = draw_step(page, below(inside, bottom + 0.6 * em - inside.y), 2,
                               {"Storage as bfloat16 of a number of the residual stream",
                                "Storage as bfloat16", "bfloat16"});
  return {.bottom = draw_bits(page, second, in, *number)};
}

std::vector<ViewData::Matrix> storage_data(const BlockInput& in) {
  const LayerMemory memory = memory_of_run(in);
  ViewData::Matrix matrix{"memory of training",
                          Tensor({3, 3}),
                          {},
                          {"bytes of a layer", "bytes of the active layer", "peak bytes"},
                          {"kept"}};
  const std::vector<StorageKind> kinds = storage_kinds(memory);
  for (std::size_t n = 0; n < kinds.size(); ++n) {
    matrix.rows.push_back(kinds[n].label);
    const double numbers[] = {kinds[n].kept, kinds[n].active, kinds[n].peak(memory.layers)};
    for (Index c = 0; c < 3; ++c) {
      matrix.values(static_cast<Index>(n), c) = static_cast<float>(numbers[c]);
    }
  }
  return {matrix};
}

}  // namespace

BlockPicture storage_picture() {
  BlockPicture p{
      "storage",
      "Memory of training",
      "estimated memory of a training step that keeps all activations, or recomputes layers from "
      "inputs stored as float32 or bfloat16",
      storage_refusal,
      draw_storage,
      storage_data};
  p.parameters = {"token"};
  p.finding = {Findings::block.id, block_settings};
  return p;
}

}  // namespace attnscope
