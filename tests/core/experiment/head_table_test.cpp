#include "core/experiment/head_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/experiment/run.h"
#include "tests/core/experiment/models.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

class HeadTableTest : public ::testing::Test {
 protected:
  HeadTableTest() {
    testing::save_byte_model(folder_.path() / "model", 2, 32, 16);
    session_.run.model = folder_.path() / "model";
  }
  HeadTable table_of_texts(const std::string& texts) {
    return head_table(session_.run, texts, session_.view.words, run_, {});
  }
  HeadTable table_of_run(const std::string& text) {
    Session session = session_;
    session.run.text = text;
    return head_table(*run_.run(session.run));
  }
  static void expect_equal_statistics(const HeadTable& a, const HeadTable& b) {
    ASSERT_EQ(a.rows.size(), b.rows.size());
    for (std::size_t i = 0; i < a.rows.size(); ++i) {
      for (const HeadMeasure& m : head_measures()) {
        const double x = a.rows[i].statistics.*m.value, y = b.rows[i].statistics.*m.value;
        const bool both_unknown = std::isnan(x) && std::isnan(y);
        EXPECT_TRUE(both_unknown || std::abs(x - y) <= 1e-9) << m.id << " " << x << " " << y;
      }
    }
  }

  testing::TemporaryFolder folder_;
  Session session_;
  ExperimentRun run_{cpu_only()};
};

TEST_F(HeadTableTest, MatchesRunOfOneText) {
  const HeadTable table = table_of_texts("abcabcab");
  EXPECT_EQ(table.texts, 1);
  EXPECT_EQ(table.tokens, 8);
  ASSERT_EQ(table.rows.size(), 8u);
  expect_equal_statistics(table, table_of_run("abcabcab"));
}

// Means are over the rows of all texts, so every row has the same weight.
TEST_F(HeadTableTest, AveragesOverRowsOfAllTexts) {
  const HeadTable table = table_of_texts("abcab\n\nxyxyxyx\n");
  EXPECT_EQ(table.texts, 2);
  EXPECT_EQ(table.tokens, 12);
  const HeadTable first = table_of_run("abcab"), second = table_of_run("xyxyxyx");
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const double expected =
        (5 * first.rows[i].statistics.entropy + 7 * second.rows[i].statistics.entropy) / 12;
    EXPECT_TRUE(std::abs(table.rows[i].statistics.entropy - expected) <= 1e-9);
    const double previous = (4 * first.rows[i].statistics.previous_token +
                             6 * second.rows[i].statistics.previous_token) /
                            10;
    EXPECT_TRUE(std::abs(table.rows[i].statistics.previous_token - previous) <= 1e-9);
  }
}

TEST_F(HeadTableTest, LongTextsAreSplit) {
  const std::string text = "the quick brown fox jumps over the lazy dog";
  const HeadTable table = table_of_texts(text);
  EXPECT_EQ(table.tokens, static_cast<Index>(text.size()));
  EXPECT_EQ(table.texts, 3);  // the context has 16 tokens
}

TEST_F(HeadTableTest, BlankLinesSeparateTexts) {
  EXPECT_EQ(table_of_texts("ab\ncd\n \t\nef\n\n\n\ngh\n").texts, 3);
  EXPECT_EQ(table_of_texts("ab\n\nc\n\nde").texts, 2);  // single tokens are skipped
  EXPECT_THROW(table_of_texts("\n \n"), InputError);
  EXPECT_THROW(table_of_texts(""), InputError);
}

TEST_F(HeadTableTest, ProgressRisesToTheEnd) {
  std::vector<std::size_t> reports;
  head_table(session_.run, "abcd\n\nefgh\n", false, run_, [&](std::size_t done, std::size_t total) {
    EXPECT_EQ(total, 11u);
    reports.push_back(done);
  });
  EXPECT_TRUE(std::is_sorted(reports.begin(), reports.end()));
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports.back(), 11u);
}

TEST_F(HeadTableTest, StopsOnRequest) {
  const Stop stop;
  stop.request();
  const StopScope scope(stop);
  EXPECT_THROW(head_table(session_.run, "abcd", false, run_, {}), Stopped);
}

// The table has one row per head of each kind. Cross-attention has no distance.
TEST(HeadTable, SeparatesStacksAndKinds) {
  Trace trace;
  trace.parts = {.stack = true, .kind = true};
  trace.tokens.resize(2);
  trace.streams = {{kSourceStream, std::vector<TraceToken>(3)}};
  const auto add = [&](const Address& address, Index queries, Index keys) -> AttentionTap& {
    AttentionTap tap;
    tap.address = address;
    tap.heads = {0};
    tap.query_rows.first = tap.key_rows.first = 0;
    tap.result.attention = Tensor::full({1, queries, keys}, 1 / static_cast<float>(keys));
    tap.result.pattern = std::make_shared<const Pattern>(Pattern::all(queries, keys));
    trace.attention.push_back(tap);
    return trace.attention.back();
  };
  AttentionTap& encoder = add({.stack = Stack::Encoder}, 3, 3);
  encoder.query_rows.stream = encoder.key_rows.stream = kSourceStream;
  add({}, 2, 2);
  add({.kind = AttentionKind::Cross}, 2, 3).key_rows.stream = kSourceStream;
  const HeadTable table = head_table(trace);
  ASSERT_EQ(table.rows.size(), 3u);
  const HeadStatistics& cross = *table.find({0, 0, {.kind = AttentionKind::Cross}});
  EXPECT_TRUE(std::abs(cross.entropy - std::log2(3)) <= 1e-6);
  EXPECT_TRUE(std::isnan(cross.previous_token));
  EXPECT_TRUE(std::abs(table.find({0, 0})->previous_token - 0.5) <= 1e-6);
  const std::string csv = to_csv(table);
  EXPECT_TRUE(csv.starts_with("stack,kind,layer,head,entropy")) << csv;
  EXPECT_NE(csv.find("\nencoder,self,0,0,"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\ndecoder,cross,0,0,"), std::string::npos) << csv;
  EXPECT_EQ(head_table(trace, TracePart{.stack = Stack::Encoder}).rows.size(), 1u);
}

TEST(HeadTable, CsvOmitsUnknownNumbers) {
  HeadTable table;
  table.rows.push_back({{1, 2}, {1.5, 2, 0.25, 0.5, std::nan(""), std::nan("")}});
  EXPECT_EQ(to_csv(table),
            "layer,head,entropy,distance,first_token,previous_token,same_token,induction\n"
            "1,2,1.5,2,0.25,0.5,,\n");
  EXPECT_EQ(table.find({1, 3}), nullptr);
  ASSERT_NE(table.find({1, 2}), nullptr);
}

// Compares with values computed by hand. Id 0 is a known token, too.
TEST(HeadTable, MeasuresMapOfKnownTokens) {
  Trace trace;
  for (const std::int32_t id : {0, 6, 0}) {
    trace.tokens.push_back({.id = id, .bytes = "a", .label = "a"});
  }
  AttentionTap tap;
  tap.heads = {0};
  tap.result.attention = Tensor::from({1, 3, 3}, {1, 0, 0, 0.25F, 0.75F, 0, 0.5F, 0.125F, 0.375F});
  tap.result.pattern = std::make_shared<const Pattern>(Pattern::causal(3, 3));
  trace.attention = {tap};
  const HeadStatistics measures = head_statistics(trace, trace.attention[0], 0);
  EXPECT_NEAR(measures.same_token, 0.5, 1e-6);
  EXPECT_NEAR(measures.induction, 0.125, 1e-6);
  EXPECT_NEAR(measures.previous_token, (0.25 + 0.125) / 2, 1e-6);
  EXPECT_NEAR(measures.first_token, (0.25 + 0.5) / 2, 1e-6);
  EXPECT_NEAR(measures.distance, (0.25 + 1 + 0.125) / 3, 1e-6);
  const double second = -(0.25 * std::log2(0.25) + 0.75 * std::log2(0.75));
  const double third = -(0.5 * -1 + 0.125 * -3 + 0.375 * std::log2(0.375));
  EXPECT_NEAR(measures.entropy, (second + third) / 3, 1e-6);
  const HeadTable table = head_table(trace);
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_NEAR(table.rows[0].statistics.same_token, 0.5, 1e-6);
  EXPECT_EQ(table.texts, 1);
  EXPECT_EQ(table.tokens, 3);
  EXPECT_FALSE(table.words);
  trace.tokens[1].id = -1;  // one token is unknown
  EXPECT_TRUE(std::isnan(head_statistics(trace, trace.attention[0], 0).same_token));
}

TEST(HeadTable, FirstTokenColumnFollowsMemory) {
  AttentionTap tap;
  const auto first_column = [&](std::vector<std::pair<KeyKind, Index>> columns) {
    tap.result.columns = std::move(columns);
    return first_token_column(tap);
  };
  EXPECT_EQ(first_column({}), 0);
  EXPECT_EQ(first_column({{KeyKind::Memory, 3}, {KeyKind::Token, 2}}), 3);
  EXPECT_EQ(first_column({{KeyKind::Compressed, 2}, {KeyKind::Memory, 3}, {KeyKind::Token, 1}}), 5);
  EXPECT_EQ(first_column({{KeyKind::Token, 0}, {KeyKind::Memory, 3}, {KeyKind::Token, 2}}), 3);
  EXPECT_EQ(first_column({{KeyKind::Memory, 3}}), -1);
}

TEST(HeadTable, SegmentsShareOneRow) {
  HeadTable table;
  table.rows.push_back({{1, 2}, {1.5}});
  HeadRef later_head{1, 2};
  later_head.part.segment = 3;
  EXPECT_EQ(table.find(later_head), nullptr);
  table.has_merged_segments = true;
  EXPECT_EQ(table.find(later_head), &table.rows[0].statistics);
  table.parts.step = table.parts.segment = true;
  table.rows[0].at.part.step = 4;
  table.rows[0].at.part.segment = 5;
  EXPECT_TRUE(to_csv(table).starts_with("step,segment,layer,head,")) << to_csv(table);
  EXPECT_NE(to_csv(table).find("\n4,5,1,2,1.5,"), std::string::npos) << to_csv(table);
  table.words = true;
  EXPECT_NE(to_csv(table).find("word_entropy"), std::string::npos);
}

// Blank lines may contain spaces. Spaces within texts are kept. Long texts are split into contexts.
TEST_F(HeadTableTest, SplitsTextsAtBlankLinesOnly) {
  EXPECT_EQ(table_of_texts("ab \t\n cd\n").texts, 1);
  EXPECT_EQ(table_of_texts("ab\n \r\t\n\ncd").texts, 2);
  EXPECT_EQ(table_of_texts("ab\n\n").tokens, 2);
  EXPECT_EQ(table_of_texts("\n\n ab").tokens, 2);
  EXPECT_EQ(table_of_texts("ab\n x\n\ncd").tokens, 7);
  const std::string seventeen(17, 'x');  // exceeds the context of 16 by a single token
  EXPECT_EQ(table_of_texts(seventeen).tokens, 16);
  EXPECT_EQ(table_of_texts(seventeen).texts, 1);
  EXPECT_EQ(table_of_texts(seventeen + "x").texts, 2);
  EXPECT_EQ(table_of_texts(std::string(9000, 'y')).tokens,
            9000 - 9000 % 16 + (9000 % 16 > 1 ? 9000 % 16 : 0));
}

TEST_F(HeadTableTest, CountsWordsIfWordsAreMerged) {
  session_.view.words = true;
  const HeadTable table = table_of_texts("the cat sat\n\na dog");
  EXPECT_TRUE(table.words);
  EXPECT_EQ(table.texts, 2);
  EXPECT_EQ(table.tokens, 5);
  EXPECT_THROW(table_of_texts("1\n\n2\n\n3"), InputError);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
