// Reads stored tensors transposed and in parts, and checks them for NaN and infinity.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/base/error.h"
#include "core/checkpoint/format.h"
#include "core/checkpoint/split.h"
#include "tests/core/checkpoint/files.h"
#include "tests/support/compare.h"
#include "tests/support/small_config.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::message_of;

// Config of a model that is large enough to keep 16-bit matrices.
ModelConfig wide_config() {
  return testing::small_config({.vocabulary = 200000, .heads = 4, .head_size = 16});
}

TEST(TensorReader, TransposesMatricesOfAnySize) {
  for (const auto& [out, in] : {std::pair<Index, Index>{70, 45}, {32, 64}, {33, 31}, {1, 65}}) {
    const Tensor matrix = testing::random_tensor({out, in}, 3);
    StoredTensors tensors{{"m", stored(matrix)}};
    TensorReader reader(tensors, "folder", ModelConfig{});
    const Tensor transposed = reader.take_transposed("m", in, out);
    ASSERT_EQ(transposed.shape(), (Shape{in, out}));
    for (Index r = 0; r < out; ++r) {
      for (Index c = 0; c < in; ++c) ASSERT_EQ(transposed(c, r), matrix(r, c)) << r << " " << c;
    }
    EXPECT_EQ(message_of<InputError>([&] { reader.finish(); }), "no error");
    EXPECT_THROW(reader.take_transposed("m", out + 1, in), InputError);
  }
}

// The reader checks pieces of 2^20 numbers one after the other. Tests numbers at their borders.
TEST(TensorReader, FindsEveryNonFiniteNumber) {
  constexpr Index kPiece = Index{1} << 20, kCount = 2 * kPiece + 3;
  Tensor numbers = Tensor::zeros({kCount});
  const auto is_refused = [](const StoredTensors& tensors, Index rows, Index columns) {
    TensorReader reader(tensors, "folder", wide_config());
    return message_of<InputError>([&] {
             if (columns > 0) {
               reader.take_narrow("t", rows, columns);
             } else {
               reader.take("t", {rows});
             }
           }).find("tensor t contains NaN or infinity") != std::string::npos;
  };
  for (const Index at : {Index{0}, kPiece - 1, kPiece, 2 * kPiece - 1, 2 * kPiece, kCount - 1}) {
    for (const float invalid : {std::nanf(""), -INFINITY}) {
      numbers[at] = invalid;
      EXPECT_TRUE(is_refused({{"t", stored(numbers)}}, kCount, 0)) << at;
      numbers[at] = 0;
    }
  }
  EXPECT_FALSE(is_refused({{"t", stored(numbers)}}, kCount, 0));
  for (const DType type : {DType::F16, DType::BF16}) {
    StoredTensor narrow = stored(numbers);
    narrow.dtype = type;
    narrow.shape = {3, kCount / 3};
    const Index count = kCount / 3 * 3;
    auto bytes = std::make_shared<std::vector<std::uint8_t>>(static_cast<std::size_t>(2 * count));
    narrow.bytes = bytes->data();
    narrow.owner = bytes;
    EXPECT_FALSE(is_refused({{"t", narrow}}, 3, kCount / 3));
    const std::uint16_t infinity = type == DType::F16 ? 0x7c00 : 0x7f80,
                        largest = type == DType::F16 ? 0x7bff : 0x7f7f;
    for (const Index at : {Index{0}, kPiece - 1, kPiece, 2 * kPiece, count - 1}) {
      std::memcpy(bytes->data() + 2 * at, &infinity, 2);
      EXPECT_TRUE(is_refused({{"t", narrow}}, 3, kCount / 3)) << at;
      std::memcpy(bytes->data() + 2 * at, &largest, 2);
      EXPECT_FALSE(is_refused({{"t", narrow}}, 3, kCount / 3)) << at;
    }
  }
}

TEST(TensorReader, KeepsNarrowMatricesOfLargeModels) {
  StoredTensor narrow = stored(Tensor::zeros({2, 2}));
  narrow.dtype = DType::BF16;
  const StoredTensors tensors{{"narrow", narrow}, {"wide", stored(Tensor::zeros({2, 2}))}};
  TensorReader small(tensors, "folder", ModelConfig{}), large(tensors, "folder", wide_config());
  EXPECT_FALSE(small.take_narrow("narrow", 2, 2));
  EXPECT_TRUE(large.take_narrow("narrow", 2, 2));
  EXPECT_FALSE(large.take_narrow("wide", 2, 2));
  EXPECT_FALSE(large.take_narrow("none", 2, 2));
}

TEST(SameNumbers, ComparesEveryNumber) {
  constexpr Index kPiece = (Index{1} << 20) / 4;  // 32-bit numbers per piece of 2^20 bytes
  const Tensor one = testing::random_tensor({2 * kPiece + 5}, 1);
  for (const Index at : {Index{0}, kPiece - 1, kPiece, 2 * kPiece, 2 * kPiece + 4}) {
    Tensor other = one.copy();
    EXPECT_TRUE(are_equal_or_missing({{"a", stored(one)}, {"b", stored(other)}}, "a", "b"));
    other[at] += 1;
    EXPECT_FALSE(are_equal_or_missing({{"a", stored(one)}, {"b", stored(other)}}, "a", "b")) << at;
  }
  const StoredTensors tensors{{"a", stored(Tensor::zeros({4}))},
                              {"b", stored(Tensor::zeros({2, 2}))}};
  EXPECT_FALSE(are_equal_or_missing(tensors, "a", "b"));  // different shapes
  EXPECT_TRUE(are_equal_or_missing(tensors, "a", "none"));
  EXPECT_TRUE(are_equal_or_missing(tensors, "none", "a"));
}

// Copies rows of a [12, 3] matrix with elements 0 to 35.
TEST(AddPart, CopiesRunsOfRows) {
  Tensor all({12, 3});
  for (Index n = 0; n < all.size(); ++n) all[n] = static_cast<float>(n);
  const auto rows = [&](const RowRuns& runs) {
    StoredTensors tensors{{"all", stored(all)}};
    const Index count = runs.repeats * runs.count;
    add_part(tensors, "all", "part", 3, runs, {count, 3}, "folder");
    const Tensor part = tensors.at("part").floats();
    EXPECT_EQ(part.shape(), (Shape{count, 3}));
    std::vector<Index> found;
    for (Index r = 0; r < count; ++r) {
      found.push_back(std::lround(part(r, 0)) / 3);
      for (Index c = 0; c < 3; ++c) EXPECT_EQ(part(r, c), all(found.back(), c));
    }
    return found;
  };
  EXPECT_EQ(rows({5, 3}), (std::vector<Index>{5, 6, 7}));
  EXPECT_EQ(rows({9, 3}), (std::vector<Index>{9, 10, 11}));  // to the last row
  EXPECT_EQ(rows({1, 2, 4, 3}), (std::vector<Index>{1, 2, 5, 6, 9, 10}));
  EXPECT_EQ(rows({2, 2, 4, 3}), (std::vector<Index>{2, 3, 6, 7, 10, 11}));
  EXPECT_THROW(rows({10, 3}), InputError);
  EXPECT_THROW(rows({3, 2, 4, 3}), InputError);
  StoredTensors tensors{{"all", stored(all)}};
  const auto refusal = [&](Index row_size, const RowRuns& runs, const Shape& shape) {
    return message_of<InputError>(
        [&] { add_part(tensors, "all", "part", row_size, runs, shape, "folder"); });
  };
  EXPECT_EQ(refusal(3, {0, 13}, {13, 3}),
            "folder: tensor all: expected at least 39 numbers, found [12, 3]");
  EXPECT_EQ(refusal(3, {1, 3, 4, 4}, {12, 3}),
            "folder: tensor all: expected at least 48 numbers, found [12, 3]");
  EXPECT_NE(refusal(3, {0, 4}, {4, 2}), "no error");  // shape differs from the number of values
  EXPECT_NE(refusal(5, {0, 4}, {4, 5}), "no error");  // missing rows
  EXPECT_EQ(refusal(1, {0, 4}, {4}), "no error");
  EXPECT_FALSE(tensors.contains("none"));
  EXPECT_THROW(add_part(tensors, "none", "part", 1, {0, 1}, {1}, "folder"), InputError);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
