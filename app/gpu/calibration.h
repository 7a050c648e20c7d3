// Backend calibration: compares the speed of two backends, and of two kinds of shaders.
#pragma once

#include <filesystem>
#include <optional>

#include "app/gpu/compute_backend.h"
#include "core/attention/backend.h"

namespace attnscope {

// Time of `a` divided by that of `b` for one small part: minima of several runs after a warm-up
// run, which compiles shaders.
double time_ratio(Backend& a, Backend& b);

// Time of the shared-memory shaders divided by that of the register shaders, which stay selected.
double shared_memory_ratio(ComputeBackend& gpu);

// As above, but measured once and cached in a text file with a line "RATIO<tab>NAME OF A<tab>NAME
// OF B" for each pair. An unreadable or unwritable file is no error; invalid lines are ignored.
double cached_time_ratio(Backend& a, Backend& b, const std::optional<std::filesystem::path>& file);
double cached_shared_memory_ratio(ComputeBackend& gpu,
                                  const std::optional<std::filesystem::path>& file);

// $XDG_CACHE_HOME/attnscope/backends.txt or ~/.cache/attnscope/backends.txt; nullopt if neither
// variable is set.
std::optional<std::filesystem::path> calibration_file();

}  // namespace attnscope
