// The options by which commands say what to look at, and how a picture is made.
#pragma once

#include <optional>
#include <string>

#include "app/command/options.h"
#include "core/experiment/experiment.h"
#include "core/view/export/picture.h"
#include "core/view/export/picture_preset.h"

namespace attnscope::command {

// --view, --layer, --head, --stack, --kind, --step, --segment, --colour-map, --colours, --words,
// --tile,
// --pin, --statistics-file.
class ViewOptions {
 public:
  void add_to(Command command);
  // Changes what the options name; the rest stays as the session has it. InputError.
  void apply(ViewSettings& settings) const;
  // InputError where the stack, kind, step or segment asked for is none of the run's, the tile or
  // the pair no part of the map, or a token none of the text.
  void check_trace(const Trace& trace, const ViewSettings& settings) const;

 private:
  std::string view_, colour_map_, colour_end_;
  Index layer_ = 0, head_ = 0;
  std::string stack_, kind_;
  std::optional<Index> step_, segment_;
  bool normalise_ = false, words_ = false, hides_special_ = false;
  std::vector<double> tile_;
  std::vector<Index> pin_;
  std::string statistics_file_;
  std::optional<Command> command_;
};

// --width, --height, --scale, --pixels, --inches, --dpi, --font-size, --theme, --transparent.
class PictureSizeOptions {
 public:
  void add_to(Command command);
  // --for, --title, --caption, --no-title, --no-caption, --no-tokens, --no-colour-bar: of views.
  void add_parts_to(Command command);
  PictureOptions options() const;  // InputError

 private:
  void begin_with(const PicturePreset& preset, PictureOptions& options) const;

  PictureOptions options_;
  std::string theme_ = "light", pixels_, inches_, preset_;
  double dots_ = 0;
  std::optional<Command> command_;
};

}  // namespace attnscope::command
