#include "core/view/grid/grid_order.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "core/base/error.h"
#include "core/figure/plain_text.h"
#include "core/view/map/map_values.h"
#include "core/view/parts/cached_numbers.h"

namespace attnscope {
namespace {

// Run whose heads are measured; it includes hidden tokens.
const Trace& measured_run(const ViewInput& input) {
  const bool hides_tokens = input.merged && !has_merged_words(input.trace);
  return hides_tokens ? input.merged->tokens : input.trace;
}

// Measures of the run's heads, cached between layouts.
HeadTable table_of_run(const ViewInput& input) {
  const std::vector<HeadMeasure>& measures = head_measures();
  const auto width = static_cast<Index>(measures.size()) + 2;
  const TracePart part = input.part();

  const auto make = [&] {
    const HeadTable table = head_table(measured_run(input), part);
    Tensor numbers({static_cast<Index>(table.rows.size()), width});
    for (Index i = 0; i < numbers.dim(0); ++i) {
      const HeadTable::Row& row = table.rows[static_cast<std::size_t>(i)];
      numbers(i, 0) = static_cast<float>(row.at.layer);
      numbers(i, 1) = static_cast<float>(row.at.head);
      for (std::size_t m = 0; m < measures.size(); ++m) {
        numbers(i, static_cast<Index>(m) + 2) =
            static_cast<float>(row.statistics.*measures[m].value);
      }
    }
    return numbers;
  };
  const Tensor numbers = cached_matrix(input, CacheKey("head table", part), make);
  HeadTable table;
  table.words = has_merged_words(input.trace);
  for (Index i = 0; i < numbers.dim(0); ++i) {
    HeadTable::Row row{{static_cast<Index>(numbers(i, 0)), static_cast<Index>(numbers(i, 1)), part},
                       {}};
    for (std::size_t m = 0; m < measures.size(); ++m) {
      row.statistics.*measures[m].value =
          static_cast<double>(numbers(i, static_cast<Index>(m) + 2));
    }
    table.rows.push_back(row);
  }
  return table;
}

HeadSurvey survey(const Trace& run, const HeadTable& table, const TracePart& part) {
  HeadSurvey survey;
  double first = 0, first_baseline = 0;
  Index count = 0;
  std::map<std::pair<const Pattern*, Index>, HeadBaseline> baselines;  // by pattern and head
  for (const HeadRef& ref : run.heads(part)) {
    Index n = 0;
    const AttentionTap* tap = run.find(ref, &n);
    const HeadStatistics* statistics = table.find(ref);
    if (statistics == nullptr || is_signed(*tap, n)) continue;
    const Pattern* pattern = tap->result.pattern.get();
    const std::pair key{pattern, pattern->heads() > 1 ? n : 0};
    const auto known = baselines.find(key);
    const HeadBaseline baseline =
        known != baselines.end()
            ? known->second
            : baselines.emplace(key, head_baseline(run, *tap, n)).first->second;
    survey.names[{ref.layer, ref.head}] = head_name(*statistics, baseline);
    if (std::isnan(statistics->first_token) || std::isnan(baseline.mean.first_token)) continue;
    survey.first_token[{ref.layer, ref.head}] = statistics->first_token;
    first += statistics->first_token;
    first_baseline += baseline.mean.first_token;
    ++count;
  }
  if (count == 0) return survey;
  survey.mean = {first / static_cast<double>(count), first_baseline / static_cast<double>(count)};
  return survey;
}

bool passes(const Values& options, double measure) {
  if (options.has("at_least") && !(measure >= options.real("at_least"))) return false;
  return !options.has("at_most") || measure <= options.real("at_most");
}

}  // namespace

std::vector<Thumbnail> thumbnails(const Trace& trace, const TracePart& part) {
  std::vector<Thumbnail> list;
  for (const HeadRef& head : trace.heads(part)) {
    Index n = 0;
    const AttentionTap* tap = trace.find(head, &n);
    if (tap->queries() > 0 && tap->keys() > 0) list.push_back({head.layer, head.head, tap, n});
  }
  return list;
}

std::shared_ptr<const HeadSurvey> survey_heads(const ViewInput& input,
                                               const std::vector<Thumbnail>& list) {
  // Measuring or downloading more takes too long.
  constexpr Index kMaxWeights = Index{1} << 26, kMaxDownloaded = Index{1} << 22;
  Index weights = 0, downloaded = 0;
  for (const Thumbnail& t : list) {
    if (!is_whole(*t.tap)) return nullptr;
    const Index size = t.tap->queries() * t.tap->keys();
    (t.tap->result.device != nullptr ? downloaded : weights) += size;
  }
  if (weights > kMaxWeights || downloaded > kMaxDownloaded) return nullptr;
  const TracePart part = input.part();
  return cached_numbers(input, source_of(input.trace), CacheKey("head survey", part),
                        [&] { return survey(measured_run(input), table_of_run(input), part); });
}

bool surveys_shown_tokens(const ViewInput& input) {
  return &measured_run(input) == &input.trace;
}

FirstToken first_token_of(const ViewInput& input, const HeadSurvey* survey) {
  const Values options = view_values(input.session.view, "grid");
  if (options.has("hide_first")) return {options.flag("hide_first")};
  // If tokens are hidden, the picture and the survey begin with different tokens.
  if (survey == nullptr || !surveys_shown_tokens(input)) return {};
  const FirstTokenShare& mean = survey->mean;
  if (!mean.is_sink()) return {};
  return {true, percent(mean.share) + " of the weight, at equal attention " + percent(mean.equal)};
}

HeadList selected_heads(const ViewSettings& settings) {
  HeadList heads;
  const Values values = view_values(settings, "grid");
  if (!values.has("selected")) return heads;
  for (const std::vector<Index>& head : values.get<std::vector<std::vector<Index>>>("selected")) {
    heads.emplace_back(head[0], head[1]);
  }
  return heads;
}

void select_heads(ViewSettings& settings, const HeadList& heads) {
  Values values = view_values(settings, "grid");
  values.erase("selected");
  std::vector<std::vector<Index>> lists;
  for (const auto& [layer, head] : heads) lists.push_back({layer, head});
  if (!lists.empty()) values.set("selected", lists);
  if (lists.empty()) values.set("only_selected", false);
  set_view_values(settings, "grid", values);
}

HeadList with_added(HeadList selected, std::pair<Index, Index> head) {
  if (std::erase(selected, head) == 0) selected.push_back(head);
  return selected;
}

HeadList with_range(HeadList selected, std::pair<Index, Index> head,
                    const std::vector<Thumbnail>& list) {
  const auto place = [&](const std::pair<Index, Index>& at) {
    return std::ranges::find_if(list, [&](const Thumbnail& t) {
      return std::pair{t.layer, t.head} == at;
    });
  };
  auto from = selected.empty() ? list.end() : place(selected.back()), to = place(head);
  if (to == list.end()) return selected;
  if (from == list.end()) from = to;
  const bool is_backward = to < from;
  if (is_backward) std::swap(from, to);
  for (auto it = from; it <= to; ++it) {
    const std::pair between{it->layer, it->head};
    if (std::ranges::find(selected, between) == selected.end()) selected.push_back(between);
  }
  // Moves the clicked head to the end of the list, so that the next range starts there.
  std::erase(selected, head);
  selected.push_back(head);
  return selected;
}

GridOrder sort_thumbnails(const ViewInput& input, std::vector<Thumbnail>& list) {
  GridOrder order;
  order.total = list.size();
  const Values options = view_values(input.session.view, "grid");
  const std::string& measure_id = options.choice("sort");
  const auto found = std::ranges::find(head_measures(), measure_id, &HeadMeasure::id);
  if (found == head_measures().end()) return order;
  order.measure = &*found;
  const std::string& file = input.session.view.statistics_file;
  const std::shared_ptr<const HeadTable> over_texts = input.findings.get(Findings::heads);
  const bool uses_file = !file.empty() && over_texts != nullptr;
  const bool all_stored =
      std::all_of(list.begin(), list.end(), [](const Thumbnail& t) { return is_whole(*t.tap); });
  if (!uses_file && !all_stored) {
    throw InputError(
        "Maps of a text this long are not stored, so heads are not measured; "
        "measure them on a file, or sort by layer.");
  }
  const HeadTable table = uses_file ? *over_texts : table_of_run(input);
  for (Thumbnail& thumbnail : list) {
    const HeadStatistics* statistics = table.find({thumbnail.layer, thumbnail.head, input.part()});
    thumbnail.measure = statistics != nullptr ? statistics->*found->value
                                              : std::numeric_limits<double>::quiet_NaN();
  }
  std::erase_if(list, [&](const Thumbnail& t) { return !passes(options, t.measure); });
  const bool ascending = options.flag("ascending");
  std::stable_sort(list.begin(), list.end(), [&](const Thumbnail& a, const Thumbnail& b) {
    if (std::isnan(a.measure) || std::isnan(b.measure)) {
      return !std::isnan(a.measure) && std::isnan(b.measure);
    }
    return ascending ? a.measure < b.measure : a.measure > b.measure;
  });
  const std::string name = std::filesystem::path(file).filename().string();
  order.source = uses_file
                     ? name + " (" + grouped(table.tokens) + (table.words ? " words)" : " tokens)")
                 : file.empty() ? "this text"
                                : "this text; " + name + " not measured yet";
  const std::string& label = table.words ? found->word_label : found->label;
  const std::string& unit = table.words ? found->word_unit : found->unit;
  const std::string prefix = "By " + label + (unit.empty() ? "" : " (" + unit + ")"),
                    first = ascending ? "lowest" : "highest";
  std::string count;
  if (list.size() < order.total) {
    count = ": " + std::to_string(list.size()) + " of " + std::to_string(order.total) + " heads";
  }
  const bool is_unknown =
      std::ranges::all_of(list, [](const Thumbnail& t) { return std::isnan(t.measure); });
  if (is_unknown && !list.empty() && !found->requires_text.empty()) {
    const std::string reason = prefix + ": unknown, since it requires " + found->requires_text;
    order.notes = {reason + " in " + order.source, reason, prefix + ": unknown"};
    return order;
  }
  const std::string sorting = prefix + " over " + order.source + ", " + first + " first" + count;
  order.notes = {sorting, prefix + ", " + first + " first", prefix};
  return order;
}

}  // namespace attnscope
