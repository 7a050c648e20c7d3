// How much of a file is read at most: what is more is refused by name before memory is made for it.
// Beyond these, what takes memory is held to what the file has or its shapes need: tensors to the
// bytes that lie there, members of an archive to the bytes of their arrays, JSON to its length.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/index.h"

namespace attnscope::limits {

inline constexpr std::size_t kMegabyte = std::size_t{1} << 20;

// Nesting of JSON: Json::kDeepest (core/base/json.h). Layers, heads, tokens that a file numbers:
// kMostIndex (core/base/strict_json.h). Tokens of a vocabulary: kMostTokens
// (core/text/file/entry.h). Texts of an experiment: kMostTextBytes (core/experiment/experiment.h).
inline constexpr std::uint64_t kMostTensorHeader =
    100'000'000;  // of safetensors, bytes, as its own library
inline constexpr std::size_t kMostUnpacked = 4096 * kMegabyte;   // all arrays of an archive
inline constexpr std::size_t kMostTokenList = 64 * kMegabyte;    // bytes of a list of tokens
inline constexpr std::size_t kMostPictureText = 64 * kMegabyte;  // of one text in a PNG, unpacked
inline constexpr std::size_t kMostPictureMemory = 256 * kMegabyte;  // of all texts of a PNG
inline constexpr std::size_t kMostPictureBytes = 64 * kMegabyte;    // of a picture's file
inline constexpr int kMostPictureSide = 16384;                      // pixels
inline constexpr Index kMostPicturePixels = Index{1} << 26;

}  // namespace attnscope::limits
