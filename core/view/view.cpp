#include "core/view/view.h"

#include <algorithm>

#include "core/analysis/words.h"
#include "core/base/find_by_id.h"
#include "core/view/view_list.h"

namespace attnscope {

Tensor ViewCache::matrix(const std::shared_ptr<const void>& source, const std::string& name,
                         const std::function<Tensor()>& make) {
  return matrix(source, nullptr, name, make);
}

Tensor ViewCache::matrix(const std::shared_ptr<const void>& source,
                         const std::shared_ptr<const void>& other, const std::string& name,
                         const std::function<Tensor()>& make) {
  Entry& known = entry(name);
  if (known.source != source || known.other != other || !known.matrix.defined()) {
    known = {source, other, make()};
  }
  return known.matrix;
}

std::shared_ptr<const void> ViewCache::object(
    const std::shared_ptr<const void>& source, const std::string& name,
    const std::function<std::shared_ptr<const void>()>& make) {
  Entry& known = entry(name);
  if (known.source != source || known.object == nullptr) known = {source, nullptr, {}, make()};
  return known.object;
}

ViewCache::Entry& ViewCache::entry(const std::string& name) {
  // A window shows some matrices, with the rules of a pattern a layer; whoever steps through many
  // heads starts afresh.
  constexpr std::size_t kMostEntries = 48;
  if (entries_.size() > kMostEntries) entries_.clear();
  return entries_[name];
}

std::shared_ptr<const WordTrace> ViewCache::words(const Trace& trace, const WordChoice& choice) {
  constexpr std::size_t kMostRuns = 2;  // one, and the one beside it
  const std::shared_ptr<const void> source = source_of(trace);
  const auto known = std::ranges::find_if(
      merged_, [&](const Merged& m) { return m.source == source && m.choice == choice; });
  if (known != merged_.end()) return known->words;
  if (merged_.size() >= kMostRuns) merged_.erase(merged_.begin());
  merged_.push_back({source, choice, in_words(trace, choice)});
  return merged_.back().words;
}

std::shared_ptr<const void> source_of(const Trace& trace) {
  if (trace.attention.empty()) return nullptr;
  const OperationResult& last = trace.attention.back().result;
  if (last.part) return last.part;
  return last.pattern;
}

const std::vector<View>& views() {
  // By group, each beginning on a line of its own; the first six have the keys 1 to 6.
  // clang-format off
  static const std::vector<View> list{
      map_view(), grid_view(), pattern_view(), lines_view(), scores_view(), vectors_view(),
      position_view(), rope_view(), mechanism_view(), graph_view(),
      span_view(), steps_view(), depth_view(),
      memory_view(), gates_view(), retrieval_view(),
      alignment_view(), trajectory_view(),
      flow_view(), next_view(), intervene_view(), compare_view(), architecture_view(),
      image_view()};
  // clang-format on
  return list;
}

const View& view(std::string_view id) {
  return find_by_id(views(), id, "view");
}

bool View::reads(std::string_view finding) const {
  return std::ranges::find(findings, finding) != findings.end();
}

std::vector<std::string> findings_read(const Experiment& experiment) {
  const View& of = view(experiment.view.id);
  std::vector<std::string> names = of.findings;
  if (!of.shows_reference()) names.push_back(Findings::reference.id);
  return names;
}

ViewSettings begun(ViewSettings settings, const Trace& trace) {
  const View& of = view(settings.id);
  if (of.begins_with) of.begins_with(trace, settings.part);
  return settings;
}

std::vector<ColourEndChoice> weight_ends() {
  return {{ColourEnd::Percentile, "to 99 %",
           "Colours end where one in a hundred of the pairs in sight goes beyond: small weights "
           "show."},
          {ColourEnd::Largest, "to the largest",
           "Colours end at the largest weight in sight, but for rows that see a single key."},
          {ColourEnd::One, "to 1", "Colours end at 1, the whole of a query's attention."}};
}

std::vector<ColourEndChoice> stretched_ends() {
  return {{ColourEnd::One, "whole range", "Colours span the whole range."},
          {ColourEnd::Largest, "stretched", "Colours span the numbers that are there."}};
}

const ColourEndChoice* colour_end_of(const std::vector<ColourEndChoice>& choices, ColourEnd end) {
  const auto found = std::ranges::find(choices, end, &ColourEndChoice::end);
  if (found != choices.end()) return &*found;
  return choices.empty() ? nullptr : &choices.front();
}

ViewControls view_controls(const ViewSettings& settings, const Trace* trace) {
  const View& of = view(settings.id);
  ViewControls controls;
  controls.parameters = of.parameters;
  controls.animation = of.animation;
  controls.words = of.merges_words;
  if (of.merges_words && trace != nullptr) controls.not_in_words = words_refusal(*trace);
  controls.none_special = trace != nullptr ? special_refusal(*trace) : "nothing has run yet";
  if (of.restrict_controls) of.restrict_controls(settings, trace, controls);
  return controls;
}

}  // namespace attnscope
