#include "core/checkpoint/gguf_metadata.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/checkpoint/format.h"
#include "core/model/config.h"

namespace attnscope {
namespace {

// Shortest decimal that rounds to the same float as `number`.
double shortest_decimal(double number) {
  if (!(std::abs(number) <= std::numeric_limits<float>::max())) return number;
  const auto narrow = static_cast<float>(number);
  if (static_cast<double>(narrow) != number) return number;
  char text[64];
  const auto written = std::to_chars(std::begin(text), std::end(text), narrow);
  double decimal = number;
  std::from_chars(text, written.ptr, decimal);
  return decimal;
}

// Converts numbers to shortest decimals, and a list of equal numbers (one per layer) to one number.
Json simplified(const Json& value) {
  if (value.is_number_float()) return shortest_decimal(value.get<double>());
  if (!value.is_array() || value.empty() || !value[0].is_number()) return value;
  const bool equal =
      std::all_of(value.begin(), value.end(), [&](const Json& other) { return other == value[0]; });
  return equal ? simplified(value[0]) : value;
}

std::string read_architecture(const Json& metadata, const std::string& place) {
  JsonObject object(metadata, place);
  const std::string type = object.text_or("general.type", "model");
  if (type != "model") object.fail("general.type", "\"model\"");
  return object.text("general.architecture");
}

Json members_of(const Json& metadata, const std::string& architecture) {
  Json members = Json::object();
  for (const auto& [key, value] : metadata.items()) {
    if (key.starts_with(architecture + ".")) members[key] = simplified(value);
  }
  return members;
}

}  // namespace

GgufMetadata::GgufMetadata(const Json& metadata, const StoredTensors& tensors,
                           const std::string& place)
    : place_(place),
      architecture_(read_architecture(metadata, place)),
      tensors_(tensors),
      members_(members_of(metadata, architecture_)),
      object_(members_, place) {}

std::string GgufMetadata::read(const std::string& key) {
  return *read_.insert(full(key)).first;
}

Index GgufMetadata::integer(const std::string& key, Index min, Index max) {
  return object_.integer(read(key), min, max);
}

Index GgufMetadata::integer_or(const std::string& key, Index fallback, Index min, Index max) {
  return object_.integer_or(read(key), fallback, min, max);
}

double GgufMetadata::number(const std::string& key, double min, double max) {
  return object_.number(read(key), min, max);
}

double GgufMetadata::number_or(const std::string& key, double fallback, double min, double max) {
  return object_.number_or(read(key), fallback, min, max);
}

bool GgufMetadata::flag_or(const std::string& key, bool fallback) {
  return object_.flag_or(read(key), fallback);
}

std::string GgufMetadata::text_or(const std::string& key, const std::string& fallback) {
  return object_.text_or(read(key), fallback);
}

bool GgufMetadata::is_list(const std::string& key) const {
  const Json* value = members_.find(full(key));
  return value && value->is_array();
}

std::vector<bool> GgufMetadata::flags(const std::string& key, Index layers) {
  std::vector<bool> flags;
  for (const Json& flag : object_.array(read(key))) {
    if (!flag.is_boolean()) fail(key, "a list of true or false");
    flags.push_back(flag.get<bool>());
  }
  if (static_cast<Index>(flags.size()) != layers) {
    fail(key, "one for each of " + std::to_string(layers) + " layers");
  }
  return flags;
}

void GgufMetadata::require_number(const std::string& key, double supported) {
  if (!has(key) || number(key, -1e300, 1e300) == supported) return;
  const Index whole = static_cast<Index>(supported);
  const Json expected = static_cast<double>(whole) == supported ? Json(whole) : Json(supported);
  fail(key, shortened(expected) + " (nothing else is supported)");
}

void GgufMetadata::require_flag(const std::string& key, bool supported) {
  if (flag_or(key, supported) == supported) return;
  fail(key, std::string(supported ? "true" : "false") + " (nothing else is supported)");
}

void GgufMetadata::finish() const {
  for (const auto& [key, value] : members_.items()) {
    const std::string name = key.substr(architecture_.size() + 1);
    const bool of_images = name.starts_with("vision.") || name.starts_with("mm.");
    if (of_images || read_.contains(key)) continue;
    throw InputError(place_ + ": " + key + ": expected none, because the architecture " +
                     architecture_ + " does not support this key, found " + shortened(value));
  }
}

const StoredTensor& GgufMetadata::tensor(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) throw InputError(place_ + ": tensor " + name + " is missing");
  return found->second;
}

std::vector<double> GgufMetadata::vector(const std::string& name) const {
  const StoredTensor& stored = tensor(name);
  if (stored.shape.size() != 1 || (stored.dtype != DType::F32 && stored.dtype != DType::F16)) {
    throw InputError(place_ + ": tensor " + name +
                     ": expected a vector of dtype F32 or F16, found " +
                     std::string(to_string(stored.dtype)) + " " + to_string(stored.shape));
  }
  std::vector<double> numbers;
  for (const float number : stored.floats()) numbers.push_back(shortest_decimal(number));
  return numbers;
}

bool GgufMetadata::ties_output() const {
  return are_equal_or_missing(tensors_, "token_embd.weight", "output.weight");
}

GgufSizes gguf_sizes(GgufMetadata& metadata) {
  GgufSizes sizes;
  const Shape& table = metadata.tensor("token_embd.weight").shape;
  if (table.size() != 2) {
    throw InputError(metadata.place() +
                     ": tensor token_embd.weight: expected a matrix, found shape " +
                     to_string(table));
  }
  sizes.vocabulary = table[0];
  sizes.context = metadata.integer("context_length", 1, kMaxModelTokens);
  sizes.width = metadata.integer("embedding_length", 1, kMaxModelWidth);
  sizes.layers = metadata.integer("block_count", 1, 1024);
  sizes.heads = metadata.integer("attention.head_count", 1, 1024);
  sizes.kv_heads = metadata.integer_or("attention.head_count_kv", sizes.heads, 1, 1024);
  const Index size = std::max<Index>(sizes.width / sizes.heads, 1);
  sizes.head_size = metadata.integer_or("attention.key_length", size, 1, kMaxModelWidth);
  if (metadata.integer_or("attention.value_length", sizes.head_size, 1, kMaxModelWidth) !=
      sizes.head_size) {
    metadata.fail("attention.value_length",
                  "attention.key_length " + std::to_string(sizes.head_size));
  }
  if (sizes.heads % sizes.kv_heads != 0) {
    metadata.fail("attention.head_count_kv", "a divisor of " + std::to_string(sizes.heads));
  }
  sizes.hidden = metadata.integer_or("feed_forward_length", 0, 0, 8 * kMaxModelWidth);
  // The embedding table determines the vocabulary size; pooling and labels do not affect states.
  for (const char* key :
       {"vocab_size", "tensor_data_layout", "pooling_type", "classifier.output_labels"}) {
    metadata.ignore(key);
  }
  return sizes;
}

}  // namespace attnscope
