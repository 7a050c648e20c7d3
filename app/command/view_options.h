// Options of a view and of exported pictures.
#pragma once

#include <optional>
#include <string>

#include "app/command/options.h"
#include "core/experiment/session.h"
#include "core/view/export/picture.h"
#include "core/view/export/picture_preset.h"

namespace attnscope::command {

// Options --view, --layer, --head, --stack, --kind, --step, --segment, --colour-map, --colours,
// --words, --tile, --pin and --statistics-file.
class ViewOptions {
 public:
  void add_to(Command command);
  // Applies the given options; other settings stay as in the session. Throws InputError.
  void apply(ViewSettings& settings) const;
  // True if an option selects a view, or the attention that a map shows.
  bool selects_view() const;
  bool is_given() const;  // true if any option is given
  // Throws InputError if the run lacks the stack, kind, step, segment, tile, pair or token.
  void check_trace(const Trace& trace, const ViewSettings& settings) const;

 private:
  std::string view_, colour_map_, colour_end_;
  Index layer_ = 0, head_ = 0;
  std::string stack_, kind_;
  std::optional<Index> step_, segment_;
  bool normalise_ = false, words_ = false, hides_special_ = false, space_markers_ = false;
  std::vector<double> tile_;
  std::vector<Index> pin_;
  std::string statistics_file_;
  std::optional<Command> command_;
};

// Options --width, --height, --scale, --pixels, --inches, --dpi, --font-size, --theme and
// --transparent.
class PictureSizeOptions {
 public:
  void add_to(Command command);
  // Adds --for, --title, --caption, --no-title, --no-caption, --no-tokens, --no-colour-bar and
  // --no-session.
  void add_parts_to(Command command);
  PictureOptions options() const;  // throws InputError

 private:
  void apply_preset(const PicturePreset& preset, PictureOptions& options) const;

  PictureOptions options_;
  std::string theme_ = "light", pixels_, inches_, preset_;
  double dots_per_inch_ = 0;
  std::optional<Command> command_;
};

}  // namespace attnscope::command
