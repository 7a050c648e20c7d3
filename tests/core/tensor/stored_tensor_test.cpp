#include "core/tensor/stored_tensor.h"

#include <gtest/gtest.h>

#include "core/tensor/safetensors.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"
#include "tests/support/random_blocks.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

class QuantisedFormat : public ::testing::TestWithParam<DType> {};

// The Python package gguf decodes the expected numbers (references/make_blocks.py).
TEST_P(QuantisedFormat, DecodesAsReferenceBitForBit) {
  const SafetensorsFile file = read_safetensors(testing::source_folder() /
                                                "tests/core/tensor/references/blocks.safetensors");
  const std::string name(to_string(GetParam()));
  const StoredTensor& bytes = file.tensors.at(name + ".bytes");
  const Tensor expected = file.tensors.at(name + ".numbers").floats();
  const StoredTensor blocks{GetParam(), expected.shape(), bytes.bytes, bytes.owner};
  ASSERT_EQ(bytes.shape[1], byte_size(GetParam()));
  ASSERT_EQ(expected.dim(1), block_size(GetParam()));
  EXPECT_TRUE(testing::close(blocks.floats(), expected, 0));
  EXPECT_TRUE(testing::close(blocks.copy().floats(), expected, 0));
}

TEST_P(QuantisedFormat, DetectsInfiniteNumbers) {
  const StoredTensor random = testing::random_blocks(GetParam(), {1, 512}, 1);
  const Index bytes = byte_count(GetParam(), 512);
  EXPECT_TRUE(has_finite_numbers(GetParam(), random.bytes, 512));
  const auto ones = std::make_shared<ByteTensor>(ByteTensor::full({bytes}, 0xff));
  EXPECT_FALSE(has_finite_numbers(GetParam(), ones->data(), 512));
  for (const float x : random.floats()) EXPECT_TRUE(std::isfinite(x));
}

TEST(StoredTensors, ConvertInterleavedRowsInOrder) {
  StoredTensor tensor = stored(Tensor::from({8, 1}, {0, 2, 1, 3, 10, 12, 11, 13}));
  tensor.interleaved_rows = 4;
  const Tensor expected = Tensor::from({8, 1}, {0, 1, 2, 3, 10, 11, 12, 13});
  EXPECT_TRUE(testing::close(tensor.floats(), expected, 0));
  EXPECT_TRUE(testing::close(tensor.copy().floats(), expected, 0));
}

std::vector<DType> quantised_formats() {
  std::vector<DType> formats;
  for (int n = static_cast<int>(DType::Q4_0); n <= static_cast<int>(DType::MXFP4); ++n) {
    formats.push_back(static_cast<DType>(n));
  }
  return formats;
}

INSTANTIATE_TEST_SUITE_P(Formats, QuantisedFormat, ::testing::ValuesIn(quantised_formats()),
                         [](const auto& info) { return std::string(to_string(info.param)); });

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
