// What reads bytes of strangers, each a target that any bytes may be thrown at: libFuzzer's program
// (libfuzzer.cpp, with Clang) and the pass of fixed seed that belongs to the tests (fuzz_test.cpp)
// run the same. A target takes bytes, and reads them or throws InputError; all else that leaves it
// is a finding, as is what takes too long or too much memory.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace attnscope::fuzz {

// How inputs are changed so that they still get far: with right lengths, sums, and as JSON.
enum class Format { Bytes, Json, Safetensors, Npy, Zip, Png, Folder };

struct Target {
  std::string name;
  Format format;
  void (*read)(const std::string& input);
  std::vector<std::string> (*seeds)();  // whole ones, of the tests' data and the bundled files
};

const std::vector<Target>& targets();           // targets.cpp
const Target& target(const std::string& name);  // std::runtime_error when there is none

// Runs the target; what it refuses is fine, all else passes through.
void run(const Target& target, const std::string& input);

// One file each in target_*.cpp.
Target json_target();
Target safetensors_target();
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
Target attend_target();
Target own_tensors_target();
Target input_file_target();
Target drawn_target();
Target options_target();

// Several files in one input: each begins with a line of kFileMark and its name.
inline constexpr const char* kFileMark = "\x1e==> ";
using Files = std::map<std::string, std::string>;  // bytes by name
std::string packed(const Files& files);
Files unpacked(const std::string& input);  // names become such as a folder can have

// The only folder that targets write to; with these files and no others.
std::filesystem::path folder_with(const Files& files);
std::filesystem::path file_with(const std::string& name, const std::string& bytes);

// For seeds: files below the project's folder.
std::string source_file(const std::string& path);
std::vector<std::string> files_below(const std::string& folder, const std::string& ending,
                                     std::size_t most_bytes);  // their bytes
Files files_of(const std::filesystem::path& folder, std::size_t most_bytes);

}  // namespace attnscope::fuzz
