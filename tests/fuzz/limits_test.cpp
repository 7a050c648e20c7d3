// Small files with a potentially large cost. The memory and time of a reader must be proportional
// to the size of its file, unless it rejects the file before allocation
// (assets/docs/guarantees.md).
#include "core/base/limits.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <ctime>
#include <functional>

#include "core/base/error.h"
#include "core/base/strict_json.h"
#include "core/base/zip.h"
#include "core/experiment/imported_tensors.h"
#include "core/figure/png.h"
#include "core/tensor/safetensors.h"
#include "tests/fuzz/memory.h"
#include "tests/fuzz/target.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr std::size_t kMegabyte = std::size_t{1} << 20;

struct Cost {
  std::size_t bytes = 0;
  double seconds = 0;
  std::string error;
};

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Cost measure_cost(const std::function<void()>& read) {
  Cost cost;
  fuzz::begin_counting();
  const double start = processor_seconds();
  try {
    read();
  } catch (const InputError& e) {
    cost.error = e.what();
  }
  cost.seconds = processor_seconds() - start;
  cost.bytes = fuzz::counted_peak();
  return cost;
}

// Times below kMinSeconds count as kMinSeconds. For four times the size, a quadratic reader would
// need 16 times as long.
void expect_linear(const Cost& once, const Cost& four_times) {
  constexpr double kMinSeconds = 0.002, kMaxRatio = 9;
  EXPECT_LT(four_times.seconds, kMaxRatio * std::max(once.seconds, kMinSeconds));
}

std::string repeated(std::size_t n, std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < n; ++i) result += text;
  return result;
}

Cost cost_of_empty_objects(std::size_t count) {
  const std::string text = "[{}" + repeated(count - 1, ",{}") + "]";
  return measure_cost([&] { EXPECT_EQ(parse_json(text, "f").size(), count); });
}

TEST(Limits, BoundJsonOfManyEmptyObjects) {
  const Cost quarter_cost = cost_of_empty_objects(25000), full_cost = cost_of_empty_objects(100000);
  expect_linear(quarter_cost, full_cost);
  EXPECT_LT(full_cost.bytes, 32 * kMegabyte);
}

TEST(Limits, BoundJsonOf31Megabytes) {
  const auto cost = [](std::size_t count) {
    const std::string text = "[[]" + repeated(count, ",{\"a\":1}") + "]";
    return measure_cost([&] { parse_json(text, "f"); });
  };
  const Cost quarter_cost = cost(31 * kMegabyte / 32), full_cost = cost(31 * kMegabyte / 8);
  expect_linear(quarter_cost, full_cost);
  EXPECT_LT(full_cost.bytes, 1400 * kMegabyte);  // 350 bytes per 8-byte object
}

TEST(Limits, BoundNestedJson) {
  const std::string text = std::string(kMegabyte, '[') + std::string(kMegabyte, ']');
  const Cost cost = measure_cost([&] { parse_json(text, "f"); });
  EXPECT_EQ(cost.error, "f: JSON nested deeper than " + std::to_string(Json::kMaxDepth));
  EXPECT_LT(cost.bytes, kMegabyte);
}

std::string header_of_tensors(std::size_t count) {
  std::string header = "{";
  for (std::size_t i = 0; i < count; ++i) {
    header += (i == 0 ? "\"" : ",\"") + std::to_string(i) +
              R"(":{"dtype":"U8","shape":[1],"data_offsets":[)" + std::to_string(i) + "," +
              std::to_string(i + 1) + "]}";
  }
  header += "}";
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header +
         std::string(count, '\0');
}

TEST(Limits, BoundSafetensorsOf20000Tensors) {
  const auto cost = [](std::size_t count) {
    const auto path = fuzz::write_input_file("f.safetensors", header_of_tensors(count));
    return measure_cost([&] { EXPECT_EQ(read_safetensors(path).tensors.size(), count); });
  };
  const Cost quarter_cost = cost(5000), full_cost = cost(20000);
  expect_linear(quarter_cost, full_cost);
  EXPECT_LT(full_cost.bytes, 64 * kMegabyte);
}

std::string little_endian(std::uint64_t value, std::size_t bytes) {
  return {reinterpret_cast<const char*>(&value), bytes};
}

// Raw deflate stream of zeros. Each megabyte is a separate block; all blocks except the last one
// are identical and can be repeated.
std::string deflated_zeros(std::size_t megabytes) {
  std::string out;
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  const std::string piece(kMegabyte, '\0');
  std::string buffer(kMegabyte, '\0');
  for (std::size_t i = 0; i < megabytes; ++i) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream.avail_in = static_cast<uInt>(piece.size());
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    deflate(&stream, i + 1 == megabytes ? Z_FINISH : Z_FULL_FLUSH);
    out.append(buffer, 0, buffer.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  return out;
}

// Archive with one deflated member. Its headers declare an unpacked size of `declared_size`.
std::string archive_of(const std::string& packed, std::uint64_t declared_size) {
  const std::string name = "a.npy";
  const std::string common_fields =
      little_endian(20, 2) + little_endian(0, 2) + little_endian(8, 2) + little_endian(0, 8) +
      little_endian(packed.size(), 4) + little_endian(declared_size, 4) +
      little_endian(name.size(), 2) + little_endian(0, 2);
  const std::string file = "PK\3\4" + common_fields + name + packed;
  const std::string directory = "PK\1\2" + little_endian(20, 2) + common_fields +
                                little_endian(0, 8) + little_endian(0, 2) + little_endian(0, 4) +
                                name;
  return file + directory + "PK\5\6" + little_endian(0, 4) + little_endian(1, 2) +
         little_endian(1, 2) + little_endian(directory.size(), 4) + little_endian(file.size(), 4) +
         little_endian(0, 2);
}

// An archive of 3.9 MB that unpacks to 4 GB. If a member is not an array, only its beginning is
// unpacked.
TEST(Limits, BoundArchiveThatUnpacksTo4Gigabytes) {
  const std::string repeated_stream = deflated_zeros(16);  // repeated 256 times below
  std::string packed;
  for (int i = 0; i < 255; ++i)
    packed += repeated_stream.substr(0, repeated_stream.size() * 15 / 16);
  const std::string bytes = archive_of(packed + repeated_stream, 0xfffffffe);
  EXPECT_GT(bytes.size(), 3 * kMegabyte);
  const auto path = fuzz::write_input_file("a.npz", bytes);
  const Cost cost = measure_cost([&] { read_imported_tensors({path.string(), "", "", 0, 0}); });
  EXPECT_NE(cost.error, "");
  EXPECT_LT(cost.bytes, 4 * bytes.size());
}

std::string big_endian(std::uint32_t value) {
  std::string bytes = little_endian(value, 4);
  std::ranges::reverse(bytes);
  return bytes;
}

// A PNG chunk of 1.5 MB whose text would unpack to 1.5 GB.
TEST(Limits, BoundImageWithLongText) {
  std::string text = "Comment";
  text += std::string("\0\0\x78\x9c", 4);
  const std::string piece = deflated_zeros(32);
  while (text.size() < 3 * kMegabyte / 2) text += piece.substr(0, piece.size() * 31 / 32);
  const std::string chunk = "zTXt" + text;
  const auto checksum =
      crc32(0, reinterpret_cast<const Bytef*>(chunk.data()), static_cast<uInt>(chunk.size()));
  std::string png = fuzz::source_file("assets/samples/digit.png");
  png.insert(33, big_endian(static_cast<std::uint32_t>(text.size())) + chunk +
                     big_endian(static_cast<std::uint32_t>(checksum)));
  const auto path = fuzz::write_input_file("f.png", png);
  const Cost cost = measure_cost([&] { read_png_metadata(path); });
  EXPECT_NE(cost.error, "");
  EXPECT_LT(cost.bytes, 2 * limits::kMaxPngText);
}

// A PNG file of a hundred bytes that declares a row of 67 million pixels.
TEST(Limits, BoundImageWithWideRow) {
  const auto path =
      fuzz::write_input_file("f.png", fuzz::source_file("tests/fuzz/found/png/wide-row"));
  const Cost cost = measure_cost([&] { read_png_metadata(path); });
  EXPECT_NE(cost.error.find("image too large"), std::string::npos) << cost.error;
  EXPECT_LT(cost.bytes, kMegabyte);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
