// How fast two backends are, compared, and two kinds of shaders.
#pragma once

#include <filesystem>
#include <optional>

#include "app/gpu/compute_backend.h"
#include "core/attention/backend.h"

namespace attnscope {

// How many times longer `a` takes than `b` for a part like those of a small model's layer: the
// best of a few runs after one that does not count (shaders compile).
double time_ratio(Backend& a, Backend& b, const Stop& stop = {});

// How many times longer its shaders that go through shared memory take than the others. Leaves it
// with the others.
double shared_memory_ratio(ComputeBackend& gpu, const Stop& stop = {});

// The same two, kept in a text file: a line "RATIO<tab>NAME OF A<tab>NAME OF B" for each pair, so
// that it is measured once on a machine. A file that cannot be read or written is no error; lines
// that make no sense are dropped.
double cached_time_ratio(Backend& a, Backend& b, const std::optional<std::filesystem::path>& file,
                         const Stop& stop = {});
double cached_shared_memory_ratio(ComputeBackend& gpu,
                                  const std::optional<std::filesystem::path>& file,
                                  const Stop& stop = {});

// $XDG_CACHE_HOME/attnscope/backends.txt or ~/.cache/..; nothing when neither is known.
std::optional<std::filesystem::path> calibration_file();

}  // namespace attnscope
