// What an experiment shows, small: for lists of steps. The same display list as of any picture,
// without title and caption.
#pragma once

#include "core/experiment/finding.h"
#include "core/figure/image.h"
#include "core/view/view.h"

namespace attnscope {

struct ThumbnailOptions {
  double width = 330, height = 220;  // in units of 1/96 inch
  double scale = 1.5;                // pixels per unit
  bool dark = false;
};

// In letters that leave the picture space. InputError where there is nothing to show (no tokens, no
// such layer or head).
Image thumbnail(const Traces& traces, const Experiment& experiment,
                const ThumbnailOptions& options = {}, const Stop& stop = {});

}  // namespace attnscope
