// Images as input of image models.
#pragma once

#include <filesystem>
#include <vector>

#include "core/model/batch.h"
#include "core/model/config.h"

namespace attnscope {

// Files among `names`, and the files in folders among `names`, sorted by name. Throws InputError
// for a folder without images.
std::vector<std::filesystem::path> picture_files(const std::vector<std::filesystem::path>& names);

// Images of a file, as levels of the model in row order: a single image, or all images of a table
// (core/input/image_table.h). Each has shape [height * width].
std::vector<std::vector<std::int32_t>> picture_ids(const std::filesystem::path& file,
                                                   const ModelConfig& config);

// Batch of images of `config`'s size, each [height * width].
Batch picture_batch(const std::vector<const std::vector<std::int32_t>*>& pictures,
                    const ModelConfig& config);

}  // namespace attnscope
