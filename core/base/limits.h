// Upper limits on input sizes, in bytes unless noted. Larger input is rejected before memory is
// allocated for it. Other allocations are bounded by the input itself: tensors by the bytes in the
// file, archive members by their arrays, JSON by its length.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/index.h"

namespace attnscope::limits {

inline constexpr std::size_t kMegabyte = std::size_t{1} << 20;

// Defined elsewhere: Json::kMaxDepth, JSON nesting (core/base/json.h); kMaxIndex, layer, head and
// token numbers in files (core/base/strict_json.h); kMaxTokens, vocabulary size
// (core/text/file/entry.h); kMaxTextBytes, text length of a run (core/experiment/run_spec.h).

// Tensors and images.
inline constexpr std::uint64_t kMaxTensorHeader =
    100'000'000;  // JSON header of a safetensors file, as in its reference library
inline constexpr std::uint64_t kMaxGgufElements =
    20'000'000;  // in all metadata arrays of a GGUF file together
inline constexpr std::size_t kMaxUnpacked = 4096 * kMegabyte;  // all arrays of an archive, unpacked
inline constexpr std::size_t kMaxTokenList = 64 * kMegabyte;   // a token list file
inline constexpr std::size_t kMaxPngText = 64 * kMegabyte;     // one PNG text chunk, unpacked
inline constexpr std::size_t kMaxPngTextMemory = 256 * kMegabyte;  // all text chunks of a PNG
inline constexpr std::size_t kMaxImageBytes = 64 * kMegabyte;      // an image file
inline constexpr int kMaxImageSide = 16384;                        // pixels
inline constexpr Index kMaxImagePixels = Index{1} << 26;

inline constexpr std::size_t kMaxImageTable = 1024 * kMegabyte;  // a table of images, unpacked

// Model folders.
inline constexpr std::size_t kMaxConfig = 64 * kMegabyte;      // config.json, weight index
inline constexpr std::size_t kMaxTokenizer = 256 * kMegabyte;  // one tokenizer file
inline constexpr std::size_t kMaxVocabulary = 64 * kMegabyte;  // all tokens together
inline constexpr std::size_t kMaxSmallFile = kMegabyte;        // model card, preprocessor, plan
inline constexpr std::size_t kMaxReference = 256;              // a file that names a commit

// User files.
inline constexpr std::size_t kMaxSession = 64 * kMegabyte;
inline constexpr std::size_t kMaxLesson = 4 * kMegabyte;
inline constexpr std::size_t kMaxDrawnFile = 32 * kMegabyte;    // drawn masks and graphs
inline constexpr std::size_t kMaxStoredText = 256 * kMegabyte;  // the text of a datastore

}  // namespace attnscope::limits
