#include "tests/fuzz/target.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "core/base/error.h"
#include "core/base/file.h"
#include "tests/support/places.h"

namespace attnscope::fuzz {
namespace {

namespace fs = std::filesystem;

// Temporary folder, in memory if possible, because targets write a thousand files per second.
class ScratchFolder {
 public:
  ScratchFolder() {
    const fs::path shared = "/dev/shm";
    const fs::path base = ::access(shared.c_str(), W_OK) == 0 ? shared : fs::temp_directory_path();
    std::string name = (base / "attnscope-fuzz-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot create " + name);
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace

const Target& target(const std::string& name) {
  const auto found = std::ranges::find(targets(), name, &Target::name);
  if (found == targets().end()) throw std::runtime_error("unknown target " + name);
  return *found;
}

void run(const Target& target, const std::string& input) {
  try {
    target.read(input);
  } catch (const InputError&) {
  }
}

std::string pack(const Files& files) {
  std::string input;
  for (const auto& [name, bytes] : files) input += kFileMark + name + '\n' + bytes;
  return input;
}

Files unpack(const std::string& input) {
  constexpr std::size_t kMaxName = 60, kMaxFiles = 20;
  const std::size_t mark_size = std::string(kFileMark).size();
  Files files;
  for (std::size_t mark = input.find(kFileMark); mark < input.size() && files.size() < kMaxFiles;) {
    const std::size_t line_end = std::min(input.find('\n', mark), input.size());
    const std::size_t begin = std::min(line_end + 1, input.size());
    const std::size_t next = std::min(input.find(kFileMark, begin), input.size());
    const std::size_t name_begin = std::min(mark + mark_size, line_end);
    std::string name = input.substr(name_begin, std::min(line_end - name_begin, kMaxName));
    std::erase_if(name, [](unsigned char c) {
      return std::isalnum(c) == 0 && c != '.' && c != '_' && c != '-';
    });
    if (!name.empty() && name[0] != '.') files[name] = input.substr(begin, next - begin);
    mark = next;
  }
  return files;
}

fs::path write_folder(const Files& files) {
  static const ScratchFolder scratch;
  const fs::path folder = scratch.path() / "model";
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  fs::create_directory(folder);
  for (const auto& [name, bytes] : files) write_bytes(folder / name, bytes);
  return folder;
}

fs::path write_input_file(const std::string& name, const std::string& bytes) {
  return write_folder({{name, bytes}}) / name;
}

std::string source_file(const std::string& path) {
  return read_file(testing::source_folder() / path);
}

std::vector<std::string> files_below(const std::string& folder, const std::string& ending,
                                     std::size_t max_bytes) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(testing::source_folder() / folder)) {
    if (entry.is_regular_file() && entry.path().string().ends_with(ending) &&
        entry.file_size() <= max_bytes) {
      paths.push_back(entry.path());
    }
  }
  std::ranges::sort(paths);
  std::vector<std::string> bytes;
  for (const fs::path& path : paths) bytes.push_back(read_file(path));
  return bytes;
}

Files files_of(const fs::path& folder, std::size_t max_bytes) {
  Files files;
  for (const auto& entry : fs::directory_iterator(testing::source_folder() / folder)) {
    if (entry.is_regular_file() && entry.file_size() <= max_bytes) {
      files[entry.path().filename().string()] = read_file(entry.path());
    }
  }
  return files;
}

}  // namespace attnscope::fuzz
