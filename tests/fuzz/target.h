// Fuzz targets: readers of untrusted bytes. libFuzzer's program (libfuzzer.cpp, with Clang) and the
// tests with a fixed seed (fuzz_test.cpp) run the same targets. A target reads its input or throws
// InputError; any other exception, excessive time or excessive memory is a finding.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace attnscope::fuzz {

// Format of an input. Mutations usually preserve valid lengths, checksums and JSON syntax.
enum class Format { Bytes, Json, Safetensors, Npy, Zip, Png, Folder };

struct Target {
  std::string name;
  Format format;
  void (*read)(const std::string& input);
  std::vector<std::string> (*seeds)();  // complete inputs, from test data and bundled files
};

const std::vector<Target>& targets();           // targets.cpp
const Target& target(const std::string& name);  // throws std::runtime_error if unknown

// Runs the target and catches InputError; other exceptions propagate.
void run(const Target& target, const std::string& input);

// Defined in target_*.cpp.
Target json_target();
Target safetensors_target();
Target gguf_target();
Target npy_target();
Target zip_target();
Target png_target();
Target image_target();
Target picture_table_target();
Target tokenizer_target();
Target text_target();
Target expression_target();
Target checkpoint_target();
Target config_target();
Target card_target();
Target store_target();
Target session_target();
Target settings_target();
Target plan_target();
Target training_state_target();
Target lesson_target();
Target expected_pairs_target();
Target study_target();
Target study_rows_target();
Target attend_target();
Target own_tensors_target();
Target input_file_target();
Target drawn_target();
Target options_target();

// One input can contain several files. Each file is kFileMark, its name, a line break and its
// bytes.
inline constexpr const char* kFileMark = "\x1e==> ";
using Files = std::map<std::string, std::string>;  // bytes by name
std::string pack(const Files& files);
Files unpack(const std::string& input);  // removes invalid characters from names

// Writes these files to the folder that all targets share, after deleting its content.
std::filesystem::path write_folder(const Files& files);
std::filesystem::path write_input_file(const std::string& name, const std::string& bytes);

// Files of the source folder, as seeds. Paths and folders are relative to the source folder.
std::string source_file(const std::string& path);
std::vector<std::string> files_below(const std::string& folder, const std::string& ending,
                                     std::size_t max_bytes);  // contents of files
Files files_of(const std::filesystem::path& folder, std::size_t max_bytes);

}  // namespace attnscope::fuzz
