// Tables of small images, as published for digit data sets: CSV, optionally gzipped, one image per
// line with its pixels row by row; a trailing label is ignored.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/base/index.h"

namespace attnscope {

// True if the file name ends in .csv or .csv.gz.
bool is_image_table(const std::filesystem::path& path);

// Reads the pixels of each image: `pixels` integers from 0 to levels - 1. Throws InputError "FILE,
// line 3: expected 64 levels from 0 to 16, found ..." for an invalid line, and if the file is
// damaged or larger than 1 GiB.
std::vector<std::vector<std::int32_t>> read_image_table(const std::filesystem::path& path,
                                                        Index pixels, Index levels);

}  // namespace attnscope
