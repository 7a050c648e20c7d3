#include "core/tensor/npy.h"

#include <utf8proc.h>

#include <array>
#include <charconv>
#include <cstring>

#include "core/base/error.h"
#include "core/base/file.h"

namespace attnscope {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kMagic = "\x93NUMPY"sv;
constexpr std::size_t kAlignment = 64;  // alignment of the data in the file
constexpr std::size_t kMaxQuoted = 40;  // bytes of a header value in a message
constexpr std::size_t kMaxRank = 32;    // NumPy's limit

struct Kind {
  std::string_view descr;
  DType dtype;
};
constexpr std::array<Kind, 7> kKinds{{{"<f4", DType::F32},
                                      {"<f2", DType::F16},
                                      {"<f8", DType::F64},
                                      {"<i4", DType::I32},
                                      {"<i8", DType::I64},
                                      {"|u1", DType::U8},
                                      {"|b1", DType::Bool}}};

struct Header {
  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<Shape> shape;
};

// Parser of the header, a Python dictionary:
// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderReader {
 public:
  HeaderReader(std::string_view text, std::string_view name) : rest_(text), name_(name) {}

  Header read() {
    Header header;
    expect('{');
    while (!accept('}')) {
      read_member(header);
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (!rest_.empty()) fail("nothing after the dictionary");
    if (!header.descr || !header.fortran_order || !header.shape) {
      fail("the keys descr, fortran_order, shape");
    }
    return header;
  }

 private:
  void read_member(Header& header) {
    const std::string_view key = read_quoted();
    expect(':');
    if (key == "descr" && !header.descr) {
      header.descr = read_quoted();
    } else if (key == "fortran_order" && !header.fortran_order) {
      header.fortran_order = read_boolean();
    } else if (key == "shape" && !header.shape) {
      header.shape = read_shape();
    } else {
      throw InputError(name_ + ": header key '" + std::string(key) + "': unknown or duplicate");
    }
  }

  void skip_space() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n')) rest_.remove_prefix(1);
  }
  bool accept(char c) {
    skip_space();
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("'") + c + "'");
  }
  [[noreturn]] void fail(const std::string& expected) const {
    throw InputError(name_ + ": header: expected " + expected + ", found \"" +
                     std::string(rest_.substr(0, kMaxQuoted)) + "\"");
  }

  std::string_view read_quoted() {
    skip_space();
    const char quote = rest_.empty() ? '\0' : rest_[0];
    const std::size_t end = rest_.find(quote, 1);
    if ((quote != '\'' && quote != '"') || end == std::string_view::npos) fail("a quoted text");
    const std::string_view text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return text;
  }

  bool read_boolean() {
    skip_space();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    fail("True or False");
  }

  Shape read_shape() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      shape.push_back(read_size());
      if (shape.size() > kMaxRank) fail("at most 32 dimensions");
      if (!accept(',')) {
        if (shape.size() == 1) fail("','");  // "(3)" is not a tuple
        expect(')');
        break;
      }
    }
    return shape;
  }

  Index read_size() {
    skip_space();
    Index value = -1;
    const auto result = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (result.ec != std::errc() || value < 0) fail("a size");
    rest_.remove_prefix(static_cast<std::size_t>(result.ptr - rest_.data()));
    return value;
  }

  std::string_view rest_;
  std::string name_;
};

DType dtype_of(const std::string& descr, const std::string& name) {
  for (const Kind& kind : kKinds) {
    const bool is_single_byte = byte_size(kind.dtype) == 1;  // "<u1" equals "|u1"
    if (descr == kind.descr ||
        (is_single_byte && descr.substr(0, 1) == "<" && descr.substr(1) == kind.descr.substr(1))) {
      return kind.dtype;
    }
  }
  throw InputError(name + ": type '" + descr.substr(0, kMaxQuoted) +
                   "': expected <f2, <f4, <f8, <i4, <i8, |u1 or |b1");
}

// Reorders elements of `size` bytes from Fortran order to C order.
std::string to_c_order(std::string_view bytes, const Shape& shape, std::size_t size) {
  std::string result(bytes.size(), '\0');
  std::vector<Index> index(shape.size(), 0);  // index of the next element in C order
  const std::size_t count = bytes.size() / size;
  for (std::size_t to = 0; to < count; ++to) {
    Index from = 0;
    for (std::size_t axis = shape.size(); axis-- > 0;) from = from * shape[axis] + index[axis];
    std::memcpy(result.data() + to * size, bytes.data() + static_cast<std::size_t>(from) * size,
                size);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < shape[axis]) break;
      index[axis] = 0;
    }
  }
  return result;
}

std::size_t byte_count(const Shape& shape, std::size_t size, const std::string& name) {
  std::size_t bytes = 0;
  bool too_large = false;
  try {
    too_large =
        __builtin_mul_overflow(static_cast<std::size_t>(element_count(shape)), size, &bytes);
  } catch (const InputError&) {
    too_large = true;
  }
  if (too_large) throw InputError(name + ": shape " + to_string(shape) + ": too large");
  return bytes;
}

// Returns the part of the file that is the header's text.
std::string_view header_text(std::string_view bytes, const std::string& name) {
  if (!bytes.starts_with(kMagic) || bytes.size() < kMagic.size() + 2) {
    throw InputError(name + ": not a .npy file");
  }
  const int version = static_cast<unsigned char>(bytes[kMagic.size()]);
  if (version < 1 || version > 3) {
    throw InputError(name + ": .npy version " + std::to_string(version) + ": expected 1 to 3");
  }
  const std::size_t length_size = version == 1 ? 2 : 4, begin = kMagic.size() + 2 + length_size;
  std::uint32_t length = 0;
  if (bytes.size() >= begin) std::memcpy(&length, bytes.data() + begin - length_size, length_size);
  if (bytes.size() < begin || length > bytes.size() - begin) {
    throw InputError(name + ": the file ends inside its header");
  }
  return bytes.substr(begin, length);
}

// Returns the data size in bytes that the header implies. InputError unless it equals `found`.
std::size_t check_byte_count(const Shape& shape, std::size_t size, const std::string& descr,
                             std::size_t found, const std::string& name) {
  const std::size_t expected = byte_count(shape, size, name);
  if (expected != found) {
    throw InputError(name + ": shape " + to_string(shape) + " of '" + descr + "' needs " +
                     std::to_string(expected) + " bytes, found " + std::to_string(found));
  }
  return expected;
}

// Type of strings with `length` characters of `unit` bytes: 4 (UCS-4) or 1.
struct TextType {
  std::size_t unit = 1, length = 0;
  std::size_t size() const { return unit * length; }
};

// Returns nullopt for other types. InputError if the array is not one-dimensional or its strings
// are too long.
std::optional<TextType> parse_text_type(const Header& header, const std::string& name) {
  constexpr std::size_t kMaxText = 1 << 16;  // characters
  const std::string& descr = *header.descr;
  const bool is_wide = descr.starts_with("<U");
  if (!is_wide && !descr.starts_with("|S")) return std::nullopt;
  TextType type{is_wide ? 4U : 1U, 0};
  const auto number = std::from_chars(descr.data() + 2, descr.data() + descr.size(), type.length);
  if (number.ec != std::errc() || number.ptr != descr.data() + descr.size() ||
      type.length > kMaxText || header.shape->size() != 1) {
    throw InputError(name + ": expected one axis of strings of at most " +
                     std::to_string(kMaxText) + " characters, found '" +
                     descr.substr(0, kMaxQuoted) + "' " + to_string(*header.shape));
  }
  return type;
}

// Decodes one zero-padded string of `unit` bytes per character, 4 (UCS-4) or 1.
std::string decode_text(std::string_view bytes, std::size_t unit) {
  constexpr std::uint32_t kLastCode = 0x10FFFF;
  constexpr int kReplacement = 0xFFFD;
  std::string text;
  std::size_t length = 0;  // length without trailing zeros
  for (std::size_t offset = 0; offset < bytes.size(); offset += unit) {
    std::uint32_t code = 0;
    std::memcpy(&code, bytes.data() + offset, unit);
    if (unit == 1) {
      text += static_cast<char>(code);
    } else {
      const bool valid = code <= kLastCode && utf8proc_codepoint_valid(static_cast<int>(code));
      utf8proc_uint8_t character[4];
      const auto size =
          utf8proc_encode_char(valid ? static_cast<int>(code) : kReplacement, character);
      text.append(reinterpret_cast<const char*>(character), static_cast<std::size_t>(size));
    }
    if (code != 0) length = text.size();
  }
  text.resize(length);
  return text;
}

}  // namespace

void check_npy(std::string_view begin, std::size_t bytes, std::string_view file_name) {
  const std::string name(file_name);
  const std::string_view text = header_text(begin, name);
  const Header header = HeaderReader(text, name).read();
  const auto offset = static_cast<std::size_t>(text.end() - begin.data());
  const std::optional<TextType> texts = parse_text_type(header, name);
  const std::size_t size =
      texts ? texts->size() : static_cast<std::size_t>(byte_size(dtype_of(*header.descr, name)));
  check_byte_count(*header.shape, size, *header.descr, bytes - offset, name);
}

std::optional<std::vector<std::string>> parse_npy_texts(std::string_view bytes,
                                                        std::string_view file_name) {
  const std::string name(file_name);
  const std::string_view text = header_text(bytes, name);
  const Header header = HeaderReader(text, name).read();
  const std::string& descr = *header.descr;
  const std::optional<TextType> type = parse_text_type(header, name);
  if (!type) return std::nullopt;
  const std::size_t unit = type->unit, size = type->size();
  const std::string_view data = bytes.substr(static_cast<std::size_t>(text.end() - bytes.data()));
  check_byte_count(*header.shape, size, descr, data.size(), name);
  std::vector<std::string> texts;
  for (Index i = 0; i < header.shape->front() && size > 0; ++i) {
    texts.push_back(decode_text(data.substr(static_cast<std::size_t>(i) * size, size), unit));
  }
  return texts;
}

StoredTensor parse_npy(std::string bytes, std::string_view file_name) {
  const std::string name(file_name);
  const std::string_view text = header_text(bytes, name);
  const Header header = HeaderReader(text, name).read();
  const std::string_view data =
      std::string_view(bytes).substr(static_cast<std::size_t>(text.end() - bytes.data()));
  const Shape& shape = *header.shape;
  const DType dtype = dtype_of(*header.descr, name);
  const std::size_t size = static_cast<std::size_t>(byte_size(dtype));
  const std::size_t expected = check_byte_count(shape, size, *header.descr, data.size(), name);
  const std::size_t offset = bytes.size() - data.size();
  const bool reorder = *header.fortran_order && shape.size() > 1 && expected > 0;
  auto owner = std::make_shared<const std::string>(reorder ? to_c_order(data, shape, size)
                                                           : std::move(bytes));
  const auto* first = reinterpret_cast<const std::uint8_t*>(owner->data()) + (reorder ? 0 : offset);
  return {dtype, shape, first, std::move(owner)};
}

StoredTensor read_npy(const std::filesystem::path& path) {
  return parse_npy(read_file(path), path.string());
}

void write_npy(const std::filesystem::path& path, const StoredTensor& tensor) {
  std::string_view descr;
  for (const Kind& kind : kKinds) {
    if (kind.dtype == tensor.dtype) descr = kind.descr;
  }
  if (descr.empty()) {
    throw InputError(path.string() + ": a .npy file cannot hold " +
                     std::string(to_string(tensor.dtype)));
  }
  std::string shape = "(";
  for (const Index n : tensor.shape) shape += std::to_string(n) + ", ";
  if (tensor.shape.size() > 1)
    shape.resize(shape.size() - 2);  // a one-element tuple keeps its comma
  std::string header =
      "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': " + shape + "), }";
  const std::size_t begin = kMagic.size() + 4;
  const std::size_t end = (begin + header.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  header.resize(end - begin - 1, ' ');
  header += '\n';
  const auto length = static_cast<std::uint16_t>(header.size());
  std::string prefix(kMagic);
  prefix += "\x01\x00"sv;
  prefix.append(reinterpret_cast<const char*>(&length), 2);
  const auto bytes =
      static_cast<std::size_t>(element_count(tensor.shape) * byte_size(tensor.dtype));
  write_file(path,
             {prefix, header,
              bytes == 0 ? std::string_view()
                         : std::string_view(reinterpret_cast<const char*>(tensor.bytes), bytes)});
}

}  // namespace attnscope
