#include "core/experiment/imported_tensors.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>
#include <variant>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/limits.h"
#include "core/base/lower_case.h"
#include "core/base/strict_json.h"
#include "core/base/zip.h"
#include "core/experiment/image_tensors.h"
#include "core/input/image_file.h"
#include "core/tensor/npy.h"
#include "core/tensor/safetensors.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

const char* const kExpected =
    "expected a tensor \"attention\" of shape [L, L], [h, L_q, L_k] or [layers, h, L_q, L_k], or "
    "\"q\" and \"k\" of shape [h, L, d_k] or [layers, h, L, d_k]";

// Contents of a file of any format: arrays and token lists by name.
struct FileContents {
  std::string file;  // prefix of error messages
  std::map<std::string, StoredTensor> arrays;
  std::map<std::string, std::vector<std::string>> texts;
  std::map<std::string, std::string> unreadable;  // reasons why arrays cannot be read
};

std::vector<std::string> read_json_texts(const Json& list, const std::string& name) {
  std::vector<std::string> texts;
  if (!list.is_array()) {
    throw InputError(name + ": expected a list of texts, found " + shortened(list));
  }
  for (const Json& text : list) {
    if (!text.is_string()) {
      throw InputError(name + ": expected a list of texts, found " + shortened(text) + " in it");
    }
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

FileContents read_npz(const std::string& archive, const std::string& file) {
  FileContents contents{file, {}, {}, {}};
  const auto array_name = [](std::string member) {
    if (member.ends_with(".npy")) member.resize(member.size() - 4);
    return member;
  };
  const auto is_valid = [&](const std::string& member, std::string_view begin, std::size_t bytes) {
    const std::string name = array_name(member);
    try {
      check_npy(begin, bytes, contents.file + ": " + name);
    } catch (const InputError& e) {
      contents.unreadable.emplace(name, e.what());
      return false;
    }
    return true;
  };
  for (auto& [member, bytes] : parse_zip(archive, file, limits::kMaxUnpacked, is_valid)) {
    const std::string name = array_name(member), label = contents.file + ": " + name;
    try {
      if (auto texts = parse_npy_texts(bytes, label)) {
        contents.texts.emplace(name, std::move(*texts));
      } else {
        contents.arrays.emplace(name, parse_npy(std::move(bytes), label));
      }
    } catch (const InputError& e) {  // reported only if this array is needed
      contents.unreadable.emplace(name, e.what());
    }
  }
  return contents;
}

FileContents read_safetensors_file(SafetensorsFile file, const std::string& name) {
  FileContents contents{name, std::move(file.tensors), {}, {}};
  for (const char* key : {"tokens", "key_tokens"}) {
    const auto entry = file.metadata.find(key);
    if (entry == file.metadata.end()) continue;
    const std::string label = contents.file + ": metadata \"" + key + "\"";
    contents.texts.emplace(key, read_json_texts(parse_json(entry->second, label), label));
  }
  return contents;
}

// Contents of `files.file`, or of its embedded bytes.
FileContents read_contents(const TensorFiles& files) {
  const std::string format = lower_extension(files.file), &name = files.file;
  const EmbeddedFiles* embedded = files.embedded.get();
  if (format == ".npz") return read_npz(embedded ? embedded->file : read_file(name), name);
  if (format == ".safetensors") {
    return read_safetensors_file(
        embedded ? parse_safetensors(embedded->file, name) : read_safetensors(name), name);
  }
  if (format == ".npy") {
    StoredTensor array = embedded ? parse_npy(embedded->file, name) : read_npy(name);
    return {name, {{"attention", std::move(array)}}, {}, {}};
  }
  throw InputError(name + ": expected a file .npy, .npz or .safetensors");
}

bool is_floating(const StoredTensor& array) {
  return array.dtype == DType::F32 || array.dtype == DType::F16 || array.dtype == DType::BF16 ||
         array.dtype == DType::F64;
}

// Names, shapes and types: "attention [12, 8, 8] of F32, ids [8] of I32".
std::string list_arrays(const FileContents& contents) {
  constexpr std::size_t kMaxNamed = 6;
  std::string text;
  std::size_t count = 0;
  for (const auto& [name, array] : contents.arrays) {
    if (++count > kMaxNamed) return text + ", ...";
    text += (text.empty() ? "" : ", ") + name + " " + to_string(array.shape) + " of " +
            std::string(to_string(array.dtype));
  }
  return text.empty() ? "no arrays" : text;
}

// Axis indices of the number at `offset`: "[0, 3, 1]".
std::string index_text(const Tensor& numbers, Index offset) {
  std::vector<Index> index(static_cast<std::size_t>(numbers.rank()));
  for (Index axis = numbers.rank(); axis-- > 0;) {
    index[static_cast<std::size_t>(axis)] = offset % numbers.dim(axis);
    offset /= numbers.dim(axis);
  }
  return to_string(index);
}

// Converts to floats and rejects NaN and infinities.
Tensor finite_floats(const StoredTensor& array, const std::string& label) {
  if (!is_floating(array)) {
    throw InputError(label + ": expected floats (F16, BF16, F32 or F64), found " +
                     std::string(to_string(array.dtype)));
  }
  const Tensor numbers = array.floats();
  if (numbers.empty()) {
    throw InputError(label + ": expected no empty axis, found " + to_string(array.shape));
  }
  for (Index i = 0; i < numbers.size(); ++i) {
    if (std::isfinite(numbers[i])) continue;
    throw InputError(label + ": expected finite numbers, found " +
                     (std::isnan(numbers[i]) ? "NaN" : "infinity") + " at " +
                     index_text(numbers, i));
  }
  return numbers;
}

// Reshapes 2 to 5 axes to [layers, h, rows, columns]; a batch axis of size 1 before the heads is
// dropped.
Tensor to_four_axes(const Tensor& numbers, const std::string& label) {
  Shape shape = numbers.shape();
  if (shape.size() == 5 && shape[1] == 1) shape.erase(shape.begin() + 1);
  if (shape.size() < 2 || shape.size() > 4) {
    throw InputError(label +
                     ": expected [L_q, L_k], [h, L_q, L_k] or [layers, h, L_q, L_k], found " +
                     to_string(numbers.shape()));
  }
  while (shape.size() < 4) shape.insert(shape.begin(), 1);
  return numbers.reshaped(shape);
}

void append_layers(const StoredTensor& array, const std::string& label,
                   std::vector<Tensor>& layers) {
  const Tensor stacked =
      to_four_axes(finite_floats(array, label), label);  // [layers, h, rows, columns]
  for (Index layer = 0; layer < stacked.dim(0); ++layer) {
    layers.push_back(
        stacked.slice(layer, 1).reshaped({stacked.dim(1), stacked.dim(2), stacked.dim(3)}));
  }
}

// Null if the array is missing; throws InputError if the array is unreadable.
const StoredTensor* find(const FileContents& contents, const std::string& name) {
  if (const auto reason = contents.unreadable.find(name); reason != contents.unreadable.end()) {
    throw InputError(reason->second);
  }
  const auto entry = contents.arrays.find(name);
  return entry != contents.arrays.end() ? &entry->second : nullptr;
}

// Layer number in an array name "prefix17suffix"; nullopt for other names.
std::optional<Index> number_between(std::string_view name, std::string_view prefix,
                                    std::string_view suffix) {
  if (!name.starts_with(prefix) || !name.ends_with(suffix) ||
      name.size() <= prefix.size() + suffix.size()) {
    return std::nullopt;
  }
  name = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
  Index number = 0;
  const auto parsed = std::from_chars(name.data(), name.data() + name.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size() || number < 0) {
    return std::nullopt;
  }
  return number;
}

// Names of arrays by layer number; empty if no names contain layer numbers.
std::map<Index, std::string> numbered_layers(const FileContents& contents) {
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"attention.", ""}, {"attentions.", ""}, {"layers.", ".attention"}, {"arr_", ""}};
  for (const auto& [prefix, suffix] : kNames) {
    std::map<Index, std::string> layers;
    for (const auto& [name, array] : contents.arrays) {
      const auto number = number_between(name, prefix, suffix);
      if (!number) continue;
      const auto [entry, is_new] = layers.emplace(*number, name);
      if (!is_new)
        throw InputError(contents.file + ": " + name + ": expected one array per layer, found " +
                         entry->second + " as well");
    }
    Index expected = 0;
    for (const auto& [number, name] : layers) {
      if (number != expected) {
        throw InputError(contents.file + ": " + name +
                         ": expected layers without gaps from 0 on, found no " +
                         std::string(prefix) + std::to_string(expected) + std::string(suffix));
      }
      ++expected;
    }
    if (!layers.empty()) return layers;
  }
  return {};
}

std::vector<Tensor> read_attention(const FileContents& contents) {
  std::vector<Tensor> layers;
  for (const char* name : {"attention", "attentions"}) {
    if (const StoredTensor* array = find(contents, name)) {
      append_layers(*array, contents.file + ": " + name, layers);
      return layers;
    }
  }
  if (contents.arrays.contains("q") || contents.arrays.contains("k")) return {};
  for (const auto& [number, name] : numbered_layers(contents)) {
    append_layers(contents.arrays.at(name), contents.file + ": " + name, layers);
  }
  if (!layers.empty()) return layers;
  std::vector<const std::string*> candidates;
  for (const auto& [name, array] : contents.arrays) {
    if (is_floating(array) && array.shape.size() >= 2) candidates.push_back(&name);
  }
  if (candidates.size() != 1) {
    if (contents.arrays.empty() && !contents.unreadable.empty()) {
      throw InputError(contents.unreadable.begin()->second);
    }
    throw InputError(contents.file + ": " + kExpected + ", found " + list_arrays(contents));
  }
  append_layers(contents.arrays.at(*candidates.front()), contents.file + ": " + *candidates.front(),
                layers);
  return layers;
}

void check_equal_shapes(const std::vector<Tensor>& layers, const std::string& label) {
  for (std::size_t n = 1; n < layers.size(); ++n) {
    if (layers[n].dim(1) == layers[0].dim(1) && layers[n].dim(2) == layers[0].dim(2)) continue;
    throw InputError(label + ": layer " + std::to_string(n) + ": expected rows and columns as in " +
                     "layer 0, " + to_string({layers[0].dim(1), layers[0].dim(2)}) + ", found " +
                     to_string({layers[n].dim(1), layers[n].dim(2)}));
  }
}

// Checks that layers, rows, columns and heads of k and v match those of q.
void check_vectors(const ImportedTensors& tensors, const std::string& file) {
  const auto fail = [&](const char* name, std::size_t layer, const std::string& expected,
                        const Tensor& found) {
    throw InputError(file + ": " + name + ": layer " + std::to_string(layer) + ": expected " +
                     expected + ", found " + to_string(found.shape()));
  };
  const auto check_layers = [&](const char* name, const std::vector<Tensor>& layers) {
    if (layers.size() == tensors.q.size()) return;
    throw InputError(file + ": " + name + ": expected as many layers as q, " +
                     std::to_string(tensors.q.size()) + ", found " + std::to_string(layers.size()));
  };
  check_layers("k", tensors.k);
  if (!tensors.v.empty()) check_layers("v", tensors.v);
  for (std::size_t n = 0; n < tensors.q.size(); ++n) {
    const Tensor &q = tensors.q[n], &k = tensors.k[n];
    if (k.dim(2) != q.dim(2)) fail("k", n, "d_k = " + std::to_string(q.dim(2)), k);
    if (q.dim(0) % k.dim(0) != 0) {
      fail("k", n, "a number of heads that divides q's " + std::to_string(q.dim(0)), k);
    }
    if (tensors.v.empty()) continue;
    const Tensor& v = tensors.v[n];
    if (v.dim(0) != k.dim(0) || v.dim(1) != k.dim(1)) {
      fail("v", n, "the heads and rows of k, " + to_string({k.dim(0), k.dim(1)}), v);
    }
  }
}

void read_vectors(const FileContents& contents, ImportedTensors& tensors) {
  for (const auto& [name, layers] :
       {std::pair{"q", &tensors.q}, std::pair{"k", &tensors.k}, std::pair{"v", &tensors.v}}) {
    const StoredTensor* array = find(contents, name);
    if (array != nullptr) {
      append_layers(*array, contents.file + ": " + name, *layers);
      check_equal_shapes(*layers, contents.file + ": " + name);
    } else if (layers != &tensors.v) {
      throw InputError(contents.file + ": " + name + ": missing; " + kExpected);
    }
  }
  check_vectors(tensors, contents.file);
  for (const auto& [name, array] : contents.arrays) {
    if (name == "q" || name == "k" || name == "v" || !is_floating(array)) continue;
    tensors.weights.emplace(name, finite_floats(array, contents.file + ": " + name));
  }
}

// Tokens, one per line, or separated by spaces on a single line.
std::vector<std::string> split_tokens(const std::string& bytes) {
  std::vector<std::string> lines;
  std::istringstream text(bytes);
  for (std::string line; std::getline(text, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(line);
  }
  if (lines.size() != 1) return lines;
  std::istringstream words(lines.front());
  lines.clear();
  for (std::string word; words >> word;) lines.push_back(word);
  return lines;
}

// Token list in a separate file. `embedded`: bytes of the file; null: read from `path`.
struct TokenFile {
  const std::string& path;
  const std::string* embedded;
};

// Tokens from the file or, without a path, from the list `key` of `contents`; may be empty.
std::vector<std::string> read_tokens(const TokenFile& file, const FileContents& contents,
                                     const std::string& key, Index expected_count) {
  const std::string& path = file.path;
  std::vector<std::string> tokens;
  std::string label = contents.file + ": " + key;
  if (!path.empty()) {
    const std::string bytes =
        file.embedded ? *file.embedded : read_file(path, limits::kMaxTokenList);
    label = path;
    tokens = lower_extension(path) == ".json" ? read_json_texts(parse_json(bytes, path), path)
                                              : split_tokens(bytes);
  } else if (const auto list = contents.texts.find(key); list != contents.texts.end()) {
    tokens = list->second;
  } else {
    if (const auto reason = contents.unreadable.find(key); reason != contents.unreadable.end()) {
      throw InputError(reason->second);
    }
    return {};
  }
  if (static_cast<Index>(tokens.size()) == expected_count) return tokens;
  throw InputError(label + ": expected " + std::to_string(expected_count) + " tokens, found " +
                   std::to_string(tokens.size()));
}

}  // namespace

bool is_tensor_file(const fs::path& path) {
  const std::string format = lower_extension(path);
  return format == ".npy" || format == ".npz" || format == ".safetensors";
}

Index ImportedTensors::queries() const {
  return attention.empty() ? q.front().dim(1) : attention.front().dim(1);
}

Index ImportedTensors::keys() const {
  return attention.empty() ? k.front().dim(1) : attention.front().dim(2);
}

ImportedTensors read_imported_tensors(const TensorFiles& files) {
  if (is_image_file(files.file)) return image_tensors(files);
  const FileContents contents = read_contents(files);
  ImportedTensors tensors;
  tensors.attention = read_attention(contents);
  check_equal_shapes(tensors.attention, contents.file + ": attention");
  if (tensors.attention.empty()) read_vectors(contents, tensors);
  const EmbeddedFiles* embedded = files.embedded.get();
  tensors.tokens = read_tokens({files.tokens, embedded ? &embedded->tokens : nullptr}, contents,
                               "tokens", tensors.queries());
  tensors.key_tokens = read_tokens({files.key_tokens, embedded ? &embedded->key_tokens : nullptr},
                                   contents, "key_tokens", tensors.keys());
  return tensors;
}

}  // namespace attnscope
