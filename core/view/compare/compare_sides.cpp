#include "core/view/compare/compare_sides.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/analysis/cost.h"
#include "core/analysis/sentences.h"
#include "core/figure/plain_text.h"
#include "core/model/config.h"
#include "core/view/parts/describe.h"
#include "core/view/parts/pattern_cells.h"
#include "core/view/parts/prediction_words.h"
#include "core/view/parts/range.h"
#include "core/view/parts/token_axis.h"

namespace attnscope {
namespace {

constexpr Index kMaxPairs = Index{1} << 24;  // maximum number of pairs of a map

using Columns = decltype(OperationResult::columns);

// Runs of key kinds in canonical form: no empty runs, equal neighbours merged, tokens explicit.
Columns columns_of(const AttentionTap& tap) {
  Columns runs;
  for (const auto& [kind, count] : tap.result.columns) {
    if (count == 0) continue;
    if (!runs.empty() && runs.back().first == kind) {
      runs.back().second += count;
    } else {
      runs.emplace_back(kind, count);
    }
  }
  if (runs.empty()) runs.emplace_back(KeyKind::Token, tap.keys());
  return runs;
}

// "4 memory, 12 tokens"
std::string describe_keys(const Columns& columns) {
  std::string text;
  for (const auto& [kind, count] : columns) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + name_of(kind);
  }
  return text;
}

std::string reason_for_no_difference(const AttentionTap& a, const AttentionTap& b) {
  if (a.queries() != b.queries()) {
    return "No difference to show: A has " + count_text(a.queries(), "token") + ", B has " +
           std::to_string(b.queries()) + ".";
  }
  if (a.query_rows.stream != b.query_rows.stream || a.key_rows.stream != b.key_rows.stream) {
    return "No difference to show: A and B relate tokens of different sequences.";
  }
  const Columns keys_a = columns_of(a), keys_b = columns_of(b);
  if (keys_a == keys_b) return "";
  return "No difference to show: the keys of A and B are not the same. A has " +
         describe_keys(keys_a) + "; B has " + describe_keys(keys_b) + ".";
}

Side side(const char* letter, Colour colour, const Trace& trace, const SelectedTap& found,
          const ViewSettings& view, ViewCache* cache) {
  const auto make = [&] { return found.tap->attention(found.head); };
  const CacheKey key = head_key("weights", trace, view).with(letter);
  const Tensor weights =
      cache == nullptr ? make() : cache->matrix(found.tap->result.pattern, key, make);
  return {letter,     colour, &trace,  found.tap,
          found.head, view,   weights, is_signed(*found.tap, found.head)};
}

std::string format_bytes(double count) {
  if (count < 1e6) return fixed(count / 1e3, 1) + " kB";
  return count < 1e9 ? fixed(count / 1e6, 1) + " MB" : fixed(count / 1e9, 2) + " GB";
}

// Cost relative to full attention; for some variants it differs from the fraction of pairs.
std::string describe_cost(double products, double full) {
  if (products == full || full == 0) return "";
  return " (cost " + percent(products / full) + ")";
}

// Index of the rule that allows each pair, [L_q, L_k]; NaN for excluded pairs.
Tensor rules_of(const Side& side) {
  const OperationRecord& result = side.tap->result;
  return result.mask.defined() ? masked_rules(*result.pattern, result.mask, side.head)
                               : pattern_rules(*result.pattern, side.head,
                                               {0, 0, side.tap->queries(), side.tap->keys(), 1, 1});
}

// Caches a result that depends on the weights of both sides.
template <class Make>
Tensor cached_for_both(const Sides& sides, CacheKey key, ViewCache* cache, const Make& make) {
  if (cache == nullptr) return make();
  key.add(place_name(sides.a));
  key.add(place_name(sides.b));
  return cache->matrix(sides.a.tap->result.pattern, sides.b.tap->result.pattern, key, make);
}

}  // namespace

const Side& Sides::of(Show show) const {
  const bool shows_a = (show != Show::Second) != (flipped && show != Show::Difference);
  return shows_a ? a : b;
}

std::string place_name(const Side& side) {
  return describe_head(*side.trace, side.view);
}

namespace {

enum class Detail { Full, Short, Shortest };

// "base = 10": parameters whose values differ from those in `base`.
std::string changed_values(const Info& info, const Values& values, const Values& base) {
  constexpr std::size_t kMaxValue = 32;  // bytes; lists can be long
  std::string text;
  for (const Parameter& parameter : info.parameters) {
    const auto entry = values.all().find(parameter.key), other = base.all().find(parameter.key);
    const bool is_set = entry != values.all().end();
    if (is_set == (other != base.all().end()) && (!is_set || entry->second == other->second))
      continue;
    std::string value = is_set ? to_text(entry->second) : parameter.unset_label;
    if (value.size() > kMaxValue) {
      value.resize(kMaxValue);
      value += "…";
    }
    text += (text.empty() ? "" : ", ") + parameter.key + " = " + value;
  }
  return text;
}

// Name of a variant or encoding. If both sides have the same id, includes the parameters that
// differ between the sides, else those that differ from the defaults.
std::string describe_choice(const Info& info, const Choice& own, const Choice& other, Detail detail,
                            const std::string& prefix) {
  const bool has_same_name = own.id == other.id;
  const std::string changed = changed_values(
      info, own.values, has_same_name ? other.values : default_values(info.parameters));
  if (detail != Detail::Full) return has_same_name ? changed : info.label;
  std::string text = prefix;
  text += info.label;
  if (!changed.empty()) text.append(" (").append(changed).append(")");
  return text;
}

// Layer and head of a side, with the part of the model if the other side's part differs.
std::string describe_head(const Side& side, const Side& other, Detail detail) {
  const std::string own_part = describe_part(*side.trace, side.view);
  const std::string part = own_part == describe_part(*other.trace, other.view) ? "" : own_part;
  const std::string layer = std::to_string(side.view.layer), head = std::to_string(side.view.head);
  if (detail != Detail::Shortest) return part + "layer " + layer + ", head " + head;
  return part + "L" + layer + " H" + head;
}

// Replaces the space marker of a label by a space.
std::string with_spaces(std::string label) {
  const std::string sign = "␣";
  for (std::size_t i = label.find(sign); i != std::string::npos; i = label.find(sign, i + 1)) {
    label.replace(i, sign.size(), " ");
  }
  return label;
}

// Beginning of the text, or its first difference from the other side's text: “…girl a small…”.
std::string describe_text(const Side& side, const Side& other, Detail detail) {
  const std::vector<TraceToken>&tokens = side.trace->tokens, &other_tokens = other.trace->tokens;
  const auto difference =
      std::mismatch(tokens.begin(), tokens.end(), other_tokens.begin(), other_tokens.end(),
                    [](const TraceToken& a, const TraceToken& b) { return a.label == b.label; });
  constexpr std::ptrdiff_t kContext = 2;  // number of shared tokens before the difference
  const std::ptrdiff_t first =
      std::max<std::ptrdiff_t>(0, difference.first - tokens.begin() - kContext);
  const std::size_t max_bytes = detail == Detail::Full ? 40 : detail == Detail::Short ? 24 : 14;
  std::string text = first > 0 ? "…" : "";
  std::size_t length = 0;
  for (auto token = tokens.begin() + first; token != tokens.end(); ++token) {
    if (token->special) continue;
    length += token->label.size();
    if (length > max_bytes) {
      text += "…";
      break;
    }
    // No space before word pieces.
    const bool has_space = token != tokens.begin() && token->begin > (token - 1)->end;
    if (has_space && !text.empty() && text.back() != ' ') text += " ";
    text += with_spaces(token->label);
  }
  return "“" + text + "”";
}

std::vector<std::string> differences(const Side& side, const Side& other, Detail detail) {
  std::vector<std::string> parts;
  const auto add = [&parts](const std::string& text, const std::string& other_text) {
    if (text != other_text) parts.push_back(text);
  };
  add(side.trace->model, other.trace->model);
  if (!side.trace->is_imported &&
      !other.trace->is_imported) {  // imported tensors have no known settings
    const AttentionTap &a = *side.tap, &b = *other.tap;
    if (a.variant != b.variant) {
      parts.push_back(describe_choice(variant(a.variant.id), a.variant, b.variant, detail, ""));
    }
    if (a.encoding != b.encoding) {
      parts.push_back(
          describe_choice(encoding(a.encoding.id), a.encoding, b.encoding, detail, "position: "));
    }
  }
  add(describe_head(side, other, detail), describe_head(other, side, detail));
  if (!have_same_labels(*side.trace, *other.trace))
    parts.push_back(describe_text(side, other, detail));
  return parts;
}

}  // namespace

std::vector<std::string> headings(const Side& side, const Side& other) {
  std::vector<std::string> list;
  for (const Detail detail : {Detail::Full, Detail::Short, Detail::Shortest}) {
    const std::vector<std::string> parts = differences(side, other, detail);
    std::string text = parts.empty() ? describe_head(side, other, detail) : parts.front();
    for (std::size_t n = 1; n < parts.size(); ++n) text += " · " + parts[n];
    list.push_back(text);
  }
  return list;
}

namespace {

// True if both sides have equal settings and weights.
bool are_same(const Sides& sides) {
  const Tensor &a = sides.a.weights, &b = sides.b.weights;
  return sides.have_same_labels && differences(sides.a, sides.b, Detail::Full).empty() &&
         std::equal(a.begin(), a.end(), b.begin(), b.end());
}

}  // namespace

FoundSides find_sides(const ViewInput& input) {
  const ViewSettings& view = input.session.view;
  const std::optional<RunView>& other = input.session.b;
  const SelectedTap a = find_tap(input.trace, view);
  if (a.tap == nullptr) return {{}, a.headline, a.advice};
  if (!other) {
    return {
        {},
        "No run B yet",
        "“Compare with this” stores the current settings as B. Then change the variant, encoding, "
        "model, layer or text, and see the effect here."};
  }
  const std::shared_ptr<const Trace> run_b = input.findings.get(Findings::reference);
  if (run_b == nullptr) {
    return {{}, "Computing", "Run B is being computed."};
  }
  const Trace& reference = *run_b;
  const SelectedTap b = find_tap(reference, other->view);
  if (b.tap == nullptr) return {{}, "B: " + b.headline, b.advice};
  for (const AttentionTap* tap : {a.tap, b.tap}) {
    if (tap->keys() <= kMaxPairs / tap->queries()) continue;
    return {{},
            "Too many pairs",
            "Maps of up to " + grouped(kMaxPairs) +
                " pairs can be compared cell by cell. Choose a shorter text."};
  }
  FoundSides found;
  found.sides = Sides{side("A", first_colour(), input.trace, a, view, input.cache),
                      side("B", second_colour(), reference, b, other->view, input.cache),
                      reason_for_no_difference(*a.tap, *b.tap),
                      have_same_labels(input.trace, reference), input.interaction.flipped};
  if (found.sides->has_difference() && are_same(*found.sides)) {
    found.sides->no_difference = "A and B are identical: change something in A or B.";
  }
  return found;
}

namespace {

// Cosine similarity of two separately encoded sentences.
void add_similarity(const Sides& sides, std::vector<Fact>& list) {
  const auto is_encoder = [](const Side& s) { return s.trace->config && !s.trace->config->causal; };
  if (sides.have_same_labels || !is_encoder(sides.a) || !is_encoder(sides.b)) return;
  if (sides.a.trace->model != sides.b.trace->model) return;
  const auto cosine = [&](SentenceVector kind) {
    return cosine_similarity(sentence_vector(*sides.a.trace, kind),
                             sentence_vector(*sides.b.trace, kind));
  };
  const double means = cosine(SentenceVector::Mean), firsts = cosine(SentenceVector::First);
  if (std::isnan(means) || std::isnan(firsts)) return;
  list.push_back({"Cosine of A and B", "means " + brief(means), "first " + brief(firsts)});
}

}  // namespace

std::vector<Fact> facts(const Sides& sides) {
  std::vector<Fact> list;
  // Omits facts that neither run has, such as the perplexity of an encoder.
  const auto add = [&](const std::string& name, const auto& describe, bool essential = false) {
    const std::string a = describe(sides.a), b = describe(sides.b);
    if (a != kUnknownQuality || b != kUnknownQuality) list.push_back({name, a, b, essential});
  };
  add(
      "Perplexity", [](const Side& side) { return describe_perplexity(*side.trace); }, true);
  add("Bits per token", [](const Side& side) { return describe_bits_per_token(*side.trace); });
  if (!sides.have_same_labels) {
    add("Bits per byte", [](const Side& side) { return describe_bits_per_byte(*side.trace); });
    add("Tokens", [](const Side& side) {
      return grouped(static_cast<long long>(side.trace->tokens.size()));
    });
  }
  add(
      "Time", [](const Side& side) { return brief(side.trace->milliseconds, 3) + " ms"; }, true);
  const auto pairs = [](const Side& side) {
    const RunCost cost = run_cost(*side.trace);
    return grouped(cost.pairs) + describe_cost(cost.products, cost.full);
  };
  add("Pairs", pairs, true);
  add("Memory", [](const Side& s) { return format_bytes(run_cost(*s.trace).attention_bytes); });
  add_similarity(sides, list);
  return list;
}

Tensor difference_of(const Sides& sides, ViewCache* cache) {
  return cached_for_both(sides, CacheKey("difference"), cache, [&] {
    Tensor cells = difference(sides.a.weights, sides.b.weights);
    const Tensor a = rules_of(sides.a), b = rules_of(sides.b);
    for (Index i = 0; i < cells.size(); ++i) {
      if (std::isnan(a[i]) && std::isnan(b[i])) cells[i] = std::numeric_limits<float>::quiet_NaN();
    }
    return cells;
  });
}

Tensor divergence_of(const Sides& sides, Divergence divergence, ViewCache* cache) {
  return cached_for_both(sides, CacheKey("divergence", divergence), cache, [&] {
    const std::vector<double> rows = row_divergences(sides.a.weights, sides.b.weights, divergence,
                                                     {rules_of(sides.a), rules_of(sides.b)});
    Tensor result({static_cast<Index>(rows.size())});
    std::transform(rows.begin(), rows.end(), result.begin(),
                   [](double v) { return static_cast<float>(v); });
    return result;
  });
}

}  // namespace attnscope
