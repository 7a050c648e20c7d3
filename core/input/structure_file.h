// Files with attention structure: masks for the variant `custom`, edges for `graph`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/part/mask_rows.h"

namespace attnscope {

// Maximum number of tokens of a mask, and maximum number of edges.
inline constexpr Index kMaxMaskTokens = 4096;
inline constexpr std::size_t kMaxEdges = 65536;

// Reads a mask with one row per query:
//   .npy             [L, L], nonzero is allowed
//   .png, .jpg, ...  one pixel per pair; brighter than mid-grey is allowed
//   .json            the runs of keys, as in the parameter `rows`
//   other            text, one line per query: 1, # or x allows; 0, . or - forbids; spaces are
//                    skipped
// Throws InputError "FILE: line 3: expected ..." if the mask is invalid, not square or too large.
MaskRows read_mask(const std::filesystem::path& path);

struct EdgeList {
  std::vector<std::vector<Index>> edges;  // pairs of tokens, from 0
  bool is_directed = false;               // true if only the first token of a pair sees the second
};

// Reads edges: .npy with a matrix [L, L], directed unless the matrix is symmetric; .json with a
// list of pairs; otherwise text with one edge per line, "0 1", "0, 1", "0 - 1" or "0 -> 1"
// (directed); # starts a comment. Throws InputError like read_mask().
EdgeList read_edges(const std::filesystem::path& path);
EdgeList parse_edges(const std::string& text, const std::string& name);

}  // namespace attnscope
