// Pictures as what an image model reads.
#pragma once

#include <filesystem>
#include <vector>

#include "core/model/batch.h"
#include "core/model/config.h"

namespace attnscope {

// The files that are named, and those of the folders that are, by name. InputError where a folder
// has none.
std::vector<std::filesystem::path> picture_files(const std::vector<std::filesystem::path>& names);

// The pictures of a file as the model's levels, row by row: the one that it is, or all of a table
// (core/input/picture_table.h). Each [height * width]
std::vector<std::vector<std::int32_t>> picture_ids(const std::filesystem::path& file,
                                                   const ModelConfig& config);

// Some pictures of `config`'s size, each [height * width], in one batch.
Batch picture_batch(const std::vector<const std::vector<std::int32_t>*>& pictures,
                    const ModelConfig& config);

}  // namespace attnscope
