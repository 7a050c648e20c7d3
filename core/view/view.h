// Views: what a trace looks like. One file each; views() is their ordered list. A view lays
// itself out as a display list, the same for screen and file.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "core/analysis/words.h"
#include "core/experiment/finding.h"
#include "core/figure/display_list.h"
#include "core/trace/trace.h"
#include "core/view/view_values.h"

namespace attnscope {

// What views keep from one layout to the next, so that a picture that is laid out for each frame
// costs little: hand the same cache to every layout of a window. Without one all is worked out
// anew.
class ViewCache {
 public:
  // The matrix made from what `source` points at (a pattern; see source_of()) under this name;
  // `make` is called when the source is another than last time. The source is kept alive, so that
  // its address cannot come to mean another.
  Tensor matrix(const std::shared_ptr<const void>& source, const std::string& name,
                const std::function<Tensor()>& make);
  // The same for what is made from two of them.
  Tensor matrix(const std::shared_ptr<const void>& source, const std::shared_ptr<const void>& other,
                const std::string& name, const std::function<Tensor()>& make);
  // The same for numbers that are more than a matrix.
  template <class Make>
  auto numbers(const std::shared_ptr<const void>& source, const std::string& name,
               const Make& make) {
    using Numbers = std::invoke_result_t<const Make&>;
    return std::static_pointer_cast<const Numbers>(object(source, name, [&] {
      return std::shared_ptr<const void>(std::make_shared<const Numbers>(make()));
    }));
  }
  // The run with its word pieces merged, or without special tokens (core/analysis/words.h), of the
  // last few runs.
  std::shared_ptr<const WordTrace> words(const Trace& trace, const WordChoice& choice);

 private:
  struct Entry {
    std::shared_ptr<const void> source, other;
    Tensor matrix;
    std::shared_ptr<const void> object{};  // null: it is a matrix
  };
  struct Merged {
    std::shared_ptr<const void> source;
    WordChoice choice;
    std::shared_ptr<const WordTrace> words;
  };
  Entry& entry(const std::string& name);
  std::shared_ptr<const void> object(const std::shared_ptr<const void>& source,
                                     const std::string& name,
                                     const std::function<std::shared_ptr<const void>()>& make);
  std::map<std::string, Entry> entries_;
  std::vector<Merged> merged_;  // the newest last
};

// Stands for all of a trace's attention: another one for each run. Null where there is none.
std::shared_ptr<const void> source_of(const Trace& trace);

// What stands around the content of a picture in a file, and may be left out or said otherwise.
struct FigureParts {
  bool title = true, caption = true;
  bool tokens = true;                        // the labels along the sides of matrices
  bool colour_bar = true;                    // the key from colours to numbers
  std::string title_text{}, caption_text{};  // in the place of the picture's own; empty: these
  bool operator==(const FigureParts&) const = default;
};

struct ViewInput {
  const Trace& trace;
  const Experiment& experiment;  // what was run, and view: what to look at
  double width = 0, height = 0;  // the space there is, in pixels
  double font_size = 13;
  const Theme& theme;
  const TextMeasure& measure;
  bool framed = true;   // with title and caption (files); the window has its own
  bool tight = false;   // framed: the picture ends where its content does, above `height`
  FigureParts parts{};  // framed: those there are
  std::optional<Point> pointer{};  // where the mouse is, for cross-hairs
  ViewCache* cache = nullptr;
  double scale = 1;      // pixels per unit, for what depends on how much can be told apart
  Findings findings{};   // what of View::findings is known by now
  bool flipped = false;  // Shift is held: the reference stands in the place of the run
  Stop stop{};  // of what takes long: maps that were not kept, where nothing computes them live
  // Where `trace` is one of words: which (its own), and the run whose pieces were merged. Else
  // null.
  const WordTrace* words = nullptr;
  const Trace* pieces = nullptr;
};

// Whose layers and heads the settings count.
inline TracePart shown_part(const ViewInput& input) {
  return input.trace.part(input.experiment.view.part);
}

// What lies under the pointer.
struct Hit {
  Index layer = 0, head = 0;   // of the settings' part, where ViewControls::part says so
  Index query = -1, key = -1;  // -1: no pair
  std::string shown{};         // what the picture shows there where that is not this head's weight
  bool of_reference = false;   // of the run beside it: ViewInput::reference
  // Where the picture shows words: they, and which of their rows and columns it is; query and key
  // are tokens among theirs. Null: it shows tokens.
  std::shared_ptr<const WordTrace> words{};
  Index word_query = -1, word_key = -1;
};

// A place in the picture that can be dragged or clicked. What it does may outlive the input.
struct Handle {
  Box area;
  std::string help;  // one sentence, for the tooltip; may be empty
  // The pointer, pressed within `area`, is here now.
  std::function<void(Point, Experiment&)> drag{};
  std::function<void(Experiment&)> click{};
  // Where the pointer was pressed within `area` and has been since, and the experiment as it was
  // then: a stroke is drawn anew with each move, and is one step for undo.
  std::function<void(const std::vector<Point>&, Experiment&)> stroke{};
};

struct ViewLayout {
  DisplayList list;
  Box plot;  // where the cells are; pan and zoom act there
  // Cells shown in `plot`, for pan and zoom; zero width when the view has none.
  double row = 0, column = 0, height = 0, width = 0;
  Index rows = 0, columns = 0;  // all there are; 0: the queries and keys of the view's head
  // Where those run: a map's rows run down and its columns across.
  bool rows_run_down = true, columns_run_across = true;
  // The cells are of words, the settings' of tokens: which are a word's. Null: of tokens.
  std::shared_ptr<const WordPairs> words{};
  std::function<Hit(Hit)> of_words{};  // a hit on rows or columns of words, as one on their tokens
  std::function<std::optional<Hit>(Point)> hit;  // may outlive the input; never empty
  std::vector<Handle> handles{};  // later ones lie over earlier ones; drawn by `list`
  std::string pending;  // what is still being computed, so that the picture may change: "map 40 %
                        // exact"; empty: nothing
  std::string refusal;  // why there is nothing to show (the list says so, too); empty: there is
};

// The numbers that a view shows, for other programs.
struct ViewData {
  struct Matrix {
    std::string name;  // "attention"
    Tensor values;     // [.., rows, columns]
    // Of the last two axes; columns may be empty: numbered.
    std::vector<std::string> rows, columns;
    std::vector<std::string> axes{};  // names of the axes before these: "layer", "head"
  };
  std::vector<Matrix> matrices;
};

// What "play" moves, over and over: one of the view's numbers.
struct Animation {
  std::string key;  // of the parameter
  double from = 0, to = 1;
  double seconds = 8;
};

// Where colours can end, in words: "to 99 %", and for a tooltip.
struct ColourEndChoice {
  ColourEnd end;
  std::string label, help;
};
std::vector<ColourEndChoice> weight_ends();     // all, of attention weights
std::vector<ColourEndChoice> stretched_ends();  // the whole range, or that of what is in sight
// The one that the settings have; the first where they have another. None: null.
const ColourEndChoice* colour_end_of(const std::vector<ColourEndChoice>& choices, ColourEnd end);

// Which controls change what a view shows, as it is set now.
struct ViewControls {
  enum class Colours { None, Sequential, All };
  bool layer = true, head = true;
  bool part = true;  // stack, kind, step and segment; else it is about the tokens and their layers
  Colours colours = Colours::All;  // the maps that make a difference
  // Where colours can end, as a person chooses; fewer than two: where they do is settled.
  std::vector<ColourEndChoice> colour_ends = weight_ends();
  bool words = false;                   // whether word pieces can be merged here at all ...
  std::string not_in_words{};           // ... and why not in this run; empty: they can
  std::string none_special{};           // why no special token can be hidden here; empty: they can
  std::vector<Parameter> parameters{};  // the view's, with sliders as long as it takes
  std::map<std::string, std::string, std::less<>> idle{};  // why one changes nothing now, by key
  std::optional<Animation> animation{};                    // the view's, as far as the trace goes
};

// A word of the picture, and what it means.
struct ViewTerm {
  std::string name, meaning;
};
// How a picture is to be read by somebody who has not seen one: a few short sentences, then the
// terms that stand in it.
struct ViewReading {
  std::string text;
  std::vector<ViewTerm> terms{};
};

struct View {
  std::string id;       // "map": on the command line and in file names
  std::string label;    // "Map"
  std::string summary;  // one sentence, for tooltips
  bool zooms = false;
  std::function<ViewLayout(const ViewInput&)> lay_out;
  // What can be set in this view, beside layer, head and colours: its controls in the window,
  // "--view ID,KEY=VALUE" on the command line, ViewSettings::options in sessions.
  std::vector<Parameter> parameters{};
  std::optional<Animation> animation{};
  // Gives an experiment what this view has something to show of, where it has not got it: a sparse
  // variant, a run to compare with. Empty: any experiment will do.
  std::function<void(Experiment&)> example{};
  // What it reads beside the trace, by name: Findings::lens.id. Other names change nothing in it.
  std::vector<std::string> findings{};
  // The numbers behind the picture; empty: the weights of the layer and head.
  std::function<ViewData(const ViewInput&)> data{};
  // Takes away what has no effect as the view is set, on this trace (null: none yet). Empty: all
  // controls have one.
  std::function<void(const ViewSettings&, const Trace*, ViewControls&)> restrict_controls{};
  // Whether the picture has the tap's pairs at other positions than the run had, or treats them
  // otherwise. Empty: never.
  std::function<bool(const ViewSettings&, const AttentionTap&)> departs_from_run{};
  // Whether ViewSettings::words and hides_special have a meaning here: see worded().
  bool merges_words = false;
  // Names the part of the run that it begins with, where nobody has named one and the first is not
  // what there is to see. Empty: the first is.
  std::function<void(const Trace&, PartChoice&)> begins_with{};
  std::string group{};  // "Attention": beside which others it stands in bar and menu
  // Why it has nothing to say about this run, in one sentence for tooltips; "": it has. The bar of
  // views leaves it out then, the menu and the palette show it with the reason. Empty: it always
  // has.
  std::function<std::string(const Trace&)> objection{};

  // What is seen here, as the view is set, on this trace (null: none yet). Never empty.
  std::function<ViewReading(const ViewSettings&, const Trace*)> reading{};

  bool reads(std::string_view finding) const;
  // Whether the run beside it is part of the picture. Other views show one run at a time, and the
  // window puts the reference in its place while Shift is held.
  bool shows_reference() const { return reads(Findings::reference.id); }
};

const std::vector<View>& views();       // in the order of the keys 1..9
const View& view(std::string_view id);  // InputError

// The controls of the view that the settings name.
ViewControls view_controls(const ViewSettings& settings, const Trace* trace);

// The settings with the part that their view begins with, where they leave that open.
ViewSettings begun(ViewSettings settings, const Trace& trace);

// What the view that the experiment looks through reads, and the run beside it, which takes the
// place of the run while Shift is held.
std::vector<std::string> findings_read(const Experiment& experiment);

// What a picture of this trace is called: "default · Full · position: RoPE", of all of it
// or of one part.
std::string picture_title(const Trace& trace, const std::optional<TracePart>& part = std::nullopt);

}  // namespace attnscope
