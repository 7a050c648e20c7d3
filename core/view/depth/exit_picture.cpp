#include "core/view/depth/exit_picture.h"

#include <algorithm>
#include <cmath>

#include "core/figure/plain_text.h"
#include "core/model/exits.h"
#include "core/view/depth/exit_legend.h"
#include "core/view/parts/chart.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/fact_table.h"
#include "core/view/parts/focus.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/shapes.h"
#include "core/view/parts/token_flow.h"

namespace attnscope {
namespace {

constexpr const char* kDepth = "depth";
constexpr double kSentence = 1.5;       // em, height of a line
constexpr double kMaxExitFlow = 0.22;   // fraction of the height for the text
constexpr double kMinExitFlow = 1.8;    // em
constexpr double kGap = 0.7;            // em between parts
constexpr double kMinChart = 12;        // em
constexpr double kGoodCharts = 14;      // em: minimum height of two stacked charts
constexpr double kMaxCharts = 24;       // em
constexpr double kMinThreeCharts = 42;  // em
constexpr double kMaxTable = 46;        // em, width
constexpr Index kMaxCurves = 400;       // maximum number of background curves
constexpr double kWideLegend = 24;      // em: wider legends include the oracle's cost per layer
constexpr double kBar = 0.4;            // width of each of two bars, relative to a layer

std::string millions(double count) {
  if (count >= 1e9) return brief(count / 1e9, 4) + " billion";
  return brief(count / 1e6, 3) + " million";
}

// Relative change: "-24%".
std::string change(double reference, double value) {
  const double fraction = value / reference - 1;
  return (fraction < 0 ? "" : "+") + percent(fraction);
}

class ExitPicture {
 public:
  explicit ExitPicture(const ViewInput& input)
      : input_(input),
        page_(input),
        trace_(input.trace),
        study_(input.findings.get(Findings::exits)) {}

  ViewLayout lay_out() {
    if (trace_.tokens.empty()) return page_.message("Nothing to show", "Type a text.");
    if (!study_ || study_->length() != static_cast<Index>(trace_.tokens.size())) {
      return page_.message("Computing", "The exits are being computed.", "exits");
    }
    setting_ = exit_setting(input_, study());
    exits_ = token_exits(input_, study());
    const Box inside = page_.frame(trace_.model + " · early exits", caption_text());
    if (!place(inside)) return no_space(page_);
    draw_text();
    draw_token_text();
    draw_confidences();
    draw_shares();
    draw_work();
    return finish();
  }

 private:
  double em() const { return page_.em(); }
  const ExitStudy& study() const { return *study_; }
  Index layers() const { return study().layers(); }
  Index length() const { return study().length(); }
  const ExitRule& rule() const { return exit_rule(study().rule.id); }
  Index exit_of(Index i) const { return exits_.layers[static_cast<std::size_t>(i)]; }
  const std::string& label(Index i) const {
    return trace_.tokens[static_cast<std::size_t>(i)].label;
  }

  Colour colour_of(Index layer) const { return depth_colour(layer, layers()); }

  double mean_layers() const {
    double sum = 0;
    for (const Index layer : exits_.layers) sum += static_cast<double>(layer + 1);
    return sum / static_cast<double>(length());
  }

  std::string rule_text() const {
    if (!study().has_threshold()) {
      return rule().distribution_at == 0 ? "All tokens exit at one layer, the most likely by q, "
                                           "chosen before the first layer"
                                         : "Each token exits at the layer that is most likely by "
                                           "q, chosen after the first layer";
    }
    return "A token exits after the first layer whose confidence is at least T = " +
           brief(setting_.threshold, 3) +
           (setting_.decay > 0 ? ", T decaying along the text by τ = " + brief(setting_.decay, 3)
                               : "");
  }

  std::string mean_layers_text() const {
    return "tokens use " + decimal(mean_layers(), 1) + " of " + std::to_string(layers()) +
           " layers on average" + (exits_.work ? "" : ", as recorded");
  }

  std::string caption_text() const {
    std::string text = rule().label + ": " + rule_text() + "; " + mean_layers_text() + ". ";
    text += rule().source + ". ";
    if (exits_.work) {
      text +=
          "Measured cost: shortest time of several alternating runs with and without exits, "
          "without recording; multiply-adds are those executed.";
    }
    return caption(trace_, text);
  }

  bool place(const Box& inside) {
    flow_height_ = token_flow_height(page_, flow_tokens(-1), inside.width,
                                     std::max(kMinExitFlow * em(), kMaxExitFlow * inside.height));
    const double above =
        kSentence * em() + flow_height_ + swatches_height(page_) + 2 * kSentence * em();
    double table = fact_table_height(page_, 5) + kSentence * em() + kGap * em();
    double charts = inside.height - above - table;
    if (charts < kMinChart * em()) {
      table = min_fact_table_height(page_, 5) + kSentence * em() + kGap * em();
      charts = inside.height - above - table;
    }
    has_work_ = charts >= kMinChart * em();
    if (!has_work_) {
      table = 0;
      charts = inside.height - above;
    }
    charts = std::min(charts, kMaxCharts * em());
    if (charts < kMinChart * em() || inside.width < 24 * em()) return false;
    const double height = above + charts + table;
    const double y = inside.y + page_.top_margin(inside.height, height);
    text_ = {inside.x, y, inside.width, above};
    const Box charts_box{inside.x, y + above, inside.width, charts};
    place_charts(charts_box);
    work_ = {inside.x, charts_box.bottom() + kGap * em(), std::min(inside.width, kMaxTable * em()),
             table - kGap * em()};
    bottom_ = has_work_ ? work_.bottom() : charts_box.bottom();
    return true;
  }

  void place_charts(const Box& box) {
    const double gap = em();
    if (box.width >= kMinThreeCharts * em()) {
      const double width = (box.width - 2 * gap) / 3;
      curves_ = {box.x, box.y, width, box.height};
      token_chart_ = {box.x + width + gap, box.y, width, box.height};
      mean_chart_ = {box.x + 2 * (width + gap), box.y, width, box.height};
      return;
    }
    const double width = (box.width - gap) / 2, right = box.x + width + gap;
    curves_ = {box.x, box.y, width, box.height};
    mean_chart_ = {right, box.y, width, box.height};
    if (box.height < kGoodCharts * em()) return;
    token_chart_ = {right, box.y, width, box.height / 2};
    mean_chart_ = {right, box.y + box.height / 2, width, box.height / 2};
  }

  std::vector<FlowToken> flow_tokens(Index marked) const {
    std::vector<FlowToken> tokens;
    for (Index i = 0; i < length(); ++i) {
      tokens.push_back({label(i), colour_of(exit_of(i)), i == marked});
    }
    return tokens;
  }

  // The hovered token, else the pinned token, else the last token with a successor.
  Index selected_token(const TokenFlow& flow) const {
    const Index hovered = input_.interaction.pointer ? flow.at(*input_.interaction.pointer) : -1;
    if (hovered >= 0) return hovered;
    const Index pinned = input_.session.view.pinned_query;
    if (pinned >= 0 && pinned < length()) return pinned;
    return std::max<Index>(0, length() - 2);
  }

  void draw_text() {
    page_.text({text_.x, text_.y + 0.6 * em()},
               page_.fitting({rule_text() + "; " + mean_layers_text() + ".", rule_text() + ".",
                              rule().label + ": " + mean_layers_text(), mean_layers_text()},
                             em(), text_.width),
               em());
    const Box box{text_.x, text_.y + kSentence * em(), text_.width, flow_height_};
    const Index required = std::max<Index>(
        0, std::min(input_.session.view.pinned_query < 0 ? length() - 1
                                                         : input_.session.view.pinned_query,
                    length() - 1));
    Page draft(input_);
    flow_ = draw_token_flow(draft, box, flow_tokens(-1), static_cast<std::size_t>(required));
    token_ = selected_token(flow_);
    draw_token_flow(page_, box, flow_tokens(token_), static_cast<std::size_t>(required));
    draw_exit_legend(page_, {text_.x, box.bottom()}, text_.width, exits_.layers, layers());
  }

  std::string describe_guess(Index layer) const {
    return "“" + token_label(trace_, study().guess(layer, token_)) + "” (" +
           percent(static_cast<double>(study().probability(layer, token_))) + ")";
  }

  // Describes the exit of the outlined token.
  void draw_token_text() {
    const double y = text_.y + kSentence * em() + flow_height_ + swatches_height(page_);
    const Index exit = exit_of(token_), last = layers() - 1;
    const std::string text = "“" + label(token_) + "” exits after layer " + std::to_string(exit) +
                             " and predicts " + describe_guess(exit);
    const std::string last_guess =
        exit < last ? "; the last layer predicts " + describe_guess(last) : "";
    const Index target = predicts_masked_tokens(trace_) ? token_ : token_ + 1;
    const std::string expected = target < length() ? "; the text has “" + label(target) + "”" : "";
    page_.text({text_.x, y + 0.75 * em()},
               page_.fitting({text + last_guess + expected + ".", text + expected, text}, em(),
                             text_.width),
               em());
    const bool q = study().distribution.defined();
    const std::string notice =
        q ? "Note: q learns to follow q*, the layer that an oracle with access to the text would "
            "take; where q is left of it, tokens exit too early."
          : "Note: where a layer is more confident than accurate, tokens exit too "
            "early; a higher threshold prevents that.";
    page_.faint_text(
        {text_.x, y + 0.75 * em() + kSentence * em()},
        page_.fitting({notice, notice.substr(6),
                       q ? "q learns to follow q*, the layer that an oracle with access to "
                           "the text would choose."
                         : "More confident than accurate: tokens exit too early."},
                      page_.small(), text_.width),
        page_.small());
  }

  ChartAxis layer_axis() const {
    ChartAxis x{.least = -0.5, .most = static_cast<double>(layers()) - 0.5, .titles = {"layer"}};
    for (Index n = 0; n < layers(); ++n) {
      x.names.emplace_back(static_cast<double>(n), std::to_string(n));
    }
    return x;
  }

  // Draws the confidence by layer: all tokens in the background, the selected one in front.
  void draw_confidences() {
    const bool has_confidence = study().has_threshold();
    const Tensor& q = study().distribution;
    const auto value = [&](Index n, Index i) {
      return static_cast<double>(has_confidence ? study().confidence(n, i) : q(i, n));
    };
    double minimum = 0;
    for (Index i = 0; i < length(); ++i) {
      for (Index n = 0; n < layers(); ++n) minimum = std::min(minimum, value(n, i));
    }
    ChartAxis y{.least = minimum - 0.03, .most = 1.05, .titles = {}};
    y.titles = !has_confidence ? std::vector<std::string>{"q, share of each layer", "q"}
               : rule().makes_distribution
                   ? std::vector<std::string>{"confidence: exit probability", "confidence"}
                   : std::vector<std::string>{"confidence: " + rule().label, "confidence"};
    const Chart chart = place_chart(page_, curves_, layer_axis(), std::move(y));
    if (chart.empty()) return;
    draw_chart(page_, chart);
    const auto curve = [&](Index i) {
      std::vector<Point> points;
      for (Index n = 0; n < layers(); ++n) points.push_back({static_cast<double>(n), value(n, i)});
      return points;
    };
    const double opacity = length() > 60 ? 0.25 : 0.45;
    for (Index i = std::max<Index>(0, length() - kMaxCurves); i < length(); ++i) {
      draw_curve(page_, chart, curve(i), translucent(colour_of(exit_of(i)), opacity), 1.2);
    }
    const std::vector<Point> selected = curve(token_);
    draw_curve(page_, chart, selected, page_.theme().text, 3);
    for (const Point& p : selected) {
      page_.add(disc({chart.at_x(p.x), chart.at_y(p.y)}, 0.28 * em(), page_.theme().text));
    }
    if (has_confidence) draw_threshold(chart);
    draw_hovered(chart, [&](Index n) { return value(n, token_); });
  }

  void draw_threshold(const Chart& chart) {
    const double t = study().threshold_of(token_, setting_.threshold, setting_.decay);
    const double y = chart.at_y(t);
    const Colour accent = page_.theme().accent;
    page_.add(Line{{{chart.plot.x, y}, {chart.plot.right(), y}}, accent, 2});
    const std::string text = (setting_.decay > 0 ? "T at this token = " : "T = ") + brief(t, 3);
    const bool is_covered =
        input_.interaction.pointer && chart.plot.contains(*input_.interaction.pointer);
    if (!is_covered) {  // else the hovered layer's numbers are here
      page_.tag({chart.plot.right() - 0.3 * em() - page_.width_of(text, em(), true) - 2 * em(),
                 y - 0.8 * em()},
                text, chart.plot);
    }
    const Box area{chart.plot.x, y - 0.6 * em(), chart.plot.width, 1.2 * em()};
    // A token's threshold is factor * base + offset.
    const double offset = setting_.decay > 0
                              ? 0.1 * std::exp(-setting_.decay * static_cast<double>(token_) /
                                               static_cast<double>(length()))
                              : 0;
    const double factor = setting_.decay > 0 ? 0.9 : 1;
    handles_.push_back({.area = area,
                        .help = "Drag to make tokens exit earlier or later.",
                        .drag = [chart, offset, factor](Point p, Session& session) {
                          const double base = (chart.value_y(p.y) - offset) / factor;
                          const double value = std::clamp(std::round(100 * base) / 100, 0.0, 1.0);
                          if (session.run.exit) {
                            session.run.exit = value;
                          } else {
                            set_view_value(session.view, kDepth, "threshold", value);
                          }
                        }});
  }

  template <class Value>
  void draw_hovered(const Chart& chart, const Value& value) {
    if (!input_.interaction.pointer || !chart.plot.contains(*input_.interaction.pointer)) return;
    const auto n = static_cast<Index>(std::lround(chart.value_x(input_.interaction.pointer->x)));
    if (n < 0 || n >= layers()) return;
    draw_value(page_, chart, {static_cast<double>(n), value(n)},
               "layer " + std::to_string(n) + ": " + brief(value(n), 3) + ", " + describe_guess(n));
  }

  void draw_shares() {
    if (token_chart_.width > 0) draw_shares_of(token_, token_chart_, false);
    draw_shares_of(-1, mean_chart_, token_chart_.width > 0);
  }

  // Legend entries, shorter in narrow charts.
  std::vector<LegendEntry> share_legend(double width) const {
    if (!study().distribution.defined()) {
      return {{first_colour(), "confidence"}, {second_colour(), "prediction is the last layer's"}};
    }
    std::vector<LegendEntry> names{{first_colour(), "q, the classifier's"}};
    if (study().has_oracle) {
      const double lambda = width > kWideLegend * em() ? study().rule.values.real("lambda") : 0;
      names.push_back(
          {second_colour(),
           "q*, the oracle's" +
               (lambda > 0 ? " (a layer costs " + brief(lambda, 2) + ")" : std::string())});
    }
    return names;
  }

  // Draws exit_shares() by layer, for a token or the mean of all tokens (`token` -1).
  void draw_shares_of(Index token, Box box, bool is_below_token_chart) {
    const std::vector<LegendEntry> names = share_legend(box.width);
    if (!is_below_token_chart || box.y == token_chart_.y) {
      const double height = legend_height(page_, names, box.width);
      draw_legend(page_, names, {box.x, box.y, box.width, height});
      box.y += height;
      box.height -= height;
    }
    const Tensor shares = exit_shares(study(), token);
    const auto maximum = static_cast<double>(*std::max_element(shares.begin(), shares.end()));
    ChartAxis y{.least = 0, .most = std::max(0.05, 1.08 * maximum), .titles = {}};
    y.titles = token < 0 ? std::vector<std::string>{"mean of all tokens", "all tokens"}
                         : std::vector<std::string>{"this token", "token"};
    const Chart chart = place_chart(page_, box, layer_axis(), std::move(y));
    if (chart.empty()) return;
    draw_chart(page_, chart);
    for (Index n = 0; n < layers(); ++n) {
      const auto x = static_cast<double>(n);
      draw_bar(page_, chart, x - kBar / 2, kBar, static_cast<double>(shares(0, n)), first_colour());
      draw_bar(page_, chart, x + kBar / 2, kBar, static_cast<double>(shares(1, n)),
               second_colour());
    }
    if (!input_.interaction.pointer || !chart.plot.contains(*input_.interaction.pointer)) return;
    const auto n = static_cast<Index>(std::lround(chart.value_x(input_.interaction.pointer->x)));
    if (n < 0 || n >= layers()) return;
    const bool has_q = study().distribution.defined();
    draw_value(page_, chart,
               {static_cast<double>(n), static_cast<double>(std::max(shares(0, n), shares(1, n)))},
               "layer " + std::to_string(n) + (has_q ? ": q " : ": ") +
                   brief(static_cast<double>(shares(0, n))) + (has_q ? ", q* " : ", agrees ") +
                   brief(static_cast<double>(shares(1, n))));
  }

  void draw_work() {
    if (!has_work_) return;
    const Index changed = count_changed_exits();
    std::string title = "Measured on this text, with and without exits";
    if (!exits_.work) title = "Measuring the model with and without exits …";
    std::vector<std::string> titles{title};
    if (exits_.work && changed > 0) {
      titles.insert(titles.begin(), title + ": " + std::to_string(changed) +
                                        (changed == 1 ? " token exits" : " tokens exit") +
                                        " elsewhere than with states of all layers");
    }
    page_.text({work_.x, work_.y + 0.6 * em()}, page_.fitting(titles, em(), text_.width), em());
    const Box box{work_.x, work_.y + kSentence * em(), work_.width,
                  work_.height - kSentence * em()};
    draw_fact_table(page_, box, "all layers",
                    study().has_threshold() ? "T = " + brief(setting_.threshold, 3) : "early exit",
                    facts());
  }

  // Number of tokens whose measured exit differs from the exit derived from all recorded layers.
  Index count_changed_exits() const {
    const std::vector<Index> recorded = study().exit_layers_at(setting_.threshold, setting_.decay);
    Index count = 0;
    for (Index i = 0; i < length(); ++i) {
      if (recorded[static_cast<std::size_t>(i)] != exit_of(i)) ++count;
    }
    return count;
  }

  std::vector<Fact> facts() const {
    const std::string layers_text =
        decimal(mean_layers(), 2) + "  " + change(static_cast<double>(layers()), mean_layers());
    if (!exits_.work) {
      return {{"Layers per token", std::to_string(layers()), layers_text},
              {"Multiply-adds", "…", "…"},
              {"Run time", "…", "…"},
              {"Agrees with last layer", "100%", "…"},
              {"Bits per token", "…", "…"}};
    }
    const ExitWork& w = *exits_.work;
    const auto bits = [](double x) { return std::isnan(x) ? "–" : fixed(x, 2); };
    return {{"Layers per token", std::to_string(layers()), layers_text},
            {"Multiply-adds", millions(w.all.multiply_adds),
             millions(w.early.multiply_adds) + "  " +
                 change(w.all.multiply_adds, w.early.multiply_adds)},
            {"Run time", fixed(w.all.milliseconds, 2) + " ms",
             fixed(w.early.milliseconds, 2) + " ms  " +
                 change(w.all.milliseconds, w.early.milliseconds)},
            {"Agrees with last layer", "100%", percent(w.agreement())},
            {"Bits per token", bits(w.all.bits), bits(w.early.bits)}};
  }

  ViewLayout finish() {
    ViewLayout layout;
    layout.hit = token_hits(flow_, input_.session.view.layer, input_.session.view.head);
    add_pin_handles(handles_, flow_, "Pin this token.", input_.session.view.pinned_query);
    layout.handles = std::move(handles_);
    if (!exits_.work) layout.pending = "time with and without exits";
    layout.list = page_.take(bottom_);
    return layout;
  }

  const ViewInput& input_;
  Page page_;
  const Trace& trace_;
  const std::shared_ptr<const ExitStudy> study_;  // null: not available (yet)
  ExitSetting setting_;
  TokenExits exits_;
  Box text_, curves_, token_chart_, mean_chart_, work_;
  bool has_work_ = true;
  double flow_height_ = 0, bottom_ = 0;
  TokenFlow flow_;
  Index token_ = 0;
  std::vector<Handle> handles_;
};

}  // namespace

ViewLayout lay_out_exits(const ViewInput& input) {
  return ExitPicture(input).lay_out();
}

}  // namespace attnscope
