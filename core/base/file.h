// Reads and writes whole files. Writing is atomic: write_file() writes and flushes a temporary file
// ".NAME.attnscope-PROCESS-XXXXXX" in the same folder and renames it to NAME. The next write of
// NAME removes temporary files that killed processes left behind.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

// file_exists() and is_folder() return false for names that the file system cannot represent.
bool file_exists(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);
// Creates a folder and its missing parents. WorkError "NAME: cannot be created: REASON".
void make_folder(const std::filesystem::path& path);

// Returns the contents. InputError "NAME: no such file", "NAME: larger than N bytes", ...
std::string read_file(const std::filesystem::path& path,
                      std::size_t max_bytes = std::size_t{1} << 32);
// WorkError "NAME: cannot be written: REASON". Follows symbolic links. Writes to devices and pipes
// (/dev/stdout) without a temporary file. A cancelled write (stop.h) leaves the old file intact.
void write_file(const std::filesystem::path& path, std::string_view bytes);
// Writes the concatenation of `pieces`.
void write_file(const std::filesystem::path& path, const std::vector<std::string_view>& pieces);
// Pieces of a file, in order; nullopt at the end. A piece stays valid until the next call.
using NextPiece = std::function<std::optional<std::string_view>()>;
void write_file(const std::filesystem::path& path, const NextPiece& next_piece);
// Removes the temporary files of unfinished writes on all threads. Call before an immediate exit.
void remove_unfinished_files() noexcept;
// Throws WorkError as write_file() would, if the file is unwritable. Call before long work.
void check_writable(const std::filesystem::path& path);

}  // namespace attnscope
