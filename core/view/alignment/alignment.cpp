// Alignment: what a model writes from a source, and which of the source's tokens it looks at with
// each letter, as in Bahdanau et al., 2014 (arXiv:1409.0473), figure 3.
#include <algorithm>
#include <cmath>

#include "core/analysis/crossing.h"
#include "core/base/error.h"
#include "core/figure/colour_map.h"
#include "core/figure/plain_text.h"
#include "core/model/architecture.h"
#include "core/view/alignment/alignment_numbers.h"
#include "core/view/parts/colour_bar.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/example.h"
#include "core/view/parts/fact_table.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/token_bars.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr double kLine = 1.5;          // em, of words
constexpr double kBox = 1.8;           // em, of a letter's box
constexpr double kGap = 0.8;           // em between parts
constexpr double kTitle = 1.6;         // em
constexpr double kMostCell = 3.6;      // em, of a letter's column
constexpr double kLeastCell = 0.45;    // em: below that nothing is told apart
constexpr double kMostRibbons = 18;    // em, their height
constexpr double kLeastRibbons = 3;    // em
constexpr double kMostRow = 2.6;       // em, of a row of the matrix
constexpr float kLeastWeight = 0.02f;  // of a ribbon that is drawn
constexpr Index kCandidates = 6;

bool reads_source(const Trace& trace) {
  return trace.config != nullptr &&
         architecture(trace.config->architecture.id).reads == Reads::SourceAndTarget;
}

constexpr const char* kNoSource = "This model reads no source whose words it could write anew.";

// Down from one place to another, leaving and arriving upright.
Line ribbon(Point from, Point to, Colour colour, double thickness) {
  constexpr int kSteps = 32;
  Line line{{}, colour, thickness};
  for (int i = 0; i <= kSteps; ++i) {
    const double t = static_cast<double>(i) / kSteps, eased = t * t * (3 - 2 * t);
    line.points.push_back({from.x + eased * (to.x - from.x), from.y + t * (to.y - from.y)});
  }
  return line;
}

class Alignment {
 public:
  Alignment(const ViewInput& input, const WrittenTarget& written)
      : input_(input),
        page_(input),
        written_(written),
        weights_(alignment_weights(written, input.experiment.view)),
        strongest_(strongest_sources(weights_)),
        chances_(written_chances(written)),
        labels_(written_labels(written)) {
    for (const TraceToken& token : written.trace->streams.front().tokens) {
      source_.push_back(token.label);
    }
  }

  ViewLayout lay_out() {
    const Box inside = page_.frame(written_.trace->model + " · alignment of target and source",
                                   caption(*written_.trace, about()));
    if (!place(inside)) return no_space(page_);
    choose_row();
    draw_words(inside);
    draw_ribbons();
    draw_boxes();
    if (matrix_.height > 0) draw_matrix();
    if (candidates_.height > 0) draw_candidates();
    return finish();
  }

 private:
  double em() const { return page_.em(); }
  Index sources() const { return weights_.dim(1); }
  Index rows() const { return written_.rows(); }
  std::size_t at(Index row) const { return static_cast<std::size_t>(row); }
  Values values() const { return view_values(input_.experiment.view, "alignment"); }

  std::string about() const {
    const Index beams = values().integer("beams");
    const std::string how =
        beams > 1 ? "by beam search with " + std::to_string(beams) + " beginnings at a time"
                  : "always the likeliest letter";
    return "What the model writes from the source, " + how +
           ", and how much of its attention to the source each letter gives to each of its tokens "
           "(" +
           alignment_of(written_, input_.experiment.view) +
           "). Cases are the pairs of letters that look at different tokens most.";
  }

  std::string source_text() const {
    std::string text;
    for (const TraceToken& token : written_.trace->streams.front().tokens) {
      text += token.bytes.empty() ? token.label + " " : token.bytes;
    }
    return visible(text);
  }

  // What there is to notice, in a sentence.
  std::string notice() const {
    const Index letters = letters_of(written_);
    if (letters < 2 || sources() < 2) return "";
    const double crossed = crossing(weights_, letters);
    if (std::isnan(crossed)) {
      return "All letters look at the same place of the source most.";
    }
    const std::string share = fixed(100 * crossed, 0) + " %";
    const std::string where =
        ": of two letters the later one looks further left in " + share + " of cases.";
    if (crossed >= 0.5) return "The lines cross" + where;
    return (crossed < 0.1 ? "The target follows the source from left to right"
                          : "Mostly from left to right") +
           where;
  }

  std::size_t notice_lines() const {
    return page_.wrapped(notice(), em(), notice_width_, 2).size();
  }

  bool place(const Box& inside) {
    const double labels = std::max(4.5 * em(), widest_source() + 0.8 * em());
    bar_ =
        input_.height > 22 * em() && inside.width > 30 * em() ? colour_bar_width(page_) + em() : 0;
    const double wide = inside.width - labels - bar_;
    cell_ = std::min(kMostCell * em(), wide / static_cast<double>(rows()));
    if (cell_ < kLeastCell * em()) return false;
    notice_width_ = inside.width;
    const double words = (1.25 + static_cast<double>(notice_lines())) * kLine * em();
    double left = inside.height - words - 2 * kBox * em() - kGap * em();
    if (left < kLeastRibbons * em()) return false;
    const double table =
        kTitle * em() + static_cast<double>(kCandidates) * token_bar_height(page_, false);
    const double least_matrix = static_cast<double>(sources()) * 0.9 * em();
    double for_matrix = 0, for_table = 0;
    if (left >= kLeastRibbons * em() + table + kGap * em()) {
      for_table = table + kGap * em();
      left -= for_table;
    }
    if (left >= kLeastRibbons * em() + least_matrix + 2 * kGap * em()) {
      for_matrix = std::min(static_cast<double>(sources()) * kMostRow * em(),
                            left - kLeastRibbons * em() - 2 * kGap * em());
      left -= for_matrix + kGap * em();
    }
    const double ribbons = std::min(left, kMostRibbons * em());
    const double used = words + 2 * kBox * em() + ribbons + for_matrix + for_table +
                        (for_matrix > 0 ? kGap * em() : 0);
    const double width = cell_ * static_cast<double>(rows());
    const double x = inside.x + labels + std::max(0.0, (wide - width) / 2);
    top_ = inside.y + page_.spare_above(inside.height, used);
    double y = top_ + words;
    source_boxes_ = {x, y, width, kBox * em()};
    y += kBox * em();
    ribbons_ = {x, y, width, ribbons};
    y += ribbons;
    target_boxes_ = {x, y, width, kBox * em()};
    y += kBox * em() + kGap * em();
    if (for_matrix > 0) {
      matrix_ = {x, y, width, for_matrix};
      y += for_matrix + kGap * em();
    }
    if (for_table > 0) {
      candidates_ = {inside.x, y, inside.width, table};
      y += table;
    }
    bottom_ = y;
    labels_left_ = x - labels;
    return true;
  }

  double widest_source() const {
    double widest = 0;
    for (const std::string& label : source_) {
      widest = std::max(widest, page_.width_of(label, em()));
    }
    return std::min(widest, 8 * em());
  }

  double target_x(Index row) const {
    return target_boxes_.x + (static_cast<double>(row) + 0.5) * cell_;
  }
  double source_cell() const {
    return std::min(3.0 * em(), source_boxes_.width / static_cast<double>(sources()));
  }
  // The source stands above the middle of the target.
  double source_x(Index key) const {
    const double first = source_boxes_.x +
                         (source_boxes_.width - static_cast<double>(sources()) * source_cell()) / 2;
    return first + (static_cast<double>(key) + 0.5) * source_cell();
  }

  // Which letter is looked at: under the pointer, that of the step, else the least sure one.
  void choose_row() {
    shown_ = rows();
    const Values v = values();
    if (v.has("step")) {
      shown_ = std::clamp<Index>(v.integer("step"), 1, rows());
      row_ = shown_ - 1;
    } else {
      row_ = std::min_element(chances_.begin(), chances_.end()) - chances_.begin();
      least_sure_ = true;
    }
    if (!input_.pointer) return;
    const Point p = *input_.pointer;
    const bool over_rows = (p.y >= target_boxes_.y && p.y < target_boxes_.bottom()) ||
                           (matrix_.height > 0 && matrix_.contains(p));
    if (over_rows && p.x >= target_boxes_.x && p.x < target_boxes_.right()) {
      const auto row = static_cast<Index>((p.x - target_boxes_.x) / cell_);
      if (row >= shown_) return;
      row_ = row;
      pointed_ = true;
      least_sure_ = false;
      if (matrix_.height > 0 && matrix_.contains(p)) {
        key_ = std::min(
            static_cast<Index>((p.y - matrix_.y) / matrix_.height * static_cast<double>(sources())),
            sources() - 1);
      }
      return;
    }
    if (p.y < source_boxes_.y || p.y >= source_boxes_.bottom()) return;
    for (Index key = 0; key < sources(); ++key) {
      if (std::abs(p.x - source_x(key)) < source_cell() / 2) key_ = key;
    }
  }

  void draw_words(const Box& inside) {
    double y = top_ + kLine * em() / 2;
    const std::string arrow = source_text() + "  →  " + shown_text() + (shown_ < rows() ? "…" : "");
    page_.add(Text{{inside.x + inside.width / 2, y},
                   page_.ellipsised(arrow, 1.25 * em(), inside.width, true),
                   page_.theme().text,
                   1.25 * em(),
                   Align::Middle,
                   0,
                   true});
    y += 1.3 * kLine * em();
    for (const std::string& line : page_.wrapped(notice(), em(), inside.width, notice_lines())) {
      page_.text({inside.x + inside.width / 2, y}, line, em(), Align::Middle);
      y += kLine * em();
    }
  }

  std::string shown_text() const {
    if (shown_ >= rows()) return visible(written_text(written_));
    WrittenTarget part;
    part.trace = written_.trace;
    part.ids.assign(written_.ids.begin(), written_.ids.begin() + shown_);
    part.ended = written_.ended && shown_ == rows();
    return visible(written_text(part));
  }

  bool in_focus(Index row, Index key) const {
    if (pointed_) return row == row_ && (key_ < 0 || key == key_);
    if (key_ >= 0) return key == key_;
    return values().has("step") ? row == row_ : true;
  }

  // The most a ribbon is thick, whose weight is 1.
  double thickest() const { return std::clamp(0.55 * cell_, 2.0, 0.9 * em()); }

  void draw_ribbons() {
    for (const bool focus : {false, true}) {
      for (Index row = 0; row < shown_; ++row) {
        for (Index key = 0; key < sources(); ++key) {
          const float weight = weights_(row, key);
          if (!(weight >= kLeastWeight) || in_focus(row, key) != focus) continue;
          const double thickness = std::max(0.7, static_cast<double>(weight) * thickest());
          const double opacity = focus ? 0.30 + 0.6 * static_cast<double>(weight) : 0.13;
          page_.add(ribbon({source_x(key), ribbons_.y}, {target_x(row), ribbons_.bottom()},
                           translucent(head_colour(key), opacity), thickness));
        }
      }
    }
  }

  void draw_boxes() {
    const Theme& theme = page_.theme();
    page_.faint_text(
        {source_x(0) - source_cell() / 2 - 0.6 * em(), source_boxes_.y + source_boxes_.height / 2},
        page_.fitting({"source", ""}, em(), source_x(0) - input_margin()), em(), Align::End);
    for (Index key = 0; key < sources(); ++key) {
      const Box box{source_x(key) - source_cell() / 2 + 1, source_boxes_.y, source_cell() - 2,
                    source_boxes_.height};
      page_.add(FilledBox{box, head_colour(key), 0.2 * em()});
      page_.add(Text{{source_x(key), box.y + box.height / 2},
                     page_.ellipsised(source_[at(key)], em(), box.width, true),
                     ink_on(head_colour(key)),
                     em(),
                     Align::Middle,
                     0,
                     true});
      if (key == key_) page_.add(OutlinedBox{box, theme.accent, 2});
    }
    page_.faint_text({target_boxes_.x - 0.6 * em(), target_boxes_.y + target_boxes_.height / 2},
                     page_.ellipsised("target", em(), target_boxes_.x - 0.6 * em()), em(),
                     Align::End);
    for (Index row = 0; row < rows(); ++row) draw_target(row);
  }

  double input_margin() const { return source_cell() / 2 + 0.6 * em(); }

  // A letter in the colour of the source token that it looks at most.
  void draw_target(Index row) {
    const Theme& theme = page_.theme();
    const Box box{target_x(row) - cell_ / 2 + 0.5, target_boxes_.y, cell_ - 1,
                  target_boxes_.height};
    if (row >= shown_) {
      page_.add(OutlinedBox{box, blend(theme.background, theme.line, 0.6), 1});
      return;
    }
    const Index key = strongest_[at(row)];
    const double share = key < 0 ? 0 : static_cast<double>(weights_(row, key));
    const Colour ground =
        key < 0 ? theme.background : blend(theme.background, head_colour(key), 0.15 + 0.75 * share);
    page_.add(FilledBox{box, ground, 0.15 * em()});
    const double size = std::min(em(), 1.25 * cell_);
    page_.add(Text{{target_x(row), box.y + box.height / 2},
                   page_.ellipsised(labels_[at(row)], size, box.width),
                   ink_on(ground),
                   size,
                   Align::Middle});
    if (row < written_.given) {  // not the model's own
      page_.add(Line{{{box.x, box.bottom() - 1}, {box.right(), box.bottom() - 1}}, theme.text, 2});
    }
    if (row == row_) page_.add(OutlinedBox{box, theme.accent, 2});
  }

  void draw_matrix() {
    ColourRange range;
    range.colour_map = input_.experiment.view.colour_map;
    HeatMap cells;
    cells.box = matrix_;
    cells.values = Tensor({sources(), rows()});
    for (Index row = 0; row < rows(); ++row) {
      for (Index key = 0; key < sources(); ++key) {
        cells.values(key, row) = row < shown_ ? weights_(row, key) : NAN;
      }
    }
    cells.height = static_cast<double>(sources());
    cells.width = static_cast<double>(rows());
    cells.colour_map = range.colour_map;
    page_.add(std::move(cells));
    page_.add(OutlinedBox{matrix_, page_.theme().line, 1});
    const double high = matrix_.height / static_cast<double>(sources());
    const double size = std::min(em(), 0.95 * high);
    for (Index key = 0; key < sources() && high >= 0.8 * em(); ++key) {
      const double y = matrix_.y + (static_cast<double>(key) + 0.5) * high;
      page_.add(Text{{matrix_.x - 0.6 * em(), y},
                     page_.ellipsised(source_[at(key)], size, matrix_.x - labels_left_ - em()),
                     page_.theme().text,
                     size,
                     Align::End,
                     0,
                     key == key_});
    }
    draw_numbers(high);
    page_.add(OutlinedBox{
        {target_x(row_) - cell_ / 2, matrix_.y, cell_, matrix_.height}, page_.theme().accent, 2});
    if (bar_ > 0) {
      draw_colour_bar(
          page_,
          {matrix_.right() + 0.8 * em(), ribbons_.y, bar_ - em(), matrix_.bottom() - ribbons_.y},
          range, {"attention to the source", "attention", ""});
    }
  }

  void draw_numbers(double high) {
    const double size = std::min(page_.small(), 0.8 * high);
    if (page_.width_of("0.00", size) > 0.92 * cell_ || high < 1.1 * size) return;
    const ColourMap& map = colour_map(input_.experiment.view.colour_map);
    for (Index row = 0; row < shown_; ++row) {
      for (Index key = 0; key < sources(); ++key) {
        const double weight = static_cast<double>(weights_(row, key));
        if (weight < 0.005) continue;
        page_.add(Text{{target_x(row), matrix_.y + (static_cast<double>(key) + 0.5) * high},
                       fixed(weight, 2),
                       ink_on(map.at(weight)),
                       size,
                       Align::Middle});
      }
    }
  }

  // "“u” looks at “4” (0.88), “2” (0.12)".
  std::string looks_at() const {
    std::vector<Index> keys;
    for (Index key = 0; key < sources(); ++key) keys.push_back(key);
    std::ranges::sort(keys,
                      [&](Index a, Index b) { return weights_(row_, a) > weights_(row_, b); });
    std::string text;
    for (std::size_t n = 0; n < std::min<std::size_t>(3, keys.size()); ++n) {
      const auto weight = static_cast<double>(weights_(row_, keys[n]));
      if (n > 0 && weight < 0.01) break;
      text +=
          (n > 0 ? ", " : "") + std::string("“") + source_[at(keys[n])] + "” " + fixed(weight, 2);
    }
    return text;
  }

  void draw_candidates() {
    const double gap = 2 * em();
    const bool beams = beam_step() >= 0 && candidates_.width > 44 * em();
    const double width =
        std::min(beams ? (candidates_.width - gap) / 2 : candidates_.width, 36 * em());
    const double all = beams ? 2 * width + gap : width;
    Box box{candidates_.x + (candidates_.width - all) / 2, candidates_.y, width,
            candidates_.height};
    const std::string which = "“" + labels_[at(row_)] + "”, letter " + std::to_string(row_ + 1);
    const std::string why = least_sure_ ? " (the least sure)" : "";
    page_.text({candidates_.x + candidates_.width / 2, box.y + kTitle / 2 * em()},
               page_.fitting({which + why + ", looks at " + looks_at() + ". What could come here:",
                              which + why + ", looks at " + looks_at(),
                              which + ", looks at " + looks_at(), which},
                             em(), candidates_.width),
               em(), Align::Middle);
    TokenBars bars;
    bars.first = first_colour();
    for (const Candidate& c : candidates_at(written_, row_, kCandidates)) {
      const bool taken = c.id == written_.ids[at(row_)];
      if (taken) bars.marked = static_cast<Index>(bars.bars.size());
      const char* note = taken ? (row_ < written_.given ? "given" : "written") : "";
      bars.bars.push_back({candidate_label(written_, c.id), c.probability, 0, note});
    }
    box.y += kTitle * em();
    box.height -= kTitle * em();
    draw_token_bars(page_, box, bars);
    if (!beams) return;
    box.x += width + gap;
    draw_beams(box);
  }

  // The search's step that wrote the shown letter; -1: it was given, or there is but one beam.
  Index beam_step() const {
    const Index n = row_ - written_.given;
    if (values().integer("beams") < 2 || n < 0) return -1;
    return n < static_cast<Index>(written_.search.steps.size()) ? n : -1;
  }

  // The beginnings that the search held at the shown letter.
  void draw_beams(const Box& box) {
    const auto step = static_cast<std::size_t>(beam_step());
    const std::vector<Beam>& beams = written_.search.steps[step];
    TokenBars bars;
    bars.first = second_colour();
    bars.marked = written_.search.best_at(step);
    for (const Beam& beam : beams) {
      bars.bars.push_back(
          {visible(beam_text(written_, beam)), std::exp(beam.log_probability), 0,
           static_cast<Index>(bars.bars.size()) == bars.marked ? "the winner's" : ""});
    }
    draw_token_bars(page_, box, bars);
  }

  ViewLayout finish() {
    ViewLayout layout;
    for (Index row = 0; row < rows(); ++row) {
      const Box box{target_x(row) - cell_ / 2, target_boxes_.y, cell_, target_boxes_.height};
      layout.handles.push_back({box, "Click: write as far as here", {}, [row](Experiment& e) {
                                  set_view_value(e.view, "alignment", "step", row + 1);
                                }});
    }
    layout.hit = [](Point) -> std::optional<Hit> { return std::nullopt; };
    layout.list = page_.take(bottom_);
    return layout;
  }

  const ViewInput& input_;
  Page page_;
  const WrittenTarget& written_;
  Tensor weights_;                // [rows, L_source]
  std::vector<Index> strongest_;  // [rows]
  std::vector<double> chances_;   // [rows]
  std::vector<std::string> labels_, source_;
  Box source_boxes_, ribbons_, target_boxes_, matrix_, candidates_;
  double notice_width_ = 0, cell_ = 0, bar_ = 0, top_ = 0, bottom_ = 0, labels_left_ = 0;
  Index shown_ = 0, row_ = 0, key_ = -1;  // rows that are there; looked at; the source token
  bool pointed_ = false, least_sure_ = false;
};

// Why there is nothing to align; empty: there is.
std::string objection(const Trace& trace) {
  return reads_source(trace) ? "" : kNoSource;
}

ViewLayout lay_out_alignment(const ViewInput& input) {
  if (!reads_source(input.trace)) {
    return Page(input).message(
        "No source to align a target with",
        "Choose a model that reads one sequence and writes another: encoder and decoder "
        "(“numbers”), or a recurrent one with attention (“numbers-additive”), and a source such "
        "as 24.");
  }
  const auto written = input.findings.get(Findings::written);
  if (written == nullptr) {
    ViewLayout layout = Page(input).message("The model is writing", "Its target appears here.");
    layout.pending = "the target that the model writes";
    return layout;
  }
  if (!written->problem.empty() || written->trace == nullptr) {
    return Page(input).message("Nothing was written", capitalised(written->problem) + ".");
  }
  try {
    return Alignment(input, *written).lay_out();
  } catch (const InputError& e) {
    return Page(input).message("No alignment to show", capitalised(e.what()) + ".");
  }
}

// Weights, and what could have come at each letter.
ViewData alignment_data(const ViewInput& input) {
  if (!reads_source(input.trace)) throw InputError(kNoSource);
  const auto written = input.findings.get(Findings::written);
  if (written == nullptr) throw InputError("alignment: the target is not written yet");
  if (!written->problem.empty()) throw InputError(written->problem);
  const std::vector<std::string> labels = written_labels(*written);
  std::vector<std::string> source;
  for (const TraceToken& token : written->trace->streams.front().tokens) {
    source.push_back(token.label);
  }
  const std::vector<double> chances = written_chances(*written);
  Tensor letters({written->rows(), 3});
  for (Index row = 0; row < written->rows(); ++row) {
    letters(row, 0) = static_cast<float>(written->ids[static_cast<std::size_t>(row)]);
    letters(row, 1) = static_cast<float>(chances[static_cast<std::size_t>(row)]);
    letters(row, 2) = row < written->given ? 1 : 0;
  }
  return {{{"alignment", alignment_weights(*written, input.experiment.view), labels, source},
           {"target", letters, labels, {"token id", "probability", "given"}}}};
}

void restrict_controls(const ViewSettings& settings, const Trace* trace, ViewControls& controls) {
  const bool one = view_values(settings, "alignment").choice("of") == "head";
  controls.layer = controls.head = one;
  controls.part = controls.normalise = false;
  controls.colours = ViewControls::Colours::Sequential;
  if (trace == nullptr || trace->streams.empty() || !reads_source(*trace)) return;
  // How long the target becomes is not known here: about so long, with a rest at the end.
  constexpr Index kLettersOfDigit = 10;
  const auto sources = static_cast<Index>(trace->streams.front().tokens.size());
  const Index most = std::min(trace->config->context, 1 + kLettersOfDigit * sources);
  for (Parameter& p : controls.parameters) {
    if (p.key == "step") p.slider_most = static_cast<double>(most);
  }
  controls.animation =
      Animation{"step", 1, static_cast<double>(most), 0.5 * static_cast<double>(most)};
}

void show_numbers(Experiment& experiment) {
  use_bundled(experiment, "numbers");
}

std::vector<Parameter> alignment_parameters() {
  return {{.key = "of",
           .label = "Weights of",
           .help = "Whose attention to the source is shown.",
           .kind = Parameter::Kind::Choice,
           .initial = std::string("last"),
           .choices = {"last", "all", "head"},
           .choice_labels = {"mean over the last layer", "mean over all", "the shown head"}},
          {.key = "beams",
           .label = "Beams",
           .help = "How many beginnings are kept from letter to letter: with 1 the likeliest "
                   "letter is always taken.",
           .initial = Index{1},
           .least = 1,
           .most = 64,
           .slider_least = 1,
           .slider_most = 8},
          {.key = "step",
           .label = "Letters written",
           .help = "So many letters of the target are there, the last of them being written.",
           .optional = true,
           .left_out = "all",
           .initial = Index{1},
           .least = 1,
           .slider_least = 1,
           .slider_most = 40}};
}

}  // namespace

View alignment_view() {
  View view{"alignment",
            "Alignment",
            "What a model writes from a source, and where in the source each letter looks.",
            false,
            lay_out_alignment,
            alignment_parameters()};
  view.animation = Animation{"step", 1, 15, 9};
  view.example = show_numbers;
  view.findings = {Findings::written.id};
  view.data = alignment_data;
  view.restrict_controls = restrict_controls;
  view.group = "Tasks";
  view.objection = objection;
  return view;
}

}  // namespace attnscope
