// Targets for file formats: JSON, safetensors, npy, zip, images, tables, regular expressions.
#include <stdexcept>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/strict_json.h"
#include "core/base/zip.h"
#include "core/checkpoint/checkpoint.h"
#include "core/figure/png.h"
#include "core/input/image_file.h"
#include "core/input/image_table.h"
#include "core/tensor/gguf.h"
#include "core/tensor/npy.h"
#include "core/tensor/safetensors.h"
#include "core/text/expression.h"
#include "core/text/file/gguf_tokenizer.h"
#include "tests/fuzz/target.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/random_blocks.h"

namespace attnscope::fuzz {
namespace {

constexpr std::size_t kMaxSeed = 20000, kMaxGgufSeed = 120'000;
constexpr std::size_t kMaxUnpacked = std::size_t{1} << 24;

void read_json(const std::string& input) {
  const Json value = parse_json(input, "f");
  // Round trip, indented and on one line.
  const Json reparsed = Json::parse_or_null(value.dump(2));
  if (reparsed != value || Json::parse(value.dump()) != value)
    throw std::logic_error("JSON changed in a round trip");
  value.flatten();
  value.dump_ascii();
}

void convert(const StoredTensor& tensor) {
  switch (tensor.dtype) {
    case DType::F32:
    case DType::F16:
    case DType::BF16:
    case DType::F64:
      tensor.floats();
      break;
    case DType::U8:
    case DType::Bool:
      tensor.byte_values();
      break;
    case DType::I32:
    case DType::I64:
      tensor.integers();
      break;
    default:
      tensor.copy();
  }
}

void read_safetensors_file(const std::string& input) {
  for (const auto& [name, tensor] :
       read_safetensors(write_input_file("f.safetensors", input)).tensors) {
    convert(tensor);
  }
  parse_safetensors(input, "f");
}

void read_gguf_file(const std::string& input) {
  const auto path = write_input_file("f.gguf", input);
  is_gguf(path);
  gguf_files(path);
  for (const auto& [name, tensor] : read_gguf(path).tensors) {
    if (is_quantised(tensor.dtype)) {
      has_finite_numbers(tensor.dtype, tensor.bytes, element_count(tensor.shape));
      tensor.floats();
    } else {
      convert(tensor);
    }
  }
  const auto ignore_errors = [](const auto& work) {
    try {
      work();
    } catch (const InputError&) {  // continues with the next reader
    }
  };
  ignore_errors([&] { gguf_tokenizer(read_gguf(path).metadata, "f")->encode("A b."); });
  ignore_errors([&] { load_checkpoint(path.string()); });
}

std::vector<std::string> gguf_seeds() {
  testing::GgufWriter writer;
  writer.add_text("general.architecture", "llama");
  writer.add_integer("general.alignment", 32);
  writer.add_flag("tokenizer.ggml.add_bos_token", true);
  writer.add_texts("tokenizer.ggml.tokens", {"<s>", "a", "b"});
  writer.add_reals("tokenizer.ggml.scores", {0, -1, -2});
  writer.add_integers("tokenizer.ggml.token_type", {3, 1, 1});
  for (int n = static_cast<int>(DType::Q4_0); n <= static_cast<int>(DType::MXFP4); ++n) {
    const auto dtype = static_cast<DType>(n);
    const StoredTensor blocks = testing::random_blocks(dtype, {1, 256}, 1);
    writer.add_tensor(std::string(to_string(dtype)), blocks);
  }
  std::vector<std::string> seeds = files_below("tests/gguf", ".gguf", kMaxGgufSeed);
  seeds.insert(seeds.end(), {writer.bytes(), testing::GgufWriter(2).bytes()});
  return seeds;
}

void read_npy_file(const std::string& input) {
  if (!parse_npy_texts(input, "f.npy")) convert(parse_npy(input, "f.npy"));
  check_npy(input, input.size(), "f.npy");
  read_npy(write_input_file("f.npy", input));
}

void read_zip_file(const std::string& input) {
  parse_zip(input, "f.npz", kMaxUnpacked,
            [](const std::string&, std::string_view, std::size_t bytes) { return bytes % 3 != 0; });
  read_zip(write_input_file("f.npz", input), kMaxUnpacked);
}

void read_png(const std::string& input) {
  is_png(input);
  read_png_metadata(write_input_file("f.png", input));
}

void read_picture(const std::string& input) {
  parse_image(input, "f.jpg", 16, 16, 256);
  const auto path = write_input_file("f.jpg", input);
  image_size(path);
  image_colours(path, 8, 8);
  parse_image_size(input, "f.jpg");
  parse_image_colours(input, "f.jpg", 8, 8);
  image_pixels(path, 4, 6, 16);
}

void read_tables(const std::string& input) {
  for (const char* name : {"t.csv", "t.csv.gz"}) {
    try {
      read_image_table(write_input_file(name, input), 4, 17);
    } catch (const InputError&) {
    }
  }
}

// The first line is the expression, all other lines are the text.
void read_expression(const std::string& input) {
  const std::size_t line = std::min(input.find('\n'), input.size());
  const Expression expression(input.substr(0, line), "f");
  std::size_t last = 0;
  const std::string text = input.substr(line);
  expression.each(text, [&](std::size_t begin, std::size_t end) {
    if (begin < last || end < begin || end > text.size())
      throw std::logic_error("invalid span of a match");
    last = end;
  });
}

std::vector<std::string> json_seeds() {
  std::vector<std::string> seeds = files_below("assets/lessons", ".json", kMaxSeed);
  seeds.emplace_back(R"({"a": [1, -2, 3.5e-7, true, null, "\u00e9\ud83d\ude00"], "b": {"": {}}})");
  seeds.emplace_back(std::string(90, '[') + std::string(90, ']'));
  return seeds;
}

std::vector<std::string> tensor_seeds() {
  return files_below("tests/conformance", ".safetensors", 3000);
}

// The first twelve archive members with fewer than 3,000 bytes.
std::vector<std::string> npy_seeds() {
  std::vector<std::string> seeds;
  for (const std::string& archive : files_below("tests/layouts", ".npz", 60000)) {
    for (const auto& [name, bytes] : parse_zip(archive, "seed", kMaxUnpacked)) {
      if (bytes.size() < 3000) seeds.push_back(bytes);
      if (seeds.size() >= 12) return seeds;
    }
  }
  return seeds;
}

std::vector<std::string> zip_seeds() {
  return files_below("tests/layouts/gpt2", ".npz", 60000);
}

std::vector<std::string> png_seeds() {
  std::vector<std::string> seeds = files_below("assets/samples", ".png", kMaxSeed);
  for (std::string& seed : files_below("assets/pictures", ".png", kMaxSeed)) {
    if (seeds.size() < 6) seeds.push_back(std::move(seed));
  }
  return seeds;
}

// PNG files, and one small image in each of several simple formats.
std::vector<std::string> picture_seeds() {
  std::vector<std::string> seeds = png_seeds();
  seeds.emplace_back("P5 2 2 255\n\0\x40\x80\xff", 15);
  seeds.emplace_back("P6 1 1 255\nabc");
  seeds.emplace_back(
      "BM\x3a\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\1\0\0\0\1\0\0\0\1\0\x18\0\0\0\0\0"
      "\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\2\3\0",
      58);
  seeds.emplace_back("GIF89a\1\0\1\0\x80\0\0\xff\xff\xff\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1\0;", 35);
  seeds.emplace_back("\0\0\2\0\0\0\0\0\0\0\0\0\1\0\1\0\x18\0\1\2\3", 21);  // TGA
  return seeds;
}

std::vector<std::string> table_seeds() {
  return {"0,1,2,3,9\n16,15,14,13,8\n", "0, 1, 2, 3\r\n4,4,4,4"};
}

std::vector<std::string> expression_seeds() {
  return {
      "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+"
      "[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+\nIt's 1234 caf\xc3\xa9s,\n ok ",
      "[[a-z]&&[^aeiou]]+|\\h{2,3}+|\\p{Han}\nstrength ffff",
      "(?<!a)b\\b|\\x{41}|[^\\W\\d_]\nab b A"};
}

}  // namespace

Target json_target() {
  return {"json", Format::Json, read_json, json_seeds};
}
Target gguf_target() {
  return {"gguf", Format::Bytes, read_gguf_file, gguf_seeds};
}

Target safetensors_target() {
  return {"safetensors", Format::Safetensors, read_safetensors_file, tensor_seeds};
}
Target npy_target() {
  return {"npy", Format::Npy, read_npy_file, npy_seeds};
}
Target zip_target() {
  return {"zip", Format::Zip, read_zip_file, zip_seeds};
}
Target png_target() {
  return {"png", Format::Png, read_png, png_seeds};
}
Target image_target() {
  return {"image", Format::Png, read_picture, picture_seeds};
}
Target picture_table_target() {
  return {"picture_table", Format::Bytes, read_tables, table_seeds};
}
Target expression_target() {
  return {"expression", Format::Bytes, read_expression, expression_seeds};
}

}  // namespace attnscope::fuzz
