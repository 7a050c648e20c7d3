#include "core/training/stream.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "core/base/error.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

std::vector<std::int32_t> consecutive_tokens(std::size_t count) {
  std::vector<std::int32_t> tokens(count);
  std::iota(tokens.begin(), tokens.end(), 0);
  return tokens;
}

TEST(TokenStream, TargetsAreTheNextTokens) {
  TokenStream stream(consecutive_tokens(1000), 16, 1);
  IntTensor inputs, targets;
  stream.batch(0, 5, inputs, targets);
  EXPECT_EQ(inputs.shape(), (Shape{5, 16}));
  for (Index i = 0; i < inputs.size(); ++i) EXPECT_EQ(targets[i], inputs[i] + 1);
}

TEST(TokenStream, VisitsEveryWindowOncePerEpoch) {
  TokenStream stream(consecutive_tokens(1000), 16, 1);
  const Index windows = 999 / 16 - 1;
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    std::set<std::int32_t> firsts;
    IntTensor inputs, targets;
    stream.batch(epoch * static_cast<std::uint64_t>(windows), windows, inputs, targets);
    for (Index b = 0; b < windows; ++b) firsts.insert(inputs(b, 0) / 16);
    EXPECT_EQ(static_cast<Index>(firsts.size()), windows);
  }
}

TEST(TokenStream, DoesNotDependOnEarlierCalls) {
  TokenStream stream(consecutive_tokens(300), 8, 7),
      same_seed_stream(consecutive_tokens(300), 8, 7),
      other_seed_stream(consecutive_tokens(300), 8, 8);
  IntTensor a, b, c, targets;
  stream.batch(0, 100, a, targets);
  same_seed_stream.batch(90, 10, b, targets);
  same_seed_stream.batch(20, 1, c, targets);
  for (Index i = 0; i < 8; ++i) {
    EXPECT_EQ(a(95, i), b(5, i));
    EXPECT_EQ(a(20, i), c(0, i));
  }
  other_seed_stream.batch(0, 100, b, targets);
  EXPECT_FALSE(std::equal(a.begin(), a.end(), b.begin()));
}

TEST(TokenStream, RejectsTooShortTexts) {
  EXPECT_THROW(TokenStream(consecutive_tokens(8), 8, 1), InputError);
  TokenStream stream(consecutive_tokens(9), 8, 1);
  IntTensor inputs, targets;
  stream.batch(0, 3, inputs, targets);
  EXPECT_EQ(inputs(2, 0), 0);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
