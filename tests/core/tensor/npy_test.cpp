#include "core/tensor/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "core/base/error.h"
#include "core/base/file.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

std::string npy(const std::string& header, const std::string& data, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  const auto length = static_cast<std::uint32_t>(header.size());
  bytes.append(reinterpret_cast<const char*>(&length), version == 1 ? 2 : 4);
  return bytes + header + data;
}

std::string header(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }\n";
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string refusal(const std::string& bytes) {
  try {
    parse_npy(bytes, "a.npy");
  } catch (const InputError& e) {
    EXPECT_TRUE(std::string(e.what()).starts_with("a.npy: ")) << e.what();
    return e.what();
  }
  return "";
}

TEST(Npy, RoundTrips) {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "a.npy";
  for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 3, 4}, Shape{0, 4}}) {
    const Tensor t = testing::random_tensor(shape, 1);
    write_npy(path, stored(t));
    EXPECT_EQ(std::filesystem::file_size(path) % 64,
              static_cast<std::uintmax_t>(t.size()) * 4 % 64);
    EXPECT_TRUE(testing::close(read_npy(path).floats(), t, 0));
  }
  write_npy(path, stored(IntTensor::from({2}, {-1, 5})));
  EXPECT_EQ(read_npy(path).integers()[0], -1);
  write_npy(path, stored(ByteTensor::from({2}, {0, 255})));
  EXPECT_EQ(read_npy(path).byte_values()[1], 255);
  write_npy(path, stored(Tensor::full({1}, 0.5f), DType::F16));
  EXPECT_EQ(read_npy(path).floats()[0], 0.5f);
  EXPECT_THROW(write_npy(path, stored(Tensor({1}), DType::BF16)), InputError);
}

TEST(Npy, ReadsAllVersionsAndTypes) {
  for (const int version : {1, 2, 3}) {
    const auto t = parse_npy(npy(header("<f4", "(2, 1)"), bytes_of<float>({1, 2}), version), "a");
    EXPECT_TRUE(testing::close(t.floats(), Tensor::from({2, 1}, {1, 2}), 0));
  }
  EXPECT_EQ(parse_npy(npy(header("<f8", "(1,)"), bytes_of<double>({0.25})), "a").floats()[0],
            0.25f);
  EXPECT_EQ(parse_npy(npy(header("<i8", "()"), bytes_of<std::int64_t>({-7})), "a").integers()[0],
            -7);
  EXPECT_EQ(parse_npy(npy(header("|b1", "(1,)"), "\x01"), "a").byte_values()[0], 1);
}

TEST(Npy, ConvertsFortranOrderToCOrder) {
  // Element [i, j, k] is 100 i + 10 j + k; the first axis varies fastest.
  std::vector<float> values;
  for (int k = 0; k < 4; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i) values.push_back(static_cast<float>(100 * i + 10 * j + k));
    }
  }
  const Tensor t = parse_npy(npy(header("<f4", "(2, 3, 4)", true), bytes_of(values)), "a").floats();
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int k = 0; k < 4; ++k) {
        EXPECT_EQ(t(i, j, k), static_cast<float>(100 * i + 10 * j + k));
      }
    }
  }
}

// NumPy strings consist of UCS-4 characters or of bytes, padded with zeros.
TEST(Npy, ReadsStrings) {
  // Three strings of three characters each.
  const std::string characters =
      bytes_of<std::uint32_t>({'a', 0x10ffff, 0, 0x110000, 0, 'b', 0xd800, 'c', 0});
  const auto texts = parse_npy_texts(npy(header("<U3", "(3,)"), characters), "a.npy");
  ASSERT_TRUE(texts.has_value());
  EXPECT_EQ(*texts,
            (std::vector<std::string>{"a\U0010ffff", std::string("\ufffd\0b", 5), "\ufffdc"}));
  const auto bytes = parse_npy_texts(npy(header("|S2", "(2,)"), std::string("xy\0\0", 4)), "a.npy");
  ASSERT_TRUE(bytes.has_value());
  EXPECT_EQ(*bytes, (std::vector<std::string>{"xy", ""}));
  EXPECT_FALSE(parse_npy_texts(npy(header("<f4", "(1,)"), bytes_of<float>({1})), "a.npy"));
}

TEST(Npy, ReportsInvalidFiles) {
  const std::string one_float = bytes_of<float>({1});
  EXPECT_EQ(refusal(npy(header("<f4", "(1,)"), one_float)), "");
  EXPECT_EQ(refusal("PK\x03\x04"), "a.npy: not a .npy file");
  EXPECT_NE(refusal(npy(header("<f4", "(1,)"), one_float, 4)).find("version 4"), std::string::npos);
  for (const char* descr : {">f4", "<U5", "|O", "<c8", "f4", ""}) {
    EXPECT_NE(refusal(npy(header(descr, "(1,)"), one_float)).find("type '"), std::string::npos)
        << descr;
  }
  for (const char* shape :
       {"(1)", "(2,)", "(-1,)", "1", "(1,,)", "(1.0,)", "(1 1)", "(9223372036854775807, 4)",
        "(99999999999999999999,)", "(4611686018427387904,)"}) {
    EXPECT_NE(refusal(npy(header("<f4", shape), one_float)), "") << shape;
  }
  for (const char* text :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': [('a', '<f4')], 'fortran_order': False}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
        "{'descr: '<f4', 'fortran_order': False, 'shape': (1,)}"}) {
    EXPECT_NE(refusal(npy(text, one_float)), "") << text;
  }
}

// The file size must be the header size plus the data size that the shape implies.
TEST(Npy, ChecksHeaderAgainstFileSize) {
  for (const std::string& begin :
       {npy(header("<f4", "(1000, 1000)"), "ab"), npy(header("|S8", "(500000,)"), "ab")}) {
    const std::size_t header_bytes = begin.size() - 2, data_bytes = 4'000'000;
    EXPECT_NO_THROW(check_npy(begin, header_bytes + data_bytes, "a.npy"));
    for (const std::size_t bytes :
         {header_bytes, header_bytes + data_bytes - 1, header_bytes + data_bytes + 1}) {
      EXPECT_THROW(check_npy(begin, bytes, "a.npy"), InputError) << bytes;
    }
    EXPECT_THROW(check_npy(begin.substr(0, 20), header_bytes + data_bytes, "a.npy"), InputError);
  }
}

TEST(Npy, SurvivesDamage) {
  const std::string good = npy(header("<f4", "(2, 2)"), bytes_of<float>({1, 2, 3, 4}));
  for (std::size_t n = 0; n < good.size(); ++n) EXPECT_NE(refusal(good.substr(0, n)), "") << n;
  EXPECT_NE(refusal(good + "x"), "");
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string bad = good;
    for (int k = 0; k < 2; ++k) bad[random() % bad.size()] = "\0\xff(),'19<"[random() % 9];
    try {
      parse_npy(bad, "a.npy").floats();
    } catch (const InputError&) {
      continue;
    }
  }
}

TEST(Npy, ReportsTruncation) {
  const std::string whole = npy(header("<f4", "(0,)"), "");
  EXPECT_EQ(refusal(whole), "") << "an empty array has no data";
  EXPECT_EQ(refusal(whole.substr(0, 7)), "a.npy: not a .npy file");
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{9}, whole.size() - 1}) {
    EXPECT_EQ(refusal(whole.substr(0, bytes)), "a.npy: the file ends inside its header");
  }
  EXPECT_NE(refusal(npy(header("<f4", "(0,)"), "", 0)).find("version 0"), std::string::npos);
}

TEST(Npy, LimitsRank) {
  const auto file_of_rank = [](int rank) {
    std::string shape = "(";
    for (int n = 0; n < rank; ++n) shape += "1, ";
    return npy(header("<f4", shape + ")"), bytes_of<float>({1}));
  };
  EXPECT_EQ(refusal(file_of_rank(32)), "");
  EXPECT_NE(refusal(file_of_rank(33)), "");
}

TEST(Npy, LimitsStringLength) {
  const auto texts = [](const std::string& descr) {
    return parse_npy_texts(npy(header(descr, "(0,)"), ""), "a.npy");
  };
  EXPECT_TRUE(texts("<U65536").has_value());
  EXPECT_THROW(texts("<U65537"), InputError);
  EXPECT_TRUE(texts("|S65536").has_value());
  EXPECT_THROW(texts("|S65537"), InputError);
  EXPECT_THROW(texts("|S4x"), InputError);
  EXPECT_THROW(parse_npy_texts(npy(header("|S1", "(1, 1)"), "a"), "a.npy"), InputError);
  const auto none = parse_npy_texts(npy(header("|S0", "(3,)"), ""), "a.npy");
  ASSERT_TRUE(none.has_value());
  EXPECT_TRUE(none->empty());
}

// The data begin at the first multiple of 64 bytes after the header.
TEST(Npy, WritesMinimalPadding) {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "a.npy";
  Shape shape;
  for (int n = 0; n < 16; ++n) {
    write_npy(path, stored(Tensor::full(shape, 1)));
    const std::string bytes = read_file(path);
    const std::size_t begin = bytes.size() - 4;
    EXPECT_EQ(begin % 64, 0u);
    ASSERT_EQ(bytes[begin - 1], '\n');
    const std::size_t last = bytes.find_last_of('}');
    EXPECT_LT(begin - 2 - last, 64u) << "axes " << n;
    shape.push_back(1);
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
