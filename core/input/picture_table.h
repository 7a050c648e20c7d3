// Tables of small pictures, as collections of digits are published: CSV, plain or gzip, a picture a
// line, its pixels row by row; a label behind them is left out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/base/index.h"

namespace attnscope {

// Whether a file of this name is such a table: .csv, .csv.gz.
bool is_picture_table(const std::filesystem::path& path);

// The pixels of each picture: `pixels` whole numbers from 0 to levels - 1. InputError
// "FILE, line 3: expected 64 levels from 0 to 16, found ...", also where the file is damaged or
// larger than any table of pictures that fits into memory.
std::vector<std::vector<std::int32_t>> read_picture_table(const std::filesystem::path& path,
                                                          Index pixels, Index levels);

}  // namespace attnscope
