#include "core/view/map/map_values.h"

#include <algorithm>
#include <limits>

#include "core/analysis/flow.h"
#include "core/analysis/words.h"
#include "core/experiment/head_table.h"
#include "core/figure/heat_map.h"
#include "core/model/residual_connection.h"
#include "core/view/parts/cached_numbers.h"
#include "core/view/parts/describe.h"

namespace attnscope {
namespace {

const char* const kHead = "head";
const char* const kHeads = "heads";
const char* const kLayers = "layers";
const char* const kAll = "all";
const char* const kRollout = "rollout";

struct MapHead {
  const AttentionTap* tap;
  Index head;  // index within the tap's group
};

std::vector<MapHead> heads_of_layer(const Trace& trace, const TracePart& part, Index layer) {
  std::vector<MapHead> heads;
  for (Index head = 0; head < trace.head_count(part, layer); ++head) {
    Index group_head = 0;
    if (const AttentionTap* tap = trace.find({layer, head, part}, &group_head))
      heads.push_back({tap, group_head});
  }
  return heads;
}

std::vector<MapHead> averaged_heads(const Trace& trace, const ViewSettings& view,
                                    const std::string& source) {
  const TracePart part = trace.part(view.part);
  if (source == kHeads) return heads_of_layer(trace, part, view.layer);
  std::vector<MapHead> heads;
  for (Index layer = 0; layer < trace.layer_count(part); ++layer) {
    if (source == kAll) {
      const std::vector<MapHead> layer_heads = heads_of_layer(trace, part, layer);
      heads.insert(heads.end(), layer_heads.begin(), layer_heads.end());
      continue;
    }
    Index group_head = 0;
    if (const AttentionTap* tap = trace.find({layer, view.head, part}, &group_head)) {
      heads.push_back({tap, group_head});
    }
  }
  return heads;
}

bool are_all_complete(const std::vector<MapHead>& heads) {
  return std::all_of(heads.begin(), heads.end(), [](const MapHead& h) { return is_whole(*h.tap); });
}

bool have_same_shape(const std::vector<MapHead>& heads) {
  return std::all_of(heads.begin(), heads.end(), [&](const MapHead& h) {
    return h.tap->queries() == heads[0].tap->queries() && h.tap->keys() == heads[0].tap->keys();
  });
}

// Mean of heads of the same shape.  [L_q, L_k]
Tensor mean(const std::vector<MapHead>& heads) {
  Tensor sum = heads[0].tap->attention(heads[0].head).copy();
  for (std::size_t n = 1; n < heads.size(); ++n) {
    const Tensor weights = heads[n].tap->attention(heads[n].head);
    for (Index i = 0; i < sum.size(); ++i) sum[i] += weights[i];
  }
  const float factor = 1.0F / static_cast<float>(heads.size());
  for (float& weight : sum) weight *= factor;
  return sum;
}

void refuse(MapMatrix& matrix, std::string headline, std::string advice) {
  matrix.headline = std::move(headline);
  matrix.advice = std::move(advice);
}

void refuse_long_text(MapMatrix& matrix) {
  refuse(matrix, "Text too long to combine several maps",
         "Maps of a text this long are not stored. Show a single head, or shorten the text.");
}

void set_mean(const ViewInput& input, const std::string& source, MapMatrix& matrix) {
  const ViewSettings& view = input.session.view;
  const std::vector<MapHead> heads = averaged_heads(input.trace, view, source);
  if (!are_all_complete(heads)) return refuse_long_text(matrix);
  if (!have_same_shape(heads)) {
    return refuse(matrix, "No mean over maps of different sizes",
                  "The layers have different numbers of queries or keys. Show a single head.");
  }
  matrix.values = cached_matrix(input, matrix.key, [&] { return mean(heads); });
  matrix.unit = "mean weight";
  const std::string count = std::to_string(heads.size());
  const std::string part_text = describe_part(input.trace, view);
  if (source == kHeads) {
    matrix.caption = heads.size() == 1 ? "Attention of the only head of "
                                       : "Mean attention over the " + count + " heads of ";
    matrix.caption += part_text + "layer " + std::to_string(view.layer);
  } else if (source == kLayers) {
    matrix.caption = "Mean attention over " + part_text + "head " + std::to_string(view.head) +
                     " of " + count + (heads.size() == 1 ? " layer" : " layers");
  } else {
    matrix.caption = heads.size() == 1
                         ? "Attention of the only head"
                         : "Mean attention over " + part_text + "all " + count + " heads";
  }
}

// The layers up to and including the layer of `last`.
std::vector<HeadRef> layers_up_to(const Trace& trace, const HeadRef& last) {
  std::vector<HeadRef> list = trace.layer_sequence(last.part);
  std::erase_if(list, [&](const HeadRef& ref) {
    return ref.part.step > last.part.step ||
           (ref.part.step == last.part.step && ref.layer > last.layer);
  });
  return list;
}

// "steps 1 to 3, layer 0", "layers 0 to 2".
std::string describe_layers(const Trace& trace, const std::vector<HeadRef>& layers) {
  const HeadRef &first = layers.front(), &last = layers.back();
  TracePart part = last.part;
  std::string text;
  if (first.part.step != part.step) {
    text = "steps " + std::to_string(first.part.step) + " to " + std::to_string(part.step) + ", ";
    AddressParts parts = trace.parts;
    parts.step = false;
    const std::string part_text = describe_part(parts, part);
    if (!part_text.empty()) text = part_text + ", " + text;
    return text + "layer " + std::to_string(last.layer);
  }
  text = describe_part(trace.parts, part);
  if (!text.empty()) text += ", ";
  return text + (last.layer == 0 ? "layer 0" : "layers 0 to " + std::to_string(last.layer));
}

void set_rollout(const ViewInput& input, MapMatrix& matrix) {
  std::vector<std::vector<MapHead>> layers;
  const std::vector<HeadRef> layer_refs =
      layers_up_to(input.trace, head_ref(input.trace, input.session.view));
  for (const HeadRef& ref : layer_refs) {
    layers.push_back(heads_of_layer(input.trace, ref.part, ref.layer));
    const std::vector<MapHead>& heads = layers.back();
    if (!are_all_complete(heads)) return refuse_long_text(matrix);
    const bool is_square = !heads.empty() && heads[0].tap->queries() == heads[0].tap->keys() &&
                           heads[0].tap->query_rows.stream == heads[0].tap->key_rows.stream &&
                           heads[0].tap->queries() == layers[0][0].tap->queries();
    if (is_square && have_same_shape(heads)) continue;
    return refuse(matrix, "No rollout here",
                  "Rollout multiplies the maps of all layers, and requires as many keys as queries "
                  "in each. Show a single head.");
  }
  const bool has_residual =
      !input.trace.config ||
      residual_connection(input.trace.config->residual_connection.id).has_bypass;
  matrix.values = cached_matrix(input, matrix.key, [&] {
    std::vector<Tensor> means;
    for (const std::vector<MapHead>& heads : layers) means.push_back(mean(heads));
    return attention_rollout(means, has_residual);
  });
  matrix.unit = "rollout";
  matrix.caption =
      "Attention rollout (mean over heads, " + std::string(has_residual ? "with" : "without") +
      " residual connection) from the input through " + describe_layers(input.trace, layer_refs);
}

// Rollout between words: merges the rollout of tokens. A rollout of merged maps would differ.
void set_rollout_of_words(const ViewInput& input, const AttentionTap& tap, MapMatrix& matrix) {
  const ViewInput tokens = input.with_trace(input.merged->tokens);
  const CacheKey key = matrix.key;
  matrix.key.add("of pieces");
  set_rollout(tokens, matrix);
  matrix.key = key;
  if (!matrix.headline.empty()) return;
  const WordPairs& pairs = input.merged->words.of(tap);
  const Tensor token_rollout = matrix.values;
  matrix.values = cached_matrix(input, key, [&] { return merged(token_rollout, pairs); });
}

void set_one_head(const ViewInput& input, const AttentionTap& tap, Index head, MapMatrix& matrix) {
  const ViewSettings& view = input.session.view;
  matrix.is_complete = is_whole(tap);
  if (tap.result.device) {
    matrix.device = tap.result.device;
    matrix.plane = head;
  } else if (matrix.is_complete) {
    matrix.values = tap.attention(head);
  }
  matrix.caption =
      "Attention of " + describe_head(input.trace, view) + ": " + describe(input.trace, tap);
}

void hide_first_column(const ViewInput& input, const AttentionTap& tap, MapMatrix& matrix) {
  const Index column = first_token_column(tap);
  if (column < 0) return;
  matrix.caption += has_merged_words(input.trace) ? "; the first word's column is hidden"
                                                  : "; the first token's column is hidden";
  if (!matrix.is_complete) return;  // applied later, to the visible cells
  const Tensor weights = matrix.on_host();
  matrix.key.add("without first");
  matrix.values = cached_matrix(input, matrix.key, [&] {
    Tensor values = weights;
    hide_column(values, column, {});
    return values;
  });
  matrix.device = nullptr;
}

bool has_negative_values(const ViewInput& input, const AttentionTap& tap, Index head,
                         const MapMatrix& matrix) {
  if (matrix.is_one_head && is_normalised(tap)) return false;
  if (!matrix.is_complete) return is_signed(tap, head);
  const Tensor result = cached_matrix(input, matrix.key.with("signs"), [&] {
    const Tensor values = matrix.is_one_head ? tap.attention(head) : matrix.values;
    const bool is_negative =
        std::any_of(values.begin(), values.end(), [](float v) { return v < 0; });
    return Tensor::full({1}, is_negative ? 1.0F : 0.0F);
  });
  return result[0] != 0;
}

}  // namespace

Parameter scale_parameter() {
  return {.key = "scale",
          .label = "Scale",
          .help =
              "Scale of the colours: linear, logarithmic, by rank among all nonzero weights, "
              "relative to the largest of the row, or as multiples of the equal share (1: as if "
              "the query attended equally to all its keys).",
          .kind = Parameter::Kind::Choice,
          .initial = std::string("linear"),
          .choices = {{"linear", "linear"},
                      {"log", "log"},
                      {"rank", "rank"},
                      {"row", "each row"},
                      {"share", "× equal share"}}};
}

Parameter hide_first_parameter() {
  return {.key = "hide_first",
          .label = "Hide first token",
          .help = "Hide the first token, an attention sink of many heads.",
          .kind = Parameter::Kind::Flag,
          .initial = false};
}

ColourRange::Scale scale_of(const Values& options) {
  const std::string& scale = options.choice("scale");
  if (scale == "log") return ColourRange::Scale::Log;
  return scale == "rank" ? ColourRange::Scale::Rank : ColourRange::Scale::Linear;
}

void hide_column(Tensor& cells, Index column, const ShownCells& region) {
  const Index k = (column - region.column) / region.step;
  if (column < region.column || k >= cells.dim(1)) return;
  cells = cells.copy();
  for (Index i = 0; i < cells.dim(0); ++i) cells(i, k) = std::numeric_limits<float>::quiet_NaN();
}

std::vector<Parameter> map_parameters() {
  using Kind = Parameter::Kind;
  constexpr double kMaxWeight = 1e6, kMinWeight = 1e-30;
  return {{.key = "source",
           .label = "Show",
           .help = "Weights of this head, the mean over the layer's heads, over the layers of this "
                   "head or over all, or the rollout up to this layer.",
           .kind = Kind::Choice,
           .initial = std::string(kHead),
           .choices = {{kHead, "this head"},
                       {kHeads, "mean over heads"},
                       {kLayers, "mean over layers"},
                       {kAll, "mean over all"},
                       {kRollout, "rollout"}}},
          scale_parameter(),
          {.key = "least",
           .label = "From",
           .help = "Weight of the lowest colour; automatic: 0, or a ten-thousandth of the highest "
                   "on a logarithmic scale.",
           .kind = Kind::Real,
           .optional = true,
           .initial = 0.001,
           .limits = {.min = 0, .max = kMaxWeight},
           .slider = {.min = 0, .max = 0.1}},
          {.key = "most",
           .label = "To",
           .help = "Weight of the highest colour; automatic: as selected for the colours, a high "
                   "percentile of the visible weights.",
           .kind = Kind::Real,
           .optional = true,
           .initial = 0.25,
           .limits = {.min = kMinWeight, .max = kMaxWeight},
           .slider = {.min = 0.01, .max = 1}},
          hide_first_parameter()};
}

bool is_whole(const AttentionTap& tap) {
  return tap.stores_map() || !tap.result.tiles;
}

Tensor MapMatrix::on_host() const {
  if (!device) return values;
  HeatMap cells;
  cells.device = device;
  cells.plane = plane;
  return heat_map_cells(cells);
}

MapMatrix map_matrix(const ViewInput& input, const AttentionTap& tap, Index head) {
  const Values options = view_values(input.session.view, "map");
  const std::string& source = options.choice("source");
  const ViewSettings& view = input.session.view;
  MapMatrix matrix;
  matrix.is_one_head = source == kHead;
  matrix.key = head_key("map", input.trace, view).with(source);
  if (matrix.is_one_head) {
    set_one_head(input, tap, head, matrix);
  } else if (source == kRollout && input.merged) {
    set_rollout_of_words(input, tap, matrix);
  } else if (source == kRollout) {
    set_rollout(input, matrix);
  } else {
    set_mean(input, source, matrix);
  }
  if (!matrix.headline.empty()) return matrix;
  matrix.is_signed = has_negative_values(input, tap, head, matrix);
  if (options.flag("hide_first")) hide_first_column(input, tap, matrix);
  matrix.row_scale = row_scale_of(options);
  if (matrix.row_scale == RowScale::None) return matrix;
  matrix.unit = unit_of(matrix.row_scale);
  if (!matrix.is_complete) return matrix;  // applied later, to the visible cells
  const MapMatrix weights = matrix;
  matrix.key.add(options.choice("scale"));
  matrix.values = cached_matrix(input, matrix.key, [&] {
    return row_scaled(weights.on_host(), matrix.row_scale, tap, head);
  });
  matrix.device = nullptr;
  return matrix;
}

}  // namespace attnscope
