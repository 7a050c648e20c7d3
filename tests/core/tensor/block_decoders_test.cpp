#include "core/tensor/block_decoders.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "core/tensor/row_kernels.h"

namespace attnscope::cpu {
namespace ATTNSCOPE_FILE {

struct Layout {
  const char* name;
  BlockFormat BlockFormats::*format;
  std::ptrdiff_t bytes, numbers;       // of a block
  std::vector<std::ptrdiff_t> scales;  // offsets of binary16 scales
};

const std::vector<Layout>& layouts() {
  using F = BlockFormats;
  static const std::vector<Layout> list{
      {"Q4_0", &F::q4_0, 18, 32, {0}},       {"Q4_1", &F::q4_1, 20, 32, {0, 2}},
      {"Q5_0", &F::q5_0, 22, 32, {0}},       {"Q5_1", &F::q5_1, 24, 32, {0, 2}},
      {"Q8_0", &F::q8_0, 34, 32, {0}},       {"Q2_K", &F::q2_k, 84, 256, {80, 82}},
      {"Q3_K", &F::q3_k, 110, 256, {108}},   {"Q4_K", &F::q4_k, 144, 256, {0, 2}},
      {"Q5_K", &F::q5_k, 176, 256, {0, 2}},  {"Q6_K", &F::q6_k, 210, 256, {208}},
      {"Q8_K", &F::q8_k, 292, 256, {2}},     {"IQ4_NL", &F::iq4_nl, 18, 32, {0}},
      {"IQ4_XS", &F::iq4_xs, 136, 256, {0}}, {"MXFP4", &F::mxfp4, 17, 32, {}}};
  return list;
}

// Random blocks with small scales.
std::vector<std::uint8_t> random_blocks(const Layout& layout, std::ptrdiff_t blocks) {
  std::mt19937 random(7);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(blocks * layout.bytes));
  for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(random());
  for (std::ptrdiff_t n = 0; n < blocks; ++n) {
    std::uint8_t* block = bytes.data() + n * layout.bytes;
    for (const std::ptrdiff_t at : layout.scales) block[at + 1] = 0x2c | (block[at + 1] & 0x83);
    if (layout.scales.empty()) block[0] = static_cast<std::uint8_t>(120 + n % 8);
  }
  return bytes;
}

class BlockDecoders : public ::testing::TestWithParam<const RowKernels*> {};

TEST_P(BlockDecoders, ProductsEqualThoseOfDecodedNumbers) {
  const RowKernels& kernels = *GetParam();
  const BlockFormats& formats = block_formats(kernels);
  for (const Layout& layout : layouts()) {
    constexpr std::ptrdiff_t kBlocks = 5, kRows = 4;
    const std::ptrdiff_t size = kBlocks * layout.numbers;
    const std::vector<std::uint8_t> bytes = random_blocks(layout, kRows * kBlocks);
    std::vector<float> x(static_cast<std::size_t>(size)),
        rows(static_cast<std::size_t>(kRows * size));
    std::mt19937 random(3);
    for (float& v : x) v = std::uniform_real_distribution<float>(-1, 1)(random);
    const BlockFormat& format = formats.*layout.format;
    format.decode(bytes.data(), kRows * kBlocks, rows.data());
    float expected[kRows];
    kernels.four_dots(x.data(), rows.data(), size, size, expected);
    const std::uint8_t* blocks[kRows];
    for (std::ptrdiff_t row = 0; row < kRows; ++row) {
      blocks[row] = bytes.data() + row * kBlocks * layout.bytes;
    }
    float dots[kRows];
    format.four_dots(blocks, kBlocks, x.data(), dots);
    for (std::ptrdiff_t row = 0; row < kRows; ++row) {
      EXPECT_EQ(dots[row], expected[row]) << layout.name;
      EXPECT_NE(expected[row], 0) << layout.name;
    }
  }
}

TEST_P(BlockDecoders, NumbersEqualThoseOfBaseline) {
  const BlockFormats& baseline = block_formats(**all_row_kernels().begin());
  for (const Layout& layout : layouts()) {
    constexpr std::ptrdiff_t kBlocks = 20;
    const std::vector<std::uint8_t> bytes = random_blocks(layout, kBlocks);
    std::vector<float> expected(static_cast<std::size_t>(kBlocks * layout.numbers)),
        numbers(expected.size());
    (baseline.*layout.format).decode(bytes.data(), kBlocks, expected.data());
    (block_formats(*GetParam()).*layout.format).decode(bytes.data(), kBlocks, numbers.data());
    const std::size_t bytes_of_numbers = numbers.size() * sizeof(float);
    EXPECT_EQ(std::memcmp(numbers.data(), expected.data(), bytes_of_numbers), 0) << layout.name;
  }
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, BlockDecoders,
                         ::testing::ValuesIn(all_row_kernels().begin(), all_row_kernels().end()),
                         [](const auto& info) {
                           std::string name = info.param->name;
                           std::erase_if(name, [](char c) { return c == '-'; });
                           return name;
                         });

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::cpu
