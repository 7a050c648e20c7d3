// What each layer would say if it were the last, and where a confident model could stop.
#include <algorithm>
#include <cmath>

#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/model/architecture.h"
#include "core/model/exits.h"
#include "core/view/depth/depth_data.h"
#include "core/view/depth/exit_picture.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/matrix_plot.h"
#include "core/view/parts/range.h"
#include "core/view/parts/reading.h"
#include "core/view/parts/refusal.h"
#include "core/view/parts/token_flow.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr const char* kSaysNoLayers =
    "This model is no stack of layers, each of which could say what comes next.";

// Recurrent networks have none that the model's output could read.
bool has_layers(const Trace& trace) {
  return !trace.config || architecture(trace.config->architecture.id).has_self_attention;
}

constexpr double kMostFlow = 0.16;     // of the height, for the text
constexpr double kLeastFlow = 1.8;     // em: a line of it
constexpr double kLargestRow = 1.9;    // em
constexpr double kLargestColumn = 11;  // em
constexpr double kLeastPlot = 4;       // em
constexpr double kLine = 1.5;          // em, of a line of text
constexpr double kWordHeight = 1.05;   // em: cells at least this high have their guess in them
constexpr double kWordLine = 1.2;      // of its size, that a guess takes
constexpr double kFewestRows = 4;      // that are worth leaving out all others
constexpr double kNoteLine = 1.2;      // em, of the line that says so
constexpr double kLeastPaled = 3;      // pixels: of cells whose exit is shown at all
constexpr double kPaled = 0.6;      // how much of the page shows through what comes after an exit
constexpr double kLeastWord = 2.5;  // em, and this wide

std::string percent(double share) {
  return fixed(100 * share, 0) + " %";
}

class Depth {
 public:
  explicit Depth(const ViewInput& input)
      : input_(input),
        page_(input),
        trace_(input.trace),
        lens_(input.findings.get(Findings::lens)),
        fills_in_(fills_in_places(trace_)) {}

  ViewLayout lay_out() {
    if (const Refusal nothing = nothing_ran(input_)) return nothing.message(page_);
    if (trace_.given) {
      return page_.message("No model to ask",
                           "These tensors hold attention alone: what layers would say comes from a "
                           "model's states. Choose a model and a text.");
    }
    if (!predicts_each(trace_)) return page_.message("No tokens to guess", kSaysActions);
    if (!has_layers(trace_)) return page_.message("No layers to ask", kSaysNoLayers);
    if (!trace_.logits.defined()) return page_.message("No layers to ask", kSaysNoHead);
    if (!lens_) {
      return page_.message("One moment", "What the layers would say is being worked out.");
    }
    const Values values = view_values(input_.experiment.view, "depth");
    by_probability_ = values.choice("colour") == "probability";
    exits_ = shown_exits(input_, lens());
    const Box inside = page_.frame(trace_.model + " · what each layer would say", caption_text());
    if (!place(inside)) return no_space(page_);
    draw_summary();
    draw_text();
    draw_guesses();
    draw_hovered();
    draw_marks();
    draw_last_rows();
    return finish();
  }

 private:
  double em() const { return page_.em(); }
  const LogitLens& lens() const { return *lens_; }
  Index layers() const { return lens().guess.dim(0); }
  Index length() const { return lens().guess.dim(1); }
  Index exit_of(Index i) const { return exits_.layers[static_cast<std::size_t>(i)]; }

  // From the first layer to the last, in colours of even steps.
  Colour colour_of(Index layer) const {
    constexpr double kFirst = 0.95, kLast = 0.12;  // of the map: early exits are bright
    const double share =
        layers() > 1 ? static_cast<double>(layer) / static_cast<double>(layers() - 1) : 0;
    return colour_map("viridis").at(kFirst + share * (kLast - kFirst));
  }

  const std::string& rule() const { return exits_.rule; }

  // Of layers that were skipped nobody knows what they would have said.
  std::string summary() const {
    const ExitSummary s = exit_summary(lens(), exits_.layers);
    if (exits_.skipped) return percent(s.saved) + " of the layers were skipped";
    return percent(s.saved) + " of the layers could be saved; " + percent(s.agreement) +
           " of the tokens already have the last layer's guess";
  }

  std::string caption_text() const {
    const std::string exit =
        exits_.skipped ? "the layer after which the token left (" + rule() +
                             "): later ones were skipped and only pass its state on"
                       : "the first layer with " + rule() + ", after which cells are pale";
    return caption(trace_, std::string(fills_in_ ? "The token for each place" : "The next token") +
                               " that each layer's state gives through the final norm and "
                               "the output projection; bold: as the last layer; outlined: " +
                               exit + ". " + summary() + ".");
  }

  // By number; of a recurrence over depth "2·0", the first layer in the second step.
  void set_layers(TokenAxis& axis) const {
    axis.titles = {"guess of layer", "layer"};
    const std::vector<HeadRef> passed = trace_.layers_passed(trace_.part({}));
    const bool steps = trace_.parts.step && static_cast<Index>(passed.size()) == layers();
    if (steps) axis.titles = {"guess of step·layer", "step·layer"};
    for (Index n = 0; n < layers(); ++n) {
      const HeadRef at = steps ? passed[static_cast<std::size_t>(n)] : HeadRef{n};
      const std::string step = steps ? std::to_string(at.part.step) + "·" : "";
      axis.labels.push_back(step + std::to_string(at.layer));
    }
  }

  bool place(const Box& inside) {
    flow_height_ = token_flow_height(page_, flow_tokens(), inside.width,
                                     std::max(kLeastFlow * em(), kMostFlow * inside.height));
    const double above = kLine * em() + flow_height_ + swatches_height(page_) + 0.6 * em();
    MatrixPlot& m = matrix_;
    m.scale = input_.scale;
    for (const TraceToken& token : trace_.tokens) m.rows.labels.push_back(token.label);
    m.rows.titles = {"after this token", "after", ""};
    if (fills_in_) m.rows.titles = {"in place of this token", "in place of", ""};
    set_layers(m.columns);
    const double most = std::min(10 * em(), 0.2 * std::min(inside.width, inside.height));
    m.left = axis_depth_left(page_, m.rows, most);
    const double width = std::min(inside.width - m.left - colour_bar_width(page_),
                                  static_cast<double>(layers()) * kLargestColumn * em());
    m.top = axis_depth_top(page_, m.columns, std::max(width, em()), most);
    const double space = inside.height - above - m.top - kLine * em();
    const double note = choose_rows(space, width);
    const double shown = std::min(m.height, static_cast<double>(length()));
    const double height = std::min(space - note, shown * kLargestRow * em());
    if (width < kLeastPlot * em() || height < std::min(kLeastPlot, 1.2 * shown) * em()) {
      return false;
    }
    const double below = kLine * em() + note;
    const double y = inside.y + page_.spare_above(inside.height, above + m.top + height + below);
    text_ = {inside.x, y, inside.width, above};
    const double all = m.left + width + colour_bar_width(page_);
    m.plot = {inside.x + (inside.width - all) / 2 + m.left, y + above + m.top, width, height};
    m.right = {m.plot.right(), m.plot.y, colour_bar_width(page_), height};
    if (input_.pointer) {
      std::tie(m.hovered_row, m.hovered_column) = pair_at(m)(*input_.pointer);
    }
    return true;
  }

  // The rows that are asked for; where none are, all, or as many of the last ones as have their
  // guesses written in them. Returns the height of the line that says so.
  double choose_rows(double space, double width) {
    MatrixPlot& m = matrix_;
    const ViewSettings& view = input_.experiment.view;
    const auto all = static_cast<double>(layers());
    set_visible(m, {view.row, 0, view.height, view.height > 0 ? all : 0});
    const double row = kWordHeight * em();
    if (view.height > 0 || width < all * kLeastWord * em()) return 0;
    if (space >= static_cast<double>(length()) * row) return 0;
    const double note = kNoteLine * em(), fit = std::floor((space - note) / row);
    if (fit < kFewestRows) return 0;
    last_rows_ = static_cast<Index>(fit);
    set_visible(m, {static_cast<double>(length() - last_rows_), 0, fit, all});
    return note;
  }

  std::vector<FlowToken> flow_tokens() const {
    std::vector<FlowToken> tokens;
    for (Index i = 0; i < length(); ++i) {
      tokens.push_back({trace_.tokens[static_cast<std::size_t>(i)].label, colour_of(exit_of(i)),
                        matrix_.hovered_row == i});
    }
    return tokens;
  }

  void draw_summary() {
    const ExitSummary s = exit_summary(lens(), exits_.layers);
    const std::string saved = percent(s.saved), agree = percent(s.agreement);
    const Point at{text_.x, text_.y + 0.6 * em()};
    if (exits_.skipped) {
      page_.text(at,
                 page_.fitting({"Exit by " + rule() + ": " + summary() + ".",
                                rule() + ": " + summary(), saved + " of layers skipped"},
                               em(), text_.width),
                 em());
      return;
    }
    page_.text(
        at,
        page_.fitting(
            {"Exit at " + rule() + ": " + summary() + ".", rule() + ": " + summary(),
             rule() + ": " + saved + " of layers could be saved, " + agree + " with the last guess",
             rule() + ": " + saved + " could be saved, " + agree + " agree",
             saved + " could be saved, " + agree + " agree"},
            em(), text_.width),
        em());
  }

  void draw_text() {
    const double y = text_.y + kLine * em();
    // With the last of the guesses that are in sight.
    const Extent rows = extent_in_sight(matrix_.row, matrix_.height, length());
    draw_token_flow(page_, {text_.x, y, text_.width, flow_height_}, flow_tokens(),
                    static_cast<std::size_t>(std::max<Index>(rows.last, 1) - 1));
    std::vector<Swatch> swatches;
    for (Index layer = 0; layer < layers(); ++layer) {
      const auto count = std::ranges::count(exits_.layers, layer);
      swatches.push_back(
          {colour_of(layer), std::to_string(layer) + " (" + std::to_string(count) + ")"});
    }
    draw_swatches(page_, {text_.x, y + flow_height_}, text_.width, "exit after layer (tokens)",
                  swatches);
  }

  void draw_guesses() {
    const MatrixPlot& m = matrix_;
    HeatMap cells = matrix_cells(m);
    const Tensor& shown = by_probability_ ? lens().probability : lens().final_guess;  // [layers, L]
    cells.values = Tensor({length(), layers()});
    for (Index i = 0; i < length(); ++i) {
      for (Index layer = 0; layer < layers(); ++layer) cells.values(i, layer) = shown(layer, i);
    }
    ColourRange range;
    range.colour_map = input_.experiment.view.colour_map;
    if (colour_map(range.colour_map).diverging()) range.colour_map = "viridis";
    if (input_.experiment.view.colour_end == ColourEnd::Largest) {
      range.most = static_cast<double>(*std::max_element(shown.begin(), shown.end()));
    }
    cells.most = range.most;
    cells.colour_map = range.colour_map;
    page_.add(cells);
    draw_exits();
    draw_words(cells.values, range);
    draw_matrix_frame(page_, m, {});
    draw_colour_bar(page_, m.right, range,
                    by_probability_
                        ? std::vector<std::string>{"probability of the guess", "probability"}
                        : std::vector<std::string>{"probability of the last layer's guess",
                                                   "of the last guess"});
  }

  Box cell(Index row, Index layer) const { return matrix_.cell(row, layer); }
  Extent visible_rows() const { return extent_in_sight(matrix_.row, matrix_.height, length()); }

  bool has_words() const {
    const Box one = cell(0, 0);
    return one.height >= kWordHeight * em() && one.width >= kLeastWord * em();
  }

  void draw_words(const Tensor& shown, const ColourRange& range) {
    if (!has_words()) return;
    const ColourMap& colours = colour_map(range.colour_map);
    const double size = std::min(em(), cell(0, 0).height / kWordLine);
    const auto [first, last] = visible_rows();
    page_.add(Clip{matrix_.plot});
    for (Index i = first; i < last; ++i) {
      for (Index layer = 0; layer < layers(); ++layer) {
        const Box box = cell(i, layer);
        const bool agrees = lens().guess(layer, i) == lens().guess(layers() - 1, i);
        Colour ground = colours.at(static_cast<double>(shown(i, layer)) / range.most);
        if (layer > exit_of(i)) ground = blend(ground, page_.theme().background, kPaled);
        const std::string label = page_.ellipsised(token_label(trace_, lens().guess(layer, i)),
                                                   size, box.width - 0.6 * em(), agrees);
        page_.add(Text{{box.x + box.width / 2, box.y + box.height / 2},
                       label,
                       translucent(ink_on(ground), agrees ? 1 : 0.75),
                       size,
                       Align::Middle,
                       0,
                       agrees});
      }
    }
    page_.add(Clip{});
  }

  // Marks where each token exits. What comes after pales.
  void draw_exits() {
    const auto [first, last] = visible_rows();
    const double height = cell(0, 0).height;
    if (height < kLeastPaled) return;
    page_.add(Clip{matrix_.plot});
    for (Index i = first; i < last; ++i) {
      const Box box = cell(i, exit_of(i));
      const double after = matrix_.plot.right() - box.right();
      if (after > 0.5) {
        page_.add(FilledBox{{box.right(), box.y, after, box.height},
                            translucent(page_.theme().background, kPaled)});
      }
      draw_last_cell(page_, box);
    }
    page_.add(Clip{});
  }

  // What marks mean; in a framed picture the caption says it. And where guesses have no space.
  void draw_marks() {
    if (matrix_.hovered_row >= 0) return;
    std::vector<std::string> candidates;
    if (cell(0, 0).height >= kLeastPaled) {
      const std::string exit =
          outlines_last(cell(0, 0)) ? "outlined: exits here" : "line: where it exits";
      candidates = {exit + " · pale: after the exit", exit};
    }
    if (input_.framed) candidates.clear();
    const auto put_before = [&](const std::string& longer, const std::string& shorter) {
      const std::string rest = candidates.empty() ? "" : " · " + candidates.front();
      candidates.insert(candidates.begin(), {longer + rest, shorter + rest});
    };
    if (has_words() && !input_.framed) {
      put_before("bold: the last layer's guess · faint: another", "bold: as the last layer");
    }
    if (!has_words()) {
      const std::string how =
          input_.framed ? "no space for the guesses" : "zoom in for the guesses";
      const bool pooled = matrix_.pooled();
      const std::string shorter = how + (pooled ? ", pooled" : "");
      put_before(how + (pooled ? ", each pixel the largest of its cells" : ""), shorter);
      candidates.push_back(shorter);
    }
    draw_below(candidates);
  }

  void draw_last_rows() {
    if (last_rows_ == 0) return;
    const std::string count = std::to_string(last_rows_) + " of " + std::to_string(length());
    const std::string how = input_.framed ? "" : ": drag or zoom out for the others";
    draw_line((kLine + kNoteLine / 2) * em(),
              {"the last " + count + " tokens" + how, "the last " + count, count});
  }

  // The numbers of the cell under the pointer, below.
  void draw_hovered() {
    const MatrixPlot& m = matrix_;
    const Index i = m.hovered_row, layer = m.hovered_column;
    if (i < 0 || layer < 0) return;
    const std::string guess = token_label(trace_, lens().guess(layer, i));
    const std::string text =
        "layer " + std::to_string(layer) + (fills_in_ ? " in place of “" : " after “") +
        trace_.tokens[static_cast<std::size_t>(i)].label + "”: “" + guess + "” " +
        fixed(100 * static_cast<double>(lens().probability(layer, i)), 1) + " %, margin " +
        fixed(static_cast<double>(lens().margin(layer, i)), 3) + ", the last layer's guess " +
        fixed(100 * static_cast<double>(lens().final_guess(layer, i)), 1) + " %, saturation " +
        fixed(static_cast<double>(lens().saturation(layer, i)), 3);
    draw_below({text});
  }

  // The first that fits in the line below the cells.
  void draw_below(const std::vector<std::string>& candidates) { draw_line(0.9 * em(), candidates); }

  // The same with its middle so far below.
  void draw_line(double below, const std::vector<std::string>& candidates) {
    const MatrixPlot& m = matrix_;
    const double width = m.right.right() - m.plot.x + m.left;
    page_.faint_text({m.plot.x - m.left, m.plot.bottom() + below},
                     page_.fitting(candidates, page_.small(), width), page_.small());
  }

  ViewLayout finish() {
    const MatrixPlot& m = matrix_;
    ViewLayout layout = matrix_layout(
        page_, m, m.plot.bottom() + (kLine + (last_rows_ > 0 ? kNoteLine : 0)) * em());
    layout.rows = length();
    layout.columns = layers();
    layout.hit = [at = pair_at(m), head = input_.experiment.view.head](Point p) {
      const auto [row, layer] = at(p);
      if (row < 0 || layer < 0) return std::optional<Hit>();
      return std::optional(Hit{layer, head, row, -1});
    };
    return layout;
  }

  const ViewInput& input_;
  Page page_;
  const Trace& trace_;
  const std::shared_ptr<const LogitLens> lens_;  // null: not known (yet)
  const bool fills_in_;                          // what is hidden, where others go on with the text
  bool by_probability_ = true;
  ShownExits exits_;
  Box text_;  // summary, text and key
  double flow_height_ = 0;
  MatrixPlot matrix_;
  Index last_rows_ = 0;  // so many, and not those before; 0: all, or what was asked for
};

// What has no effect here: of exits what the lens is set by, and the other way round.
void restrict_controls(const ViewSettings& settings, const Trace* trace, ViewControls& controls) {
  controls.layer = controls.head = controls.part = false;
  controls.colours = ViewControls::Colours::Sequential;
  controls.colour_ends = stretched_ends();
  if (trace == nullptr) return;
  const auto leave_out = [&](std::initializer_list<const char*> keys) {
    std::erase_if(controls.parameters,
                  [&](const Parameter& p) { return std::ranges::find(keys, p.key) != keys.end(); });
  };
  const bool has_exits = trace->config && trace->config->exits;
  if (!has_exits) leave_out({"show", "decay"});
  if (shows_exits(settings, *trace)) {
    leave_out({"measure", "colour"});
    controls.colours = ViewControls::Colours::None;
    controls.colour_ends.clear();
    const Exits& rule = exit_rule(trace->config->exits->id);
    if (!rule.confidence) controls.idle["threshold"] = rule.label + ": no threshold decides.";
    if (!rule.decays) controls.idle["decay"] = rule.label + ": the threshold does not fall.";
    if (skipped_layers(*trace) && rule.confidence) {
      controls.idle["threshold"] =
          "In this run tokens leave at the threshold set beside the model. Drag the line, or set "
          "it there.";
    }
    return;
  }
  if (has_exits) leave_out({"decay"});
  if (!skipped_layers(*trace)) return;
  for (const char* key : {"measure", "threshold"}) {
    controls.idle[key] = "In this run tokens left where the model's own rule said so.";
  }
}

}  // namespace

View depth_view() {
  View view{
      "depth", "Depth",
      "What each layer would say if it were the last, and where a confident model could stop; of a "
      "model with exits where its tokens leave, and what that saves.",
      true, [](const ViewInput& input) {
        if (shows_exits(input.experiment.view, input.trace)) return lay_out_exits(input);
        return Depth(input).lay_out();
      }};
  view.findings = {Findings::lens.id, Findings::exits.id, Findings::exit_work.id};
  view.data = [](const ViewInput& input) {
    if (shows_exits(input.experiment.view, input.trace)) return exits_data(input);
    return depth_data(input);
  };
  view.parameters = {
      {.key = "show",
       .label = "Show",
       .help = "Of a model with exits: where its tokens leave and what that saves, or what each "
               "layer says.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("exits"),
       .choices = {"exits", "layers"}},
      {.key = "measure",
       .label = "Sure by",
       .help = "How sure a layer is: by the margin between its two likeliest tokens, by the "
               "probability of the likeliest, or by how little its state differs from the layer "
               "before (saturation, a cosine).",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("margin"),
       .choices = {"margin", "probability", "saturation"}},
      {.key = "threshold",
       .symbol = "λ",
       .label = "Threshold",
       .help = "A token exits after the first layer that is at least this sure.",
       .kind = Parameter::Kind::Real,
       .initial = 0.3,
       .least = 0,
       .most = 1,
       .slider_least = 0,
       .slider_most = 1},
      {.key = "decay",
       .symbol = "τ",
       .label = "Decay",
       .help = "How fast the threshold of a model's exits falls along the text; 0: it stays.",
       .kind = Parameter::Kind::Real,
       .optional = true,
       .left_out = "the model's",
       .initial = 0.0,
       .least = 0,
       .most = Parameter::kMostReal,
       .slider_least = 0,
       .slider_most = 8},
      {.key = "colour",
       .label = "Colour by",
       .help = "The probability of each layer's own guess, or the one that it gives to the guess "
               "of the last layer.",
       .kind = Parameter::Kind::Choice,
       .initial = std::string("probability"),
       .choices = {"probability", "last guess"}}};
  view.restrict_controls = restrict_controls;
  view.group = "Depth";
  view.reading = reads_as(
      "What each layer would say if it were the last one: from the bottom up the guess becomes the "
      "final one. A confident model can stop early where that happens.",
      {{"Margin", "how far the likeliest token is ahead of the second."},
       {"Saturation", "how little the layer still changed the state: a cosine, 1 is nothing."},
       {"Threshold λ, T", "how sure a layer must be for its token to leave."}});
  view.objection = [](const Trace& trace) -> std::string {
    if (trace.given) return "The attention was read from a file: there are no layers to ask.";
    if (!predicts_each(trace)) return kSaysActions;
    if (!has_layers(trace)) return kSaysNoLayers;
    if (!trace.tokens.empty() && !trace.logits.defined()) return kSaysNoHead;
    return objection_without_attention(trace);
  };
  return view;
}

}  // namespace attnscope
