// Reading and writing whole files. Nothing is lost: writing goes to a temporary name in the same
// folder (".NAME.attnscope-PROCESS-XXXXXX"), is flushed, and renamed over the old file. What a
// killed program left under such a name goes when the file is written next.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

// Also of names that cannot be: they do not exist.
bool file_exists(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);
// With those that it lies in. WorkError "NAME: cannot be made: REASON".
void make_folder(const std::filesystem::path& path);

// InputError: "NAME: no such file", "NAME: is a folder", "NAME: larger than N bytes", ...
std::string read_file(const std::filesystem::path& path,
                      std::size_t most_bytes = std::size_t{1} << 32);
// WorkError: "NAME: cannot be written: REASON". A link is followed; a device or pipe
// (/dev/stdout) is written to as it is.
void write_file(const std::filesystem::path& path, std::string_view bytes);
// The same for bytes that lie in several places.
void write_file(const std::filesystem::path& path, const std::vector<std::string_view>& pieces);
// Both look at check_stop() (stop_scope.h): a file is written whole or stays as it was.
//
// Removes what other threads are writing now, for a process that ends at once.
void remove_unfinished_files() noexcept;
// Throws as write_file() would where that is plain beforehand: before long work begins.
void check_writable(const std::filesystem::path& path);

}  // namespace attnscope
