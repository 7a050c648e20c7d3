// NumPy's .npy files: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
//
// Supports versions 1 to 3; little-endian f2, f4, f8, i4, i8, u1 and bool. Converts Fortran order
// to C order. A malformed file is an InputError that begins with the file's name.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/safetensors.h"

namespace attnscope {

StoredTensor read_npy(const std::filesystem::path& path);
// Like read_npy() for a file in memory; `name` begins the messages.
StoredTensor parse_npy(std::string bytes, std::string_view name);
// Checks a file's header. `begin` contains the file's first bytes; `bytes` is the file's size.
// Throws the InputErrors of parse_npy() and parse_npy_texts().
void check_npy(std::string_view begin, std::size_t bytes, std::string_view name);
// Reads a one-dimensional array of strings (<U or |S) as UTF-8; nullopt for arrays of another type.
std::optional<std::vector<std::string>> parse_npy_texts(std::string_view bytes,
                                                        std::string_view name);

// Writes version 1, C order. WorkError if writing fails. InputError for BF16, which NumPy lacks.
void write_npy(const std::filesystem::path& path, const StoredTensor& tensor);

}  // namespace attnscope
