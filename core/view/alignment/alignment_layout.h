// Layout of the alignment view, and the letter in focus.
#pragma once

#include <optional>

#include "core/view/alignment/alignment_numbers.h"
#include "core/view/parts/page.h"

namespace attnscope {

// Letter in focus: the hovered letter, else the letter of "step", else the least certain letter.
struct AlignmentFocus {
  Index row_count = 0;      // number of visible letters
  Index row = 0, key = -1;  // key: the hovered source token; -1: none
  bool is_stepped = false;  // the parameter "step" limits the target
  bool is_hovered = false, is_least_certain = false;
  bool highlights(Index pair_row, Index pair_key) const;
};

struct AlignmentPlaces {
  Box source, ribbons, target;  // areas of the token boxes, and of the ribbons between them
  Box matrix, candidates;       // zero height if omitted
  double cell = 0;              // width of a target letter
  double source_cell = 0;       // width of a source token
  double bar = 0;               // width of the colour bar; 0: omitted
  double top = 0, bottom = 0;
  double labels_left = 0;  // left edge of the matrix's row labels
  std::size_t notice_lines = 0;
  Index sources = 0;  // number of source tokens

  double target_x(Index row) const;
  double source_x(Index key) const;  // the source is centred above the target
};

struct AlignmentMeasures {              // in em
  static constexpr double line = 1.5;   // height of a line of text
  static constexpr double title = 1.6;  // height of the title of the candidates
  static constexpr Index candidates = 6;
};

// Returns nullopt if there is no space. `notice`: text above the panels.
std::optional<AlignmentPlaces> place_alignment(const Page& page, const Box& inside,
                                               const AlignmentNumbers& numbers,
                                               const std::string& notice);

AlignmentFocus alignment_focus(const ViewInput& input, const AlignmentNumbers& numbers,
                               const AlignmentPlaces& places);

}  // namespace attnscope
