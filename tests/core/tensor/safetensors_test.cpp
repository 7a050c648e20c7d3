#include "core/tensor/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/stop.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::TemporaryFolder;

std::string file_bytes(const std::string& header, std::size_t data_bytes) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + std::string(data_bytes, '\0');
}

class Safetensors : public ::testing::Test {
 protected:
  // The error message without the file's name; "" if the file is valid.
  std::string refusal(const std::string& bytes) {
    write_file(path_, bytes);
    try {
      read_safetensors(path_);
    } catch (const InputError& e) {
      const std::string begin = path_.string() + ": ";
      EXPECT_TRUE(std::string(e.what()).starts_with(begin)) << e.what();
      return std::string(e.what()).substr(begin.size());
    }
    return "";
  }
  std::string refusal(const std::string& header, std::size_t data_bytes) {
    return refusal(file_bytes(header, data_bytes));
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "a.safetensors";
};

TEST_F(Safetensors, RoundTrips) {
  const Tensor floats = testing::random_tensor({3, 5}, 1);
  const ByteTensor bytes = ByteTensor::from({3}, {0, 1, 255});
  const IntTensor integers = IntTensor::from({2, 1}, {-7, 1 << 30});
  SafetensorsFile file;
  file.tensors["floats"] = stored(floats);
  file.tensors["half"] = stored(floats, DType::F16);
  file.tensors["bfloat"] = stored(floats, DType::BF16);
  file.tensors["bytes"] = stored(bytes);
  file.tensors["integers"] = stored(integers);
  file.tensors["none"] = stored(Tensor({4, 0}));
  file.tensors["scalar"] = stored(Tensor::full({}, 2.5f));
  file.metadata["spec"] = "{\"a\": \"\xc3\xa9\"}";
  write_safetensors(path_, file);

  const SafetensorsFile back = read_safetensors(path_);
  EXPECT_EQ(back.tensors.size(), file.tensors.size());
  EXPECT_EQ(back.metadata, file.metadata);
  EXPECT_TRUE(testing::close(back.tensors.at("floats").floats(), floats, 0));
  EXPECT_TRUE(testing::close(back.tensors.at("half").floats(), floats, 1e-3));
  EXPECT_TRUE(testing::close(back.tensors.at("bfloat").floats(), floats, 1e-2));
  EXPECT_EQ(back.tensors.at("bytes").byte_values()[2], 255);
  EXPECT_EQ(back.tensors.at("integers").integers()[1], 1 << 30);
  EXPECT_EQ(back.tensors.at("none").shape, (Shape{4, 0}));
  EXPECT_EQ(back.tensors.at("scalar").floats()[0], 2.5f);
  EXPECT_THROW(back.tensors.at("bytes").floats(), InputError);
  EXPECT_THROW(back.tensors.at("floats").integers(), InputError);
  EXPECT_THROW(back.tensors.at("integers").byte_values(), InputError);
}

// The first conversion releases the mapped pages; the second conversion reads these pages from the
// file again.
TEST_F(Safetensors, ReadsLargeTensorsTwice) {
  SafetensorsFile file;
  const Tensor large = testing::random_tensor({300, 100}, 1);
  file.tensors["a"] = file.tensors["b"] = stored(large);
  write_safetensors(path_, file);
  const SafetensorsFile back = read_safetensors(path_);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(testing::close(back.tensors.at("a").floats(), large, 0));
    EXPECT_TRUE(testing::close(back.tensors.at("b").floats(), large, 0));
  }
  EXPECT_TRUE(testing::close(file.tensors.at("a").floats(), large, 0));
}

TEST_F(Safetensors, ReadsUnalignedWideTypes) {
  std::string bytes = file_bytes(R"({"b":{"dtype":"BOOL","shape":[1],"data_offsets":[0,1]},)"
                                 R"("d":{"dtype":"F64","shape":[1],"data_offsets":[1,9]},)"
                                 R"("i":{"dtype":"I64","shape":[2],"data_offsets":[9,25]}})",
                                 25);
  const double value = 0.125;
  const std::int64_t integers[] = {-5, std::int64_t{1} << 40};
  std::memcpy(bytes.data() + bytes.size() - 24, &value, 8);
  std::memcpy(bytes.data() + bytes.size() - 16, integers, 16);
  write_file(path_, bytes);
  const SafetensorsFile file = read_safetensors(path_);
  EXPECT_EQ(file.tensors.at("d").floats()[0], 0.125f);
  EXPECT_THROW(file.tensors.at("i").integers(), InputError) << "2^40 exceeds 32 bits";
}

TEST_F(Safetensors, KnowsSizesOfUnsupportedTypes) {
  const std::pair<const char*, int> cases[] = {
      {"I8", 1}, {"I16", 2}, {"U16", 2}, {"U32", 4}, {"U64", 8}, {"F8_E4M3", 1}, {"F8_E5M2", 1}};
  for (const auto& [dtype, size] : cases) {
    const auto header = [&](int bytes) {
      return R"({"a":{"dtype":")" + std::string(dtype) + R"(","shape":[3],"data_offsets":[0,)" +
             std::to_string(bytes) + "]}}";
    };
    EXPECT_EQ(refusal(header(3 * size), static_cast<std::size_t>(3 * size)), "") << dtype;
    EXPECT_NE(refusal(header(3 * size + 1), static_cast<std::size_t>(3 * size + 1)), "") << dtype;
    write_file(path_, file_bytes(header(3 * size), static_cast<std::size_t>(3 * size)));
    EXPECT_THROW(read_safetensors(path_).tensors.at("a").floats(), InputError) << dtype;
  }
}

TEST_F(Safetensors, RejectsInvalidFiles) {
  EXPECT_THROW(read_safetensors(folder_.path() / "missing"), InputError);
  EXPECT_THROW(read_safetensors(folder_.path()), InputError);
  EXPECT_NE(refusal(""), "");
  EXPECT_NE(refusal("1234567"), "");
  EXPECT_NE(refusal(std::string(8, '\xff') + "{}"), "");
  EXPECT_NE(refusal(std::string("\x09\0\0\0\0\0\0\0", 8) + "{}"), "");
  EXPECT_NE(refusal("[]", 0), "");
  EXPECT_NE(refusal(" {}", 0), "");
  EXPECT_NE(refusal("{} x", 0), "");
  EXPECT_NE(refusal(std::string("{}\0\0", 4), 0), "");
  EXPECT_EQ(refusal("{}   ", 0), "");
}

TEST_F(Safetensors, RejectsInvalidEntries) {
  const auto refusal_of_tensor = [&](const std::string& entry) {
    return refusal("{\"t\":" + entry + "}", 8);
  };
  const std::string dtype = R"("dtype":"F32",)", shape = R"("shape":[2],)";
  const std::string offsets = R"("data_offsets":[0,8])";
  EXPECT_EQ(refusal_of_tensor("{" + dtype + shape + offsets + "}"), "");
  for (const std::string& entry :
       {std::string("3"), std::string("[]"), "{" + shape + offsets + "}",
        "{" + dtype + offsets + "}", "{" + dtype + R"("shape":[2]})",
        "{" + dtype + shape + offsets + R"(,"more":1})",
        R"({"dtype":"F31",)" + shape + offsets + "}", R"({"dtype":4,)" + shape + offsets + "}",
        "{" + dtype + R"("shape":[-2],)" + offsets + "}",
        "{" + dtype + R"("shape":[2.0],)" + offsets + "}",
        "{" + dtype + R"("shape":2,)" + offsets + "}",
        "{" + dtype + R"("shape":[18446744073709551615],)" + offsets + "}",
        "{" + dtype + R"("shape":[4611686018427387904,4],)" + offsets + "}",
        "{" + dtype + R"("shape":[3],)" + offsets + "}",
        "{" + dtype + shape + R"("data_offsets":[0]})",
        "{" + dtype + shape + R"("data_offsets":[8,0]})",
        "{" + dtype + shape + R"("data_offsets":[0,-8]})",
        "{" + dtype + shape + R"("data_offsets":"0,8"})"}) {
    EXPECT_TRUE(refusal_of_tensor(entry).starts_with("tensor \"t\": "))
        << entry << ": " << refusal_of_tensor(entry);
  }
  EXPECT_NE(refusal(R"({"__metadata__":3})", 0), "");
  EXPECT_NE(refusal(R"({"__metadata__":{"a":3}})", 0), "");
}

TEST_F(Safetensors, RejectsOverlapsGapsAndDuplicateKeys) {
  const auto refusal_of_two = [&](const std::string& a, const std::string& b, std::size_t bytes) {
    return refusal(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":)" + a +
                       R"(},"b":{"dtype":"U8","shape":[4],"data_offsets":)" + b + "}}",
                   bytes);
  };
  EXPECT_EQ(refusal_of_two("[0,4]", "[4,8]", 8), "");
  EXPECT_EQ(refusal_of_two("[4,8]", "[0,4]", 8), "");
  EXPECT_NE(refusal_of_two("[0,4]", "[2,6]", 8).find("overlap"), std::string::npos);
  EXPECT_NE(refusal_of_two("[0,4]", "[0,4]", 4).find("overlap"), std::string::npos);
  EXPECT_NE(refusal_of_two("[0,4]", "[5,9]", 9).find("gap"), std::string::npos);
  EXPECT_NE(refusal_of_two("[1,5]", "[5,9]", 9).find("gap"), std::string::npos);
  EXPECT_NE(refusal_of_two("[0,4]", "[4,8]", 7).find("ends before"), std::string::npos);
  EXPECT_NE(refusal_of_two("[0,4]", "[4,8]", 9), "");
  const std::string entry = R"({"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  EXPECT_EQ(refusal("{\"a\":" + entry + ",\"a\":" + entry + "}", 0),
            "key \"a\" occurs twice in one object");
}

// Truncated files are rejected. Damaged files are read or rejected, without a crash.
TEST_F(Safetensors, SurvivesDamage) {
  SafetensorsFile file;
  file.tensors["floats"] = stored(testing::random_tensor({3, 5}, 1));
  file.tensors["bytes"] = stored(ByteTensor::from({3}, {0, 1, 255}));
  write_safetensors(path_, file);
  const std::string good = read_file(path_);
  for (std::size_t n = 0; n < good.size(); ++n) EXPECT_NE(refusal(good.substr(0, n)), "") << n;
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    std::string bad = good;
    for (int k = 0; k < 3; ++k) bad[random() % (bad.size() - 70)] = static_cast<char>(random());
    write_file(path_, bad);
    try {
      for (const auto& [name, tensor] : read_safetensors(path_).tensors) {
        if (tensor.dtype == DType::F32) tensor.floats();
      }
    } catch (const InputError&) {
      continue;
    }
  }
}

TEST_F(Safetensors, FailedWriteKeepsOldFile) {
  write_file(path_, "old");
  SafetensorsFile file;
  file.tensors["\xff"] = stored(Tensor({1}));
  EXPECT_THROW(write_safetensors(path_, file), InputError);
  EXPECT_EQ(read_file(path_), "old");
}

// Large tensors are read in chunks, with cancellation checks in between.
TEST_F(Safetensors, ReadingCanBeCancelled) {
  const StoredTensor numbers = stored(Tensor::full({1000}, 1), DType::BF16);
  const Stop stop;
  const StopScope scope(stop);
  EXPECT_EQ(numbers.floats()[999], 1);
  stop.request();
  EXPECT_THROW(numbers.floats(), Stopped);
  EXPECT_THROW(numbers.copy(), Stopped);
}

// Tensors longer than one chunk.
TEST_F(Safetensors, ReadsTensorsOfSeveralChunks) {
  const Index size = (Index{1} << 20) + 7;
  Tensor values({size});
  for (Index i = 0; i < size; ++i) values[i] = static_cast<float>(i % 1021 - 500);
  SafetensorsFile file;
  file.tensors["float"] = stored(values);
  file.tensors["half"] = stored(values, DType::F16);
  write_safetensors(path_, file);
  const SafetensorsFile back = read_safetensors(path_);
  for (const char* name : {"float", "half"}) {
    const StoredTensor& read = back.tensors.at(name);
    EXPECT_TRUE(read.mapped) << name;
    EXPECT_TRUE(testing::close(read.floats(), values, 0)) << name;
    const StoredTensor copy = read.copy();
    EXPECT_FALSE(copy.mapped) << name;
    EXPECT_EQ(copy.dtype, read.dtype) << name;
    EXPECT_TRUE(testing::close(copy.floats(), values, 0)) << name;
  }
}

TEST_F(Safetensors, ReadsFullInt32Range) {
  constexpr std::int64_t min = std::numeric_limits<std::int32_t>::min(),
                         max = std::numeric_limits<std::int32_t>::max();
  const auto read = [&](std::int64_t value) {
    std::string bytes = file_bytes(R"({"i":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})", 8);
    std::memcpy(bytes.data() + bytes.size() - 8, &value, 8);
    write_file(path_, bytes);
    return read_safetensors(path_).tensors.at("i").integers()[0];
  };
  EXPECT_EQ(read(min), min);
  EXPECT_EQ(read(max), max);
  EXPECT_THROW(read(min - 1), InputError);
  EXPECT_THROW(read(max + 1), InputError);
}

TEST_F(Safetensors, ReportsErrorLocation) {
  EXPECT_EQ(refusal(std::string(7, '\0')),
            "not a safetensors file: expected at least 8 bytes, found 7");
  EXPECT_EQ(refusal(std::string(8, '\0')),
            "not a safetensors file: the header is not a JSON object");
  EXPECT_EQ(refusal(std::string("\x09\0\0\0\0\0\0\0", 8) + "{}"),
            "not a safetensors file: header of 9 bytes in a file of 10");
  const auto entry = [](const char* offsets) {
    return R"({"dtype":"U8","shape":[4],"data_offsets":)" + std::string(offsets) + "}";
  };
  EXPECT_EQ(refusal(R"({"a":)" + entry("[0,4]") + R"(,"b":)" + entry("[5,9]") + "}", 9),
            "tensor \"b\": begins at byte 5, expected 4 (a gap between tensors)");
  EXPECT_EQ(refusal(R"({"a":)" + entry("[0,4]") + R"(,"b":)" + entry("[3,7]") + "}", 7),
            "tensor \"b\": begins at byte 3, expected 4 (tensors overlap)");
  EXPECT_EQ(refusal(R"({"a":)" + entry("[0,4]") + "}", 3),
            "tensor \"a\": ends at byte 4, expected at most 3 (the file ends before the tensors "
            "do)");
  EXPECT_EQ(refusal(R"({"a":)" + entry("[0,4]") + "}", 6), "expected 4 bytes of tensors, found 6");
  EXPECT_EQ(refusal(R"({"a":)" + entry("[1,6]") + "}", 6),
            "tensor \"a\": shape [4] of U8 needs 4 bytes, found 5");
  EXPECT_EQ(
      refusal(R"({"a":{"dtype":"U8","shape":[9223372036854775807,0],"data_offsets":[0,0]}})", 0),
      "");
  EXPECT_NE(
      refusal(R"({"a":{"dtype":"U8","shape":[9223372036854775808,0],"data_offsets":[0,0]}})", 0),
      "");
}

// The reference library accepts headers of at most 100,000,000 bytes.
TEST_F(Safetensors, LimitsHeaderSize) {
  for (const auto& [length, message] :
       {std::pair(std::uint64_t{100'000'000}, "the header is not a JSON object"),
        std::pair(std::uint64_t{100'000'001}, "header of 100000001 bytes in a file of 2")}) {
    std::string prefix(8, '\0');
    std::memcpy(prefix.data(), &length, 8);
    write_file(path_, prefix);
    std::filesystem::resize_file(path_, 200'000'000);
    try {
      read_safetensors(path_);
      ADD_FAILURE() << length;
    } catch (const InputError& e) {
      EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
    }
  }
}

// Every tensor is aligned to its element size, with minimal padding of the header.
TEST_F(Safetensors, AlignsTensors) {
  for (std::size_t length = 1; length <= 16; ++length) {
    SafetensorsFile file;
    file.tensors["a" + std::string(length, 'x')] = stored(ByteTensor::from({3}, {1, 2, 3}));
    file.tensors["b"] = stored(Tensor::full({3}, 0.5f), DType::F16);
    file.tensors["c"] = stored(Tensor::full({5}, 0.25f));
    write_safetensors(path_, file);
    const SafetensorsFile back = read_safetensors(path_);
    for (const auto& [name, tensor] : back.tensors) {
      const auto size = static_cast<std::uintptr_t>(byte_size(tensor.dtype));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.bytes) % size, 0u) << name;
    }
    const std::string bytes = read_file(path_);
    std::uint64_t header = 0;
    std::memcpy(&header, bytes.data(), 8);
    EXPECT_EQ(bytes.size(), 8 + header + 3 + 6 + 20);
    EXPECT_EQ(header % 8, 0u);
    const std::size_t last = bytes.substr(8, header).find_last_not_of(' ');
    EXPECT_LT(header - 1 - last, 8u) << "spaces after " << last;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
