// Where the parts of an alignment stand, and which of its letters is looked at.
#pragma once

#include <optional>

#include "core/view/alignment/alignment_numbers.h"
#include "core/view/parts/page.h"

namespace attnscope {

// Which letter is looked at: under the pointer, that of the step, else the least sure one.
struct AlignmentFocus {
  Index shown = 0;          // so many rows are there
  Index row = 0, key = -1;  // the source token under the pointer
  bool stepped = false;     // the target is written as far as a step
  bool pointed = false, least_sure = false;
  // Whether this pair is not pale.
  bool has(Index of_row, Index of_key) const;
};

struct AlignmentPlaces {
  Box source, ribbons, target;  // boxes of tokens, and what leads from these to those
  Box matrix, candidates;       // no height: no space
  double cell = 0;              // the width of a letter's
  double source_cell = 0;
  double bar = 0;  // of colours; 0: no space
  double top = 0, bottom = 0;
  double labels_left = 0;        // of the matrix' rows
  std::size_t notice_lines = 0;  // that the words above have
  Index sources = 0;

  double target_x(Index row) const;
  double source_x(Index key) const;  // the source stands above the middle of the target
};

struct AlignmentMeasures {              // em
  static constexpr double line = 1.5;   // of words
  static constexpr double title = 1.6;  // of the candidates
  static constexpr Index candidates = 6;
};

// `notice`: the words above. Nothing where there is no space.
std::optional<AlignmentPlaces> place_alignment(const Page& page, const Box& inside,
                                               const AlignmentNumbers& numbers,
                                               const std::string& notice);

AlignmentFocus alignment_focus(const ViewInput& input, const AlignmentNumbers& numbers,
                               const AlignmentPlaces& places);

}  // namespace attnscope
