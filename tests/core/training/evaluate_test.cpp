#include "core/training/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/base/error.h"
#include "core/text/bpe.h"
#include "tests/support/small_config.h"

namespace attnscope {
namespace {

Checkpoint byte_model(Index context) {
  Checkpoint checkpoint;
  checkpoint.model = make_model(testing::small_config({.context = context}), 1);
  Tensor embedding = checkpoint.model.weights.find("embed.weight")->second.value();
  for (float& x : embedding) x *= 20;  // far from uniform predictions
  checkpoint.tokenizer = train_bpe("bytes", 256);
  return checkpoint;
}

// By the definition, one token at a time.
double by_definition(const Checkpoint& checkpoint, const std::string& text) {
  const Index context = checkpoint.model.config.context;
  const Index count = static_cast<Index>(text.size()), length = std::min(context, count - 1);
  double bits = 8;  // the first byte
  Index window = 0;
  for (Index target = 1; target < count; ++target) {
    while (target > window + length) window = std::min(window + context / 2, count - 1 - length);
    IntTensor ids({1, target - window});
    for (Index i = 0; i < ids.size(); ++i) {
      ids[i] = static_cast<unsigned char>(text[static_cast<std::size_t>(window + i)]);
    }
    const Tensor logits = forward(checkpoint.model, ids, {}).value();
    double sum = 0;
    const float* last = logits.data() + (ids.size() - 1) * 256;
    for (Index v = 0; v < 256; ++v) sum += std::exp(static_cast<double>(last[v]));
    const auto byte = static_cast<unsigned char>(text[static_cast<std::size_t>(target)]);
    bits += (std::log(sum) - static_cast<double>(last[byte])) / std::numbers::ln2;
  }
  return bits / static_cast<double>(count);
}

TEST(BitsPerByte, IsWhatItsDefinitionSays) {
  const std::string text = "Alice was beginning to get very tired of sitting by her sister";
  for (const Index context : {8, 9, 64}) {
    const Checkpoint checkpoint = byte_model(context);
    for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{9}, text.size()}) {
      const std::string part = text.substr(0, size);
      EXPECT_NEAR(bits_per_byte(checkpoint, part, {}), by_definition(checkpoint, part), 1e-4)
          << context << " " << size;
    }
  }
}

TEST(BitsPerByte, RefusesWhatHasNone) {
  Checkpoint checkpoint = byte_model(8);
  EXPECT_THROW(bits_per_byte(checkpoint, "", {}), InputError);
  checkpoint.tokenizer = nullptr;
  EXPECT_THROW(bits_per_byte(checkpoint, "abc", {}), InputError);
}

}  // namespace
}  // namespace attnscope
