#include "core/training/ngram.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "core/base/error.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Ngram, AssignsEightBitsToUnseenText) {
  const NgramModel model(3);
  EXPECT_DOUBLE_EQ(model.bits_per_byte("anything"), 8.0);
  EXPECT_TRUE(std::isnan(model.bits_per_byte("")));
}

// Context c occurs N(c) times in "ab", before T(c) distinct bytes. Without context, N = T = 2 and
// p(a) = p(b) = (1 + 2/256) / 4. With N(a) = T(a) = 1, p(b | a) = (1 + p(b)) / 2.
TEST(Ngram, MatchesFormulaForShortText) {
  NgramModel model(2);
  model.learn("ab");
  const double single = (1 + 2.0 / 256) / 4;
  EXPECT_NEAR(model.bits_per_byte("a"), -std::log2(single), 1e-12);
  EXPECT_NEAR(model.bits_per_byte("ab"), -(std::log2(single) + std::log2((1 + single) / 2)) / 2,
              1e-12);
}

TEST(Ngram, ProbabilitiesOfAllBytesSumToOne) {
  NgramModel model(4);
  model.learn("the cat sat on the mat and the cat ran");
  double sum = 0;
  const double prefix = model.bits_per_byte("the ca") * 6;
  for (int b = 0; b < 256; ++b) {
    const std::string text = std::string("the ca") + static_cast<char>(b);
    sum += std::exp2(-(model.bits_per_byte(text) * 7 - prefix));
  }
  EXPECT_NEAR(sum, 1.0, 1e-9);
}

TEST(Ngram, LongerContextsHelpOnRepetitiveText) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "abcabd";
  NgramModel bigram_model(2), sixgram_model(6);
  bigram_model.learn(text);
  sixgram_model.learn(text);
  EXPECT_LT(sixgram_model.bits_per_byte(text), bigram_model.bits_per_byte(text));
}

TEST(Ngram, TreatsZeroBytesAsOrdinaryBytes) {
  NgramModel model(3);
  model.learn(std::string("\0\0\0\0a", 5));
  EXPECT_TRUE(std::isfinite(model.bits_per_byte(std::string("\0\0", 2))));
}

TEST(Ngram, RejectsInvalidOrders) {
  EXPECT_THROW(NgramModel(0), InputError);
  EXPECT_THROW(NgramModel(8), InputError);
}

// Computes Witten and Bell's formula with counts from the text itself.
TEST(Ngram, MatchesFormulaForEveryOrder) {
  const std::string learned = "she sells sea shells by the sea shore, the shells she sells",
                    text = "the shore sells she-shells";
  for (int order = 1; order <= NgramModel::kMaxOrder; ++order) {
    NgramModel model(order);
    model.learn(learned);
    double bits = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      double p = 1.0 / 256;
      for (std::size_t length = 0; length < static_cast<std::size_t>(order) && length <= i;
           ++length) {
        const std::string context = text.substr(i - length, length);
        double context_count = 0, pair_count = 0;
        std::string following_bytes;
        for (std::size_t position = length; position < learned.size(); ++position) {
          if (learned.substr(position - length, length) != context) continue;
          ++context_count;
          if (learned[position] == text[i]) ++pair_count;
          if (following_bytes.find(learned[position]) == std::string::npos)
            following_bytes += learned[position];
        }
        if (context_count == 0) break;
        const auto distinct_count = static_cast<double>(following_bytes.size());
        p = (pair_count + distinct_count * p) / (context_count + distinct_count);
      }
      bits -= std::log2(p);
    }
    EXPECT_NEAR(model.bits_per_byte(text), bits / static_cast<double>(text.size()), 1e-9) << order;
  }
  EXPECT_THROW(NgramModel(NgramModel::kMaxOrder + 1), InputError);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
