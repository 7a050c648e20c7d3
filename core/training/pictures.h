// Images as input of image models.
#pragma once

#include <filesystem>
#include <vector>

#include "core/model/batch.h"
#include "core/model/config.h"

namespace attnscope {

// Paths in `names`, with each folder replaced by its files, sorted by name. Throws InputError for a
// folder without images.
std::vector<std::filesystem::path> picture_files(const std::vector<std::filesystem::path>& names);

// Grey levels of each image of a file, in row order, [height * width] each. The file is a single
// image or a table of images (core/input/image_table.h).
std::vector<std::vector<std::int32_t>> picture_ids(const std::filesystem::path& file,
                                                   const ModelConfig& config);

// Batch of images, [height * width] grey levels each.
Batch picture_batch(const std::vector<const std::vector<std::int32_t>*>& pictures,
                    const ModelConfig& config);

}  // namespace attnscope
