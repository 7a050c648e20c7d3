// Structure that somebody drew elsewhere: masks for the variant `custom`, edges for `graph`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/part/mask_rows.h"

namespace attnscope {

// Of what is read: tokens a side, and edges.
inline constexpr Index kMostDrawn = 4096;
inline constexpr std::size_t kMostEdges = 65536;

// A mask, a row for each query:
//   .npy             [L, L], what is not 0 is allowed
//   .png, .jpg, ...  a pixel a pair; what is brighter than mid-grey is allowed
//   .json            the list of runs that the parameter `rows` takes
//   other            a text with a line a query: 1, # or x allows, 0, . or - forbids, spaces are
//                    skipped
// InputError "FILE: line 3: expected ..." where it is none, not square or too large.
MaskRows read_mask(const std::filesystem::path& path);

struct EdgeList {
  std::vector<std::vector<Index>> edges;  // pairs of tokens, counted from 0
  bool one_way = false;                   // only the first token of an edge sees the second
};

// Edges: .npy with a matrix [L, L], one way where it is not symmetric; .json with a list of pairs;
// otherwise a text with an edge a line, "0 1", "0, 1", "0 - 1" or, one way, "0 -> 1"; what follows
// a # is not read. InputErrors as above.
EdgeList read_edges(const std::filesystem::path& path);
EdgeList parse_edges(const std::string& text, const std::string& name);

}  // namespace attnscope
