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

[[noreturn]] void refuse(const std::string& expected, std::string_view found) {
  throw InputError("intervene: expected " + expected + ", found \"" + std::string(found) + "\"");
}

// Checks that all required members are set.
void check_complete(const Intervention& i, std::string_view path) {
  const auto need = [&](bool there, const char* what) {
    if (!there) throw InputError(std::string(path) + ": expected " + what + ", found nothing");
  };
  const std::string name = kKinds[static_cast<std::size_t>(i.kind)];
  if (i.kind == Kind::Off) need(i.layer >= 0, "layer=NUMBER");
  if (i.kind == Kind::Forbid || i.kind == Kind::Force) need(i.key >= 0, "key=NUMBER");
  if (i.kind == Kind::Replace) {
    need(i.position >= 0, "position=NUMBER");
    need(i.token >= 0 || !i.text.empty(), "token=NUMBER or text=TEXT");
  }
}

Index number_from_text(std::string_view digits, std::string_view word) {
  Index value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  if (!whole || value < 0 || value > kMaxToken) refuse("a number of at least 0", word);
  return value;
}

// Parses "layer=2" into its member.
void take_word(Intervention& i, std::string_view word) {
  const std::size_t equals = word.find('=');
  const std::string_view key = word.substr(0, equals);
  std::string known;
  for (const Number& number : numbers(i.kind)) {
    known += std::string(known.empty() ? "" : ", ") + number.key + "=NUMBER";
    if (key != number.key || equals == std::string_view::npos) continue;
    if (i.*number.member >= 0) refuse(std::string(key) + " once", word);
    i.*number.member = number_from_text(word.substr(equals + 1), word);
    return;
  }
  if (i.kind == Kind::Replace && key == "token" && equals != std::string_view::npos) {
    i.token = static_cast<std::int32_t>(number_from_text(word.substr(equals + 1), word));
    return;
  }
  if (i.kind == Kind::Replace) known += ", token=NUMBER or text=TEXT";
  refuse(known, word);
}

}  // namespace

Intervention intervention_from_text(std::string_view line) {
  Intervention i;
  const auto next_word = [&line]() -> std::string_view {
    while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    const std::size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(end);
    return word;
  };
  const std::string_view whole = line;
  const std::string_view name = next_word();
  const auto kind = std::find(kKinds.begin(), kKinds.end(), name);
  if (kind == kKinds.end()) refuse("off, forbid, force or replace", name);
  i.kind = static_cast<Kind>(kind - kKinds.begin());
  constexpr std::string_view kText = "text=";
  for (std::string_view rest = line; !(rest = line).empty();) {
    while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    if (i.kind == Kind::Replace && rest.starts_with(kText)) {
      i.text = rest.substr(kText.size());
      break;
    }
    const std::string_view word = next_word();
    if (!word.empty()) take_word(i, word);
  }
  if (!is_utf8(i.text)) refuse("UTF-8, or token=NUMBER", "other bytes");
  if (i.token >= 0 && !i.text.empty()) refuse("token= or text=, not both", whole);
  check_complete(i, "intervene " + std::string(name));
  return i;
}

std::string to_text(const Intervention& i) {
  std::string text = kKinds[static_cast<std::size_t>(i.kind)];
  for (const Number& number : numbers(i.kind)) {
    const Index value = i.*number.member;
    if (value >= 0) text += std::string(" ") + number.key + "=" + std::to_string(value);
  }
  if (i.kind != Kind::Replace) return text;
  return text + (i.token >= 0 ? " token=" + std::to_string(i.token) : " text=" + i.text);
}

namespace {

template <class Name, class Number>
std::string named(const Name& name, Number number, const std::string& otherwise) {
  const std::string found = name ? name(number) : std::string();
  return found.empty() ? otherwise + " " + std::to_string(number) : found;
}

}  // namespace

std::string describe(const Intervention& i, const InterventionNames& names) {
  std::string where;
  if (i.head >= 0) where += "head " + std::to_string(i.head) + " of ";
  where += i.layer >= 0 ? "layer " + std::to_string(i.layer) : std::string("all layers");
  const std::string who = i.query >= 0 ? named(names.query, i.query, "query") : "every query";
  switch (i.kind) {
    case Kind::Off:
      return where + " is off";
    case Kind::Forbid:
      return who + " ↛ " + named(names.key, i.key, "key") + " in " + where;
    case Kind::Force:
      return who + " → " + named(names.key, i.key, "key") + " alone in " + where;
    case Kind::Replace: {
      const std::string by = i.token < 0 ? i.text : names.token ? names.token(i.token) : "";
      return named(names.position, i.position, "token") + " is replaced by " +
             (by.empty() ? "token " + std::to_string(i.token) : "“" + by + "”");
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
    const std::string place = name + "[" + std::to_string(n) + "]";
    JsonObject object(list[n], place);
    Intervention i;
    i.kind = static_cast<Kind>(object.choice("type", kKinds));
    for (const Number& number : numbers(i.kind)) {
      i.*number.member = object.integer_or(number.key, -1, 0, kMaxIndex);
    }
    if (i.kind == Kind::Replace && object.has("token")) {
      i.token = static_cast<std::int32_t>(object.integer("token", 0, kMaxToken));
    } else if (i.kind == Kind::Replace) {
      i.text = object.text_or("text", "");
    }
    object.finish();
    check_complete(i, place);
    result.push_back(std::move(i));
  }
  return result;
}

Json to_json(const Interventions& interventions) {
  Json list = Json::array();
  for (const Intervention& i : interventions) {
    Json object = {{"type", kKinds[static_cast<std::size_t>(i.kind)]}};
    for (const Number& number : numbers(i.kind)) {
      if (i.*number.member >= 0) object[number.key] = i.*number.member;
    }
    if (i.kind == Kind::Replace && i.token >= 0) object["token"] = i.token;
    if (i.kind == Kind::Replace && i.token < 0) object["text"] = i.text;
    list.push_back(std::move(object));
  }
  return list;
}

void check(const Interventions& interventions, const ModelExtent& extent) {
  for (const Intervention& i : interventions) {
    const auto below = [&](const char* key, Index value, Index count, const char* what) {
      if (value < count) return;
      throw InputError("intervene \"" + to_text(i) + "\": expected " + key + " below " +
                       std::to_string(count) + " (" + what + "), found " + std::to_string(value));
    };
    const auto need = [&](bool there, const char* what, const char* found) {
      if (there) return;
      throw InputError("intervene \"" + to_text(i) + "\": expected " + what + ", found " + found);
    };
    const bool of_pairs = i.kind == Kind::Forbid || i.kind == Kind::Force;
    need(extent.self_attention || i.kind == Kind::Replace, "a decoder with self-attention", "none");
    need(!extent.segments || !of_pairs, "a text read in one segment", "several segments");
    const Index attended = extent.attended >= 0 ? extent.attended : extent.tokens;
    below("layer", i.layer, extent.layers, "number of layers");
    below("head", i.head, extent.heads, "heads per layer");
    below("query", i.query, attended, "number of tokens");
    below("key", i.key, attended, "number of tokens");
    below("position", i.position, extent.tokens, "number of tokens");
    below("token", i.token, extent.vocabulary, "vocabulary size");
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

bool changes_pairs(const Intervention& i) {
  return i.kind == Kind::Forbid || i.kind == Kind::Force;
}

// Forbid and Force interventions that apply to one head.
std::vector<const Intervention*> pattern_changes(const Interventions& interventions, Index layer,
                                                 Index head) {
  std::vector<const Intervention*> result;
  for (const Intervention& i : interventions) {
    const bool here = (i.layer < 0 || i.layer == layer) && (i.head < 0 || i.head == head);
    if (here && changes_pairs(i)) result.push_back(&i);
  }
  return result;
}

// Adds a run with some of its columns removed.
void add_without(PatternBuilder& builder, const Run& run, const std::set<Index>& columns) {
  Index begin = run.begin;
  for (auto at = columns.lower_bound(run.begin); at != columns.end() && *at < run.end; ++at) {
    if ((*at - run.begin) % run.step != 0) continue;
    builder.add(run.rule, begin, *at, run.step);
    begin = *at + run.step;
  }
  builder.add(run.rule, begin, run.end, run.step);
}

void add_row(PatternBuilder& builder, const Pattern& pattern, Index row_head, Index query,
             const std::vector<const Intervention*>& changes, Index layer, Index head) {
  std::set<Index> forbidden, forced;
  for (const Intervention* i : changes) {
    if (i->query >= 0 && i->query != query) continue;
    const bool allowed = pattern.allowed(row_head, query, i->key);
    if (i->kind == Kind::Forbid) {
      forbidden.insert(i->key);
    } else if (allowed) {
      forced.insert(i->key);
    } else if (i->query >= 0) {
      throw InputError("intervene \"" + to_text(*i) +
                       "\": expected a pair that the variant allows, "
                       "but query " +
                       std::to_string(query) + " may not attend to key " + std::to_string(i->key) +
                       " in layer " + std::to_string(layer) + ", head " + std::to_string(head));
    }
  }
  if (forced.empty()) {
    for (const Run& run : pattern.row(row_head, query)) add_without(builder, run, forbidden);
    return;
  }
  for (const Index key : forced) {
    if (forbidden.contains(key)) continue;
    builder.add_column(pattern.rule(row_head, query, key), key);
  }
}

}  // namespace

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
