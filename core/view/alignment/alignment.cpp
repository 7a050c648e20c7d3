// Alignment view: the target that a model generates from a source, and the source tokens that each
// letter attends to, as in Bahdanau et al., 2014 (arXiv:1409.0473), figure 3.
#include <algorithm>

#include "core/base/error.h"
#include "core/model/config.h"
#include "core/view/alignment/alignment_panels.h"
#include "core/view/alignment/alignment_words.h"
#include "core/view/parts/bundled_example.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/reading.h"
#include "core/view/view_list.h"

namespace attnscope {
namespace {

constexpr Index kMinRows = 4;  // minimum number of rows of a cut target

// Copies the numbers of the target's first rows.
std::shared_ptr<const AlignmentNumbers> first_rows(const AlignmentNumbers& all, Index rows) {
  const auto count = static_cast<std::size_t>(rows);
  auto first = std::make_shared<AlignmentNumbers>(all);
  first->weights = all.weights.slice(0, rows);
  first->strongest.resize(count);
  first->probabilities.resize(count);
  first->labels.resize(count);
  return first;
}

// Column width that fits three quarters of the target's labels, within limits.
double legible_cell(const Page& page, const AlignmentNumbers& numbers) {
  constexpr double kMin = 1.6, kMax = 3.4, kPadding = 0.5;  // em
  std::vector<double> widths;
  for (const std::string& label : numbers.labels) {
    widths.push_back(page.width_of(label, page.em()));
  }
  const auto typical = widths.begin() + static_cast<std::ptrdiff_t>(widths.size() * 3 / 4);
  std::ranges::nth_element(widths, typical);
  return std::clamp(*typical + kPadding * page.em(), kMin * page.em(), kMax * page.em());
}

// Text below source and target: describes crossing lines of the first `rows` rows, and how much of
// the target is shown.
std::string notice_of(const GeneratedTarget& target, const AlignmentNumbers& numbers, Index rows) {
  const std::string crossing = describe_crossing(target, numbers, rows);
  if (numbers.rows() == target.rows()) return crossing;
  return "The first " + std::to_string(numbers.rows()) + " of " + std::to_string(target.rows()) +
         " target tokens are shown. " + crossing;
}

// Draws source and target as text, and a notice below them.
void draw_words(Page& page, const Box& inside, const ShownAlignment& shown) {
  const double em = page.em(), middle = inside.x + inside.width / 2;
  const double line = AlignmentMeasures::line * em;
  double y = shown.places.top + line / 2;
  page.add(Text{{middle, y},
                page.ellipsised(source_and_target(shown.target, shown.focus.row_count), 1.25 * em,
                                inside.width, true),
                page.theme().text,
                1.25 * em,
                Align::Middle,
                0,
                true});
  y += 1.3 * line;
  const std::string notice = notice_of(shown.target, shown.numbers, shown.focus.row_count);
  for (const std::string& text_line :
       page.wrapped(notice, em, inside.width, shown.places.notice_lines)) {
    page.text({middle, y}, text_line, em, Align::Middle);
    y += line;
  }
}

std::vector<Handle> handles_of(const AlignmentPlaces& places, Index rows) {
  std::vector<Handle> handles;
  for (Index row = 0; row < rows; ++row) {
    const Box box{places.target_x(row) - places.cell / 2, places.target.y, places.cell,
                  places.target.height};
    handles.push_back({box, "Click to generate up to here", {}, [row](Session& session) {
                         set_view_value(session.view, "alignment", "step", row + 1);
                       }});
  }
  return handles;
}

ViewLayout lay_out_target(const ViewInput& input,
                          const std::shared_ptr<const GeneratedTarget>& target) {
  Page page(input);
  auto numbers = alignment_numbers(input, target);
  const Box inside =
      page.frame(target->trace->model + " · alignment of target and source",
                 caption(*target->trace, describe_alignment(*target, input.session.view)));
  // The notice describes the whole target, so that the layout does not depend on "step".
  const auto place = [&] {
    return place_alignment(page, inside, *numbers, notice_of(*target, *numbers, numbers->rows()));
  };
  std::optional<AlignmentPlaces> places = place();
  // Cuts a long target to as many tokens as fit in legible columns.
  const double min_cell = numbers->rows() > kMinRows ? legible_cell(page, *numbers) : 0;
  while (numbers->rows() > kMinRows &&
         (!places || (numbers->rows() < target->rows() && places->cell < min_cell))) {
    numbers = first_rows(*numbers, std::max(kMinRows, numbers->rows() * 9 / 10));
    places = place();
  }
  if (!places) return no_space(page);
  const ShownAlignment shown{*target, *numbers, *places, alignment_focus(input, *numbers, *places)};
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

std::string objection(const Trace& trace) {
  return refuse_alignment(trace).sentence();
}

ViewLayout lay_out_alignment(const ViewInput& input) {
  if (const Refusal refusal = refuse_alignment(input.trace)) {
    Page page(input);
    return refusal.message(page);
  }
  const auto target = input.findings.get(Findings::written);
  if (target == nullptr) {
    return Page(input).message("Generating", "The target appears here.", "the generated target");
  }
  if (!target->problem.empty() || target->trace == nullptr) {
    return Page(input).message("No target was generated", capitalised(target->problem) + ".");
  }
  try {
    return lay_out_target(input, target);
  } catch (const InputError& e) {
    return Page(input).message("No alignment to show", capitalised(e.what()) + ".");
  }
}

void restrict_controls(const ViewSettings& settings, const Trace* trace, ViewControls& controls) {
  const bool is_one_head = view_values(settings, "alignment").choice("of") == "head";
  controls.layer = controls.head = is_one_head;
  controls.part = false;
  controls.colour_ends.clear();
  controls.colours = ViewControls::Colours::Sequential;
  if (trace == nullptr || trace->streams.empty() || !reads_source(*trace)) return;
  // The slider ends at an estimate, because the length of the target is unknown here.
  constexpr Index kLettersOfDigit = 10;
  const auto sources = static_cast<Index>(trace->streams.front().tokens.size());
  const Index max_letters = std::min(trace->config->context, 1 + kLettersOfDigit * sources);
  for (Parameter& p : controls.parameters) {
    if (p.key == "step") p.slider.max = static_cast<double>(max_letters);
  }
  controls.animation = Animation{"step", 1, static_cast<double>(max_letters),
                                 0.5 * static_cast<double>(max_letters)};
}

void open_numbers_example(Session& session) {
  open_bundled_model(session, "numbers");
}

std::vector<Parameter> alignment_parameters() {
  return {{.key = "of",
           .label = "Weights of",
           .help = "The heads whose attention to the source is shown.",
           .kind = Parameter::Kind::Choice,
           .initial = std::string("last"),
           .choices = {{"last", "mean over the last layer"},
                       {"all", "mean over all"},
                       {"head", "the shown head"}}},
          {.key = "beams",
           .label = "Beams",
           .help = "Hypotheses kept from letter to letter; 1 is greedy decoding: always the most "
                   "likely letter.",
           .initial = Index{1},
           .limits = {.min = 1, .max = 64},
           .slider = {.min = 1, .max = 8}},
          {.key = "step",
           .label = "Generated letters",
           .help = "Length of the target so far; the last letter is being generated.",
           .optional = true,
           .unset_label = "all",
           .initial = Index{1},
           .limits = {.min = 1},
           .slider = {.min = 1, .max = 40}}};
}

}  // namespace

View alignment_view() {
  return {
      .id = "alignment",
      .label = "Alignment",
      .group = "Tasks",
      .summary = "The generated target, and where in the source each letter attends.",
      .lay_out = lay_out_alignment,
      .reading = fixed_reading("The generated target, and where in the source each letter attends: "
                               "bands join the two, and cross where the order changes.",
                               {}),
      .data = alignment_data,
      .findings = {{Findings::written.id,
                    [](const RunView& run) {
                      return TargetSettings{view_values(run.view, "alignment").integer("beams")};
                    }}},
      .options = {.parameters = alignment_parameters(),
                  .animation = Animation{"step", 1, 15, 9},
                  .restrict_controls = restrict_controls},
      .content = {.objection = objection, .example = open_numbers_example}};
}

}  // namespace attnscope
