#include "tests/support/told.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "core/attention/variant.h"
#include "core/view/mechanism/mechanism.h"
#include "core/view/view.h"
#include "tests/support/model_trace.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::Look;

// Its texts without their numbers and without the tokens they name, each once.
std::vector<std::string> words_of(const DisplayList& list) {
  std::vector<std::string> all;
  for (const Item& item : list.items) {
    const auto* text = std::get_if<Text>(&item);
    if (text == nullptr) continue;
    static const std::regex numbers("-?[0-9][0-9.,]*(e[-+]?[0-9]+)?"), tokens("“[^”]*”");
    const std::string words =
        std::regex_replace(std::regex_replace(text->text, tokens, "“…”"), numbers, "#");
    if (std::ranges::find(all, words) == all.end()) all.push_back(words);
  }
  return all;
}

// What a picture says in a file beside its tokens, and what else in a window where one points.
std::string words_of(const Trace& trace, const std::string& view, const ViewSettings& settings,
                     bool pointed) {
  Look look;
  look.width = 1400;
  look.height = 900;
  look.settings = settings;
  std::vector<std::string> words = words_of(look_at(trace, view, look).list);
  look.framed = false;
  look.pointer = Point{500, 400};
  if (pointed) {
    for (const std::string& more : words_of(look_at(trace, view, look).list)) {
      if (std::ranges::find(words, more) == words.end()) words.push_back(more);
    }
  }
  std::string text;
  for (const std::string& line : words) {
    const bool token =
        std::ranges::find(trace.tokens, line, &TraceToken::label) != trace.tokens.end();
    if (!token) text += "  " + line + "\n";
  }
  return text;
}

TEST(Views, AreAsTold) {
  std::string text;
  for (const View& v : views()) {
    text += v.id +
            testing::told({{"zooms", v.zooms},
                           {"merges_words", v.merges_words},
                           {"shows_reference", v.shows_reference()}}) +
            "\n" + testing::told(v.parameters);
  }
  EXPECT_TRUE(testing::is_as_told(text, "core/view/views.txt"));
}

TEST(Views, SpeakAsTold) {
  const Trace trace = testing::run_model({.length = 24, .layers = 3, .heads = 4, .kv_heads = 2});
  std::string text;
  for (const View& v : views()) {
    if (v.id != "mechanism") text += v.id + "\n" + words_of(trace, v.id, {}, true);
  }
  EXPECT_TRUE(testing::is_as_told(text, "core/view/words.txt"));
}

TEST(Mechanism, SpeaksAsTold) {
  std::string text;
  for (const Variant& v : variants()) {
    const Trace trace = testing::run_variant(v);
    for (const Mechanism& m : mechanisms()) {
      if (!m.fits(trace.attention[0])) continue;
      text += v.id + ", " + m.id + "\n";
      text +=
          words_of(trace, "mechanism",
                   testing::settings_with("mechanism", R"({"picture": ")" + m.id + R"("})"), false);
    }
  }
  EXPECT_TRUE(testing::is_as_told(text, "core/view/mechanism/words.txt"));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
