#include "core/tensor/gguf.h"

#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/file.h"
#include "tests/support/compare.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/random_blocks.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::gguf_bytes;
using testing::GgufWriter;
using testing::TemporaryFolder;

class Gguf : public ::testing::Test {
 protected:
  GgufFile read(const std::string& bytes) {
    write_file(path_, bytes);
    return read_gguf(path_);
  }
  // Returns the error message without the file's name, or "" if the file is valid.
  std::string refusal(const std::string& bytes) {
    try {
      read(bytes);
    } catch (const InputError& e) {
      const std::string begin = path_.string() + ": ";
      EXPECT_TRUE(std::string(e.what()).starts_with(begin)) << e.what();
      return std::string(e.what()).substr(begin.size());
    }
    return "";
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "model.gguf";
};

TEST_F(Gguf, ReadsMetadataOfEveryType) {
  GgufWriter writer;
  writer.add_text("general.architecture", "llama");
  writer.add_integer("llama.block_count", 30);
  writer.add_real("llama.epsilon", 0.5);
  writer.add_flag("tokenizer.ggml.add_bos_token", true);
  writer.add_texts("tokenizer.ggml.tokens", {"a", "b"});
  writer.add_reals("scores", {0.25, -1});
  writer.add_integers("types", {1, -3});
  writer.add_raw("byte", 0, "\x07");
  writer.add_raw("signed", 1, "\xff");
  writer.add_raw("long", 10, gguf_bytes(std::uint64_t{1} << 40));
  const Json metadata = read(writer.bytes()).metadata;
  EXPECT_EQ(metadata.dump(),
            R"({"byte":7,"general.architecture":"llama","llama.block_count":30,)"
            R"("llama.epsilon":0.5,"long":1099511627776,"scores":[0.25,-1.0],"signed":-1,)"
            R"("tokenizer.ggml.add_bos_token":true,"tokenizer.ggml.tokens":["a","b"],)"
            R"("types":[1,-3]})");
}

TEST_F(Gguf, ReadsTensorsOfEveryFormat) {
  for (const std::uint32_t version : {2u, 3u}) {
    GgufWriter writer(version);
    const Tensor numbers = testing::random_tensor({2, 3, 5}, 1);
    writer.add_tensor("floats", stored(numbers));
    writer.add_tensor("halves", stored(numbers, DType::F16));
    std::vector<StoredTensor> blocks;
    for (int n = static_cast<int>(DType::Q4_0); n <= static_cast<int>(DType::MXFP4); ++n) {
      const auto dtype = static_cast<DType>(n);
      blocks.push_back(testing::random_blocks(dtype, {3, 512}, static_cast<std::uint64_t>(n)));
      writer.add_tensor(std::string(to_string(dtype)), blocks.back());
    }
    const GgufFile file = read(writer.bytes());
    EXPECT_TRUE(testing::close(file.tensors.at("floats").floats(), numbers, 0));
    EXPECT_TRUE(testing::close(file.tensors.at("halves").floats(),
                               stored(numbers, DType::F16).floats(), 0));
    for (const StoredTensor& block : blocks) {
      const StoredTensor& found = file.tensors.at(std::string(to_string(block.dtype)));
      EXPECT_EQ(found.dtype, block.dtype);
      EXPECT_TRUE(testing::close(found.floats(), block.floats(), 0)) << to_string(block.dtype);
    }
  }
}

TEST_F(Gguf, JoinsFilesOfAModel) {
  const Tensor numbers = testing::random_tensor({4}, 1);
  for (int part = 1; part <= 2; ++part) {
    GgufWriter writer;
    writer.add_integer("part", static_cast<std::uint32_t>(part));
    writer.add_tensor("t" + std::to_string(part), stored(numbers));
    write_file(folder_.path() / ("m-0000" + std::to_string(part) + "-of-00002.gguf"),
               writer.bytes());
  }
  for (const char* given : {"m-00001-of-00002.gguf", "m-00002-of-00002.gguf"}) {
    const GgufFile file = read_gguf(folder_.path() / given);
    EXPECT_EQ(file.metadata["part"], 1);
    EXPECT_EQ(file.tensors.size(), 2u);
  }
  std::filesystem::remove(folder_.path() / "m-00002-of-00002.gguf");
  EXPECT_THROW(read_gguf(folder_.path() / "m-00001-of-00002.gguf"), InputError);
}

TEST_F(Gguf, RejectsOtherFormatsByName) {
  GgufWriter writer;
  writer.add_tensor("t", stored(testing::random_tensor({32}, 1)));
  std::string bytes = writer.bytes();
  const std::size_t format = bytes.find(gguf_bytes(std::uint64_t{32})) + 8;
  bytes[format] = 16;
  EXPECT_EQ(refusal(bytes), "tensor t: IQ2_XXS is not supported");
  bytes[format] = 99;
  EXPECT_EQ(refusal(bytes), "tensor t: number format 99 is not supported");
}

TEST_F(Gguf, RejectsOtherVersionsAndFiles) {
  EXPECT_EQ(refusal(GgufWriter(1).bytes()), "expected GGUF version 2 or 3, found 1");
  EXPECT_EQ(refusal(GgufWriter(3u << 24).bytes()), "big-endian GGUF files are not supported");
  EXPECT_EQ(refusal("{\"a\": 1}"), "not a GGUF file");
  EXPECT_NE(refusal(""), "");
  EXPECT_FALSE(is_gguf(folder_.path()));
  EXPECT_FALSE(is_gguf(folder_.path() / "missing"));
}

// The reader must not allocate memory for counts that exceed the file.
TEST_F(Gguf, RejectsCountsBeyondTheFile) {
  const std::string header = "GGUF" + gguf_bytes(std::uint32_t{3});
  const std::uint64_t huge = std::uint64_t{1} << 60;
  EXPECT_NE(refusal(header + gguf_bytes(huge) + gguf_bytes(std::uint64_t{0})), "");
  EXPECT_NE(refusal(header + gguf_bytes(std::uint64_t{0}) + gguf_bytes(huge)), "");
  GgufWriter array;
  array.add_raw("tokens", 9, gguf_bytes(std::uint32_t{8}) + gguf_bytes(huge));
  EXPECT_EQ(refusal(array.bytes()),
            "tokens: an array of " + std::to_string(huge) + " values is too long");
  GgufWriter text;
  text.add_raw("name", 8, gguf_bytes(huge));
  EXPECT_NE(refusal(text.bytes()).find("expected at most"), std::string::npos);
}

TEST_F(Gguf, RejectsNestedArraysRepeatedKeysAndUnknownTypes) {
  const std::string inner = gguf_bytes(std::uint32_t{9}) + gguf_bytes(std::uint64_t{1});
  GgufWriter nested;
  nested.add_raw("a", 9, inner + inner + inner + inner);
  EXPECT_EQ(refusal(nested.bytes()), "a: arrays are nested too deeply");
  GgufWriter repeated;
  repeated.add_integer("a", 1);
  repeated.add_integer("a", 2);
  EXPECT_EQ(refusal(repeated.bytes()), "metadata key \"a\" is repeated");
  GgufWriter unknown;
  unknown.add_raw("a", 13, "");
  EXPECT_EQ(refusal(unknown.bytes()), "a: expected a value type below 13, found 13");
}

TEST_F(Gguf, RejectsTensorsBeyondTheFile) {
  GgufWriter writer;
  writer.add_tensor("t", stored(testing::random_tensor({64}, 1)));
  const std::string bytes = writer.bytes();
  EXPECT_NE(refusal(bytes.substr(0, bytes.size() - 1)).find("tensor t: expected 256 bytes"),
            std::string::npos);
  std::string large = bytes;
  const std::size_t size = bytes.find(gguf_bytes(std::uint64_t{64}));
  large.replace(size, 8, gguf_bytes(std::uint64_t{1} << 39));
  EXPECT_NE(refusal(large), "");
  std::string shifted = bytes;
  shifted.replace(size + 12, 8, gguf_bytes(std::uint64_t{7}));
  EXPECT_NE(refusal(shifted), "");
}

TEST_F(Gguf, RejectsIncompleteBlocks) {
  GgufWriter writer;
  StoredTensor tensor = testing::random_blocks(DType::Q4_0, {2, 32}, 1);
  tensor.shape = {4, 16};
  writer.add_tensor("t", tensor);
  EXPECT_EQ(refusal(writer.bytes()),
            "tensor t: expected rows of a multiple of 32 numbers for Q4_0, found shape [4, 16]");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
