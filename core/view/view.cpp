#include "core/view/view.h"

#include <algorithm>

#include "core/base/find_by_id.h"
#include "core/view/view_list.h"

namespace attnscope {

const std::vector<View>& views() {
  // The window shows the first nine views, the most important ones, as tabs with the keys 1 to 9.
  // One or two lines per group.
  // clang-format off
  static const std::vector<View> list{
      map_view(), grid_view(), pattern_view(), lines_view(),
      position_view(), mechanism_view(),
      flow_view(), next_view(), compare_view(),

      scores_view(), vectors_view(),
      rope_view(), graph_view(),
      span_view(), steps_view(), depth_view(),
      memory_view(), gates_view(), retrieval_view(),
      alignment_view(), trajectory_view(), image_view(),
      intervene_view(), architecture_view(), block_view(), train_view()};
  // clang-format on
  return list;
}

const View& view(std::string_view id) {
  return find_by_id(views(), id, "view");
}

std::string View::objection(const Trace& trace) const {
  return content.objection ? content.objection(trace) : "";
}

bool View::reads(std::string_view finding) const {
  return std::ranges::find(findings, finding, &ViewFinding::id) != findings.end();
}

ViewInput ViewInput::with_trace(const Trace& other_run) const {
  return {other_run, session, findings, canvas, figure, interaction, cache};
}

ViewInput ViewInput::with_words(const WordTrace& words, const Session& word_session) const {
  return {words.trace, word_session, findings, canvas,
          figure,      interaction,  cache,    MergedWords{words, trace}};
}

std::vector<FindingRequest> required_findings(const Session& session) {
  const View& selected = view(session.view.id);
  std::vector<FindingRequest> requests;
  for (const ViewFinding& finding : selected.findings) {
    const std::optional<FindingSettings> settings =
        finding.settings ? finding.settings(session) : FindingSettings();
    if (settings) requests.push_back({finding.id, *settings});
  }
  if (!selected.shows_reference()) requests.push_back({Findings::reference.id});
  return requests;
}

ViewSettings with_defaults(ViewSettings settings, const Trace& trace) {
  const View& v = view(settings.id);
  if (v.content.select_initial_part) v.content.select_initial_part(trace, settings.part);
  return settings;
}

std::vector<ColourEndChoice> weight_ends() {
  return {{ColourEnd::Percentile, "Clip at 99th percentile",
           "The 99th percentile of the visible pairs, so that small weights remain visible."},
          {ColourEnd::Largest, "Up to the maximum",
           "End at the largest visible weight, ignoring rows with a single key."},
          {ColourEnd::One, "Up to 1", "End at 1, the sum of a query's weights."}};
}

std::vector<ColourEndChoice> stretched_ends() {
  return {{ColourEnd::One, "Whole range", "Span the whole range."},
          {ColourEnd::Largest, "Visible range", "Span the range of the visible numbers."}};
}

const ColourEndChoice* selected_colour_end(const std::vector<ColourEndChoice>& choices,
                                           ColourEnd end) {
  const auto found = std::ranges::find(choices, end, &ColourEndChoice::end);
  if (found != choices.end()) return &*found;
  return choices.empty() ? nullptr : &choices.front();
}

void ViewControls::hide_colours() {
  colours = Colours::None;
  colour_ends.clear();
}

void without_colours(const ViewSettings&, const Trace*, ViewControls& controls) {
  controls.hide_colours();
}

ViewControls view_controls(const ViewSettings& settings, const Trace* trace) {
  const View& v = view(settings.id);
  ViewControls controls;
  controls.parameters = v.options.parameters;
  controls.animation = v.options.animation;
  controls.words = v.cells.merge_words;
  if (v.cells.merge_words && trace != nullptr)
    controls.word_merging_refusal = words_refusal(*trace);
  controls.special_tokens_refusal =
      trace != nullptr ? special_refusal(*trace) : "nothing has run yet";
  if (v.options.restrict_controls) v.options.restrict_controls(settings, trace, controls);
  return controls;
}

}  // namespace attnscope
