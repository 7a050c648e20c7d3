// Depth view: the logit lens of each layer, and where a confident model could exit.
#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/model/architecture.h"
#include "core/text/tokenizer.h"
#include "core/view/depth/depth_controls.h"
#include "core/view/depth/depth_data.h"
#include "core/view/depth/exit_legend.h"
#include "core/view/depth/exit_picture.h"
#include "core/view/depth/loss_table.h"
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

constexpr const char* kNoLogitLens =
    "This model is not a stack of layers, so that it has no logit lens.";

// True if the output projection can read layers; recurrent networks have no layers.
bool has_layers(const Trace& trace) {
  return !trace.config || architecture(trace.config->architecture.id).has_self_attention;
}

constexpr double kMaxFlow = 0.16;              // fraction of the height for the text
constexpr double kMinFlow = 1.8;               // em, height of the text: one line
constexpr double kLargestRow = 1.9;            // em
constexpr double kLargestColumn = 11;          // em
constexpr double kMinPlot = 4;                 // em
constexpr double kLongestLabel = 10;           // em
constexpr double kUsualLabel = 5.5;            // em: a short word with its index
constexpr double kLabelShare = 0.2;            // fraction of the shorter side for longer labels
constexpr double kMaxLabelShare = 0.3;         // fraction of the width for usual labels
constexpr double kLine = 1.5;                  // em, height of a line of text
constexpr double kWordHeight = 1.05;           // em: cells at least this high show their prediction
constexpr double kWordLine = 1.2;              // line height of a prediction, in its font size
constexpr double kMarkSize = 1.5;              // size of punctuation, relative to words
constexpr double kMinRows = 4;                 // minimum number of rows if others are omitted
constexpr double kNoteLine = 1.2;              // em, height of the note about omitted rows
constexpr double kMinMarked = 3;               // pixels: minimum size of cells whose exit is marked
constexpr double kVeil = 0.6;                  // opacity of the veil over cells after an exit
constexpr double kGoodWord = 4.5;              // em: width of cells that suffices for predictions
constexpr double kWordPadding = 0.6;           // em: width of a cell without its prediction
constexpr double kAgreement = 1.7;             // em: height of the row of shares below the cells
constexpr double kAgreementGap = 0.3;          // em: space above that row
constexpr double kMinHeightForAgreement = 20;  // em
constexpr double kBarOpacity = 0.3;

// True if a label consists of ASCII punctuation and space markers: “,” would be hardly legible.
bool is_punctuation(std::string_view label) {
  for (std::size_t at = 0; at < label.size();) {
    const bool is_marker = label.substr(at).starts_with(kSpaceMarker);
    if (!is_marker && std::ispunct(static_cast<unsigned char>(label[at])) == 0) return false;
    at += is_marker ? kSpaceMarker.size() : 1;
  }
  return true;
}

class Depth {
 public:
  explicit Depth(const ViewInput& input)
      : input_(input),
        page_(input),
        trace_(input.trace),
        lens_(input.findings.get(Findings::lens)),
        is_masked_(predicts_masked_tokens(trace_)) {}

  ViewLayout lay_out() {
    if (const Refusal nothing = check_has_attention(input_)) return nothing.message(page_);
    if (trace_.is_imported) {
      return page_.message("No model",
                           "These tensors hold only attention: the logit lens needs a "
                           "model's hidden states. Choose a model and a text.");
    }
    if (!predicts_next_tokens(trace_))
      return page_.message("No tokens to predict", kPredictsActions);
    if (!has_layers(trace_)) return page_.message("No logit lens", kNoLogitLens);
    if (!trace_.logits.defined()) return page_.message("No logit lens", kNoOutputHead);
    if (shows_losses(input_.session.view)) return lay_out_losses(input_);
    if (!lens_) {
      return page_.message("Computing", "The logit lens is being computed.");
    }
    const Values values = view_values(input_.session.view, "depth");
    by_probability_ = values.choice("colour") == "probability";
    exits_ = shown_exits(input_, lens());
    const Box inside = page_.frame(trace_.model + " · logit lens", caption_text());
    if (!place(inside)) return no_space(page_);
    draw_summary();
    draw_text();
    draw_predictions();
    draw_agreement();
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

  Colour colour_of(Index layer) const { return depth_colour(layer, layers()); }

  const std::string& rule() const { return exits_.rule; }

  std::string caption_text() const {
    const std::string exit = exits_.skipped
                                 ? "the layer after which the token exited (" + rule() +
                                       "): later layers were skipped and copy its state"
                                 : "the first layer with " + rule() + "; later cells are pale";
    return caption(trace_,
                   std::string(is_masked_ ? "The token at each position" : "The next token") +
                       " that each layer's state gives through the final norm and "
                       "the output projection; bold: as the last layer; outlined: " +
                       exit + ". " + exits_sentence(exits_, lens()) + ".");
  }

  bool place(const Box& inside) {
    flow_height_ = token_flow_height(page_, flow_tokens(), inside.width,
                                     std::max(kMinFlow * em(), kMaxFlow * inside.height));
    const double above = kLine * em() + flow_height_ + swatches_height(page_) + 0.6 * em();
    MatrixPlot& m = matrix_;
    m.scale = input_.canvas.scale;
    for (const TraceToken& token : trace_.tokens) m.rows.labels.push_back(token.label);
    m.rows.titles = {"after this token", "after", ""};
    if (is_masked_) m.rows.titles = {"in place of this token", "in place of", ""};
    // Labels of usual tokens fit even if the page is low.
    const double usual = std::min(kUsualLabel * em(), kMaxLabelShare * inside.width);
    const double max_depth = std::clamp(kLabelShare * std::min(inside.width, inside.height), usual,
                                        kLongestLabel * em());
    m.left = axis_depth_left(page_, m.rows, max_depth);
    const double available = inside.width - m.left - colour_bar_width(page_);
    columns_ = shown_layers(input_, layers(), available / word_width());
    m.columns = layer_axis(trace_, columns_, layers());
    const double width =
        std::min(available, static_cast<double>(column_count()) * kLargestColumn * em());
    m.top = axis_depth_top(page_, m.columns, std::max(width, em()), max_depth);
    const double all = inside.height - above - m.top - kLine * em();
    const double needed = static_cast<double>(length()) * kWordHeight * em();
    // The agreement is unknown if layers were skipped.
    const bool has_agreement = !exits_.skipped && inside.height >= kMinHeightForAgreement * em();
    agreement_height_ = has_agreement ? kAgreement * em() : 0;
    // Predictions of all tokens are more important than the agreement.
    if (all >= needed && all - agreement_height_ < needed) agreement_height_ = 0;
    const double space = all - agreement_height_;
    const double note = choose_rows(space, width);
    const double rows = std::min(m.height, static_cast<double>(length()));
    const double height = std::min(space - note, rows * kLargestRow * em());
    if (width < kMinPlot * em() || height < std::min(kMinPlot, 1.2 * rows) * em()) {
      return false;
    }
    const double footer = kLine * em() + note + agreement_height_;
    const double y = inside.y + page_.top_margin(inside.height, above + m.top + height + footer);
    text_ = {inside.x, y, inside.width, above};
    const double total = m.left + width + colour_bar_width(page_);
    m.plot = {inside.x + (inside.width - total) / 2 + m.left, y + above + m.top, width, height};
    m.right = {m.plot.right(), m.plot.y, colour_bar_width(page_), height};
    if (input_.interaction.pointer) {
      std::tie(m.hovered_row, m.hovered_column) = pair_at(m)(*input_.interaction.pointer);
    }
    return true;
  }

  // Width of cells in which nine of ten predictions fit, among those of the last layer and among
  // all, up to kGoodWord. Measures a sample of long texts.
  double word_width() const {
    constexpr Index kMaxMeasured = 256;
    const auto usual_width = [&](Index first_layer) {
      const Index cells = (layers() - first_layer) * length();
      const Index step = 1 + cells / kMaxMeasured;
      std::vector<double> widths;
      for (Index n = 0; n < cells; n += step) {
        const Index layer = first_layer + n / length();
        const std::string label = token_label(trace_, lens().guess(layer, n % length()));
        widths.push_back(page_.width_of(label, em(), layer == layers() - 1));
      }
      const auto rank = widths.begin() + static_cast<std::ptrdiff_t>(widths.size() * 9 / 10);
      std::ranges::nth_element(widths, rank);
      return *rank;
    };
    const double width = std::max(usual_width(0), usual_width(layers() - 1));
    return std::clamp(width + kWordPadding * em(), kMinWord * em(), kGoodWord * em());
  }

  Index column_count() const { return static_cast<Index>(columns_.size()); }
  Index layer_of(Index column) const { return columns_[static_cast<std::size_t>(column)]; }

  // Selects the requested rows; by default all, or the last ones whose predictions fit. Returns the
  // height of the note about omitted rows.
  double choose_rows(double space, double width) {
    MatrixPlot& m = matrix_;
    const ViewSettings& view = input_.session.view;
    const auto columns = static_cast<double>(column_count());
    set_visible(m, {view.row, 0, view.height, view.height > 0 ? columns : 0});
    const double row = kWordHeight * em();
    if (view.height > 0 || width < columns * kMinWord * em()) return 0;
    if (space >= static_cast<double>(length()) * row) return 0;
    const double note = kNoteLine * em(), rows = std::floor((space - note) / row);
    if (rows < kMinRows) return 0;
    last_rows_ = static_cast<Index>(rows);
    set_visible(m, {static_cast<double>(length() - last_rows_), 0, rows, columns});
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
    page_.text({text_.x, text_.y + 0.6 * em()},
               page_.fitting(exit_headlines(exits_, lens()), em(), text_.width), em());
  }

  void draw_text() {
    const double y = text_.y + kLine * em();
    // Scrolls to the token of the last visible prediction.
    const Extent rows = visible_extent(matrix_.row, matrix_.height, length());
    draw_token_flow(page_, {text_.x, y, text_.width, flow_height_}, flow_tokens(),
                    static_cast<std::size_t>(std::max<Index>(rows.last, 1) - 1));
    draw_exit_legend(page_, {text_.x, y + flow_height_}, text_.width, exits_.layers, layers());
  }

  void draw_predictions() {
    const MatrixPlot& m = matrix_;
    HeatMap cells = matrix_cells(m);
    const Tensor& values =
        by_probability_ ? lens().probability : lens().final_guess_probability;  // [layers, L]
    cells.values = Tensor({length(), column_count()});
    for (Index i = 0; i < length(); ++i) {
      for (Index c = 0; c < column_count(); ++c) cells.values(i, c) = values(layer_of(c), i);
    }
    ColourRange range;
    range.colour_map = input_.session.view.colour_map;
    if (colour_map(range.colour_map).diverging()) range.colour_map = "viridis";
    if (input_.session.view.colour_end == ColourEnd::Largest) {
      range.most = static_cast<double>(*std::max_element(values.begin(), values.end()));
    }
    cells.most = range.most;
    cells.colour_map = range.colour_map;
    page_.add(cells);
    draw_exits();
    draw_words(cells.values, range);
    draw_matrix_frame(page_, m, {});
    draw_colour_bar(page_, m.right, range,
                    by_probability_
                        ? std::vector<std::string>{"probability of the prediction", "probability"}
                        : std::vector<std::string>{"probability of the last layer's prediction",
                                                   "of the last prediction"});
  }

  Box cell(Index row, Index column) const { return matrix_.cell(row, column); }
  Extent visible_rows() const { return visible_extent(matrix_.row, matrix_.height, length()); }

  bool has_words() const {
    const Box first = cell(0, 0);
    return first.height >= kWordHeight * em() && first.width >= kMinWord * em();
  }

  void draw_words(const Tensor& values, const ColourRange& range) {
    if (!has_words()) return;
    const ColourMap& colours = colour_map(range.colour_map);
    const double word_size = page_.legible(std::min(em(), cell(0, 0).height / kWordLine));
    const auto [first, last] = visible_rows();
    page_.add(Clip{matrix_.plot});
    for (Index i = first; i < last; ++i) {
      for (Index c = 0; c < column_count(); ++c) {
        const Index layer = layer_of(c);
        const Box box = cell(i, c);
        const bool agrees = lens().guess(layer, i) == lens().guess(layers() - 1, i);
        Colour background = colours.at(static_cast<double>(values(i, c)) / range.most);
        if (layer > exit_of(i)) background = blend(background, page_.theme().background, kVeil);
        const std::string guess = token_label(trace_, lens().guess(layer, i));
        const double size = word_size * (is_punctuation(guess) ? kMarkSize : 1);
        const std::string label =
            page_.ellipsised(guess, size, box.width - kWordPadding * em(), agrees);
        page_.add(Text{{box.x + box.width / 2, box.y + box.height / 2},
                       label,
                       translucent(ink_on(background), agrees ? 1 : 0.75),
                       size,
                       Align::Middle,
                       0,
                       agrees});
      }
    }
    page_.add(Clip{});
  }

  // Marks the exit of each token and pales the cells after it.
  void draw_exits() {
    const auto [first, last] = visible_rows();
    const double height = cell(0, 0).height;
    if (height < kMinMarked) return;
    page_.add(Clip{matrix_.plot});
    for (Index i = first; i < last; ++i) {
      // The first shown layer that is not before the exit; the last layer is always shown.
      const Index column = std::ranges::lower_bound(columns_, exit_of(i)) - columns_.begin();
      const Box box = cell(i, column);
      const bool is_shown = layer_of(column) == exit_of(i);
      const double end = is_shown ? box.right() : box.x, width = matrix_.plot.right() - end;
      if (width > 0.5) {
        page_.add(FilledBox{{end, box.y, width, box.height},
                            translucent(page_.theme().background, kVeil)});
      }
      if (is_shown) {
        draw_row_end_marker(page_, box);
      } else {
        page_.add(Line{{{end, box.y}, {end, box.bottom()}}, page_.theme().accent, 2});
        has_hidden_exit_ = true;
      }
    }
    page_.add(Clip{});
  }

  // Draws below each layer the share of tokens for which it has the last layer's prediction.
  void draw_agreement() {
    if (agreement_height_ <= 0) return;
    const MatrixPlot& m = matrix_;
    const std::vector<double> shares = layer_agreement(lens());
    const double top = m.plot.bottom() + kAgreementGap * em();
    const double height = agreement_height_ - kAgreementGap * em();
    page_.add(Clip{Box{m.plot.x, top, m.plot.width, height}});
    for (Index c = 0; c < column_count(); ++c) {
      const Box box = cell(0, c);
      const double share = shares[static_cast<std::size_t>(layer_of(c))];
      const double bar = share * height;
      page_.add(FilledBox{{box.x, top + height - bar, box.width, bar},
                          translucent(page_.theme().accent, kBarOpacity)});
      const std::string text = percent(share);
      if (page_.width_of(text, page_.small()) > box.width) continue;
      page_.text({box.x + box.width / 2, top + height / 2}, text, page_.small(), Align::Middle);
    }
    page_.add(Clip{});
    const double left = m.left - 0.5 * em();
    const std::string title = page_.fitting(
        {"agree with the last layer", "agree with last", "agree"}, page_.small(), left);
    page_.faint_text({m.plot.x - 0.5 * em(), top + height / 2}, title, page_.small(), Align::End);
  }

  // Draws a legend of the marks (unless framed), and a note if predictions do not fit.
  void draw_marks() {
    if (matrix_.hovered_row >= 0) return;
    std::vector<std::string> candidates;
    if (cell(0, 0).height >= kMinMarked) {
      const std::string exit =
          has_row_end_outline(cell(0, 0)) ? "outlined: exits here" : "line: exits here";
      const std::string between =
          has_hidden_exit_ ? " · line: exits at a layer that is not shown" : "";
      candidates = {exit + between + " · pale: after the exit", exit + between, exit};
    }
    if (input_.figure.framed) candidates.clear();
    if (input_.figure.framed && has_hidden_exit_) {
      candidates = {"line: exits at a layer that is not shown", "line: exits at a hidden layer"};
    }
    const auto prepend = [&](const std::string& longer, const std::string& shorter) {
      const std::string legend = candidates.empty() ? "" : " · " + candidates.front();
      candidates.insert(candidates.begin(), {longer + legend, shorter + legend});
    };
    if (has_words() && !input_.figure.framed) {
      prepend("bold: the last layer's prediction · faint: another", "bold: as the last layer");
    }
    if (!has_words()) {
      const std::string hint =
          input_.figure.framed ? "no space for the predictions" : "zoom in for the predictions";
      const bool is_pooled = matrix_.pooled();
      const std::string shorter = hint + (is_pooled ? ", pooled" : "");
      prepend(hint + (is_pooled ? ", each pixel the largest of its cells" : ""), shorter);
      candidates.push_back(shorter);
    }
    draw_below(candidates);
  }

  void draw_last_rows() {
    if (last_rows_ == 0) return;
    const std::string count = std::to_string(last_rows_) + " of " + std::to_string(length());
    const std::string hint = input_.figure.framed ? "" : ": drag or zoom out for more";
    draw_line((kLine + kNoteLine / 2) * em(),
              {"the last " + count + " tokens" + hint, "the last " + count, count});
  }

  void draw_hovered() {
    const MatrixPlot& m = matrix_;
    const Index i = m.hovered_row;
    if (i < 0 || m.hovered_column < 0) return;
    const Index layer = layer_of(m.hovered_column);
    const std::string guess = token_label(trace_, lens().guess(layer, i));
    const std::string text =
        "layer " + std::to_string(layer) + (is_masked_ ? " in place of “" : " after “") +
        trace_.tokens[static_cast<std::size_t>(i)].label + "”: “" + guess + "” " +
        percent(static_cast<double>(lens().probability(layer, i))) + ", margin " +
        brief(static_cast<double>(lens().margin(layer, i))) + ", the last layer's prediction " +
        percent(static_cast<double>(lens().final_guess_probability(layer, i))) + ", saturation " +
        brief(static_cast<double>(lens().saturation(layer, i)));
    draw_below({text});
  }

  void draw_below(const std::vector<std::string>& candidates) { draw_line(0.9 * em(), candidates); }

  // Writes the first candidate that fits, `distance` pixels below the cells.
  void draw_line(double distance, const std::vector<std::string>& candidates) {
    const MatrixPlot& m = matrix_;
    const double width = m.right.right() - m.plot.x + m.left;
    page_.faint_text({m.plot.x - m.left, m.plot.bottom() + agreement_height_ + distance},
                     page_.fitting(candidates, page_.small(), width), page_.small());
  }

  ViewLayout finish() {
    const MatrixPlot& m = matrix_;
    ViewLayout layout = matrix_layout(
        page_, m,
        m.plot.bottom() + agreement_height_ + (kLine + (last_rows_ > 0 ? kNoteLine : 0)) * em());
    layout.rows = length();
    layout.columns = column_count();
    layout.hit = [cell_at = pair_at(m), columns = columns_,
                  head = input_.session.view.head](Point p) {
      const auto [row, column] = cell_at(p);
      if (row < 0 || column < 0) return std::optional<Hit>();
      return std::optional(Hit{columns[static_cast<std::size_t>(column)], head, row, -1});
    };
    return layout;
  }

  const ViewInput& input_;
  Page page_;
  const Trace& trace_;
  const std::shared_ptr<const LogitLens> lens_;  // null: not available (yet)
  const bool is_masked_;                         // the model predicts masked tokens
  bool by_probability_ = true;
  ShownExits exits_;
  Box text_;  // summary, text and legend
  double flow_height_ = 0;
  MatrixPlot matrix_;
  std::vector<Index> columns_;    // shown layers, ascending
  double agreement_height_ = 0;   // height of the row of shares; 0: omitted
  bool has_hidden_exit_ = false;  // a token exits at a layer that is not shown
  Index last_rows_ = 0;           // number of rows at the end if earlier rows are omitted; else 0
};

// Threshold and decay of the exits that the picture shows.
std::optional<FindingSettings> exit_settings(const RunView& run_view) {
  const Values values = view_values(run_view.view, "depth");
  ExitSettings settings{run_view.run.exit.value_or(exit_threshold(values))};
  if (values.has("decay")) settings.decay = values.real("decay");
  return settings;
}

}  // namespace

View depth_view() {
  return {
      .id = "depth",
      .label = "Depth",
      .group = "Depth",
      .summary =
          "Logit lens: the prediction of each layer, and where a confident model could exit; for a "
          "model with early exits, where its tokens exit and how much that saves.",
      .lay_out =
          [](const ViewInput& input) {
            if (shows_exits(input.session.view, input.trace)) return lay_out_exits(input);
            return Depth(input).lay_out();
          },
      .reading = fixed_reading(
          "The prediction of each layer if it were the last one: from left to right it becomes the "
          "final prediction. A model can exit at a layer that is already confident.",
          {{"Agree", "share of tokens for which a layer has the last layer's prediction."},
           {"Margin", "probability of the most likely token minus that of the second."},
           {"Saturation", "cosine similarity of the state to the previous layer's; 1: unchanged."},
           {"Threshold λ, T", "confidence at which a token exits."}}),
      .data =
          [](const ViewInput& input) {
            if (shows_exits(input.session.view, input.trace)) return exits_data(input);
            if (shows_losses(input.session.view)) return losses_data(input);
            return depth_data(input);
          },
      .findings = {{Findings::lens.id},
                   {Findings::exits.id},
                   {Findings::exit_work.id, exit_settings}},
      .options = depth_options(),
      .content = {.objection = [](const Trace& trace) -> std::string {
        if (trace.is_imported) return "The attention was read from a file: there are no layers.";
        if (!predicts_next_tokens(trace)) return kPredictsActions;
        if (!has_layers(trace)) return kNoLogitLens;
        if (!trace.tokens.empty() && !trace.logits.defined()) return kNoOutputHead;
        return objection_without_attention(trace);
      }},
      .cells = {.zoom = true}};
}

}  // namespace attnscope
