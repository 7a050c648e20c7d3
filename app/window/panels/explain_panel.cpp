#include "app/window/panels/explain_panel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
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
#include "core/view/parts/worded.h"
#include "core/view/view.h"

namespace attnscope::window {

namespace {

constexpr Index kStrongest = 5;

// Four significant digits, without the noise of exponents where they are not needed.
std::string number(double value) {
  if (value == 0) return "0";  // never "-0"
  std::array<char, 32> text;
  const bool plain = std::abs(value) >= 1e-3 && std::abs(value) < 1e5;
  std::snprintf(text.data(), text.size(), plain ? "%.4g" : "%.2e", value);
  return text.data();
}

// A line of a list: what on the left, how much on the right.
void fact(const Ui& ui, const char* what, const std::string& value, const char* help = "") {
  ImGui::TextColored(ui.look->faint, "%s", what);
  hint(ui, help);
  const std::string shown = on_screen(value);
  const float width = ImGui::CalcTextSize(shown.c_str()).x;
  const float start = ImGui::GetCursorStartPos().x;
  const float left = start + ImGui::CalcTextSize(what).x + ImGui::GetStyle().ItemSpacing.x;
  const float at = ImGui::GetContentRegionMax().x - width;
  if (at >= left) {
    ImGui::SameLine(at);
  } else {  // in a narrow panel below
    ImGui::SetCursorPosX(std::max(at, start));
  }
  ImGui::TextUnformatted(shown.c_str());
}

void bar(const Ui& ui, double share, const ImVec4& colour) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = ui.px(5);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(at, {at.x + width, at.y + height}, packed(ui.look->raised), height / 2);
  const float filled = width * static_cast<float>(std::clamp(share, 0.0, 1.0));
  if (filled > height) {
    draw.AddRectFilled(at, {at.x + filled, at.y + height}, packed(colour), height / 2);
  }
  ImGui::Dummy({width, height});
}

void keep_weights(const State::Pointed& pointed, Index query, RowWeights::Row& kept) {
  if (kept.trace == pointed.trace && kept.at == pointed.at && kept.query == query) return;
  kept = {pointed.trace, pointed.at, query, pointed.tap->rows(pointed.head, query, 1)};
}

void draw_chips(Ui& ui, const std::string& query, const std::string& key) {
  // On the same line as the item before where there is room.
  const auto follow = [](float width) {
    const float right = ImGui::GetContentRegionMax().x + ImGui::GetWindowPos().x;
    const float gap = ImGui::GetStyle().ItemSpacing.x;
    if (ImGui::GetItemRectMax().x + gap + width <= right) ImGui::SameLine();
  };
  const float all = ImGui::GetContentRegionAvail().x;
  chip(ui, query, ui.look->query, ui.look->on_accent);
  hint(ui, query);
  follow(ImGui::CalcTextSize("looks at").x);
  ImGui::AlignTextToFramePadding();
  ImGui::TextColored(ui.look->faint, "looks at");
  follow(chip_width(ui, key, all));
  chip(ui, key, ui.look->key, ui.look->on_accent);
  hint(ui, key);
}

void draw_score(Ui& ui, const Trace& trace, const AttentionTap& tap, Index head, const Hit& hit) {
  if (tap.result.part == nullptr) return;
  // Sums of features are no scores, and are scaled so that none is too large or too small.
  const Variant& of = variant(tap.variant.id);
  if (of.has_scores && !of.has_scores(tap.variant.values)) return;
  const auto pair = pair_score(*tap.result.part, head, hit.query, hit.key);
  if (!pair) return;
  fact(ui, "q · k", number(pair->product), "The product of the query's and the key's vectors.");
  fact(ui, "× scale", number(static_cast<double>(tap.result.part->scale)),
       "One over the square root of the head's size, unless the encoding says otherwise.");
  if (pair->terms.size() > 1) {
    const bool mixed = has_positions_in_content(trace, tap);
    for (const auto& [term, value] : pair->terms) {
      fact(ui, term_words(term, mixed).full, number(value));
    }
  }
  fact(ui, "Score", number(pair->score), "What goes into the softmax.");
}

void draw_rule(Ui& ui, const AttentionTap& tap, Index head, const Hit& hit) {
  const Pattern& pattern = *tap.result.pattern;
  const int rule = pattern.rule(pattern.heads() == 1 ? 0 : head, hit.query, hit.key);
  if (rule >= 0) {
    fact(ui, "Allowed by", pattern.rules()[static_cast<std::size_t>(rule)],
         "The rule of the variant that lets this query see this key.");
    return;
  }
  ImGui::TextColored(ui.look->warning, "Not allowed");
  const bool after =
      tap.causal && key_position(tap, head, hit.key) > query_position(tap, hit.query);
  faint(ui, after ? "The key comes after the query." : "No rule of the variant admits this pair.");
}

// What full bars stand for: those of a row are told apart however widely it looks.
double largest_of(const Tensor& row) {
  double largest = 0;
  for (const float weight : row) {
    if (std::isfinite(weight)) largest = std::max(largest, std::abs(static_cast<double>(weight)));
  }
  return largest > 0 ? largest : 1;
}

void draw_row(Ui& ui, const Trace& trace, const AttentionTap& tap, const Tensor& weights) {
  const RowStatistics row = row_statistics(weights.data(), weights.dim(1), kStrongest);
  const bool words = is_in_words(trace);
  heading(ui, words ? "Row of the word" : "Row of the query");
  if (row.has_signs) {
    faint(ui, "Weights with signs are no shares of a whole: the row has no entropy.");
  } else {
    fact(ui, words ? "Entropy of words" : "Entropy",
         number(row.entropy) + (row.entropy == 1 ? " bit" : " bits"),
         words ? "How widely the word looks: 0 bits is one word, 3 bits as much as 8 words alike."
               : "How widely the query looks: 0 bits is one key, 3 bits as much as 8 keys alike.");
    fact(ui, "As many as", number(row.effective) + (words ? " equal words" : " equal keys"),
         "Two to the power of the entropy.");
  }
  if (row.largest < 0) {
    faint(ui, "This query may see no key: its row is empty.");
    return;
  }
  const double longest = largest_of(weights);
  for (const Index j : row.strongest) {
    const auto weight = static_cast<double>(weights[j]);
    ImGui::PushFont(ui.fonts.small);
    const std::string key = key_label(trace, tap, j), amount = number(weight);
    const float room = ImGui::GetContentRegionAvail().x - ImGui::GetStyle().ItemSpacing.x -
                       ImGui::CalcTextSize(amount.c_str()).x;
    fact(ui, fitted(on_screen(key), room).c_str(), amount, key.c_str());
    ImGui::PopFont();
    bar(ui, std::abs(weight) / longest, weight < 0 ? ui.look->query : ui.look->key);
  }
}

// A query or a key alone; `row`: the query's weights.
void draw_token(Ui& ui, const Trace& trace, const AttentionTap& tap, const Tensor& row,
                const Hit& hit) {
  const bool is_query = hit.query >= 0;
  const std::string label =
      is_query ? query_label(trace, tap, hit.query) : key_label(trace, tap, hit.key);
  chip(ui, label, is_query ? ui.look->query : ui.look->key, ui.look->on_accent);
  hint(ui, label);
  fact(ui, is_query ? "Query i" : "Key j", std::to_string(is_query ? hit.query : hit.key),
       "Its position, from 0.");
  if (is_query) draw_row(ui, trace, tap, row);
}

// The run of words that the picture shows, in the place of that of their tokens.
State::Pointed words_of(const State::Pointed& pointed, const Hit& hit) {
  State::Pointed words{{hit.words, &hit.words->trace}, pointed.at};
  words.tap = words.trace->find(words.at, &words.head);
  return words;
}

// What is under the pointer as words, with the row of the query's. Their tokens come after it.
void draw_words(Ui& ui, const State::Pointed& pointed, const Hit& hit, RowWeights::Row& kept) {
  const State::Pointed words = words_of(pointed, hit);
  const WordPairs& pairs = hit.words->of(*words.tap);
  const bool query = hit.word_query >= 0, key = hit.word_key >= 0;
  const std::string query_name = query ? query_label(*words.trace, *words.tap, hit.word_query) : "";
  const std::string key_name = key ? key_label(*words.trace, *words.tap, hit.word_key) : "";
  if (query && key) {
    draw_chips(ui, query_name, key_name);
  } else {
    const std::string& name = query ? query_name : key_name;
    chip(ui, name, query ? ui.look->query : ui.look->key, ui.look->on_accent);
    hint(ui, name);
  }
  if (query) {
    fact(ui, "Query's word", pieces_text(pairs.queries, hit.word_query),
         "Its weights are the mean over these tokens.");
  }
  if (key) {
    fact(ui, "Key's word", pieces_text(pairs.keys, hit.word_key),
         "The weights on these tokens are added up.");
  }
  if (!query) return;
  keep_weights(words, hit.word_query, kept);
  if (key) {
    const auto weight = static_cast<double>(kept.weights[hit.word_key]);
    fact(ui, "Weight of words", number(weight),
         "Summed over the tokens of the key's word, mean over those of the query's.");
    bar(ui, weight / largest_of(kept.weights), ui.look->accent);
    // Of several heads together, or flow through layers.
    const bool of_head = hit.shown.empty() || hit.shown == brief(weight, 4);
    if (!of_head) fact(ui, "Shown", hit.shown, "What the picture shows at this place.");
  }
  draw_row(ui, *words.trace, *words.tap, kept.weights);
}

// Which of two runs a pair is of; nothing where there is one.
std::string run_name(const State& state, const Hit& hit) {
  const bool both = view(state.experiment.view.id).shows_reference();
  if (state.experiment.others.empty()) return hit.of_reference ? ", before" : "";
  if (hit.of_reference) return ", of B";
  return both ? ", of A" : "";
}

// Whether the picture turns the pair by other positions or settings than the run did.
bool turns_otherwise(const State& state, const AttentionTap& tap) {
  const ViewSettings& settings = state.experiment.view;
  const View& shown = view(settings.id);
  return shown.departs_from_run && shown.departs_from_run(settings, tap);
}

// How the view is to be read; a click on the heading folds it away, and back.
void draw_reading(Ui& ui, State& state) {
  const View& shown = view(state.experiment.view.id);
  const Action& fold = action("reading");
  ImGui::BeginGroup();
  heading(ui, "What you see here", true);
  ImGui::SameLine();
  faint(ui, state.settings.reading ? "hide" : "show");
  ImGui::EndGroup();
  mark(ui, "reading");
  if (ImGui::IsItemClicked()) fold.run(state);
  if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  hint(ui, fold.help);
  if (!state.settings.reading) return;
  const ViewReading reading = shown.reading(state.experiment.view, state.trace.get());
  paragraph(ui, on_screen(reading.text));
  for (const ViewTerm& term : reading.terms) {
    faint(ui, on_screen(term.name + ": " + term.meaning));
  }
}

// With its unit; shares in hundredths.
std::string amount(const HeadMeasure& measure, double value, bool words) {
  if (std::isnan(value)) return "–";
  const std::string& unit = words ? measure.word_unit : measure.unit;
  if (!unit.empty()) return number(value) + " " + unit;
  return number(std::round(1000 * value) / 10) + " %";
}

// A head as a whole: what it does, in words and numbers.
void draw_head(Ui& ui, const State::Pointed& pointed, RowWeights::Head& kept) {
  if (!is_whole(*pointed.tap)) {
    faint(ui, "The map of a text this long is not kept whole. Click to open it as a map.");
    return;
  }
  if (is_signed(*pointed.tap, pointed.head)) {
    faint(ui, "Weights with signs are no shares of a whole. Click to open it as a map.");
    return;
  }
  if (kept.trace != pointed.trace || kept.at != pointed.at) {
    kept = {pointed.trace, pointed.at, head_statistics(*pointed.trace, *pointed.tap, pointed.head)};
  }
  paragraph(ui, capitalised(head_name(kept.statistics).words) + ".");
  const bool words = is_in_words(*pointed.trace);
  std::string lacking;
  for (const HeadMeasure& measure : head_measures()) {
    const double value = kept.statistics.*measure.value;
    fact(ui, capitalised(words ? measure.word_label : measure.label).c_str(),
         amount(measure, value, words), measure.help.c_str());
    if (std::isnan(value)) lacking = measure.requires_text;
  }
  if (!lacking.empty()) faint(ui, "–: for this the text must hold " + lacking + ".");
  faint(ui, "Click to open it as a map.");
}

// What is told of: what is under the pointer, else the pinned pair.
std::optional<Hit> told_of(const State& state) {
  if (state.view.hit) return state.view.hit;
  const ViewSettings& settings = state.experiment.view;
  if (settings.pinned_query < 0 || settings.pinned_key < 0) return std::nullopt;
  return Hit{settings.layer, settings.head, settings.pinned_query, settings.pinned_key};
}

const char* pair_heading(const State& state, const std::optional<Hit>& hit) {
  if (hit && !state.view.hit) return "The pinned pair";
  if (!hit || (hit->query >= 0 && hit->key >= 0)) return "Pair under the pointer";
  return hit->query < 0 && hit->key < 0 ? "Head under the pointer" : "Token under the pointer";
}

void draw_pair(Ui& ui, const State& state, RowWeights& kept) {
  const std::optional<Hit> hit = told_of(state);
  heading(ui, pair_heading(state, hit));
  const State::Pointed pointed = hit ? state.pointed_at(*hit) : State::Pointed();
  const std::shared_ptr<const Trace>& trace = pointed.trace;
  const AttentionTap* tap = pointed.tap;
  const Index head = pointed.head;
  if (tap == nullptr) {
    faint(ui,
          "Point at a pair or a token in the picture to see what it looks at, and why its weight "
          "is what it is.");
    return;
  }
  faint(ui, capitalised(place_words(trace->parts, pointed.at)) + run_name(state, *hit));
  const bool is_pair =
      hit->query >= 0 && hit->query < tap->queries() && hit->key >= 0 && hit->key < tap->keys();
  const bool is_query = hit->query >= 0 && hit->query < tap->queries() && hit->key < 0;
  const bool is_key = hit->key >= 0 && hit->key < tap->keys() && hit->query < 0;
  if (hit->words != nullptr && (is_key || is_query || is_pair)) {
    try {
      draw_words(ui, pointed, *hit, kept.word);
    } catch (const std::exception& e) {
      faint(ui, e.what());
      return;
    }
    if (!is_pair) return;
    const ViewSettings& view = state.experiment.view;
    const bool pinned = hit->query == view.pinned_query && hit->key == view.pinned_key;
    const WordPairs& pairs = hit->words->of(*tap);
    const bool single =
        pairs.queries.size(hit->word_query) == 1 && pairs.keys.size(hit->word_key) == 1;
    heading(ui, single   ? "Their tokens"
                : pinned ? "The pinned pair of tokens"
                         : "Strongest pair of their tokens");
  }
  if (is_key) {
    draw_token(ui, *trace, *tap, {}, *hit);
    return;
  }
  if (!is_pair && !is_query) {
    if (hit->query < 0) draw_head(ui, pointed, kept.head);
    return;
  }
  try {
    keep_weights(pointed, hit->query, kept.token);
  } catch (const std::exception& e) {  // a lost device, or weights that were not kept
    faint(ui, e.what());
    return;
  }
  const Tensor& weights = kept.token.weights;
  if (!is_pair) {
    draw_token(ui, *trace, *tap, weights, *hit);
    return;
  }
  const auto weight = static_cast<double>(weights[hit->key]);
  draw_chips(ui, query_label(*trace, *tap, hit->query), key_label(*trace, *tap, hit->key));
  fact(ui, "Query i, key j", std::to_string(hit->query) + ", " + std::to_string(hit->key),
       "Positions from 0.");
  if (turns_otherwise(state, *tap)) {
    faint(ui,
          "This is the tokens' own pair, at their own positions, as the model scores it. The "
          "picture has them at other positions or turns them otherwise: its score is another.");
  }
  const bool shown = !hit->shown.empty() && hit->words == nullptr;
  if (shown) fact(ui, "Shown", hit->shown, "What the picture shows at this place.");
  draw_score(ui, *trace, *tap, head, *hit);
  fact(ui, "Weight", number(weight), "The share of the query's attention: its row adds up to 1.");
  bar(ui, std::abs(weight) / largest_of(weights), ui.look->accent);
  draw_rule(ui, *tap, head, *hit);
  if (hit->words == nullptr) draw_row(ui, *trace, *tap, weights);
}

float widest_line(const std::string& text) {
  return ImGui::CalcTextSize(text.c_str()).x;
}

// A space at which a line may break.
struct Break {
  std::size_t at;
  int cost;
};

// Rather outside of brackets than within, after a comma and before an operator; but neither after a
// bracket that opens nor before one that closes.
std::vector<Break> breaks_of(const std::string& line) {
  constexpr std::array<std::string_view, 15> kOperators = {"=", "+", "−", "·", "/", "∘", "≤", "<",
                                                           "∝", "⇔", "≈", "∪", "∈", ":", "or"};
  const auto is_in = [](std::string_view set, char c) {
    return set.find(c) != std::string_view::npos;
  };
  std::vector<Break> breaks;
  int depth = 0;
  std::size_t word = 0;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const char c = line[i];
    if (is_in("([{", c)) ++depth;
    if (is_in(")]}", c)) --depth;
    if (c != ' ') continue;
    const std::string_view before = std::string_view(line).substr(word, i - word);
    word = i + 1;
    if (before.empty() || is_in("([{", before.back()) || is_in(")]}", line[i + 1])) continue;
    const bool cuts = std::ranges::find(kOperators, before) != kOperators.end();
    const bool wide = line[i + 1] == ' ';  // two spaces part more than one
    breaks.push_back(
        {i, 4 * depth + (cuts ? 3 : 0) - (wide ? 2 : 0) - (is_in(",;", before.back()) ? 1 : 0)});
  }
  return breaks;
}

// An equation in as many lines as its length takes.
std::string broken(const std::string& line, float width) {
  const std::vector<Break> breaks = breaks_of(line);
  std::string lines, indent;
  std::size_t begin = 0;
  const auto piece = [&](std::size_t end) { return indent + line.substr(begin, end - begin); };
  while (widest_line(piece(line.size())) > width) {
    // The farthest of the cheapest that leave no line half empty.
    const Break* best = nullptr;
    float best_filled = 0;
    for (const Break& b : breaks) {
      if (b.at <= begin) continue;
      const float filled = widest_line(piece(b.at));
      if (filled > width) break;
      if (best != nullptr && b.cost > best->cost && best_filled > width / 2) continue;
      best = &b;
      best_filled = filled;
    }
    if (best == nullptr) break;  // one word longer than a line
    lines += piece(best->at) + "\n";
    begin = std::min(line.find_first_not_of(' ', best->at), line.size());
    indent = "   ";
  }
  return lines + piece(line.size());
}

// Equations side by side ("a = b,   c = d") below one another where they do not fit in a line.
std::string equation_lines(std::string text, float width) {
  constexpr std::string_view kBetween = ",   ";
  if (widest_line(text) <= width) return text;
  for (std::size_t at = text.find(kBetween); at != std::string::npos; at = text.find(kBetween)) {
    text.replace(at, kBetween.size(), "\n");
  }
  return text;
}

// On a ground of its own; in smaller letters where that spares a line its break.
void draw_equation(const Ui& ui, const std::string& equation) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const ImVec2 padding(ui.px(9), ui.px(7));
  const float room = width - 2 * padding.x;
  const std::string shown = equation_lines(on_screen(equation), room);
  const bool small = widest_line(shown) > room;
  if (small) ImGui::PushFont(ui.fonts.small);
  std::string lines;
  for (std::size_t begin = 0; begin <= shown.size();) {
    const std::size_t end = std::min(shown.find('\n', begin), shown.size());
    lines += (begin > 0 ? "\n" : "") + broken(shown.substr(begin, end - begin), room);
    begin = end + 1;
  }
  const ImVec2 extent = ImGui::CalcTextSize(lines.c_str(), nullptr, false, room);
  const ImVec2 end(at.x + width, at.y + extent.y + 2 * padding.y);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.AddRectFilled(at, end, packed(ui.look->field), ImGui::GetStyle().FrameRounding);
  draw.AddText(ImGui::GetFont(), ImGui::GetFontSize(), {at.x + padding.x, at.y + padding.y},
               packed(ui.look->text), lines.c_str(), nullptr, room);
  if (small) ImGui::PopFont();
  ImGui::Dummy({width, end.y - at.y});
}

// `label`: in place of the info's, with what of it holds.
void draw_info(Ui& ui, const char* title, const Info& info, const std::string& label = "") {
  heading(ui, title);
  paragraph(ui, label.empty() ? info.label : label);
  if (!info.equation.empty()) draw_equation(ui, info.equation);
  paragraph(ui, info.summary);
  if (!info.cost.empty()) faint(ui, "Cost: " + info.cost);
  if (!info.source.empty()) faint(ui, "Source: " + info.source);
}

}  // namespace

void draw_explain_panel(Ui& ui, State& state, RowWeights& weights) {
  draw_reading(ui, state);
  draw_pair(ui, state, weights);
  if (state.trace != nullptr && state.trace->given) {
    heading(ui, "Attention");
    faint(ui, "As it stands in the file: which variant and encoding made it is not known.");
    return;
  }
  if (const AttentionTap* tap = state.tap(); tap != nullptr && !state.shows_choices()) {
    draw_info(ui, "Attention", variant(tap->variant.id), on_screen(describe_variant(*tap)));
    draw_info(ui, "Position", encoding(tap->encoding.id));
    return;
  }
  if (const auto chosen = effective_variant(state)) {
    draw_info(ui, "Attention", variant(chosen->id));
  }
  if (const auto chosen = effective_encoding(state)) {
    draw_info(ui, "Position", encoding(chosen->id));
  }
}

}  // namespace attnscope::window
