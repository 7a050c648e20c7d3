#include "app/window/panels/explain_panel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include "app/window/actions/actions.h"
#include "app/window/widgets/parameter_edit.h"
#include "app/window/widgets/selection.h"
#include "core/analysis/head_name.h"
#include "core/analysis/pair.h"
#include "core/analysis/row.h"
#include "core/experiment/head_table.h"
#include "core/figure/plain_text.h"
#include "core/view/map/map_values.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/focus.h"
#include "core/view/parts/term_words.h"
#include "core/view/parts/word_merging.h"
#include "core/view/view.h"

namespace attnscope::window {
namespace {

constexpr Index kListedKeys = 5;

// Row of a list: label on the left, value on the right.
void draw_fact(const Ui& ui, const char* label, const std::string& value, const char* help = "") {
  ImGui::TextColored(ui.look->faint, "%s", label);
  hint(ui, help);
  const std::string text = on_screen(value);
  const float width = ImGui::CalcTextSize(text.c_str()).x;
  const float start = ImGui::GetCursorStartPos().x;
  const float left = start + ImGui::CalcTextSize(label).x + ImGui::GetStyle().ItemSpacing.x;
  const float position = ImGui::GetContentRegionMax().x - width;
  if (position >= left) {
    ImGui::SameLine(position);
  } else {  // narrow panel: below the label
    ImGui::SetCursorPosX(std::max(position, start));
  }
  ImGui::TextUnformatted(text.c_str());
}

void draw_bar(const Ui& ui, double fraction, const ImVec4& colour) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = ui.px(5);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(origin, {origin.x + width, origin.y + height}, packed(ui.look->raised),
                     height / 2);
  const float filled = width * static_cast<float>(std::clamp(fraction, 0.0, 1.0));
  if (filled > height) {
    draw.AddRectFilled(origin, {origin.x + filled, origin.y + height}, packed(colour), height / 2);
  }
  ImGui::Dummy({width, height});
}

void update_weights(const State::PointedHead& pointed, Index query, PairCache::Row& cache) {
  if (cache.trace == pointed.trace && cache.ref == pointed.ref && cache.query == query) return;
  cache = {pointed.trace, pointed.ref, query, pointed.tap->rows(pointed.head, query, 1)};
}

void draw_chips(Ui& ui, const std::string& query, const std::string& key, bool is_allowed = true) {
  const char* verb = is_allowed ? "attends to" : "may not attend to";
  // Continues the line of the previous item if there is room.
  const auto continue_line = [](float width) {
    const float right = ImGui::GetContentRegionMax().x + ImGui::GetWindowPos().x;
    const float gap = ImGui::GetStyle().ItemSpacing.x;
    if (ImGui::GetItemRectMax().x + gap + width <= right) ImGui::SameLine();
  };
  const float max_width = ImGui::GetContentRegionAvail().x;
  chip(ui, query, ui.look->query, ui.look->on_accent);
  hint(ui, query);
  continue_line(ImGui::CalcTextSize(verb).x);
  ImGui::AlignTextToFramePadding();
  ImGui::TextColored(ui.look->faint, "%s", verb);
  continue_line(chip_width(ui, key, max_width));
  chip(ui, key, ui.look->key, ui.look->on_accent);
  hint(ui, key);
}

void draw_score(Ui& ui, const Trace& trace, const AttentionTap& tap, Index head, const Hit& hit) {
  if (tap.settings() == nullptr) return;
  // Without a softmax there are no scores, but rescaled sums of features.
  const Variant& method = variant(tap.variant.id);
  if (!method.scores.has_softmax(tap.variant.values)) return;
  const auto pair = pair_score(*tap.part(), head, hit.query, hit.key);
  if (!pair) return;
  draw_fact(ui, "q · k", brief(pair->product), "Dot product of the query and key vectors.");
  draw_fact(ui, "× scale", brief(static_cast<double>(tap.settings()->scale)),
            "1/√d for head size d, unless the encoding defines another scale.");
  if (pair->terms.size() > 1) {
    const bool are_mixed = has_positions_in_content(trace, tap);
    for (const auto& [term, value] : pair->terms) {
      draw_fact(ui, term_text(term, are_mixed).full, brief(value));
    }
  }
  draw_fact(ui, "Score", brief(pair->score), "Input of the softmax.");
}

// Index of the pattern's rule that admits the pair; -1: not allowed.
int rule_of(const AttentionTap& tap, Index head, const Hit& hit) {
  const Pattern& pattern = *tap.result.pattern;
  return pattern.rule(pattern.heads() == 1 ? 0 : head, hit.query, hit.key);
}

void draw_rule(Ui& ui, const AttentionTap& tap, Index head, const Hit& hit, bool is_forbidden) {
  const int rule = rule_of(tap, head, hit);
  if (rule >= 0) {
    draw_fact(ui, "Allowed by", tap.result.pattern->rules()[static_cast<std::size_t>(rule)],
              "Rule of the attention pattern that admits this pair.");
    return;
  }
  ImGui::TextColored(ui.look->warning, "Not allowed");
  const bool is_later =
      tap.causal && key_position(tap, head, hit.key) > query_position(tap, hit.query);
  faint(ui, is_later       ? "The key is after the query (causal mask)."
            : is_forbidden ? "An intervention forbids this pair."
                           : "No rule of the variant admits this pair.");
}

// Weight of a full bar: 1, or the largest absolute weight of the row if that is greater.
double full_bar(const Tensor& row) {
  double largest = 1;
  for (const float weight : row) {
    if (std::isfinite(weight)) largest = std::max(largest, std::abs(static_cast<double>(weight)));
  }
  return largest;
}

void draw_row(Ui& ui, const Trace& trace, const AttentionTap& tap, const Tensor& weights) {
  const RowStatistics row = row_statistics(weights.data(), weights.dim(1), kListedKeys);
  const bool is_word = has_merged_words(trace);
  heading(ui, is_word ? "Row of the word" : "Row of the query");
  if (row.has_negative) {
    faint(ui, "Signed weights are not a distribution: the row has no entropy.");
  } else {
    draw_fact(
        ui, is_word ? "Entropy of words" : "Entropy",
        brief(row.entropy) + (row.entropy == 1 ? " bit" : " bits"),
        is_word ? "Spread of the word's attention: 0 bits for one word, 3 bits for 8 equal words."
                : "Spread of the query's attention: 0 bits for one key, 3 bits for 8 equal keys.");
    draw_fact(ui, is_word ? "Effective words" : "Effective keys", brief(row.effective),
              "2 to the power of the entropy: number of equal weights with this entropy.");
  }
  if (row.largest < 0) {
    faint(ui, "This query has no keys: its row is empty.");
    return;
  }
  const double full = full_bar(weights);
  for (const Index j : row.strongest) {
    const auto weight = static_cast<double>(weights[j]);
    ImGui::PushFont(ui.fonts.small);
    const std::string key = ui.shown_label(key_label(trace, tap, j)), amount = brief(weight);
    const float max_width = ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ItemSpacing.x -
                            ImGui::CalcTextSize(amount.c_str()).x;
    draw_fact(ui, elide(on_screen(key), max_width).c_str(), amount, key.c_str());
    ImGui::PopFont();
    draw_bar(ui, std::abs(weight) / full, weight < 0 ? ui.look->query : ui.look->key);
  }
}

// Draws a single token, a query or a key. `row`: the query's weights.
void draw_token(Ui& ui, const Trace& trace, const AttentionTap& tap, const Tensor& row,
                const Hit& hit) {
  const bool is_query = hit.query >= 0;
  const std::string label = ui.shown_label(is_query ? query_label(trace, tap, hit.query)
                                                    : key_label(trace, tap, hit.key));
  chip(ui, label, is_query ? ui.look->query : ui.look->key, ui.look->on_accent);
  hint(ui, label);
  draw_fact(ui, is_query ? "Query i" : "Key j", std::to_string(is_query ? hit.query : hit.key),
            "Position, counted from 0.");
  if (is_query) draw_row(ui, trace, tap, row);
}

// The head under the pointer, in the trace with merged words.
State::PointedHead merged_head(const State::PointedHead& pointed, const Hit& hit) {
  State::PointedHead merged{{hit.words, &hit.words->trace}, pointed.ref};
  merged.tap = merged.trace->find(merged.ref, &merged.head);
  return merged;
}

// Draws the pair under the pointer as words, with the row of the query's word.
void draw_merged(Ui& ui, const State::PointedHead& pointed, const Hit& hit, PairCache::Row& cache) {
  const State::PointedHead words = merged_head(pointed, hit);
  const WordPairs& pairs = hit.words->of(*words.tap);
  const bool has_query = hit.word_query >= 0, has_key = hit.word_key >= 0;
  const std::string query_name =
      has_query ? ui.shown_label(query_label(*words.trace, *words.tap, hit.word_query)) : "";
  const std::string key_name =
      has_key ? ui.shown_label(key_label(*words.trace, *words.tap, hit.word_key)) : "";
  if (has_query && has_key) {
    draw_chips(ui, query_name, key_name);
  } else {
    const std::string& name = has_query ? query_name : key_name;
    chip(ui, name, has_query ? ui.look->query : ui.look->key, ui.look->on_accent);
    hint(ui, name);
  }
  if (has_query) {
    draw_fact(ui, "Query's word", describe_pieces(pairs.queries, hit.word_query),
              "Weights are averaged over these tokens.");
  }
  if (has_key) {
    draw_fact(ui, "Key's word", describe_pieces(pairs.keys, hit.word_key),
              "Weights on these tokens are summed.");
  }
  if (!has_query) return;
  update_weights(words, hit.word_query, cache);
  if (has_key) {
    const auto weight = static_cast<double>(cache.weights[hit.word_key]);
    draw_fact(ui, "Weight of words", brief(weight),
              "Summed over the tokens of the key's word, averaged over those of the query's.");
    draw_bar(ui, weight / full_bar(cache.weights), ui.look->key);
    // The picture may combine several heads, or show the flow through layers.
    const bool is_head_weight = hit.shown.empty() || hit.shown == brief(weight, 4);
    if (!is_head_weight) draw_fact(ui, "Shown", hit.shown, "Value at this point of the picture.");
  }
  draw_row(ui, *words.trace, *words.tap, cache.weights);
}

// Suffix that names the run of a pair; empty if only one run is shown.
std::string run_suffix(const State& state, const Hit& hit) {
  const bool shows_both = view(state.session->view.id).shows_reference();
  if (!state.session->b) return hit.of_reference ? ", before" : "";
  if (hit.of_reference) return ", run B";
  return shows_both ? ", run A" : "";
}

// True if the view computes the pair with positions or settings that differ from the run's.
bool shows_altered_positions(const State& state, const AttentionTap& tap) {
  const ViewSettings& settings = state.session->view;
  const View& current = view(settings.id);
  return current.cells.alter_run && current.cells.alter_run(settings, tap);
}

// Help on the view; a click on the heading collapses or expands it.
void draw_reading(Ui& ui, State& state) {
  const View& current = view(state.session->view.id);
  const Action& toggle = action("reading");
  ImGui::BeginGroup();
  heading(ui, "About this view", true);
  ImGui::SameLine();
  faint(ui, state.settings.reading ? "hide" : "show");
  ImGui::EndGroup();
  mark(ui, "reading");
  if (ImGui::IsItemClicked()) toggle.run(state);
  if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  hint(ui, toggle.help);
  if (!state.settings.reading) return;
  const ViewReading reading =
      current.reading(state.pictured_session()->view, state.pictured_trace().get());
  paragraph(ui, on_screen(reading.text));
  for (const ViewTerm& term : reading.terms) {
    faint(ui, on_screen(term.name + ": " + term.meaning));
  }
}

// Value with the measure's unit; in per cent if the measure has no unit.
std::string format_measure(const HeadMeasure& measure, double value, bool per_word) {
  if (std::isnan(value)) return "–";
  const std::string& unit = per_word ? measure.word_unit : measure.unit;
  if (!unit.empty()) return brief(value) + " " + unit;
  return percent(value);
}

void draw_head(Ui& ui, const State::PointedHead& pointed, PairCache::Head& cache) {
  if (!is_whole(*pointed.tap)) {
    faint(ui, "The full map of this long text is not stored. Click to open the map.");
    return;
  }
  if (is_signed(*pointed.tap, pointed.head)) {
    faint(ui, "Signed weights are not a distribution. Click to open the map.");
    return;
  }
  if (cache.trace != pointed.trace || cache.ref != pointed.ref) {
    cache = {pointed.trace, pointed.ref,
             head_statistics(*pointed.trace, *pointed.tap, pointed.head),
             head_baseline(*pointed.trace, *pointed.tap, pointed.head)};
  }
  paragraph(ui, capitalised(head_name(cache.statistics, cache.baseline).description) + ".");
  const bool per_word = has_merged_words(*pointed.trace);
  std::string missing_text;
  for (const HeadMeasure& measure : head_measures()) {
    const double value = cache.statistics.*measure.value;
    draw_fact(ui, capitalised(per_word ? measure.word_label : measure.label).c_str(),
              format_measure(measure, value, per_word), measure.help.c_str());
    if (std::isnan(value)) missing_text = measure.requires_text;
  }
  if (!missing_text.empty()) faint(ui, "–: requires a text with " + missing_text + ".");
  faint(ui, "Click to open the map.");
}

// Returns the pair under the pointer, or else the pinned pair.
std::optional<Hit> hit_to_explain(const State& state) {
  if (state.view.hit) return state.view.hit;
  const SharedSession pictured = state.pictured_session();
  const ViewSettings& settings = pictured->view;
  if (settings.pinned_query < 0 || settings.pinned_key < 0) return std::nullopt;
  Hit pinned{settings.layer, settings.head, settings.pinned_query, settings.pinned_key};
  pinned.of_reference = state.shows_b();
  return pinned;
}

// Attention of the pictured run's layer and head; null without a trace.
const AttentionTap* pictured_tap(const State& state) {
  const std::shared_ptr<const Trace> trace = state.pictured_trace();
  if (trace == nullptr) return nullptr;
  Index head_in_group = 0;
  return trace->find(head_ref(*trace, state.pictured_session()->view), &head_in_group);
}

const char* pair_heading(const State& state, const std::optional<Hit>& hit) {
  if (hit && !state.view.hit) return "Pinned pair";
  if (!hit || (hit->query >= 0 && hit->key >= 0)) return "Pair under the pointer";
  return hit->query < 0 && hit->key < 0 ? "Head under the pointer" : "Token under the pointer";
}

void draw_pair(Ui& ui, const State& state, PairCache& cache) {
  const std::optional<Hit> hit = hit_to_explain(state);
  heading(ui, pair_heading(state, hit));
  const State::PointedHead pointed = hit ? state.pointed_at(*hit) : State::PointedHead();
  const std::shared_ptr<const Trace>& trace = pointed.trace;
  const AttentionTap* tap = pointed.tap;
  const Index head = pointed.head;
  if (tap == nullptr) {
    faint(ui,
          "Point at a pair or a token in the picture to see its attention and the terms of its "
          "weight.");
    return;
  }
  faint(ui, capitalised(describe_head(trace->parts, pointed.ref)) + run_suffix(state, *hit));
  const bool is_pair =
      hit->query >= 0 && hit->query < tap->queries() && hit->key >= 0 && hit->key < tap->keys();
  const bool is_query = hit->query >= 0 && hit->query < tap->queries() && hit->key < 0;
  const bool is_key = hit->key >= 0 && hit->key < tap->keys() && hit->query < 0;
  if (hit->words != nullptr && (is_key || is_query || is_pair)) {
    try {
      draw_merged(ui, pointed, *hit, cache.word);
    } catch (const std::exception& e) {
      faint(ui, e.what());
      return;
    }
    if (!is_pair) return;
    const ViewSettings& view = state.session->view;
    const bool is_pinned = hit->query == view.pinned_query && hit->key == view.pinned_key;
    const WordPairs& pairs = hit->words->of(*tap);
    const bool is_only =
        pairs.queries.size(hit->word_query) == 1 && pairs.keys.size(hit->word_key) == 1;
    heading(ui, is_only ? "Token pair" : is_pinned ? "Pinned token pair" : "Strongest token pair");
  }
  if (is_key) {
    draw_token(ui, *trace, *tap, {}, *hit);
    return;
  }
  if (!is_pair && !is_query) {
    if (hit->query < 0) draw_head(ui, pointed, cache.head);
    return;
  }
  try {
    update_weights(pointed, hit->query, cache.token);
  } catch (const std::exception& e) {  // a lost device, or weights that were not kept
    faint(ui, e.what());
    return;
  }
  const Tensor& weights = cache.token.weights;
  if (!is_pair) {
    draw_token(ui, *trace, *tap, weights, *hit);
    return;
  }
  const auto weight = static_cast<double>(weights[hit->key]);
  draw_chips(ui, ui.shown_label(query_label(*trace, *tap, hit->query)),
             ui.shown_label(key_label(*trace, *tap, hit->key)), rule_of(*tap, head, *hit) >= 0);
  draw_fact(ui, "Query i, key j", std::to_string(hit->query) + ", " + std::to_string(hit->key),
            "Positions, counted from 0.");
  if (shows_altered_positions(state, *tap)) {
    faint(ui,
          "The token pair at its own positions, as the model scores it. The picture uses other "
          "positions or another rotation, and so has another score.");
  }
  const bool has_value = !hit->shown.empty() && hit->words == nullptr;
  if (has_value) draw_fact(ui, "Shown", hit->shown, "Value at this point of the picture.");
  draw_score(ui, *trace, *tap, head, *hit);
  draw_fact(ui, "Weight", brief(weight), "Share of the query's attention; each row sums to 1.");
  draw_bar(ui, std::abs(weight) / full_bar(weights), ui.look->key);
  draw_rule(ui, *tap, head, *hit,
            forbids(state.session->run.interventions, pointed.ref.layer, pointed.ref.head,
                    hit->query, hit->key));
  if (hit->words == nullptr) draw_row(ui, *trace, *tap, weights);
}

float text_width(const std::string& text) {
  return ImGui::CalcTextSize(text.c_str()).x;
}

// Possible line break at a space.
struct Break {
  std::size_t offset;
  int cost;
};

// Breaks outside brackets cost less than those inside; breaks after a comma or before an operator
// are preferred. No breaks after an opening or before a closing bracket.
std::vector<Break> possible_breaks(const std::string& line) {
  constexpr std::array<std::string_view, 15> kOperators = {"=", "+", "−", "·", "/", "∘", "≤", "<",
                                                           "∝", "⇔", "≈", "∪", "∈", ":", "or"};
  const auto is_in = [](std::string_view set, char c) {
    return set.find(c) != std::string_view::npos;
  };
  std::vector<Break> breaks;
  int bracket_depth = 0;
  std::size_t word = 0;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const char c = line[i];
    if (is_in("([{", c)) ++bracket_depth;
    if (is_in(")]}", c)) --bracket_depth;
    if (c != ' ') continue;
    const std::string_view preceding = std::string_view(line).substr(word, i - word);
    word = i + 1;
    if (preceding.empty() || is_in("([{", preceding.back()) || is_in(")]}", line[i + 1])) continue;
    const bool is_operator = std::ranges::find(kOperators, preceding) != kOperators.end();
    const bool is_double = line[i + 1] == ' ';  // two spaces separate equations
    breaks.push_back({i, 4 * bracket_depth + (is_operator ? 3 : 0) - (is_double ? 2 : 0) -
                             (is_in(",;", preceding.back()) ? 1 : 0)});
  }
  return breaks;
}

// Wraps an equation at `width` pixels.
std::string wrap_equation(const std::string& line, float width) {
  const std::vector<Break> breaks = possible_breaks(line);
  std::string lines, indent;
  std::size_t begin = 0;
  const auto line_to = [&](std::size_t end) { return indent + line.substr(begin, end - begin); };
  while (text_width(line_to(line.size())) > width) {
    // Selects the last of the cheapest breaks, if possible in the second half of the line.
    const Break* best = nullptr;
    float best_width = 0;
    for (const Break& b : breaks) {
      if (b.offset <= begin) continue;
      const float line_width = text_width(line_to(b.offset));
      if (line_width > width) break;
      if (best != nullptr && b.cost > best->cost && best_width > width / 2) continue;
      best = &b;
      best_width = line_width;
    }
    if (best == nullptr) break;  // one word is longer than a line
    lines += line_to(best->offset) + "\n";
    begin = std::min(line.find_first_not_of(' ', best->offset), line.size());
    indent = "   ";
  }
  return lines + line_to(line.size());
}

// Splits a list of equations ("a = b,   c = d") into lines if it does not fit in one.
std::string equation_lines(std::string text, float width) {
  constexpr std::string_view kComma = ",   ";
  if (text_width(text) <= width) return text;
  for (std::size_t i = text.find(kComma); i != std::string::npos; i = text.find(kComma)) {
    text.replace(i, kComma.size(), "\n");
  }
  return text;
}

// Draws an equation on a background, in smaller type if it does not fit in a line.
void draw_equation(const Ui& ui, const std::string& equation) {
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const ImVec2 padding(ui.px(9), ui.px(7));
  const float inner_width = width - 2 * padding.x;
  const std::string text = equation_lines(on_screen(equation), inner_width);
  const bool is_small = text_width(text) > inner_width;
  if (is_small) ImGui::PushFont(ui.fonts.small);
  std::string lines;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines += (begin > 0 ? "\n" : "") + wrap_equation(text.substr(begin, end - begin), inner_width);
    begin = end + 1;
  }
  const ImVec2 extent = ImGui::CalcTextSize(lines.c_str(), nullptr, false, inner_width);
  const ImVec2 end(origin.x + width, origin.y + extent.y + 2 * padding.y);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(origin, end, packed(ui.look->field), ImGui::GetStyle().FrameRounding);
  draw.AddText(ImGui::GetFont(), ImGui::GetFontSize(), {origin.x + padding.x, origin.y + padding.y},
               packed(ui.look->text), lines.c_str(), nullptr, inner_width);
  if (is_small) ImGui::PopFont();
  ImGui::Dummy({width, end.y - origin.y});
}

// `label`: replaces the info's label if not empty.
void draw_info(Ui& ui, const char* title, const Info& info, const std::string& label = "") {
  heading(ui, title);
  paragraph(ui, label.empty() ? info.label : label);
  if (!info.equation.empty()) draw_equation(ui, info.equation);
  paragraph(ui, info.summary);
  if (!info.complexity.empty()) faint(ui, "Cost: " + info.complexity);
  if (!info.source.empty()) faint(ui, "Source: " + info.source);
}

}  // namespace

void draw_explain_panel(Ui& ui, State& state, PairCache& weights) {
  draw_reading(ui, state);
  draw_pair(ui, state, weights);
  const std::shared_ptr<const Trace> trace = state.pictured_trace();
  if (trace != nullptr && trace->is_imported) {
    heading(ui, "Attention");
    faint(ui, "Read from a file; variant and encoding are unknown.");
    return;
  }
  const AttentionTap* tap = pictured_tap(state);
  if (tap != nullptr && !state.shows_configurable_part()) {
    draw_info(ui, "Attention", variant(tap->variant.id), on_screen(describe_variant(*tap)));
    draw_info(ui, "Position", encoding(tap->encoding.id));
    return;
  }
  if (const auto choice = effective_variant(state)) {
    draw_info(ui, "Attention", variant(choice->id));
  }
  if (const auto choice = effective_encoding(state)) {
    draw_info(ui, "Position", encoding(choice->id));
  }
}

}  // namespace attnscope::window
