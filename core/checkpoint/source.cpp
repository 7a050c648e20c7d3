#include "core/checkpoint/source.h"

#include <algorithm>

#include "core/base/error.h"

namespace attnscope {

const std::vector<CheckpointContainer>& checkpoint_containers() {
  static const std::vector<CheckpointContainer> containers{folder_container(), gguf_container()};
  return containers;
}

const CheckpointContainer& checkpoint_container(const std::filesystem::path& path) {
  const auto& list = checkpoint_containers();
  const auto found = std::ranges::find_if(
      list, [&](const CheckpointContainer& container) { return container.matches(path); });
  if (found == list.end())
    throw InputError(path.string() + ": expected a folder with a model or a GGUF file");
  return *found;
}

}  // namespace attnscope
