// Labels, legend and marks of the grid's thumbnails, and the view's caption.
#pragma once

#include <string>
#include <vector>

#include "core/view/grid/grid_raster.h"

namespace attnscope {

// Draws layer·head and the measured number of each thumbnail of a list.
void draw_list_labels(Page& page, const GridRaster& raster, const std::vector<Thumbnail>& list);
// Draws the name of each head's behaviour above its thumbnail, as a text or as a strip in the
// name's colour.
void draw_head_names(Page& page, const GridRaster& raster, const std::vector<Thumbnail>& list);
// Draws a bar for a hidden first token: at the left edge of each thumbnail, where its column would
// be, as high as its share of the head's weight.
void draw_first_token_bars(Page& page, const GridRaster& raster,
                           const std::vector<Thumbnail>& list);
// Draws a legend of the coloured strips, with the number of heads of each name. If the line is too
// short, starts it at `left` and, if that is not enough, uses short names.
void draw_name_legend(Page& page, const std::vector<Thumbnail>& list, Box line, double left);
// Draws layer and head numbers of each block to the left of rows and above columns, as many as fit.
void draw_grid_headers(Page& page, const GridRaster& raster, const Box& all);
// Marks the current head, the selected heads and the hovered head.
void draw_head_marks(Page& page, const GridRaster& raster, const std::vector<Thumbnail>& list,
                     const HeadList& selected);

// Titles of the colour bar, longest first. own_scale: each map has its own colour range.
std::vector<std::string> grid_bar_titles(const ViewInput& input, bool own_scale);
// Caption, without the description of the run.
std::string grid_subject(const ViewInput& input, bool own_scale, bool hides_first, bool has_names);

}  // namespace attnscope
