// How much of a file is read at most: what is more is refused by name before memory is made for it.
// Beyond these, what takes memory is held to what the file has or its shapes need: tensors to the
// bytes that lie there, members of an archive to the bytes of their arrays, JSON to its length.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/index.h"

namespace attnscope::limits {

inline constexpr std::size_t kMegabyte = std::size_t{1} << 20;

// Numbers that say what things are, and not how large a file is, stand with these: nesting of JSON,
// Json::kDeepest (core/base/json.h); layers, heads, tokens that a file numbers, kMostIndex
// (core/base/strict_json.h); tokens of a vocabulary, kMostTokens (core/text/file/entry.h); texts of
// an experiment, kMostTextBytes (core/experiment/experiment.h). All here are bytes but where they
// say otherwise.

// Tensors and pictures.
inline constexpr std::uint64_t kMostTensorHeader =
    100'000'000;  // of safetensors, bytes, as its own library
inline constexpr std::size_t kMostUnpacked = 4096 * kMegabyte;   // all arrays of an archive
inline constexpr std::size_t kMostTokenList = 64 * kMegabyte;    // bytes of a list of tokens
inline constexpr std::size_t kMostPictureText = 64 * kMegabyte;  // of one text in a PNG, unpacked
inline constexpr std::size_t kMostPictureMemory = 256 * kMegabyte;  // of all texts of a PNG
inline constexpr std::size_t kMostPictureBytes = 64 * kMegabyte;    // of a picture's file
inline constexpr int kMostPictureSide = 16384;                      // pixels
inline constexpr Index kMostPicturePixels = Index{1} << 26;

inline constexpr std::size_t kMostPictureTable = 1024 * kMegabyte;  // of pictures, unpacked

// Models' folders.
inline constexpr std::size_t kMostConfig = 64 * kMegabyte;      // config.json, index of weights
inline constexpr std::size_t kMostTokenizer = 256 * kMegabyte;  // of one of its files
inline constexpr std::size_t kMostVocabulary = 64 * kMegabyte;  // of all its tokens together
inline constexpr std::size_t kMostSmallFile = kMegabyte;        // card, preprocessor, plan
inline constexpr std::size_t kMostReference = 256;              // what names a commit

// What people write.
inline constexpr std::size_t kMostSession = 64 * kMegabyte;
inline constexpr std::size_t kMostLesson = 4 * kMegabyte;
inline constexpr std::size_t kMostDrawnFile = 32 * kMegabyte;    // of drawn masks and graphs
inline constexpr std::size_t kMostStoredText = 256 * kMegabyte;  // of a datastore

}  // namespace attnscope::limits
