// The residual stream: size of the state after each block, and of what the blocks add to it, for
// every token (He et al., 2016; pre- and post-norm: Xiong et al., 2020).
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/experiment/block_study.h"
#include "core/experiment/finding.h"
#include "core/figure/plain_text.h"
#include "core/model/config.h"
#include "core/model/residual_connection.h"
#include "core/view/block/block_picture.h"
#include "core/view/block/stacked_maps.h"
#include "core/view/mechanism/steps.h"
#include "core/view/parts/chart.h"
#include "core/view/parts/legend.h"

namespace attnscope {
namespace {

constexpr double kMapsShare = 0.56;     // of the height
constexpr double kMinStreamChart = 8;   // em
constexpr double kMaxStreamChart = 17;  // em
constexpr std::size_t kMaxNames = 12;   // labels of the layer axis
constexpr double kStreamBar = 0.3;      // width of a bar, in layers

Refusal stream_refusal(const BlockInput& in) {
  return study_refusal(block_study(in), "No residual stream");
}

// Layers of the study, in the order of computation.
struct StreamLayer {
  Index step, layer;
  bool operator==(const StreamLayer&) const = default;
};

std::vector<StreamLayer> layers_of(const BlockStudy& study) {
  std::vector<StreamLayer> layers;
  for (const StreamPoint& point : study.stream) {
    if (point.layer < 0) continue;
    const StreamLayer layer{point.step, point.layer};
    if (layers.empty() || layers.back() != layer) layers.push_back(layer);
  }
  return layers;
}

std::vector<std::string> blocks_of(const BlockStudy& study) {
  std::vector<std::string> blocks;
  for (const StreamPoint& point : study.stream) {
    const bool is_new = std::ranges::find(blocks, point.block) == blocks.end();
    if (!point.block.empty() && is_new) blocks.push_back(point.block);
  }
  return blocks;
}

std::string layer_label(const BlockStudy& study, const StreamLayer& layer) {
  const bool has_steps = study.stream.back().step > 0;
  if (!has_steps) return std::to_string(layer.layer);
  const bool has_layers =
      std::ranges::any_of(study.stream, [](const StreamPoint& point) { return point.layer > 0; });
  return std::to_string(layer.step) + (has_layers ? "." + std::to_string(layer.layer) : "");
}

// Sizes by token and layer. block: what it adds; empty: the state after the layer.
Tensor stream_map(const BlockStudy& study, const std::string& block) {
  const std::vector<StreamLayer> layers = layers_of(study);
  const Index tokens = study.stream.front().state.size();
  Tensor map = Tensor::full({tokens, static_cast<Index>(layers.size())},
                            std::numeric_limits<float>::quiet_NaN());
  for (const StreamPoint& point : study.stream) {
    if (point.layer < 0 || (!block.empty() && point.block != block)) continue;
    const auto layer = std::ranges::find(layers, StreamLayer{point.step, point.layer});
    const Tensor& sizes = block.empty() ? point.state : point.added;
    for (Index i = 0; i < std::min(tokens, sizes.size()); ++i) {
      map(i, layer - layers.begin()) = sizes[i];
    }
  }
  return map;
}

std::vector<TitledMap> stream_maps(const BlockStudy& study) {
  std::vector<TitledMap> maps{
      {{"Size of the stream after each layer", "Stream after each layer", "Stream"},
       stream_map(study, "")}};
  for (const std::string& block : blocks_of(study)) {
    std::string name = block;
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    maps.push_back(
        {{name + ": size of its output", name + " output", name}, stream_map(study, block)});
  }
  return maps;
}

TokenAxis stream_tokens_axis(const BlockInput& in) {
  TokenAxis axis{{"token", ""}, {}, {}};
  for (const TraceToken& token : in.tokens) axis.labels.push_back(token.label);
  return axis;
}

TokenAxis stream_layers_axis(const BlockStudy& study) {
  TokenAxis axis{{study.stream.back().step > 0 ? "step" : "layer", ""}, {}, {}};
  for (const StreamLayer& layer : layers_of(study))
    axis.labels.push_back(layer_label(study, layer));
  return axis;
}

// The token's path through the blocks.
class StreamChart {
 public:
  StreamChart(Page& page, const BlockStudy& study, Index token)
      : page_(page), study_(study), token_(token), layers_(layers_of(study)) {
    entries_.push_back({page.theme().text, "stream after each block", false, true});
    const std::vector<std::string> blocks = blocks_of(study);
    for (std::size_t n = 0; n < blocks.size(); ++n) {
      entries_.push_back({head_colour(static_cast<Index>(n)), blocks[n] + " adds"});
    }
  }

  void draw(const Box& box) const {
    const double legend = legend_height(page_, entries_, box.width);
    draw_legend(page_, entries_, {box.x, box.y, box.width, legend});
    ChartAxis x{.least = -1.2,
                .most = static_cast<double>(layers_.size()) - 0.4,
                .titles = {study_.stream.back().step > 0 ? "step" : "layer", ""}};
    x.names.emplace_back(-0.9, "input");
    const std::size_t step = 1 + layers_.size() / kMaxNames;
    for (std::size_t n = 0; n < layers_.size(); n += step) {
      x.names.emplace_back(static_cast<double>(n), layer_label(study_, layers_[n]));
    }
    const Chart chart = place_chart(page_, below(box, legend + 0.4 * page_.em()), x,
                                    {.least = 0, .most = 1.05 * largest(), .titles = {"size", ""}});
    if (chart.empty()) return;
    draw_chart(page_, chart);
    std::vector<Point> line;
    const std::vector<std::string> blocks = blocks_of(study_);
    for (const StreamPoint& point : study_.stream) {
      const double at = position(point, blocks);
      if (point.added.defined()) {
        const auto block = std::ranges::find(blocks, point.block) - blocks.begin();
        draw_bar(page_, chart, at, kStreamBar, number(point.added), head_colour(block));
      }
      const double state = number(point.state);
      if (std::isfinite(state)) line.push_back({at, state});
    }
    draw_curve(page_, chart, line, page_.theme().text, 2);
  }

 private:
  double number(const Tensor& sizes) const {
    return sizes.defined() && token_ < sizes.size() ? static_cast<double>(sizes[token_]) : NAN;
  }
  double largest() const {
    double most = 0;
    for (const StreamPoint& point : study_.stream) {
      for (const double x : {number(point.state), number(point.added)}) {
        if (std::isfinite(x)) most = std::max(most, x);
      }
    }
    return most > 0 ? most : 1;
  }
  double position(const StreamPoint& point, const std::vector<std::string>& blocks) const {
    if (point.layer < 0) return -0.9;
    const auto layer =
        std::ranges::find(layers_, StreamLayer{point.step, point.layer}) - layers_.begin();
    const auto block = std::ranges::find(blocks, point.block) - blocks.begin();
    const double middle = (static_cast<double>(blocks.size()) - 1) / 2;
    return static_cast<double>(layer) + kStreamBar * (static_cast<double>(block) - middle);
  }

  Page& page_;
  const BlockStudy& study_;
  Index token_;
  std::vector<StreamLayer> layers_;
  std::vector<LegendEntry> entries_;
};

std::vector<std::string> describe_stream(const BlockInput& in, const BlockStudy& study) {
  const ModelConfig& config = *in.input.trace.config;
  const auto size = [&](const StreamPoint& point) {
    return in.token < point.state.size() ? static_cast<double>(point.state[in.token]) : NAN;
  };
  const std::string ends = in.word() + ": size " + brief(size(study.stream.front()), 3) +
                           " before the first layer, " + brief(size(study.stream.back()), 3) +
                           " after the last block";
  const ResidualConnection& connection = residual_connection(config.residual_connection.id);
  std::string kind = connection.label;
  if (!connection.has_bypass) {
    kind = "No residual connection: each block replaces the state";
  } else if (connection.run_layers) {
    kind = "Reversible: attention updates one stream, the feed-forward the other";
  } else if (config.norm != Norm::None) {
    kind = config.pre_norm ? "Pre-norm: blocks add to a stream that no norm changes"
                           : "Post-norm: the stream is normalised after each block";
  }
  return {kind + ". " + ends, kind, ends};
}

BlockLayout draw_stream(Page& page, const Box& inside, const BlockInput& in) {
  const auto study = block_study(in);
  const double em = page.em();
  const std::vector<TitledMap> maps = stream_maps(*study);
  const Box area = below(inside, step_height(page));
  Box top = area;
  const double chart = std::clamp((1 - kMapsShare) * area.height, 0.0, kMaxStreamChart * em);
  const bool has_chart = chart >= kMinStreamChart * em;
  if (has_chart) top.height -= chart + 0.8 * em;
  const auto placed = place_stacked_maps(page, top, stream_tokens_axis(in),
                                         stream_layers_axis(*study), maps.size());
  if (!placed) return {.is_too_small = true};
  page.text({inside.x, inside.y + 0.45 * step_height(page)},
            page.fitting(describe_stream(in, *study), em, inside.width), em);
  draw_stacked_maps(page, *placed, maps, magnitude_range(page, maps),
                    {"Euclidean norm", "norm", ""}, in.token, -1);
  BlockLayout layout{.bottom = placed->bottom + 0.5 * em};
  if (has_chart) {
    const Box box{inside.x, placed->bottom + 0.8 * em, inside.width, chart};
    page.add(Text{{box.x, box.y + 0.6 * em},
                  page.ellipsised(in.word(), em, inside.width, true),
                  page.theme().text,
                  em,
                  Align::Start,
                  0,
                  true});
    StreamChart(page, *study, in.token).draw(below(box, 1.5 * em));
    layout.bottom = box.bottom();
  }
  std::vector<PairAt> pairs;
  for (const MatrixPlot& m : placed->plots) pairs.push_back(pair_at(m));
  for (PairAt& pair : pairs) pair.columns = pairs.front().columns;
  layout.token_at = [pairs](Point p) -> Index {
    for (const PairAt& pair : pairs) {
      if (const Index row = pair(p).first; row >= 0) return row;
    }
    return -1;
  };
  return layout;
}

std::vector<ViewData::Matrix> stream_data(const BlockInput& in) {
  const auto study = block_study(in);
  const Index tokens = study->stream.front().state.size();
  std::vector<std::string> labels;
  for (const TraceToken& token : in.tokens) labels.push_back(token.label);
  const auto matrix = [&](const char* name, Tensor StreamPoint::*sizes) {
    ViewData::Matrix result{name, {}, {}, labels, {"block", "token"}};
    std::vector<float> numbers;
    for (const StreamPoint& point : study->stream) {
      if (!(point.*sizes).defined()) continue;
      result.rows.push_back(point.layer < 0 ? "input"
                                            : layer_label(*study, {point.step, point.layer}) + " " +
                                                  point.block);
      numbers.insert(numbers.end(), (point.*sizes).begin(), (point.*sizes).end());
    }
    const auto rows = static_cast<Index>(result.rows.size());
    result.values = Tensor::from({rows, tokens}, std::move(numbers));
    return result;
  };
  return {matrix("stream", &StreamPoint::state), matrix("added", &StreamPoint::added)};
}

}  // namespace

BlockPicture stream_picture() {
  BlockPicture p{"stream",
                 "Residual stream",
                 "size of the residual stream after each block, and of what blocks add to it",
                 stream_refusal,
                 draw_stream,
                 stream_data};
  p.parameters = {"token"};
  p.has_colours = true;
  p.finding = {Findings::block.id, block_settings};
  return p;
}

}  // namespace attnscope
