#include "core/checkpoint/gguf_layouts.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/checkpoint/gguf_architecture.h"

namespace attnscope {
namespace {

// Rows [first, first + count).
struct RowRun {
  Index first = 0, count = 0;
};

// Translates the tensors of one file.
class TensorTranslator {
 public:
  TensorTranslator(const GgufLayout& layout, const std::string& place)
      : layout_(layout), place_(place) {}

  void add(const std::string& name, const StoredTensor& tensor) {
    name_ = name;
    const bool rotary = layout_.config.contains("rope_theta");
    if (rotary && (name == "rope_freqs.weight" || name.starts_with("rope_factors_"))) return;
    for (const GgufStack& stack : layout_.stacks) {
      if (name.starts_with(stack.stored)) return add_in_stack(stack, tensor);
    }
    insert(translate(layout_.names, name), tensor);
  }

  StoredTensors take() { return std::move(tensors_); }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(place_ + ": tensor " + name_ + ": " + message);
  }

  void insert(const std::string& name, StoredTensor tensor) {
    if (!tensors_.emplace(name, std::move(tensor)).second) {
      fail("expected one tensor for " + name + ", found two");
    }
  }

  // Hugging Face name of a stored tensor. InputError if the architecture does not use it.
  std::string translate(const GgufNames& names, const std::string& stored) const {
    if (const std::string* whole = find(names, stored)) return *whole;
    for (const std::string suffix : {".weight", ".bias"}) {
      if (!stored.ends_with(suffix)) continue;
      const std::string stem = stored.substr(0, stored.size() - suffix.size());
      if (const std::string* name = find(names, stem)) return *name + suffix;
    }
    fail("expected a tensor of a " + layout_.config["model_type"].text() +
         " model, found a tensor of another model");
  }

  static const std::string* find(const GgufNames& names, const std::string& stored) {
    const auto found = std::ranges::find(names, stored, &GgufNames::value_type::first);
    return found == names.end() ? nullptr : &found->second;
  }

  void add_in_stack(const GgufStack& stack, const StoredTensor& tensor) {
    const std::string rest = name_.substr(stack.stored.size());
    const std::size_t dot = rest.find('.');
    const std::string number = rest.substr(0, dot);
    if (dot == std::string::npos || number.empty() || number.size() > 4 ||
        number.find_first_not_of("0123456789") != std::string::npos) {
      fail("expected a layer number after " + stack.stored);
    }
    add_in_layer(stack, stack.prefix + number + ".", rest.substr(dot + 1), tensor);
  }

  void add_in_layer(const GgufStack& stack, const std::string& layer, const std::string& stored,
                    const StoredTensor& tensor) {
    if (stored == "attn_rot_embd.weight") return;  // rotary frequencies: the config determines them
    if (!layout_.experts.prefix.empty() && add_experts(layer, stored, tensor)) return;
    const std::string stem = stored.substr(0, stored.rfind('.'));
    if (stem == "attn_qkv" && !find(stack.names, stem)) {
      return add_parts(stack, layer, stored.substr(stem.size()), tensor);
    }
    insert(layer + translate(stack.names, stored), restored(stem, tensor));
  }

  // Undoes the changes that llama.cpp's converter made to the tensor.
  StoredTensor restored(const std::string& stem, const StoredTensor& tensor) const {
    const GgufSizes& sizes = layout_.sizes;
    if (layout_.rotates_neighbours && stem == "attn_q") return unpermuted(tensor, sizes.heads);
    if (layout_.rotates_neighbours && stem == "attn_k") return unpermuted(tensor, sizes.kv_heads);
    if (layout_.fuses_by_head && stem == "attn_qkv") return fused_by_head(tensor);
    // Converters drop dimensions of size 1.
    if (stem == "ffn_gate_inp_shexp" && tensor.shape.size() == 1) {
      StoredTensor row = tensor;
      row.shape.insert(row.shape.begin(), 1);
      return row;
    }
    if (layout_.transposes && tensor.shape.size() == 2) {
      StoredTensor matrix = tensor;
      std::swap(matrix.shape[0], matrix.shape[1]);
      matrix.transposed = true;
      return matrix;
    }
    return tensor;
  }

  // Separates the rows of q, k and v.
  void add_parts(const GgufStack& stack, const std::string& layer, const std::string& suffix,
                 const StoredTensor& tensor) {
    const Index queries = layout_.sizes.heads * layout_.sizes.head_size;
    const Index keys = layout_.sizes.kv_heads * layout_.sizes.head_size;
    expect_rows(tensor, queries + 2 * keys);
    add_in_layer(stack, layer, "attn_q" + suffix, rows(tensor, {0, queries}));
    add_in_layer(stack, layer, "attn_k" + suffix, rows(tensor, {queries, keys}));
    add_in_layer(stack, layer, "attn_v" + suffix, rows(tensor, {queries + keys, keys}));
  }

  // Adds one tensor per expert. `stored` is "ffn_gate_exps.weight" [experts, out, in], or
  // "ffn_gate.3.weight" in files until 2024. Returns false for other tensors.
  bool add_experts(const std::string& layer, const std::string& stored,
                   const StoredTensor& tensor) {
    const GgufExperts& names = layout_.experts;
    for (const auto& [stem, name] :
         {std::pair{"ffn_gate", names.gate}, std::pair{"ffn_up", names.in},
          std::pair{"ffn_down", names.out}}) {
      const std::string all = std::string(stem) + "_exps", one = std::string(stem) + ".";
      if (stored == all + ".weight" || stored == all + ".bias") {
        const std::string suffix = stored.substr(all.size());
        const Index count = layout_.config["num_local_experts"].get<Index>();
        expect_rows(tensor, count);
        for (Index e = 0; e < count; ++e) {
          insert(layer + names.prefix + std::to_string(e) + "." + name + suffix, item(tensor, e));
        }
        return true;
      }
      if (stored.starts_with(one) && stored != one + "weight" && stored != one + "bias") {
        const std::string rest = stored.substr(one.size());  // "3.weight"
        const std::size_t dot = rest.find('.');
        if (dot == std::string::npos) return false;
        insert(layer + names.prefix + rest.substr(0, dot) + "." + name + rest.substr(dot), tensor);
        return true;
      }
    }
    return false;
  }

  void expect_rows(const StoredTensor& tensor, Index count) const {
    if (!tensor.shape.empty() && tensor.shape[0] == count) return;
    fail("expected " + std::to_string(count) + " rows, found shape " + to_string(tensor.shape));
  }

  // Bytes of one row of `tensor`, which has at least one dimension.
  Index row_bytes(const StoredTensor& tensor) const {
    const Index columns = element_count(tensor.shape) / std::max<Index>(tensor.shape[0], 1);
    if (columns % block_size(tensor.dtype) != 0) {
      fail("expected rows of whole blocks of " + std::string(to_string(tensor.dtype)) +
           ", found shape " + to_string(tensor.shape));
    }
    return byte_count(tensor.dtype, columns);
  }

  StoredTensor rows(const StoredTensor& tensor, RowRun run) const {
    StoredTensor part = tensor;
    part.shape[0] = run.count;
    part.bytes = tensor.bytes + run.first * row_bytes(tensor);
    return part;
  }

  // tensor[index]
  StoredTensor item(const StoredTensor& tensor, Index index) const {
    StoredTensor part = rows(tensor, {index, 1});
    part.shape.erase(part.shape.begin());
    return part;
  }

  // Returns a copy with the rows of `runs`, in this order.
  StoredTensor gathered(const StoredTensor& tensor, const std::vector<RowRun>& runs) const {
    check_stop();
    const Index bytes = row_bytes(tensor);
    const auto buffer = std::make_shared<std::vector<std::uint8_t>>(
        static_cast<std::size_t>(tensor.shape[0] * bytes));
    std::uint8_t* to = buffer->data();
    for (const RowRun& run : runs) {
      to = std::copy_n(tensor.bytes + run.first * bytes, run.count * bytes, to);
    }
    StoredTensor result = tensor;
    result.bytes = buffer->data();
    result.owner = buffer;
    result.mapped = false;
    return result;
  }

  // Undoes the converter's permutation of heads, in which component i + size/2 follows component i.
  StoredTensor unpermuted(const StoredTensor& tensor, Index heads) const {
    const Index size = layout_.sizes.head_size;
    expect_rows(tensor, heads * size);
    row_bytes(tensor);  // throws unless rows are whole blocks
    if (size % 2 != 0) {
      fail("expected an even number of components per head, found " + std::to_string(size));
    }
    StoredTensor result = tensor;
    result.interleaved_rows = size;
    return result;
  }

  // Reorders rows: from all q, all k, all v to q, k, v of key-value head 0, then of head 1, ...
  StoredTensor fused_by_head(const StoredTensor& tensor) const {
    const GgufSizes& sizes = layout_.sizes;
    const Index size = sizes.head_size, keys = sizes.kv_heads * size, queries = sizes.heads * size,
                group = queries / sizes.kv_heads;
    expect_rows(tensor, queries + 2 * keys);
    if (sizes.kv_heads == 1) return tensor;
    std::vector<RowRun> runs;
    for (Index head = 0; head < sizes.kv_heads; ++head) {
      runs.push_back({head * group, group});
      runs.push_back({queries + head * size, size});
      runs.push_back({queries + keys + head * size, size});
    }
    return gathered(tensor, runs);
  }

  const GgufLayout& layout_;
  const std::string& place_;
  std::string name_;  // name of the current tensor
  StoredTensors tensors_;
};

GgufLayout read_layout(GgufMetadata& metadata) {
  const auto& list = gguf_architecture_list();
  const auto found = std::ranges::find(list, metadata.architecture(), &GgufArchitecture::name);
  if (found != list.end()) {
    GgufLayout layout = found->read(metadata);
    if (layout.experts.prefix.empty()) {
      metadata.require_number("expert_count", 0);
      metadata.ignore("expert_used_count");
    }
    return layout;
  }
  std::string known;
  for (const std::string& name : gguf_architectures()) known += (known.empty() ? "" : ", ") + name;
  throw InputError(metadata.place() + ": general.architecture: expected one of " + known +
                   ", found " + shortened(Json(metadata.architecture())));
}

// Adds the ids of end-of-text and end-of-turn tokens.
void add_end_tokens(const Json& metadata, const std::string& place, Json& config) {
  JsonObject object(metadata, place);
  Json ids = Json::array();
  for (const char* key : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"}) {
    if (!object.has(key)) continue;
    const Index id = object.integer(key, 0, Index{0xffffffff});
    if (id < kMaxModelTokens) ids.push_back(id);
  }
  if (!ids.empty()) config["eos_token_id"] = ids;
}

}  // namespace

const std::vector<GgufArchitecture>& gguf_architecture_list() {
  static const std::vector<GgufArchitecture> list = [] {
    std::vector<GgufArchitecture> all;
    for (const auto& family :
         {gguf_llama_architectures(), gguf_gpt_architectures(), gguf_encoder_architectures()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    std::ranges::sort(all, {}, &GgufArchitecture::name);
    return all;
  }();
  return list;
}

void set_names(GgufNames& names, const GgufNames& other) {
  for (const auto& [stored, name] : other) {
    const auto found = std::ranges::find(names, stored, &GgufNames::value_type::first);
    if (found == names.end()) {
      names.emplace_back(stored, name);
    } else {
      found->second = name;
    }
  }
}

bool has_in_layer(const GgufMetadata& metadata, const std::string& name) {
  return metadata.has_tensor("blk.0." + name);
}

std::vector<std::string> gguf_architectures() {
  std::vector<std::string> names;
  for (const GgufArchitecture& architecture : gguf_architecture_list()) {
    names.push_back(architecture.name);
  }
  return names;
}

Json gguf_config(const Json& metadata, const StoredTensors& tensors, const std::string& place) {
  GgufMetadata members(metadata, tensors, place);
  Json config = read_layout(members).config;
  members.finish();
  config["tie_word_embeddings"] = members.ties_output();
  add_end_tokens(metadata, place, config);
  return config;
}

StoredTensors gguf_tensors(const Json& metadata, const Json&, StoredTensors tensors,
                           const std::string& place) {
  GgufMetadata members(metadata, tensors, place);
  const GgufLayout layout = read_layout(members);
  TensorTranslator translator(layout, place);
  for (const auto& [name, tensor] : tensors) translator.add(name, tensor);
  return translator.take();
}

}  // namespace attnscope
