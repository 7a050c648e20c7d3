// Views: pictures of a trace. views() lists them in order. A view lays itself out as a display
// list, which window and picture files draw.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/experiment/finding.h"
#include "core/figure/display_list.h"
#include "core/trace/trace.h"
#include "core/view/view_cache.h"
#include "core/view/view_values.h"

namespace attnscope {

// Area that a view fills, and the style of its drawing.
struct Canvas {
  double width = 0, height = 0;  // available space, in logical pixels
  double font_size = 13;
  const Theme& theme;
  const TextMeasure& measure;
  double scale = 1;  // device pixels per logical pixel, for decisions that depend on resolution
  double min_font_size = 0;  // smaller text is enlarged or omitted
};

// Optional parts of a picture in a file, and replacements for its texts.
struct FigureParts {
  bool title = true, caption = true;
  bool tokens = true;  // labels along the sides of matrices
  bool colour_bar = true;
  std::string title_text{}, caption_text{};  // replace title and caption unless empty
  bool operator==(const FigureParts&) const = default;
};

// Window actions that hints in pictures mention.
enum class HintAction { ColourRange, Play, StepBack, StepForward };

// Frame of a picture: title, caption and optional parts.
struct FigureOptions {
  bool framed = true;   // false in the window, which shows title and caption itself
  bool tight = false;   // if framed: reduce Canvas::height to the content's height
  FigureParts parts{};  // if framed: the parts to draw
};

// State of mouse and keyboard.
struct Interaction {
  std::optional<Point> pointer{};  // mouse position, for cross-hairs
  bool flipped = false;            // Shift is pressed: the reference replaces the run
  // Ctrl is pressed: a click adds an object to the selection. Shift: extends the selection to it.
  bool adds = false, extends = false;
  // Returns the window's key for an action. Empty in files: their hints name command-line options.
  std::function<std::string(HintAction)> key_of{};
};

// Words merged from the tokens of a run.
struct MergedWords {
  const WordTrace& words;
  const Trace& tokens;  // the run before merging
};

// Run, settings and space that a view draws from.
struct ViewInput {
  const Trace& trace;
  const Session& session;
  Findings findings{};  // the requested View::findings that are available so far
  Canvas canvas;
  FigureOptions figure{};
  Interaction interaction{};
  ViewCache* cache = nullptr;
  std::optional<MergedWords> merged{};  // set if `trace` consists of merged words

  // This input with another run, whose word pieces are not merged.
  ViewInput with_trace(const Trace& other_run) const;
  // This input with merged words. `word_session`: the session, with pins and region in words.
  ViewInput with_words(const WordTrace& words, const Session& word_session) const;
  // The selected part of the run; the selected layer and head are indices within it.
  TracePart part() const { return trace.part(session.view.part); }
};

// The element of a picture under the pointer.
struct Hit {
  Index layer = 0, head = 0;   // within the selected part if ViewControls::part is true
  Index query = -1, key = -1;  // -1: no pair
  std::string shown{};         // displayed value if it is not this head's weight
  bool of_reference = false;   // belongs to the reference run
  // With merged words: the words (else null) and the word indices of the hit; `query` and `key` are
  // then tokens of these two words.
  std::shared_ptr<const WordTrace> words{};
  Index word_query = -1, word_key = -1;
};

// An area of the picture that can be dragged or clicked. Its actions may outlive the input.
struct Handle {
  Box area;
  std::string help;  // one sentence for the tooltip; may be empty
  // Called when the pointer, pressed within `area`, moves to the point.
  std::function<void(Point, Session&)> drag{};
  std::function<void(Session&)> click{};
  // Called on each move after a press within `area`, with the pointer's path from the press on and
  // the session before the press. The whole stroke is one undo step.
  std::function<void(const std::vector<Point>&, Session&)> stroke{};
};

struct ViewLayout {
  DisplayList list;
  Box plot;  // area of the cells, where pan and zoom act
  // Visible region in cells, for pan and zoom; zero width if the view has no cells.
  double row = 0, column = 0, height = 0, width = 0;
  Index rows = 0, columns = 0;  // size of the matrix; 0: L_q and L_k of the selected head
  // If rows_run_down, row indices run downwards, else to the right. If columns_run_across, column
  // indices run to the right, else downwards.
  bool rows_run_down = true, columns_run_across = true;
  // Set if cells are words; indices in the settings still count tokens. Null: cells are tokens.
  std::shared_ptr<const WordPairs> words{};
  std::function<Hit(Hit)> to_token_hit{};        // converts a hit on words to a hit on their tokens
  std::function<std::optional<Hit>(Point)> hit;  // may outlive the input; never empty
  std::vector<Handle> handles{};  // later handles are above earlier ones; `list` draws them
  // Computation in progress that may change the picture: "map 40% exact, ..."; empty: none.
  std::string pending;
  std::string refusal;  // reason for missing content, also drawn in `list`; empty: has content
};

// The numbers behind a view, for export to other programs.
struct ViewData {
  struct Matrix {
    std::string name;  // "attention"
    Tensor values;     // [.., rows, columns]
    // Labels of the last two axes; if `columns` is empty, columns are numbered.
    std::vector<std::string> rows, columns;
    std::vector<std::string> axes{};  // names of the leading axes: "layer", "head"
  };
  std::vector<Matrix> matrices;
};

// The parameter that "play" animates in a loop.
struct Animation {
  std::string key;  // Parameter::key
  double from = 0, to = 1;
  double seconds = 8;
};

// A choice for the end of the colour range: "Clip at 99th percentile", and its tooltip.
struct ColourEndChoice {
  ColourEnd end;
  std::string label, help;
};
std::vector<ColourEndChoice> weight_ends();     // all choices, for attention weights
std::vector<ColourEndChoice> stretched_ends();  // the whole range, or the visible range
// The selected choice, else the first; null if there are none.
const ColourEndChoice* selected_colour_end(const std::vector<ColourEndChoice>& choices,
                                           ColourEnd end);

// Controls that have an effect on a view with its current settings.
struct ViewControls {
  enum class Colours { None, Sequential, All };
  bool layer = true, head = true;
  bool part = true;  // stack, kind, step, segment; false: the view shows the whole run
  Colours colours = Colours::All;  // selectable colour maps
  // Choices for the end of the colour range; fewer than two: not selectable.
  std::vector<ColourEndChoice> colour_ends = weight_ends();
  bool words = false;                    // this view can merge word pieces
  std::string word_merging_refusal{};    // reason why this run has no pieces to merge; else empty
  std::string special_tokens_refusal{};  // reason why no special token can be hidden; else empty
  std::vector<Parameter> parameters{};   // the view's parameters, with ranges that fit the run
  std::map<std::string, std::string, std::less<>> idle{};  // key -> reason for having no effect
  std::optional<Animation> animation{};                    // with a range that fits the run

  void hide_colours();
};
// ViewOptions::restrict_controls of views without selectable colours.
void without_colours(const ViewSettings&, const Trace*, ViewControls& controls);

// A term used in a picture, and its meaning.
struct ViewTerm {
  std::string name, meaning;
};
// Explanation of a picture for first-time users: a few short sentences, then the terms in it.
struct ViewReading {
  std::string text;
  std::vector<ViewTerm> terms{};
};

// A finding that a view reads.
struct ViewFinding {
  std::string id;  // Findings::lens.id
  // Derives the finding's settings from those of the view; nullopt if the selected picture does not
  // read the finding. Empty: the finding has no settings and is always read.
  std::function<std::optional<FindingSettings>(const RunView&)> settings{};
};

// Controls of a view besides layer, head and colours.
struct ViewOptions {
  // Set by controls in the window, "--view ID,KEY=VALUE" on the command line and
  // ViewSettings::options in sessions.
  std::vector<Parameter> parameters{};
  std::optional<Animation> animation{};
  // Removes controls without effect for these settings on this trace (null: none yet). Empty: all
  // controls have an effect.
  std::function<void(const ViewSettings&, const Trace*, ViewControls&)> restrict_controls{};
};

// Runs for which a view has content. Members may be empty.
struct ViewContent {
  // Reason why a run has no content for the view, one sentence for tooltips; empty if there is
  // content. Tabs, menu and palette disable views with an objection and show the reason.
  std::function<std::string(const Trace&)> objection{};
  // Configures a session so that the view has content: a sparse variant, a run to compare with.
  std::function<void(Session&)> example{};
  // Selects the initial part if the user has selected none and the first part has no content.
  std::function<void(const Trace&, PartChoice&)> select_initial_part{};
};

// Features of a view whose cells are query-key pairs.
struct ViewCells {
  bool zoom = false;         // can be panned and zoomed
  bool merge_words = false;  // applies ViewSettings::words and hides_special
  // True if the picture moves the tap's pairs to other positions than in the run, or alters their
  // values. Empty: never.
  std::function<bool(const ViewSettings&, const AttentionTap&)> alter_run{};
};

// The members without initialisers are required.
struct View {
  std::string id;       // "map": on the command line and in file names
  std::string label;    // "Map"
  std::string group;    // heading in bar and menu: "Attention"
  std::string summary;  // one sentence, for tooltips
  std::function<ViewLayout(const ViewInput&)> lay_out;
  // Explanation of the picture with these settings on this trace (null: none yet). Never empty.
  std::function<ViewReading(const ViewSettings&, const Trace*)> reading;
  // The numbers behind the picture; empty: not exportable.
  std::function<ViewData(const ViewInput&)> data{};
  std::vector<ViewFinding> findings{};
  ViewOptions options{};
  ViewContent content{};
  ViewCells cells{};

  // content.objection(); empty if unset.
  std::string objection(const Trace& trace) const;
  bool reads(std::string_view finding) const;
  // True if the reference run is part of the picture. Other views show one run at a time, and the
  // window shows the reference instead of the run while Shift is pressed.
  bool shows_reference() const { return reads(Findings::reference.id); }
};

const std::vector<View>& views();       // in the order of their shortcuts
const View& view(std::string_view id);  // throws InputError if unknown

// Controls of the selected view.
ViewControls view_controls(const ViewSettings& settings, const Trace* trace);

// The settings, with the view's initial part if no part is selected.
ViewSettings with_defaults(ViewSettings settings, const Trace& trace);

// The findings that the session's view reads, including the reference run, which every view can
// show.
std::vector<FindingRequest> required_findings(const Session& session);

// Title of a picture of this trace, or of one part of it: "default · Full · position: RoPE".
std::string picture_title(const Trace& trace, const std::optional<TracePart>& part = std::nullopt);

}  // namespace attnscope
