#include "core/trace/intervention.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "core/base/error.h"
#include "core/base/strict_json.h"

namespace attnscope {
namespace {

using Kind = Intervention::Kind;

constexpr Index kMaxToken = 2147483647;
constexpr std::size_t kMaxInterventions = 4096;
const std::vector<std::string> kKinds = {"off", "forbid", "force", "replace"};  // indexed by Kind

// Numeric members of each kind, in the order in which they are written.
struct Number {
  const char* key;
  Index Intervention::*member;
};
const std::vector<Number>& numbers(Kind kind) {
  static const std::vector<Number> off = {{"layer", &Intervention::layer},
                                          {"head", &Intervention::head}};
  static const std::vector<Number> pair = {{"query", &Intervention::query},
                                           {"key", &Intervention::key},
                                           {"layer", &Intervention::layer},
                                           {"head", &Intervention::head}};
  static const std::vector<Number> replace = {{"position", &Intervention::position}};
  return kind == Kind::Off ? off : (kind == Kind::Replace ? replace : pair);
}

[[noreturn]] void fail(const std::string& expected, std::string_view found) {
  throw InputError("intervene: expected " + expected + ", found \"" + std::string(found) + "\"");
}

void check_complete(const Intervention& edit, std::string_view path) {
  const auto require = [&](bool holds, const char* what) {
    if (!holds) throw InputError(std::string(path) + ": expected " + what + ", found nothing");
  };
  const std::string name = kKinds[static_cast<std::size_t>(edit.kind)];
  if (edit.kind == Kind::Off) require(edit.layer >= 0, "layer=NUMBER");
  if (edit.kind == Kind::Forbid || edit.kind == Kind::Force) require(edit.key >= 0, "key=NUMBER");
  if (edit.kind == Kind::Replace) {
    require(edit.position >= 0, "position=NUMBER");
    require(edit.token >= 0 || !edit.text.empty(), "token=NUMBER or text=TEXT");
  }
}

Index number_from_text(std::string_view digits, std::string_view word) {
  Index value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool is_number = error == std::errc() && end == digits.data() + digits.size();
  if (!is_number || value < 0 || value > kMaxToken) fail("a number of at least 0", word);
  return value;
}

// Parses "layer=2" into its member.
void parse_word(Intervention& edit, std::string_view word) {
  const std::size_t equals = word.find('=');
  const std::string_view key = word.substr(0, equals);
  std::string expected_words;
  for (const Number& number : numbers(edit.kind)) {
    expected_words += std::string(expected_words.empty() ? "" : ", ") + number.key + "=NUMBER";
    if (key != number.key || equals == std::string_view::npos) continue;
    if (edit.*number.member >= 0) fail(std::string(key) + " once", word);
    edit.*number.member = number_from_text(word.substr(equals + 1), word);
    return;
  }
  if (edit.kind == Kind::Replace && key == "token" && equals != std::string_view::npos) {
    edit.token = static_cast<std::int32_t>(number_from_text(word.substr(equals + 1), word));
    return;
  }
  if (edit.kind == Kind::Replace) expected_words += ", token=NUMBER or text=TEXT";
  fail(expected_words, word);
}

}  // namespace

Intervention intervention_from_text(std::string_view line) {
  Intervention edit;
  const auto next_word = [&line]() -> std::string_view {
    while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(end);
    return word;
  };
  const std::string_view full_line = line;
  const std::string_view name = next_word();
  const auto kind = std::find(kKinds.begin(), kKinds.end(), name);
  if (kind == kKinds.end()) fail("off, forbid, force or replace", name);
  edit.kind = static_cast<Kind>(kind - kKinds.begin());
  constexpr std::string_view kText = "text=";
  for (std::string_view rest = line; !(rest = line).empty();) {
    while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    if (edit.kind == Kind::Replace && rest.starts_with(kText)) {
      edit.text = rest.substr(kText.size());
      break;
    }
    const std::string_view word = next_word();
    if (!word.empty()) parse_word(edit, word);
  }
  if (!is_utf8(edit.text)) fail("UTF-8, or token=NUMBER", "other bytes");
  if (edit.token >= 0 && !edit.text.empty()) fail("token= or text=, not both", full_line);
  check_complete(edit, "intervene " + std::string(name));
  return edit;
}

std::string to_text(const Intervention& edit) {
  std::string text = kKinds[static_cast<std::size_t>(edit.kind)];
  for (const Number& number : numbers(edit.kind)) {
    const Index value = edit.*number.member;
    if (value >= 0) text += std::string(" ") + number.key + "=" + std::to_string(value);
  }
  if (edit.kind != Kind::Replace) return text;
  return text + (edit.token >= 0 ? " token=" + std::to_string(edit.token) : " text=" + edit.text);
}

namespace {

template <class Name, class Number>
std::string name_or_number(const Name& name, Number number, const std::string& kind) {
  const std::string text = name ? name(number) : std::string();
  return text.empty() ? kind + " " + std::to_string(number) : "“" + text + "”";
}

}  // namespace

std::string describe(const Intervention& edit, const InterventionNames& names) {
  std::string scope;
  if (edit.head >= 0) scope += "head " + std::to_string(edit.head) + " of ";
  scope += edit.layer >= 0 ? "layer " + std::to_string(edit.layer) : std::string("all layers");
  const std::string query =
      edit.query >= 0 ? name_or_number(names.query, edit.query, "query") : "every query";
  switch (edit.kind) {
    case Kind::Off:
      return scope + " is off";
    case Kind::Forbid:
      return query + " ↛ " + name_or_number(names.key, edit.key, "key") + " in " + scope;
    case Kind::Force:
      return query + " → " + name_or_number(names.key, edit.key, "key") + " alone in " + scope;
    case Kind::Replace: {
      const std::string text = edit.token < 0 ? edit.text
                               : names.token  ? names.token(edit.token)
                                              : "";
      return name_or_number(names.position, edit.position, "token") + " is replaced by " +
             (text.empty() ? "token " + std::to_string(edit.token) : "“" + text + "”");
    }
  }
  return "";
}

Interventions interventions_from_json(const Json& list, std::string_view path) {
  const std::string name(path);
  if (!list.is_array() || list.size() > kMaxInterventions) {
    throw InputError(name + ": expected a list of at most " + std::to_string(kMaxInterventions) +
                     " objects, found " + shortened(list));
  }
  Interventions result;
  for (std::size_t n = 0; n < list.size(); ++n) {
    const std::string item_path = name + "[" + std::to_string(n) + "]";
    JsonObject object(list[n], item_path);
    Intervention edit;
    edit.kind = static_cast<Kind>(object.choice("type", kKinds));
    for (const Number& number : numbers(edit.kind)) {
      edit.*number.member = object.integer_or(number.key, -1, 0, kMaxIndex);
    }
    if (edit.kind == Kind::Replace && object.has("token")) {
      edit.token = static_cast<std::int32_t>(object.integer("token", 0, kMaxToken));
    } else if (edit.kind == Kind::Replace) {
      edit.text = object.text_or("text", "");
    }
    object.finish();
    check_complete(edit, item_path);
    result.push_back(std::move(edit));
  }
  return result;
}

Json to_json(const Interventions& interventions) {
  Json list = Json::array();
  for (const Intervention& edit : interventions) {
    Json object = {{"type", kKinds[static_cast<std::size_t>(edit.kind)]}};
    for (const Number& number : numbers(edit.kind)) {
      if (edit.*number.member >= 0) object[number.key] = edit.*number.member;
    }
    if (edit.kind == Kind::Replace && edit.token >= 0) object["token"] = edit.token;
    if (edit.kind == Kind::Replace && edit.token < 0) object["text"] = edit.text;
    list.push_back(std::move(object));
  }
  return list;
}

void check(const Interventions& interventions, const ModelExtent& extent) {
  for (const Intervention& edit : interventions) {
    const auto check_below = [&](const char* key, Index value, Index count, const char* what) {
      if (value < count) return;
      throw InputError("intervene \"" + to_text(edit) + "\": expected " + key + " below " +
                       std::to_string(count) + " (" + what + "), found " + std::to_string(value));
    };
    const auto require = [&](bool holds, const char* what, const char* found) {
      if (holds) return;
      throw InputError("intervene \"" + to_text(edit) + "\": expected " + what + ", found " +
                       found);
    };
    const bool names_pair = edit.kind == Kind::Forbid || edit.kind == Kind::Force;
    require(extent.self_attention || edit.kind == Kind::Replace, "a decoder with self-attention",
            "none");
    require(!extent.segments || !names_pair, "a text read in one segment", "several segments");
    const Index attended = extent.attended >= 0 ? extent.attended : extent.tokens;
    check_below("layer", edit.layer, extent.layers, "number of layers");
    check_below("head", edit.head, extent.heads, "heads per layer");
    check_below("query", edit.query, attended, "number of tokens");
    check_below("key", edit.key, attended, "number of tokens");
    check_below("position", edit.position, extent.tokens, "number of tokens");
    check_below("token", edit.token, extent.vocabulary, "vocabulary size");
  }
}

bool is_off(const Interventions& interventions, Index layer) {
  return std::any_of(interventions.begin(), interventions.end(), [&](const Intervention& i) {
    return i.kind == Kind::Off && i.layer == layer && i.head < 0;
  });
}

bool is_off(const Interventions& interventions, Index layer, Index head) {
  return std::any_of(interventions.begin(), interventions.end(), [&](const Intervention& i) {
    return i.kind == Kind::Off && i.layer == layer && i.head == head;
  });
}

namespace {

bool changes_pairs(const Intervention& edit) {
  return edit.kind == Kind::Forbid || edit.kind == Kind::Force;
}

// Forbid and Force interventions that apply to one head.
std::vector<const Intervention*> pattern_changes(const Interventions& interventions, Index layer,
                                                 Index head) {
  std::vector<const Intervention*> result;
  for (const Intervention& edit : interventions) {
    const bool applies =
        (edit.layer < 0 || edit.layer == layer) && (edit.head < 0 || edit.head == head);
    if (applies && changes_pairs(edit)) result.push_back(&edit);
  }
  return result;
}

// Adds a run without the columns in `gaps`.
void add_run_except(PatternBuilder& builder, const Run& run, const std::set<Index>& gaps) {
  Index begin = run.begin;
  for (auto it = gaps.lower_bound(run.begin); it != gaps.end() && *it < run.end; ++it) {
    if ((*it - run.begin) % run.step != 0) continue;
    builder.add(run.rule, begin, *it, run.step);
    begin = *it + run.step;
  }
  builder.add(run.rule, begin, run.end, run.step);
}

void add_row(PatternBuilder& builder, const Pattern& pattern, Index row_head, Index query,
             const std::vector<const Intervention*>& changes, Index layer, Index head) {
  std::set<Index> forbidden, forced;
  for (const Intervention* edit : changes) {
    if (edit->query >= 0 && edit->query != query) continue;
    const bool is_allowed = pattern.allowed(row_head, query, edit->key);
    if (edit->kind == Kind::Forbid) {
      forbidden.insert(edit->key);
    } else if (is_allowed) {
      forced.insert(edit->key);
    } else if (edit->query >= 0) {
      throw InputError("intervene \"" + to_text(*edit) +
                       "\": expected a pair that the variant allows, "
                       "but query " +
                       std::to_string(query) + " may not attend to key " +
                       std::to_string(edit->key) + " in layer " + std::to_string(layer) +
                       ", head " + std::to_string(head));
    }
  }
  if (forced.empty()) {
    for (const Run& run : pattern.row(row_head, query)) add_run_except(builder, run, forbidden);
    return;
  }
  for (const Index key : forced) {
    if (forbidden.contains(key)) continue;
    builder.add_column(pattern.rule(row_head, query, key), key);
  }
}

}  // namespace

bool forbids(const Interventions& interventions, Index layer, Index head, Index query, Index key) {
  bool is_forced_elsewhere = false;
  for (const Intervention* edit : pattern_changes(interventions, layer, head)) {
    if (edit->query >= 0 && edit->query != query) continue;
    if (edit->kind == Kind::Forbid && edit->key == key) return true;
    if (edit->kind == Kind::Force) {
      if (edit->key == key) return false;
      is_forced_elsewhere = true;
    }
  }
  return is_forced_elsewhere;
}

bool changes_pattern(const Interventions& interventions, Index layer, Index first_head,
                     Index heads) {
  for (Index a = first_head; a < first_head + heads; ++a) {
    if (!pattern_changes(interventions, layer, a).empty()) return true;
  }
  return false;
}

Pattern changed_pattern(const Pattern& pattern, const Interventions& interventions, Index layer,
                        Index first_head, Index heads) {
  PatternBuilder builder(heads, pattern.queries(), pattern.keys(), pattern.rules());
  for (Index a = 0; a < heads; ++a) {
    const auto changes = pattern_changes(interventions, layer, first_head + a);
    const Index row_head = pattern.heads() == 1 ? 0 : a;
    for (Index i = 0; i < pattern.queries(); ++i) {
      add_row(builder, pattern, row_head, i, changes, layer, first_head + a);
      builder.next_row();
    }
  }
  return builder.finish();
}

}  // namespace attnscope
