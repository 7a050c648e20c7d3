// Alignment: what a model writes from a source, and which of the source's tokens it looks at with
// each letter, as in Bahdanau et al., 2014 (arXiv:1409.0473), figure 3.
#include <algorithm>

#include "core/base/error.h"
#include "core/model/config.h"
#include "core/view/alignment/alignment_panels.h"
#include "core/view/alignment/alignment_words.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/example.h"
#include "core/view/parts/reading.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

// Source and target as a text, and below it what there is to notice.
void draw_words(Page& page, const Box& inside, const ShownAlignment& shown) {
  const double em = page.em(), middle = inside.x + inside.width / 2;
  const double line = AlignmentMeasures::line * em;
  double y = shown.places.top + line / 2;
  page.add(Text{{middle, y},
                page.ellipsised(source_and_target(shown.written, shown.focus.shown), 1.25 * em,
                                inside.width, true),
                page.theme().text,
                1.25 * em,
                Align::Middle,
                0,
                true});
  y += 1.3 * line;
  const std::string notice = crossing_words(shown.written, shown.numbers, shown.focus.shown);
  for (const std::string& words :
       page.wrapped(notice, em, inside.width, shown.places.notice_lines)) {
    page.text({middle, y}, words, em, Align::Middle);
    y += line;
  }
}

std::vector<Handle> handles_of(const AlignmentPlaces& places, Index rows) {
  std::vector<Handle> handles;
  for (Index row = 0; row < rows; ++row) {
    const Box box{places.target_x(row) - places.cell / 2, places.target.y, places.cell,
                  places.target.height};
    handles.push_back({box, "Click: write as far as here", {}, [row](Experiment& e) {
                         set_view_value(e.view, "alignment", "step", row + 1);
                       }});
  }
  return handles;
}

ViewLayout lay_out_written(const ViewInput& input,
                           const std::shared_ptr<const WrittenTarget>& written) {
  Page page(input);
  const auto numbers = alignment_numbers(input, written);
  const Box inside =
      page.frame(written->trace->model + " · alignment of target and source",
                 caption(*written->trace, about_alignment(*written, input.experiment.view)));
  // The whole target's words, so that nothing moves while it is being written.
  const std::string notice = crossing_words(*written, *numbers, written->rows());
  const std::optional<AlignmentPlaces> places = place_alignment(page, inside, *numbers, notice);
  if (!places) return no_space(page);
  const ShownAlignment shown{*written, *numbers, *places,
                             alignment_focus(input, *numbers, *places)};
  draw_words(page, inside, shown);
  draw_ribbons(page, shown);
  draw_token_boxes(page, shown);
  if (places->matrix.height > 0) draw_alignment_matrix(page, shown);
  if (places->candidates.height > 0) draw_candidates(page, shown);
  ViewLayout layout;
  layout.handles = handles_of(*places, numbers->rows());
  layout.hit = [](Point) -> std::optional<Hit> { return std::nullopt; };
  layout.list = page.take(places->bottom);
  return layout;
}

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
    return lay_out_written(input, written);
  } catch (const InputError& e) {
    return Page(input).message("No alignment to show", capitalised(e.what()) + ".");
  }
}

void restrict_controls(const ViewSettings& settings, const Trace* trace, ViewControls& controls) {
  const bool one = view_values(settings, "alignment").choice("of") == "head";
  controls.layer = controls.head = one;
  controls.part = false;
  controls.colour_ends.clear();
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
  view.reading = reads_as(
      "What the model writes, and where in the source it looks for each letter: bands join the "
      "two, and cross where the order changes.",
      {});
  view.objection = objection;
  return view;
}

}  // namespace attnscope
