// The options by which commands say what to look at, and how a picture is made.
#pragma once

#include <optional>
#include <string>

#include "app/command/options.h"
#include "core/experiment/experiment.h"
#include "core/view/export/picture.h"

namespace attnscope::command {

// --view, --layer, --head, --colour-map, --normalise, --tile, --pin, --statistics-file.
class ViewOptions {
 public:
  void add_to(Command command);
  // Changes what the options name; the rest stays as the session has it. InputError.
  void apply(ViewSettings& settings) const;
  // InputError where the tile or the pair asked for is no part of the map.
  void check_cells(const Trace& trace, const ViewSettings& settings) const;

 private:
  std::string view_, colour_map_;
  Index layer_ = 0, head_ = 0;
  bool normalise_ = false;
  std::vector<double> tile_;
  std::vector<Index> pin_;
  std::string statistics_file_;
  std::optional<Command> command_;
};

// --width, --height, --scale, --pixels, --inches, --dpi, --font-size, --theme, --transparent.
class PictureSizeOptions {
 public:
  void add_to(Command command);
  PictureOptions options() const;  // InputError

 private:
  PictureOptions options_;
  std::string theme_ = "light", pixels_, inches_;
  double dots_ = 0;
};

}  // namespace attnscope::command
