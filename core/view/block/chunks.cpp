// Feed-forward in chunks of positions, and the peak of its memory (Kitaev et al., 2020, section 3).
#include <algorithm>

#include "core/experiment/finding.h"
#include "core/figure/plain_text.h"
#include "core/model/activation.h"
#include "core/model/config.h"
#include "core/view/block/block_picture.h"
#include "core/view/block/shape_diagram.h"
#include "core/view/mechanism/steps.h"
#include "core/view/view_values.h"

namespace attnscope {
namespace {

constexpr double kChunkRow = 1.5;   // em
constexpr double kMinChunkBar = 8;  // em
constexpr Index kMaxDrawnChunks = 3;
constexpr Index kExample = 4;  // chunks shown for a model without chunks

Refusal chunks_refusal(const BlockInput& in) {
  if (in.input.trace.config->hidden > 0) return {};
  return {"No feed-forward", "The layers of this model have no feed-forward."};
}

// Sizes of a feed-forward and of its largest chunk.
struct ChunkedFeedForward {
  Index tokens = 0, width = 0, hidden = 0;
  Index chunks = 1, chunk_tokens = 0;  // chunk_tokens: of the largest chunk
  Index matrices = 1;                  // hidden matrices that exist together: 3 with a gate
  bool is_model = false;               // the model itself uses this number of chunks
};

Index model_chunks(const ModelConfig& config) {
  const Values& values = config.residual_connection.values;
  return values.has("chunks") ? values.integer("chunks") : 1;
}

ChunkedFeedForward chunked_feed_forward(const BlockInput& in) {
  const ModelConfig& config = *in.input.trace.config;
  const Values values = view_values(in.input.session.view, "block");
  ChunkedFeedForward ff{.tokens = static_cast<Index>(in.tokens.size()),
                        .width = config.width,
                        .hidden = config.hidden};
  const Index own = model_chunks(config);
  const Index wanted = values.has("chunks") ? values.integer("chunks") : own > 1 ? own : kExample;
  ff.chunks = std::clamp<Index>(wanted, 1, std::max<Index>(1, ff.tokens));
  ff.is_model = ff.chunks == std::min(model_chunks(config), ff.tokens);
  // Chunk c covers rows [T c / C, T (c + 1) / C).
  for (Index c = 0; c < ff.chunks; ++c) {
    ff.chunk_tokens =
        std::max(ff.chunk_tokens, ff.tokens * (c + 1) / ff.chunks - ff.tokens * c / ff.chunks);
  }
  ff.matrices = config.gated ? 3 : 2;
  return ff;
}

// Bytes of the hidden matrices of `tokens` tokens: before and after the activation, and with a gate
// its product.
double hidden_bytes(const ChunkedFeedForward& ff, Index tokens) {
  constexpr double kFloatBytes = 4;
  return kFloatBytes * static_cast<double>(ff.matrices * tokens * ff.hidden);
}

std::vector<MatrixColumn> chunk_columns(const Theme& theme, const ChunkedFeedForward& ff) {
  const Colour x = theme.faint_text, hidden = theme.accent;
  const Index drawn = std::min(ff.chunks, kMaxDrawnChunks);
  const auto chunks = [&](const char* name, Index columns, Colour colour) {
    std::vector<MatrixBox> boxes;
    for (Index c = 0; c < drawn; ++c) {
      const bool is_last = c + 1 == drawn && drawn < ff.chunks;
      const Index index = is_last ? ff.chunks - 1 : c;
      const Index rows = ff.tokens * (index + 1) / ff.chunks - ff.tokens * index / ff.chunks;
      const std::string number = ff.chunks == 1 ? "" : " " + std::to_string(index + 1);
      boxes.push_back({(is_last && drawn > 1 ? "… " : "") + std::string(name) + number, 1, rows,
                       columns, colour});
    }
    return boxes;
  };
  const std::string count = count_text(ff.chunks, "chunk");
  return {{{}, {{"X", 1, ff.tokens, ff.width, x}}},
          {{"split into", count}, chunks("X", ff.width, x)},
          {{"× W_in,", "activation"}, chunks("hidden", ff.hidden, hidden)},
          {{"× W_out"}, chunks("Y", ff.width, x)},
          {{"concate-", "nate"}, {{"Y", 1, ff.tokens, ff.width, x}}}};
}

BlockLayout draw_chunks(Page& page, const Box& inside, const BlockInput& in) {
  const ChunkedFeedForward ff = chunked_feed_forward(in);
  const double em = page.em(), step = step_height(page);
  const double whole = hidden_bytes(ff, ff.tokens), part = hidden_bytes(ff, ff.chunk_tokens);
  const std::string saved =
      "Peak of the hidden numbers: " + bytes_text(part) + " instead of " + bytes_text(whole);
  const std::string note =
      ff.is_model ? "as this model computes it"
                  : "this model uses " + count_text(model_chunks(*in.input.trace.config), "chunk");
  page.text({inside.x, inside.y + 0.45 * step},
            page.fitting({"The feed-forward treats every position alone, so chunks give the same "
                          "numbers (" +
                              note + "). " + saved,
                          saved + " (" + note + ")", saved},
                         em, inside.width),
            em);
  struct Row {
    std::string label;
    double bytes;
  };
  const Row rows[] = {{"all positions at once", whole},
                      {count_text(ff.chunks, "chunk") + ", one at a time", part}};
  double label = 0;
  for (const Row& row : rows) label = std::max(label, page.width_of(row.label, em) + em);
  const double bars = std::size(rows) * kChunkRow * em + 0.8 * em;
  Box diagram = below(inside, step + 0.4 * em);
  const double bar = inside.width - label - 6 * em;
  const bool has_bars = bar >= kMinChunkBar * em && diagram.height > bars + 6 * em;
  if (has_bars) diagram.height -= bars;
  const auto columns = chunk_columns(page.theme(), ff);
  const std::optional<double> bottom = draw_shape_diagram(page, diagram, columns);
  if (!bottom) return {.is_too_small = true};
  if (!has_bars) return {.bottom = *bottom};
  double y = *bottom + 0.8 * em;
  for (const Row& row : rows) {
    const double middle = y + kChunkRow / 2 * em, length = bar * row.bytes / whole;
    page.text({inside.x, middle}, row.label, em);
    page.add(
        FilledBox{{inside.x + label, middle - 0.45 * em, length, 0.9 * em}, page.theme().accent});
    page.text({inside.x + label + length + 0.5 * em, middle}, bytes_text(row.bytes), page.small());
    y += kChunkRow * em;
  }
  return {.bottom = y};
}

std::vector<ViewData::Matrix> chunks_data(const BlockInput& in) {
  const ChunkedFeedForward ff = chunked_feed_forward(in);
  ViewData::Matrix matrix{"peak memory",
                          Tensor({2, 2}),
                          {"at once", "in chunks"},
                          {"positions", "bytes"},
                          {"feed-forward"}};
  const Index tokens[] = {ff.tokens, ff.chunk_tokens};
  for (Index n = 0; n < 2; ++n) {
    matrix.values(n, 0) = static_cast<float>(tokens[n]);
    matrix.values(n, 1) = static_cast<float>(hidden_bytes(ff, tokens[n]));
  }
  return {matrix};
}

}  // namespace

BlockPicture chunks_picture() {
  BlockPicture p{"chunks",
                 "Feed-forward in chunks",
                 "the feed-forward in chunks of positions, with the peak of its memory",
                 chunks_refusal,
                 draw_chunks,
                 chunks_data};
  p.parameters = {"chunks"};
  return p;
}

}  // namespace attnscope
