#include "core/input/image_table.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/base/limits.h"

namespace attnscope {
namespace {

// Reads a plain or gzipped file. zlib detects the kind.
std::string read_unpacked(const std::filesystem::path& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) throw InputError(path.string() + ": cannot be opened");
  std::string text;
  std::vector<char> buffer(std::size_t{1} << 16);
  for (;;) {
    const int count = gzread(file.get(), buffer.data(), static_cast<unsigned>(buffer.size()));
    if (count == 0) break;
    if (count < 0) throw InputError(path.string() + ": truncated or damaged");
    text.append(buffer.data(), static_cast<std::size_t>(count));
    if (text.size() > limits::kMaxImageTable) {
      throw InputError(path.string() + ": expected at most 1 GiB of images");
    }
  }
  int status = Z_OK;
  gzerror(file.get(), &status);
  if (status == Z_BUF_ERROR) throw InputError(path.string() + ": truncated or damaged");
  return text;
}

// Consumes a number and the comma after it, if any; -1 if there is no number.
Index next_number(std::string_view& line) {
  Index number = -1;
  const char* end = line.data() + line.size();
  const auto [next, error] = std::from_chars(line.data(), end, number);
  if (error != std::errc() || (next != end && *next != ',')) return -1;
  line.remove_prefix(static_cast<std::size_t>(next - line.data()) + (next == end ? 0 : 1));
  return number;
}

}  // namespace

bool is_image_table(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".csv") || name.ends_with(".csv.gz");
}

std::vector<std::vector<std::int32_t>> read_image_table(const std::filesystem::path& path,
                                                        Index pixels, Index levels) {
  const std::string text = read_unpacked(path);
  std::vector<std::vector<std::int32_t>> images;
  std::string_view rest = text;
  for (Index number = 1; !rest.empty(); ++number) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    std::vector<std::int32_t> image;
    while (static_cast<Index>(image.size()) < pixels) {
      const Index level = next_number(line);
      if (level < 0 || level >= levels) {
        throw InputError(path.string() + ", line " + std::to_string(number) + ": expected " +
                         std::to_string(pixels) + " levels from 0 to " +
                         std::to_string(levels - 1) + ", found another value at position " +
                         std::to_string(image.size() + 1));
      }
      image.push_back(static_cast<std::int32_t>(level));
    }
    if (line.find(',') != std::string_view::npos) {
      throw InputError(path.string() + ", line " + std::to_string(number) + ": expected " +
                       std::to_string(pixels) + " levels and at most a label, found more numbers");
    }
    images.push_back(std::move(image));
  }
  if (images.empty()) throw InputError(path.string() + ": expected images, found none");
  return images;
}

}  // namespace attnscope
