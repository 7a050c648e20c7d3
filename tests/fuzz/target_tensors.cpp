// Targets for tensors of other programs: attend, imported tensors, inputs, masks and edges.
#include <filesystem>

#include "core/base/error.h"
#include "core/base/zip.h"
#include "core/experiment/attend.h"
#include "core/experiment/imported_tensors.h"
#include "core/input/input_file.h"
#include "core/input/structure_file.h"
#include "tests/fuzz/target.h"

namespace attnscope::fuzz {
namespace {

void read_attend(const std::string& input) {
  attend(read_safetensors(write_input_file("f.safetensors", input)), std::nullopt, true,
         cpu_backend());
}

std::vector<std::string> attend_seeds() {
  std::vector<std::string> seeds = files_below("tests/conformance", ".safetensors", 4000);
  std::erase_if(
      seeds, [](const std::string& bytes) { return bytes.find("\"spec\"") == std::string::npos; });
  return seeds;
}

// Reads an .npz, .npy or .safetensors file with token labels from tokens.json or tokens.txt.
void read_tensors(const std::string& input) {
  const Files files = unpack(input);
  const auto folder = write_folder(files);
  TensorFiles named;
  for (const auto& [name, bytes] : files) {
    (name.starts_with("tokens") ? named.tokens : named.file) = (folder / name).string();
  }
  if (!is_tensor_file(named.file)) return;
  read_imported_tensors(named);
}

std::string small_npy() {
  std::string header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }                           \n";
  const auto length = static_cast<std::uint16_t>(header.size());
  return "\x93NUMPY\1" + std::string(1, '\0') +
         std::string(reinterpret_cast<const char*>(&length), 2) + header + std::string(16, '\0');
}

// Arrays with token labels, safetensors files with attention or with q and k, and an archive.
std::vector<std::string> tensors_seeds() {
  const auto safetensors = [](const std::string& header, std::size_t bytes) {
    const std::uint64_t length = header.size();
    return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header +
           std::string(bytes, '\0');
  };
  return {pack({{"a.npy", small_npy()}, {"tokens.json", R"(["a", "b"])"}}),
          pack({{"a.npy", small_npy()}, {"tokens.txt", "a b\n"}}),
          pack({{"a.safetensors", safetensors(R"({"attention": {"dtype": "F32", "shape": [1, 2, 2],
                                   "data_offsets": [0, 16]},
                                   "__metadata__": {"tokens": "[\"a\", \"b\"]"}})",
                                              16)}}),
          pack({{"a.safetensors",
                 safetensors(R"({"q": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
                        "k": {"dtype": "F16", "shape": [2, 2], "data_offsets": [16, 24]},
                        "pos.bias": {"dtype": "F32", "shape": [1], "data_offsets": [24, 28]}})",
                             28)}}),
          pack({{"a.npz", files_below("tests/layouts/gpt2", ".npz", 60000).at(0)}})};
}

void read_input(const std::string& input) {
  read_input_file(write_input_file("f.safetensors", input));
}

std::vector<std::string> input_seeds() {
  return files_below("assets/samples", ".safetensors", 20000);
}

// Reads each file as a mask and as edges. The extension of a file determines its format.
void read_drawn(const std::string& input) {
  const Files files = unpack(input);
  const auto folder = write_folder(files);
  for (const auto& [name, bytes] : files) {
    bool is_mask = true;
    try {
      read_mask(folder / name);
    } catch (const InputError&) {
      is_mask = false;
    }
    try {
      read_edges(folder / name);
      parse_edges(bytes, name);
    } catch (const InputError&) {
      if (!is_mask) throw;
    }
  }
}

std::vector<std::string> drawn_seeds() {
  return {pack({{"a.npy", small_npy()}}),
          pack({{"a.json", "[[0, 1], [1, 2], [2, 0]]"}}),
          pack({{"a.json", "[[], [0, 2, 1], [0, 3]]"}}),
          pack({{"a.txt", "1..\n11.\n#x1\n"}}),
          pack({{"a.txt", "0 1\n1, 2\n2 - 0 # back\n3 -> 1\n"}}),
          pack({{"a.png", files_below("assets/samples", ".png", 20000).at(0)}})};
}

}  // namespace

Target attend_target() {
  return {"attend", Format::Safetensors, read_attend, attend_seeds};
}
Target own_tensors_target() {
  return {"own_tensors", Format::Folder, read_tensors, tensors_seeds};
}
Target input_file_target() {
  return {"input_file", Format::Safetensors, read_input, input_seeds};
}
Target drawn_target() {
  return {"drawn", Format::Folder, read_drawn, drawn_seeds};
}

}  // namespace attnscope::fuzz
