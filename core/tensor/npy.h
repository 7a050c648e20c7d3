// NumPy's .npy files: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
//
// Versions 1 to 3; little-endian f2, f4, f8, i4, i8, u1 and bool. Arrays in Fortran order are
// put into C order. A malformed file is an InputError that begins with the file's name.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/safetensors.h"

namespace attnscope {

StoredTensor read_npy(const std::filesystem::path& path);
// The same from a file's bytes; `name` begins the messages.
StoredTensor parse_npy(std::string bytes, std::string_view name);
// Whether its header can be read, from its first bytes, and needs as many bytes as the whole file
// has: before more of it is made. InputError as parse_npy() and parse_npy_texts().
void check_npy(std::string_view begin, std::size_t bytes, std::string_view name);
// A list of texts (<U or |S, one axis) as UTF-8; nothing where the array is of another type.
std::optional<std::vector<std::string>> parse_npy_texts(std::string_view bytes,
                                                        std::string_view name);

// Version 1, C order. WorkError when it cannot be written. InputError for BF16, which NumPy lacks.
void write_npy(const std::filesystem::path& path, const StoredTensor& tensor);

}  // namespace attnscope
