#include "core/text/bpe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/text/expression.h"
#include "core/text/split/pieces.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

std::vector<std::int32_t> ids_of(const std::vector<Token>& tokens) {
  std::vector<std::int32_t> ids;
  for (const Token& t : tokens) ids.push_back(t.id);
  return ids;
}

std::string random_text(std::uint64_t seed, int words) {
  std::mt19937 random(seed);
  std::string text;
  for (int i = 0; i < words; ++i) {
    for (auto n = 1 + random() % 6; n > 0; --n) text += "aabcde"[random() % 6];
    text += random() % 9 ? " " : ".\n";
  }
  return text;
}

// Reference implementation, which counts all pairs again for each merge.
std::vector<std::string> tokens_by_definition(std::string_view text, std::size_t vocabulary) {
  std::map<std::string, int> counts;
  Expression(kGpt2Expression, "GPT-2").each(text, [&](std::size_t begin, std::size_t end) {
    ++counts[std::string(text.substr(begin, end - begin))];
  });
  std::vector<std::pair<std::vector<int>, int>> words;
  for (const auto& [piece, count] : counts) {
    std::vector<int> ids;
    for (const char c : piece) ids.push_back(static_cast<unsigned char>(c));
    words.emplace_back(ids, count);
  }
  std::vector<std::string> tokens;
  for (int b = 0; b < 256; ++b) tokens.emplace_back(1, static_cast<char>(b));
  while (tokens.size() < vocabulary) {
    std::map<std::pair<int, int>, int> pairs;
    for (const auto& [ids, count] : words) {
      for (std::size_t i = 0; i + 1 < ids.size(); ++i) pairs[{ids[i], ids[i + 1]}] += count;
    }
    if (pairs.empty()) break;
    auto best = pairs.begin();
    for (auto p = pairs.begin(); p != pairs.end(); ++p) {
      if (p->second > best->second) best = p;
    }
    const auto [left, right] = best->first;
    const std::string token =
        tokens[static_cast<std::size_t>(left)] + tokens[static_cast<std::size_t>(right)];
    const auto known = std::find(tokens.begin(), tokens.end(), token);
    const int id = static_cast<int>(known - tokens.begin());
    if (known == tokens.end()) tokens.push_back(token);
    for (auto& [ids, count] : words) {
      std::vector<int> merged;
      for (std::size_t i = 0; i < ids.size(); ++i) {
        const bool is_pair = i + 1 < ids.size() && ids[i] == left && ids[i + 1] == right;
        merged.push_back(is_pair ? id : ids[i]);
        i += is_pair;
      }
      ids = merged;
    }
  }
  return tokens;
}

TEST(Bpe, LearnsMergesByDefinition) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const std::string text = random_text(seed, 400);
    const auto tokenizer = train_bpe(text, 400);
    const auto expected = tokens_by_definition(text, 400);
    ASSERT_EQ(tokenizer->vocabulary_size(), static_cast<std::int32_t>(expected.size()));
    for (std::size_t id = 0; id < expected.size(); ++id) {
      EXPECT_EQ(tokenizer->bytes(static_cast<std::int32_t>(id)), expected[id]) << id;
    }
  }
}

TEST(Bpe, StopsWithoutPairsToMerge) {
  const auto tokenizer = train_bpe("abab abab", 1000);
  EXPECT_LT(tokenizer->vocabulary_size(), 270);
  EXPECT_EQ(ids_of(tokenizer->encode(" abab")).size(), 1u);
  EXPECT_EQ(train_bpe("", 300)->vocabulary_size(), 256);
  EXPECT_THROW(train_bpe("abc", 255), InputError);
}

TEST(Bpe, CoversAnyBytesExactly) {
  const auto tokenizer = train_bpe(random_text(7, 2000) + "größer 中文 größer 中文", 500);
  std::mt19937 random(5);
  for (int i = 0; i < 500; ++i) {
    std::string text = random_text(random(), 3);
    for (auto n = random() % 9; n > 0; --n) {
      text.insert(random() % (text.size() + 1), 1, static_cast<char>(random()));
    }
    const auto tokens = tokenizer->encode(text);
    std::size_t at = 0;
    for (const Token& t : tokens) {
      EXPECT_EQ(t.begin, at);
      EXPECT_EQ(tokenizer->bytes(t.id), text.substr(t.begin, t.end - t.begin));
      EXPECT_FALSE(t.special);
      at = t.end;
    }
    EXPECT_EQ(at, text.size());
    EXPECT_EQ(tokenizer->decode(ids_of(tokens)), text);
  }
  EXPECT_TRUE(tokenizer->encode("").empty());
}

TEST(Bpe, RoundTripsThroughFiles) {
  const std::string text = random_text(2, 1000);
  const auto tokenizer = train_bpe(text, 350);
  const testing::TemporaryFolder folder;
  tokenizer->save(folder.path());
  const auto loaded = load_tokenizer(folder.path());
  EXPECT_EQ(loaded->kind(), "byte-level BPE");
  EXPECT_EQ(loaded->vocabulary_size(), tokenizer->vocabulary_size());
  EXPECT_EQ(ids_of(loaded->encode(text)), ids_of(tokenizer->encode(text)));
}

TEST(Bpe, ReportsProgressAndCanBeCancelled) {
  double last = -1;
  const std::string text = random_text(2, 1000);
  train_bpe(text, 300, [&](double share) {
    EXPECT_GE(share, last);
    last = share;
  });
  EXPECT_EQ(last, 1);
  EXPECT_THROW(train_bpe(text, 300, [](double) { throw Stopped(); }), Stopped);
}

TEST(ByteTokenizer, HasOneTokenPerByte) {
  const auto tokenizer = byte_tokenizer();
  EXPECT_EQ(tokenizer->kind(), "bytes");
  EXPECT_EQ(tokenizer->vocabulary_size(), 256);
  EXPECT_EQ(ids_of(tokenizer->encode("a\xff ")), (std::vector<std::int32_t>{97, 255, 32}));
  EXPECT_THROW(tokenizer->bytes(256), InputError);
  EXPECT_THROW(tokenizer->bytes(-1), InputError);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
