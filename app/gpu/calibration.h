// Backend calibration: compares the speed of two backends, and of two kinds of shaders.
#pragma once

#include <filesystem>
#include <optional>

#include "app/gpu/compute_backend.h"
#include "core/attention/backend.h"

namespace attnscope {

// Time of `a` divided by time of `b` for one small part. Each time is the minimum over several
// runs. A warm-up run before them compiles shaders.
double time_ratio(Backend& a, Backend& b);

// Time of shared-memory shaders / time of register shaders. Leaves register shaders selected.
double shared_memory_ratio(ComputeBackend& gpu);

// Ratios measured once and cached in a text file with lines "RATIO<tab>NAME OF A<tab>NAME OF B". An
// unreadable or unwritable file is no error; invalid lines are ignored. stored_time_ratio()
// measures nothing.
std::optional<double> stored_time_ratio(const Backend& a, const Backend& b,
                                        const std::optional<std::filesystem::path>& file);
double cached_time_ratio(Backend& a, Backend& b, const std::optional<std::filesystem::path>& file);
double cached_shared_memory_ratio(ComputeBackend& gpu,
                                  const std::optional<std::filesystem::path>& file);

// $XDG_CACHE_HOME/attnscope/backends.txt or ~/.cache/attnscope/backends.txt; nullopt if neither
// XDG_CACHE_HOME nor HOME is an absolute path.
std::optional<std::filesystem::path> calibration_file();

}  // namespace attnscope
