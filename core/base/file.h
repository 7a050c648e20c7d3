// Reads and writes whole files. Writing is atomic: the data go to a temporary file in the same
// folder (".NAME.attnscope-PROCESS-XXXXXX"), are flushed, and replace the old file by a rename. The
// next write of the same file removes temporary files left by killed processes.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace attnscope {

// Both return false for names that the file system cannot represent.
bool file_exists(const std::filesystem::path& path);
bool is_folder(const std::filesystem::path& path);
// Creates missing parents, too. WorkError "NAME: cannot be created: REASON".
void make_folder(const std::filesystem::path& path);

// InputError: "NAME: no such file", "NAME: is a folder", "NAME: larger than N bytes", ...
std::string read_file(const std::filesystem::path& path,
                      std::size_t max_bytes = std::size_t{1} << 32);
// WorkError "NAME: cannot be written: REASON". Follows links; writes directly to devices and pipes
// (/dev/stdout). Calls check_stop() (stop.h); a cancelled write leaves the old file intact.
void write_file(const std::filesystem::path& path, std::string_view bytes);
// Writes the concatenation of `pieces`.
void write_file(const std::filesystem::path& path, const std::vector<std::string_view>& pieces);
// Removes temporary files of writes in progress on other threads, before an immediate exit.
void remove_unfinished_files() noexcept;
// Throws write_file()'s error early if the file is known to be unwritable: call before long work.
void check_writable(const std::filesystem::path& path);

}  // namespace attnscope
