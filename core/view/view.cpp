#include "core/view/view.h"

#include "core/base/error.h"
#include "core/view/view_list.h"

namespace attnscope {

Tensor ViewCache::matrix(const std::shared_ptr<const void>& source, const std::string& name,
                         const std::function<Tensor()>& make) {
  return matrix(source, nullptr, name, make);
}

Tensor ViewCache::matrix(const std::shared_ptr<const void>& source,
                         const std::shared_ptr<const void>& other, const std::string& name,
                         const std::function<Tensor()>& make) {
  // A window shows a handful of matrices; whoever steps through many heads starts afresh.
  constexpr std::size_t kMostEntries = 8;
  if (entries_.size() > kMostEntries) entries_.clear();
  Entry& entry = entries_[name];
  if (entry.source != source || entry.other != other || !entry.matrix.defined()) {
    entry = {source, other, make()};
  }
  return entry.matrix;
}

std::shared_ptr<const void> source_of(const Trace& trace) {
  if (trace.attention.empty()) return nullptr;
  const OperationResult& last = trace.attention.back().result;
  if (last.part) return last.part;
  return last.pattern;
}

const std::vector<View>& views() {
  static const std::vector<View> list{
      map_view(),     grid_view(),      pattern_view(), lines_view(), scores_view(),
      vectors_view(), position_view(),  rope_view(),    span_view(),  depth_view(),
      next_view(),    intervene_view(), compare_view()};
  return list;
}

const View& view(std::string_view id) {
  std::string known;
  for (const View& candidate : views()) {
    if (candidate.id == id) return candidate;
    known += (known.empty() ? "" : ", ") + candidate.id;
  }
  throw InputError("view: expected one of " + known + ", found \"" + std::string(id) + "\"");
}

ViewControls view_controls(const ViewSettings& settings, const Trace* trace) {
  const View& of = view(settings.id);
  ViewControls controls;
  controls.parameters = of.parameters;
  if (of.restrict_controls) of.restrict_controls(settings, trace, controls);
  return controls;
}

Values view_values(const ViewSettings& settings, std::string_view id) {
  const auto set = settings.options.find(id);
  return set != settings.options.end() ? set->second : default_values(view(id).parameters);
}

void set_view_values(ViewSettings& settings, std::string_view id, const Values& values) {
  if (values == default_values(view(id).parameters)) {
    settings.options.erase(std::string(id));
  } else {
    settings.options.insert_or_assign(std::string(id), values);
  }
}

void set_view_value(ViewSettings& settings, std::string_view id, std::string_view key,
                    Value value) {
  Values values = view_values(settings, id);
  values.set(key, std::move(value));
  set_view_values(settings, id, values);
}

}  // namespace attnscope
