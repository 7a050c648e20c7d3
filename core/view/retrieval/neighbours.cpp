// Retrieval from a store: nearest contexts and their successors next to the model's prediction.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/analysis/gates.h"
#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/view/parts/chart.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/token_flow.h"
#include "core/view/retrieval/context_rows.h"
#include "core/view/retrieval/retrieval_numbers.h"
#include "core/view/retrieval/retrieval_pictures.h"

namespace attnscope {
namespace {

constexpr double kSentenceLine = 1.5;  // em
constexpr double kMaxText = 0.2;       // fraction of the height for the text
constexpr double kMinText = 1.8;       // em
constexpr double kPartGap = 0.8;       // em
constexpr double kMinTable = 6;        // em
constexpr double kMaxTable = 20;       // em
constexpr double kBitsChart = 8.5;     // em
constexpr double kMinBitsChart = 7;    // em
constexpr double kTableWidth = 0.6;    // fraction of the width for a table with bars next to it
constexpr double kMinWideWidth = 38;   // em: minimum for bars next to the table
constexpr double kThreeBars = 2.1;     // em: height of a token's bars
constexpr double kMaxGain = 4;         // bits: gain or loss that gets the strongest colour
constexpr Index kWordsBefore = 12, kWordsAfter = 3;
constexpr std::size_t kMaxRows = 64;

class NeighboursPicture {
 public:
  explicit NeighboursPicture(const ViewInput& input)
      : input_(input),
        page_(input),
        trace_(input.trace),
        contexts_(input.findings.get(Findings::contexts)),
        is_gate_untrained_(retrieval_gate_is_untrained(input.trace)) {}

  ViewLayout lay_out() {
    if (!contexts_ || contexts_->neighbours.index.dim(0) != trace_.logits.dim(0)) {
      return page_.message("Computing", "Searching for the nearest contexts.", "contexts");
    }
    setting_ = mix_setting(input_, *contexts_);
    bits_ = retrieval_bits(input_, *contexts_, setting_);
    const Box inside = page_.frame(trace_.model + " · retrieval", caption_text());
    if (!place_panels(inside)) return no_space(page_);
    draw_text();
    row_ = mixed_row(trace_, *contexts_, setting_, token_);
    draw_sentences();
    draw_table();
    draw_next();
    draw_bits();
    return finish();
  }

 private:
  double em() const { return page_.em(); }
  Index length() const { return static_cast<Index>(trace_.tokens.size()); }
  const std::string& label(Index i) const {
    return trace_.tokens[static_cast<std::size_t>(i)].label;
  }
  // Id of the token after `token_`; -1 at the end of the text.
  std::int32_t successor() const {
    return token_ + 1 < length() ? trace_.tokens[static_cast<std::size_t>(token_ + 1)].id : -1;
  }
  Colour model_colour() const { return head_colour(0); }
  Colour store_colour() const { return head_colour(1); }
  Colour mixed_colour() const { return head_colour(2); }

  std::string describe_method() const {
    if (setting_.is_gated && is_gate_untrained_) {
      return "half of the state is their successors (untrained gate)";
    }
    if (setting_.is_gated) return "their successors mixed in by a learned gate";
    return "mixed with λ = " + brief(setting_.lambda, 3) +
           ", τ = " + brief(setting_.temperature, 3);
  }

  std::string caption_text() const {
    return caption(
        trace_,
        std::to_string(setting_.k) + " contexts of " + grouped(contexts_->store->keys.dim(0)) +
            " stored are used, the nearest by squared distance of the last feed-forward's input; " +
            describe_method() + ". Words before a context are those of the stored text.");
  }

  bool place_panels(const Box& inside) {
    const double flow_height = token_flow_height(
        page_, flow_tokens(-1), inside.width, std::max(kMinText * em(), kMaxText * inside.height));
    const double header =
        kSentenceLine * em() + flow_height + swatches_height(page_) + 2 * kSentenceLine * em();
    const bool has_side_bars = inside.width >= kMinWideWidth * em();
    double chart = kBitsChart * em();
    double tables = inside.height - header - chart - kPartGap * em();
    if (tables < kMinTable * em()) {
      chart = length() > 2 ? kMinBitsChart * em() : 0;
      tables = inside.height - header - chart - kPartGap * em();
    }
    if (tables < kMinTable * em()) {
      chart = 0;
      tables = inside.height - header;
    }
    tables = std::min(tables, kMaxTable * em());
    if (tables < kMinTable * em() || inside.width < 18 * em()) return false;
    const double total_height = header + tables + (chart > 0 ? chart + kPartGap * em() : 0);
    const double y = inside.y + page_.top_margin(inside.height, total_height);
    text_ = {inside.x, y, inside.width, header};
    flow_box_ = {inside.x, y + kSentenceLine * em(), inside.width, flow_height};
    const double width = has_side_bars ? kTableWidth * (inside.width - em()) : inside.width;
    table_ = {inside.x, y + header, width, tables};
    if (has_side_bars) {
      bars_ = {inside.x + width + em(), y + header, inside.width - width - em(), tables};
    } else {
      table_.height = bars_.height = tables / 2;
      bars_ = {inside.x, y + header + tables / 2, inside.width, tables / 2};
    }
    chart_ = {inside.x, y + header + tables + kPartGap * em(), inside.width, chart};
    bottom_ = chart > 0 ? chart_.bottom() : y + header + tables;
    return true;
  }

  // Colour for bits that retrieval saves (blue) or costs (orange).
  Colour colour_of_gain(double gain) const {
    const double strength = std::min(std::abs(gain) / kMaxGain, 1.0);
    return blend(blend(page_.theme().background, page_.theme().line, 0.4),
                 gain > 0 ? model_colour() : store_colour(), 0.9 * strength);
  }

  double gain(Index i) const { return i == 0 ? 0 : static_cast<double>(bits_(0, i) - bits_(1, i)); }

  std::vector<FlowToken> flow_tokens(Index marked) const {
    std::vector<FlowToken> tokens;
    for (Index i = 0; i < length(); ++i) {
      tokens.push_back({label(i), colour_of_gain(gain(i)), i == marked});
    }
    return tokens;
  }

  void draw_text() {
    const double model_bits = mean_bits(bits_, 0), mixed_bits = mean_bits(bits_, 1);
    const std::string change = brief(model_bits) + " → " + brief(mixed_bits) + " bits per token";
    if (length() > 1) {
      page_.text(
          {text_.x, text_.y + 0.6 * em()},
          page_.fitting({"Retrieved from a store of " + grouped(contexts_->store->keys.dim(0)) +
                             " contexts, " + describe_method() + ": " + change + " on this text.",
                         "From " + grouped(contexts_->store->keys.dim(0)) + " contexts, " +
                             describe_method() + ": " + change,
                         capitalised(describe_method()) + ": " + change, change},
                        em(), text_.width),
          em());
    }
    const auto visible_token = static_cast<std::size_t>(retrieving_token(input_, true));
    Page draft(input_);
    flow_ = draw_token_flow(draft, flow_box_, flow_tokens(-1), visible_token);
    const Index hovered = input_.interaction.pointer ? flow_.at(*input_.interaction.pointer) : -1;
    token_ = hovered >= 0 ? hovered : static_cast<Index>(visible_token);
    draw_token_flow(page_, flow_box_, flow_tokens(token_), visible_token);
    std::vector<Swatch> swatches;
    for (const double bits : {4.0, 2.0, 0.0, -2.0, -4.0}) {
      swatches.push_back({colour_of_gain(bits), bits > 0   ? "saves " + brief(bits)
                                                : bits < 0 ? "costs " + brief(-bits)
                                                           : "no change"});
    }
    draw_swatches(page_, {text_.x, flow_box_.bottom()}, text_.width, "bits saved by retrieval",
                  swatches);
  }

  void draw_sentences() {
    double y = flow_box_.bottom() + swatches_height(page_) + 0.75 * em();
    std::string text = "After “" + label(token_) + "”";
    std::string brief_text = text;
    if (successor() >= 0) {
      const auto i = static_cast<std::size_t>(successor());
      const auto hits = matching_neighbours();
      text += " the text continues with “" + token_label(trace_, successor()) + "”: probability " +
              percent(row_.model[i]) + ", with retrieval " + percent(row_.mixed[i]) + "; " +
              std::to_string(hits) + " of " + std::to_string(setting_.k) +
              " neighbours have the same successor.";
      brief_text += " comes “" + token_label(trace_, successor()) + "”: " + percent(row_.model[i]) +
                    " → " + percent(row_.mixed[i]) + " with retrieval; " + std::to_string(hits) +
                    " of " + std::to_string(setting_.k) + " neighbours agree";
    } else {
      text += " the text ends.";
    }
    page_.text(
        {text_.x, y},
        page_.fitting({text, brief_text, "After “" + label(token_) + "”"}, em(), text_.width),
        em());
    y += kSentenceLine * em();
    const std::string gate = setting_.is_gated && is_gate_untrained_
                                 ? "This model has no trained gate: g = 0.5 everywhere; half of "
                                   "the state is replaced by the neighbours' successors."
                             : setting_.is_gated
                                 ? "The gate g = " + brief(row_.gate) +
                                       ": this share of the state remains the model's own, the "
                                       "rest comes from the neighbours' successors."
                                 : "Note: contexts with the same successor are close to each "
                                   "other; the nearer, the larger the weight of their successor.";
    const std::string short_text =
        setting_.is_gated && is_gate_untrained_ ? "No trained gate: g = 0.5"
        : setting_.is_gated ? "Gate g = " + brief(row_.gate) + ": the model's share"
                            : "The nearer, the larger the weight";
    page_.faint_text({text_.x, y}, page_.fitting({gate, short_text}, page_.small(), text_.width),
                     page_.small());
  }

  Index matching_neighbours() const {
    Index count = 0;
    for (Index n = 0; n < setting_.k; ++n) {
      if (contexts_->store->values[contexts_->neighbours.index(token_, n)] == successor()) ++count;
    }
    return count;
  }

  // Draws neighbours by distance. Highlights neighbours whose successor is the text's next token.
  void draw_table() {
    ContextTable table;
    table.before_titles = {"nearest contexts: words before", "words before", "before"};
    table.value_titles = {"successor", "next"};
    table.first_title = "distance²";
    table.second_title = setting_.is_gated ? "weight" : "share";
    const double max_weight = *std::ranges::max_element(row_.neighbours);
    for (Index n = 0; n < setting_.k && table.rows.size() < kMaxRows; ++n) {
      const Index entry = contexts_->neighbours.index(token_, n);
      const ContextWords words = context_words(*contexts_->store, entry, kWordsBefore, kWordsAfter);
      ContextRow row;
      row.words_before = text_of_tokens(trace_, words.before);
      if (words.before.empty()) {
        row.words_before =
            "text " + std::to_string(words.text) + ", position " + std::to_string(words.position);
      }
      row.value = token_label(trace_, words.value);
      row.words_after = text_of_tokens(trace_, words.after);
      row.ground = words.value == successor()
                       ? mixed_colour()
                       : blend(page_.theme().background, page_.theme().line, 0.6);
      row.first_number = brief(static_cast<double>(contexts_->neighbours.distance(token_, n)), 3);
      row.bar_fraction = row_.neighbours[static_cast<std::size_t>(n)];
      row.second_number = percent(row.bar_fraction);
      row.bar_fraction /= std::max(max_weight, 1e-12);
      table.rows.push_back(std::move(row));
    }
    const std::vector<Box> boxes = draw_context_rows(page_, table_, table);
    for (std::size_t n = 0; n < boxes.size(); ++n) {
      const Index entry = contexts_->neighbours.index(token_, static_cast<Index>(n));
      const ContextWords words = context_words(*contexts_->store, entry, 40, 12);
      const std::string help = text_of_tokens(trace_, words.before) + " → " +
                               with_spaces(token_label(trace_, words.value)) +
                               text_of_tokens(trace_, words.after);
      handles_.push_back({.area = boxes[n],
                          .help = "Text " + std::to_string(words.text) + ", position " +
                                  std::to_string(words.position) + ": " + help});
    }
  }

  // Ids of the likeliest tokens of the mixture. Replaces the last by successor() if this is absent.
  std::vector<std::int32_t> tokens_to_show(std::size_t max_count) const {
    std::vector<std::int32_t> ids(row_.mixed.size());
    std::iota(ids.begin(), ids.end(), 0);
    const auto likelier = [&](std::int32_t a, std::int32_t b) {
      const double x = row_.mixed[static_cast<std::size_t>(a)];
      const double y = row_.mixed[static_cast<std::size_t>(b)];
      return x > y || (x == y && a < b);
    };
    max_count = std::min(max_count, ids.size());
    std::partial_sort(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(max_count), ids.end(),
                      likelier);
    ids.resize(max_count);
    if (successor() >= 0 && max_count > 0 && std::ranges::find(ids, successor()) == ids.end())
      ids.back() = successor();
    return ids;
  }

  std::vector<LegendEntry> legend_entries() const {
    return {{model_colour(), "model"},
            {store_colour(), setting_.is_gated ? "neighbours (weight)" : "neighbours"},
            {mixed_colour(), "both"}};
  }

  void draw_next() {
    const double legend = legend_height(page_, legend_entries(), bars_.width);
    draw_legend(page_, legend_entries(), {bars_.x, bars_.y, bars_.width, legend});
    const double pitch = kThreeBars * em(), top = bars_.y + legend + 0.2 * em();
    const auto max_rows = static_cast<std::size_t>(std::max(0.0, (bars_.bottom() - top) / pitch));
    const std::vector<std::int32_t> ids = tokens_to_show(max_rows);
    double peak = 1e-9, labels = 0;
    for (const std::int32_t id : ids) {
      const auto i = static_cast<std::size_t>(id);
      peak = std::max({peak, row_.model[i], row_.store[i], row_.mixed[i]});
      labels = std::max(labels, page_.width_of(token_label(trace_, id), em(), id == successor()));
    }
    labels = std::min(labels, 0.36 * bars_.width);
    const double left = bars_.x + labels + 0.5 * em();
    const double numbers_width = page_.width_of("< 0.1%", page_.small()) + 0.4 * em();
    const double width = bars_.right() - numbers_width - left;
    if (width < 2 * em()) return;
    double y = top;
    for (const std::int32_t id : ids) {
      const auto i = static_cast<std::size_t>(id);
      const double middle = y + pitch / 2;
      page_.add(Text{{left - 0.5 * em(), middle},
                     page_.ellipsised(token_label(trace_, id), em(), labels, id == successor()),
                     page_.theme().text,
                     em(),
                     Align::End,
                     0,
                     id == successor()});
      const double thickness = 0.27 * pitch;
      double bar_y = y + 0.1 * pitch;
      for (const auto& [colour, p] : {std::pair{model_colour(), row_.model[i]},
                                      {store_colour(), row_.store[i]},
                                      {mixed_colour(), row_.mixed[i]}}) {
        page_.add(FilledBox{{left, bar_y, p / peak * width, thickness}, colour});
        bar_y += thickness;
      }
      page_.faint_text({bars_.right(), middle}, percent(row_.mixed[i]), page_.small(), Align::End);
      handles_.push_back({.area = {bars_.x, y, bars_.width, pitch},
                          .help = "“" + token_label(trace_, id) + "”: model " +
                                  percent(row_.model[i]) + ", neighbours " +
                                  percent(row_.store[i]) + ", both " + percent(row_.mixed[i]) +
                                  (id == successor() ? ". In the text." : ".")});
      y += pitch;
    }
  }

  // Draws the bits saved by retrieval at each token. A gated mixture gets a chart of the gate, too.
  void draw_bits() {
    if (chart_.height < kMinBitsChart * em() || length() < 3) return;
    const auto last = static_cast<double>(length() - 1);
    double min_gain = 0, max_gain = 0;
    for (Index i = 1; i < length(); ++i) {
      min_gain = std::min(min_gain, gain(i));
      max_gain = std::max(max_gain, gain(i));
    }
    Box box = chart_;
    if (setting_.is_gated) box.width = (chart_.width - em()) / 2;
    ChartAxis y = padded_axis(min_gain, std::max(max_gain, 0.1), true);
    y.titles = {"bits saved", "bits"};
    const Chart chart = place_chart(
        page_, box,
        {.least = 0.4, .most = last + 0.6, .titles = {"token of the text", "token"}, .whole = true},
        std::move(y));
    if (chart.empty()) return;
    draw_chart(page_, chart);
    for (Index i = 1; i < length(); ++i) {
      const bool is_marked = i == token_ + 1;
      draw_bar(page_, chart, static_cast<double>(i), 0.8, gain(i),
               is_marked     ? page_.theme().text
               : gain(i) > 0 ? model_colour()
                             : store_colour());
    }
    draw_hovered_bits(chart);
    if (setting_.is_gated) draw_gates({box.right() + em(), box.y, box.width, box.height});
  }

  void draw_hovered_bits(const Chart& chart) {
    if (!input_.interaction.pointer || !chart.plot.contains(*input_.interaction.pointer)) return;
    const auto i = static_cast<Index>(std::lround(chart.value_x(input_.interaction.pointer->x)));
    if (i < 1 || i >= length()) return;
    draw_value(page_, chart, {static_cast<double>(i), gain(i)},
               "“" + label(i) + "”: " + brief(static_cast<double>(bits_(0, i))) +
                   " bits without, " + brief(static_cast<double>(bits_(1, i))) + " with retrieval");
  }

  void draw_gates(const Box& box) {
    const Tensor& gate = trace_.taps.at("retrieval.gate");
    const auto last = static_cast<double>(length() - 1);
    const Chart chart = place_chart(
        page_, box,
        {.least = 0, .most = last, .titles = {"token of the text", "token"}, .whole = true},
        {.least = 0, .most = 1.03, .titles = {"gate g: share of the model", "gate g"}});
    if (chart.empty()) return;
    draw_chart(page_, chart);
    std::vector<Point> points;
    for (Index i = 0; i < length(); ++i) {
      points.push_back({static_cast<double>(i), static_cast<double>(gate[i])});
    }
    draw_curve(page_, chart, points, mixed_colour(), 2);
    draw_value(page_, chart, points[static_cast<std::size_t>(token_)],
               "g = " + brief(points[static_cast<std::size_t>(token_)].y));
  }

  ViewLayout finish() {
    ViewLayout layout;
    layout.hit = token_hits(flow_, input_.session.view.layer, input_.session.view.head);
    add_token_handles(handles_, flow_, "Show the retrieval after this token.", show_retrieval);
    layout.handles = std::move(handles_);
    layout.list = page_.take(bottom_);
    return layout;
  }

  const ViewInput& input_;
  Page page_;
  const Trace& trace_;
  const std::shared_ptr<const RetrievedContexts> contexts_;  // null until the search has finished
  const bool is_gate_untrained_;
  MixSetting setting_;
  Tensor bits_;  // [2, L]: without and with retrieval
  MixedRow row_;
  Box text_, flow_box_, table_, bars_, chart_;
  double bottom_ = 0;
  TokenFlow flow_;
  Index token_ = 0;
  std::vector<Handle> handles_;
};

}  // namespace

ViewLayout lay_out_neighbours(const ViewInput& input) {
  return NeighboursPicture(input).lay_out();
}

}  // namespace attnscope
