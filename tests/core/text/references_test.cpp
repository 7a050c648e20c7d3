// Compares tokenizers of every kind with their reference libraries. make_references.py writes the
// reference files in references/.
#include "tests/core/text/references.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/text/tokenizer.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::lines_of;
using testing::reference_folder;

const std::vector<std::string>& strings() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> texts;
    for (const std::string& line : lines_of(reference_folder("strings.txt"))) {
      texts.push_back(Json::parse(line).text());
    }
    return texts;
  }();
  return all;
}

// A token of the reference. If `has_span` is true, its span starts at byte `begin` (npos: at the
// end of the previous token) and has `end` bytes.
struct Expected {
  std::int32_t id = 0, segment = -1;
  bool special = false, has_span = false;
  std::size_t begin = 0, end = 0;
};

std::vector<Expected> expected_tokens(const std::string& line) {
  std::vector<Expected> tokens;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    std::istringstream part(word);
    Expected token;
    part >> token.id;
    char mark = 0;
    std::size_t begin = std::string::npos;
    while (part >> mark) {
      if (mark == '!') token.special = true;
      if (mark == '@') part >> begin;
      if (mark == ':') part >> token.segment;
      if (mark == '+') {
        std::size_t size = 0;
        part >> size;
        token.has_span = true;
        token.begin = begin;
        token.end = size;
      }
    }
    tokens.push_back(token);
  }
  return tokens;
}

// Moves a byte position inside a character to the beginning, or to the end, of the character.
std::size_t widened_begin(const std::string& text, std::size_t at) {
  while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) --at;
  return at;
}
std::size_t widened_end(const std::string& text, std::size_t at) {
  while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;
  return at;
}

struct Difference {
  bool ids = false, spans = false;
};

Difference compare_tokens(const Tokenizer& tokenizer, const std::vector<Token>& found,
                          const std::vector<Expected>& expected,
                          const std::vector<std::string>& texts) {
  std::set<std::int32_t> bytes;  // ids of byte tokens, "<0xE4>"
  for (unsigned byte = 0; byte < 256; ++byte) {
    char name[8];
    std::snprintf(name, sizeof name, "<0x%02X>", byte);
    bytes.insert(tokenizer.id_of(name));
  }
  Difference difference;
  difference.ids = found.size() != expected.size();
  std::size_t ends[2] = {0, 0};
  for (std::size_t n = 0; n < found.size() && !difference.ids; ++n) {
    const Token& token = found[n];
    Expected wanted = expected[n];
    if (token.id != wanted.id || token.special != wanted.special ||
        (wanted.segment >= 0 && token.segment != wanted.segment)) {
      difference.ids = true;
      break;
    }
    if (!wanted.has_span) continue;
    const auto text_number = static_cast<std::size_t>(token.text);
    if (wanted.begin == std::string::npos) wanted.begin = ends[text_number];
    wanted.end += wanted.begin;
    ends[text_number] = wanted.end;
    const std::string& text = texts[text_number];
    // A space that is added before the text has an empty span here, and the span of the next
    // character in the reference.
    const bool prefix = token.begin == token.end && token.begin == wanted.begin;
    const bool same = widened_begin(text, token.begin) == wanted.begin &&
                      widened_end(text, token.end) == wanted.end;
    // A byte token covers one byte here, and all adjacent unknown bytes in the reference.
    const bool byte =
        bytes.contains(token.id) && token.begin >= wanted.begin && token.end <= wanted.end;
    difference.spans = difference.spans || !(same || prefix || byte);
  }
  return difference;
}

std::string tokens_text(const std::vector<Token>& tokens) {
  std::string text;
  for (const Token& t : tokens) {
    text += std::to_string(t.id) + "[" + std::to_string(t.begin) + "," + std::to_string(t.end) +
            ")" + (t.special ? "! " : " ");
  }
  return text;
}

// Number of compared strings of a reference, and of strings whose ids or spans differ.
struct Tally {
  int strings = 0, ids = 0, spans = 0;
  std::string first;  // example: the last difference of ids, else the first difference of spans
};

Tally compare_reference(const std::string& name) {
  Tally tally;
  const auto tokenizer = testing::reference_tokenizer(name);
  const std::vector<std::string> lines = testing::reference_results(name);
  const auto add_string = [&](const std::vector<Token>& found, const std::string& line,
                              const std::vector<std::string>& texts) {
    ++tally.strings;
    const Difference difference = compare_tokens(*tokenizer, found, expected_tokens(line), texts);
    tally.ids += difference.ids;
    tally.spans += difference.spans;
    if (difference.ids || (difference.spans && tally.first.empty())) {
      tally.first.clear();
      for (const std::string& text : texts) tally.first += Json(text).dump_ascii() + " ";
      tally.first += "\n  expected " + line + "\n  found    " + tokens_text(found);
    }
  };
  for (std::size_t n = 0; n < strings().size() && n < lines.size(); ++n) {
    add_string(tokenizer->encode(strings()[n]), lines[n], {strings()[n]});
  }
  const std::vector<std::string> pairs = lines_of(reference_folder("pairs.txt"));
  for (std::size_t n = 0; n < pairs.size() && strings().size() + 1 + n < lines.size(); ++n) {
    std::istringstream pair(pairs[n]);
    std::size_t a = 0, b = 0;
    pair >> a >> b;
    add_string(tokenizer->encode_pair(strings()[a], strings()[b]), lines[strings().size() + 1 + n],
               {strings()[a], strings()[b]});
  }
  return tally;
}

// Comparison results by name, computed once.
const std::map<std::string, Tally>& tallies() {
  static const std::map<std::string, Tally> all = [] {
    std::map<std::string, Tally> found;
    for (const std::string& name : testing::reference_names()) {
      try {
        found[name] = compare_reference(name);
      } catch (const InputError& e) {
        found[name].first = e.what();
      }
    }
    return found;
  }();
  return all;
}

TEST(TokenizerReferences, MatchIdsAndSpans) {
  ASSERT_EQ(strings().size(), 300u);
  ASSERT_GE(tallies().size(), 50u);
  for (const auto& [name, tally] : tallies()) {
    EXPECT_GE(tally.strings, 300) << name << ": " << tally.first;
    EXPECT_EQ(tally.ids, 0) << name << ": " << tally.first;
    EXPECT_EQ(tally.spans, 0) << name << ": " << tally.first;
  }
}

// Writes the table for assets/docs/tokenizers.md, with one line per kind of tokenizer, for
// table.sh.
TEST(TokenizerReferences, WriteTable) {
  struct Line {
    std::string names;
    int strings = 0, ids = 0, spans = 0;
  };
  std::map<std::string, Line> lines;
  for (const auto& [name, tally] : tallies()) {
    ASSERT_GT(tally.strings, 0) << name;
    Line& line = lines[lines_of(reference_folder(name) / "kind").front()];
    line.names += (line.names.empty() ? "" : ", ") + name;
    line.strings += tally.strings;
    line.ids += tally.ids;
    line.spans += tally.spans;
  }
  std::string table =
      "| tokenizer | as used by | strings | different ids | different offsets |\n"
      "| --- | --- | --- | --- | --- |\n";
  for (const auto& [kind, line] : lines) {
    table += "| " + kind + " | " + line.names + " | " + std::to_string(line.strings) + " | " +
             std::to_string(line.ids) + " | " + std::to_string(line.spans) + " |\n";
  }
  if (const char* file = std::getenv("ATTNSCOPE_TOKENIZER_TABLE")) write_file(file, table);
  EXPECT_FALSE(lines.empty());
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
