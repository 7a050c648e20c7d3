// Files that a run reads besides its model: tensors, token lists, and the model's input.
//
// A picture embeds small tensor files, so that it opens without them. Files that were moved are
// found next to the picture or session, or located by the user.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/experiment/run_spec.h"

namespace attnscope {

inline constexpr std::size_t kMaxEmbeddedBytes = std::size_t{1} << 20;  // all tensor files of a run

// Returns the contents as a shared object. Equal contents share one object, so that comparing
// sessions, as every frame does, compares only pointers.
std::shared_ptr<const EmbeddedFiles> share_contents(EmbeddedFiles contents);

// Embeds the tensor files if they exist and have at most kMaxEmbeddedBytes together.
void embed_tensor_files(RunSpec& run);

// Replaces paths of files within `folder` by paths relative to it, and a path of a model that its
// name finds by the name. Such a session opens after `folder` was moved, and names no folder above.
void shorten_paths(RunSpec& run, const std::filesystem::path& folder);

// Replaces embedded contents by the files if these have the same contents. Relative paths refer to
// `folder` if it has such a file. Looks for other missing files in `folder`, by their names.
void find_files(RunSpec& run, const std::filesystem::path& folder);

// First file that the run needs and that does not exist; empty: none.
std::string missing_file(const RunSpec& run);

// Replaces the missing file by `found`, and looks for other missing files next to `found`.
void locate_missing_file(RunSpec& run, const std::filesystem::path& found);

}  // namespace attnscope
