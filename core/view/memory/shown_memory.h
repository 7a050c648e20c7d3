// Data of the Memory view: one segment, its memory, and one head's weights.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/analysis/memory_use.h"
#include "core/view/parts/page.h"

namespace attnscope {

struct ShownMemory {
  const Trace& trace;
  const AttentionTap& tap;
  Index head = 0;  // index within the tap's group
  Index segment = 0;
  std::vector<SlotRun> runs{};           // runs of columns of the same kind, oldest first
  std::vector<RowSource> sources{};      // tokens of each column
  std::vector<std::string> words{};      // labels: "␣boat", or "␣the␣old␣man" if compressed
  std::map<KeyKind, double> fraction{};  // fraction of the head's weight by kind of column
  Tensor weights{};                      // [L_q, L_k]
  SlotWeights slots{};                   // mean and deviation of weights by column  [L_k]
  std::string averaged_heads{};  // heads averaged in `slots`: "this head", "all 8 heads of layer 1"
  bool remembers() const { return runs.size() > 1 || runs.front().kind != KeyKind::Token; }
  KeyKind kind_of(Index column) const;
  Index first_token() const { return sources[first_segment_column()].first; }
  Index last_token() const { return sources.back().first; }

 private:
  std::size_t first_segment_column() const;
};

ShownMemory shown_memory(const ViewInput& input, const AttentionTap& tap, Index head);

// Name of a kind of column ("memory", "compressed" or "segment"), and its colour.
const char* slot_name(KeyKind kind);
Colour slot_colour(KeyKind kind);

// Kind of a slot and its distance, if known: "memory, 12 tokens before the segment"; for tokens of
// the segment: "its own segment".
std::string describe_slot_place(const ShownMemory& memory, Index column);

// "31% of the weight goes to memory, 12% to compressed slots, 57% to its own segment".
std::string describe_weights(const ShownMemory& memory);
std::string list_weights(const ShownMemory& memory);  // "memory 45%, own 55%"

}  // namespace attnscope
