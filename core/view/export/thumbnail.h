// Thumbnails of a session's view, without title and caption, for lists of lesson steps.
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

// Uses the largest of several font sizes at which the picture fits. Throws InputError if it fits at
// none of them, or if there is nothing to show (no tokens, unknown layer or head).
Image thumbnail(const Traces& traces, const Session& session, const ThumbnailOptions& options = {});

}  // namespace attnscope
