#include "core/training/pictures.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/input/image_file.h"
#include "core/input/image_table.h"
#include "core/model/input_kind.h"

namespace attnscope {

namespace fs = std::filesystem;

std::vector<fs::path> picture_files(const std::vector<fs::path>& names) {
  std::vector<fs::path> files;
  for (const fs::path& name : names) {
    if (!is_folder(name)) {
      files.push_back(name);
      continue;
    }
    const auto first_in_folder = files.size();
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(name, error)) {
      const bool is_hidden = entry.path().filename().string().starts_with('.');
      if (entry.is_regular_file() && !is_hidden) files.push_back(entry.path());
    }
    if (error) {
      throw InputError(name.string() + ": cannot be read: " + error.message());
    }
    if (files.size() == first_in_folder) {
      throw InputError(name.string() + ": expected a folder with images, found an empty folder");
    }
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(first_in_folder), files.end());
  }
  return files;
}

std::vector<std::vector<std::int32_t>> picture_ids(const fs::path& file,
                                                   const ModelConfig& config) {
  const Values& image = config.input.values;
  const Index width = image.integer("width"), height = image.integer("height");
  const Index levels = image.integer("levels");
  if (is_image_table(file)) return read_image_table(file, width * height, levels);
  const IntTensor pixels = image_pixels(file, width, height, levels);
  return {{pixels.begin(), pixels.end()}};
}

Batch picture_batch(const std::vector<const std::vector<std::int32_t>*>& pictures,
                    const ModelConfig& config) {
  const auto count = static_cast<Index>(pictures.size());
  Batch batch;
  for (Index b = 0; b < count; ++b) {
    const Batch picture =
        input_kind(config.input.id).batch(*pictures[static_cast<std::size_t>(b)], config);
    const Index length = picture.ids.dim(1);
    if (b == 0) {
      batch.ids = IntTensor({count, length});
      batch.targets = IntTensor({count, length});
    }
    std::copy_n(picture.ids.data(), length, batch.ids.data() + b * length);
    std::copy_n(picture.targets.data(), length, batch.targets.data() + b * length);
  }
  return batch;
}

}  // namespace attnscope
