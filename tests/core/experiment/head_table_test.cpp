#include "core/experiment/head_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/experiment/runner.h"
#include "tests/core/experiment/models.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace {

class HeadTableTest : public ::testing::Test {
 protected:
  HeadTableTest() {
    testing::save_byte_model(folder_.path() / "model", 2, 32, 16);
    experiment_.model = folder_.path() / "model";
  }
  HeadTable of_texts(const std::string& texts) {
    return head_table(experiment_, texts, run_, {}, {});
  }
  HeadTable of_one(const std::string& text) {
    Experiment one = experiment_;
    one.text = text;
    return head_table(*run_.run(one, {}));
  }
  static void expect_alike(const HeadTable& a, const HeadTable& b) {
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
  Experiment experiment_;
  ExperimentRun run_{cpu_only()};
};

TEST_F(HeadTableTest, OneTextIsItsRun) {
  const HeadTable table = of_texts("abcabcab");
  EXPECT_EQ(table.texts, 1);
  EXPECT_EQ(table.tokens, 8);
  ASSERT_EQ(table.rows.size(), 8u);
  expect_alike(table, of_one("abcabcab"));
}

// Rows of all texts count alike: entropy is a mean over rows.
TEST_F(HeadTableTest, TextsAddUpByRows) {
  const HeadTable both = of_texts("abcab\n\nxyxyxyx\n");
  EXPECT_EQ(both.texts, 2);
  EXPECT_EQ(both.tokens, 12);
  const HeadTable first = of_one("abcab"), second = of_one("xyxyxyx");
  for (std::size_t i = 0; i < both.rows.size(); ++i) {
    const double expected =
        (5 * first.rows[i].statistics.entropy + 7 * second.rows[i].statistics.entropy) / 12;
    EXPECT_TRUE(std::abs(both.rows[i].statistics.entropy - expected) <= 1e-9);
    const double previous = (4 * first.rows[i].statistics.previous_token +
                             6 * second.rows[i].statistics.previous_token) /
                            10;
    EXPECT_TRUE(std::abs(both.rows[i].statistics.previous_token - previous) <= 1e-9);
  }
}

TEST_F(HeadTableTest, LongTextsGoOn) {
  const std::string text = "the quick brown fox jumps over the lazy dog";
  const HeadTable table = of_texts(text);
  EXPECT_EQ(table.tokens, static_cast<Index>(text.size()));
  EXPECT_EQ(table.texts, 3);  // context 16
}

TEST_F(HeadTableTest, BlankLinesPartTexts) {
  EXPECT_EQ(of_texts("ab\ncd\n \t\nef\n\n\n\ngh\n").texts, 3);
  EXPECT_EQ(of_texts("ab\n\nc\n\nde").texts, 2);  // a single token says nothing
  EXPECT_THROW(of_texts("\n \n"), InputError);
  EXPECT_THROW(of_texts(""), InputError);
}

TEST_F(HeadTableTest, ProgressRisesToTheEnd) {
  std::vector<std::size_t> seen;
  head_table(experiment_, "abcd\n\nefgh\n", run_,
             [&](std::size_t done, std::size_t all) {
               EXPECT_EQ(all, 11u);
               seen.push_back(done);
             },
             {});
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  ASSERT_FALSE(seen.empty());
  EXPECT_EQ(seen.back(), 11u);
}

TEST_F(HeadTableTest, Stops) {
  const Stop stop;
  stop.request();
  EXPECT_THROW(head_table(experiment_, "abcd", run_, {}, stop), Stopped);
}

TEST(HeadTable, CsvLeavesUnknownNumbersOut) {
  HeadTable table;
  table.rows.push_back({{1, 2}, {1.5, 2, 0.25, 0.5, std::nan(""), std::nan("")}});
  EXPECT_EQ(to_csv(table),
            "layer,head,entropy,distance,first_token,previous_token,same_token,induction\n"
            "1,2,1.5,2,0.25,0.5,,\n");
  EXPECT_EQ(table.find({1, 3}), nullptr);
  ASSERT_NE(table.find({1, 2}), nullptr);
}

}  // namespace
}  // namespace attnscope
