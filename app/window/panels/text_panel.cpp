#include "app/window/panels/text_panel.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "app/window/model_selection.h"
#include "app/window/utf8.h"
#include "app/window/widgets/structure_selection.h"
#include "app/window/widgets/text_editor.h"
#include "core/figure/plain_text.h"
#include "core/input/image_file.h"
#include "core/view/parts/describe.h"

namespace attnscope::window {
namespace {

constexpr double kEditorLines = 6;
constexpr double kSampleTitle = 116;  // width in units
// More chips are not readable; the map has the labels, too.
constexpr std::size_t kMaxChips = 400;
constexpr int kChipLines = 3;  // fixed, so that widgets below do not move

// Samples for the current model, the most instructive first.
void draw_samples(Ui& ui, State& state) {
  if (!state.text.card || !state.text.card->card) return;
  const std::vector<const Sample*> samples = samples_for(*state.text.card->card);
  if (samples.empty()) return;
  const float width = ImGui::CalcTextSize("Samples").x + ui.px(18);
  ImGui::SameLine(ImGui::GetContentRegionMax().x - width);
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(9), ui.px(2)});
  if (button(ui, "Samples", "samples", false, width)) ImGui::OpenPopup("samples");
  ImGui::PopStyleVar();
  hint(ui, "Sample inputs for this model, each with a short description.");
  if (!begin_list(ui, "samples")) return;
  const RunSpec& run = state.edited().run;
  for (const Sample* sample : samples) {
    const bool is_current = run.text == sample->text && run.input == sample->input;
    if (list_row(ui, sample->title, is_current, true, {sample->shows, kSampleTitle})) {
      choose_sample(state, *sample);
    }
    mark(ui, "sample." + sample->id);
  }
  ImGui::EndPopup();
}

void draw_counts(Ui& ui, const State& state) {
  std::size_t characters = 0;
  const std::string& text = state.edited().run.text;
  for (std::size_t i = 0; i < text.size(); i = next_character(text, i)) ++characters;
  std::string line = count_text(characters, "character", "characters");
  // The previous counts stay until the next run is complete, to avoid flicker.
  if (state.edited_trace() != nullptr && state.run.error.empty()) {
    line += ", " + count_text(state.edited_trace()->text_tokens().size(), "token", "tokens");
  }
  faint(ui, line);
}

// Draws a text box of one line for `text`. True if its text changed.
bool draw_line(Ui& ui, State& state, TextBox& box, const std::string& text, const char* id,
               const char* placeholder) {
  if (box.edit.text() != text) box.edit.assign(text);
  return draw_text_editor(ui, box,
                          {.id = id,
                           .placeholder = placeholder,
                           .visible_lines = 1,
                           .lines = TextLines::WrappedInput,
                           .has_keyboard = !state.dialogs.open()},
                          state.requests.clipboard);
}

// Target text of an encoder-decoder.
void draw_target(Ui& ui, State& state) {
  heading(ui, "Target");
  if (draw_line(ui, state, state.text.target, state.edited().run.target, "target",
                "Output so far")) {
    state.edit().run.target = state.text.target.edit.text();
    state.edit().run.target_ids.clear();
  }
  hint(ui,
       "Decoder output so far; cross-attention shows the words of the source that each of its "
       "tokens attends to.");
}

// Second sentence of an encoder's sentence pair.
void draw_second(Ui& ui, State& state) {
  if (draw_line(ui, state, state.text.second, state.edited().run.second, "second",
                "Second sentence (optional)")) {
    state.edit().run.second = state.text.second.edit.text();
    state.edit().run.ids.clear();
  }
  hint(ui,
       "Appended to the text as in the training of encoders, with the tokenizer's separators. "
       "The map then has four blocks: each sentence to itself and to the other.");
}

// Draws the choice of the tokens to use if the text is longer than the context; else nothing.
void draw_overlong(Ui& ui, State& state) {
  if (!state.is_overlong()) return;
  const int clicked =
      segments(ui, "overlong",
               {{"First part", "Use the beginning of the text.", "first"},
                {"Last part", "Use the end of the text.", "last"},
                {"All", "Use the whole text, with positions beyond those of training.", "all"}},
               static_cast<int>(state.edited().run.overlong));
  if (clicked >= 0) state.edit().run.overlong = static_cast<Overlong>(clicked);
}

void draw_token_hint(const Ui& ui, const TraceToken& token, std::size_t position) {
  hint(ui, "Token " + std::to_string(position) + ": “" + token.label + "”\nid " +
               std::to_string(token.id) + " in the vocabulary" +
               (token.special ? ", added by the tokenizer" : ""));
}

// Draws the name of the tensor file, which replaces the text.
void draw_tensor_file(Ui& ui, State& state) {
  const std::filesystem::path file = state.edited().run.tensors.file;
  heading(ui, is_image_file(file) ? "Image" : "Tensors", true);
  paragraph(ui, on_screen(file.filename().string()));
  hint(ui, file.string());
  if (state.edited().run.tensors.embedded != nullptr) {
    faint(ui, "Stored in the opened picture");
    hint(ui,
         "The file is missing or has changed since the picture was made, so the copy in the "
         "picture is used.");
  }
  const Trace* trace = state.edited_trace();
  if (trace != nullptr && trace->pixels) {
    faint(ui, std::to_string(trace->pixels->width) + " × " + std::to_string(trace->pixels->height) +
                  " pixels");
  } else if (trace != nullptr && state.is_current() && state.layers() > 0) {
    const AttentionTap& tap = trace->attention.front();
    faint(ui, describe_layers_and_heads(*trace, trace->part({})) + ", " +
                  count_text(static_cast<std::size_t>(tap.queries()), "query", "queries") + " × " +
                  count_text(static_cast<std::size_t>(tap.keys()), "key", "keys"));
  }
  if (button(ui, "Back to text", "tensors.close")) {
    state.history.end_step();
    state.edit().run.tensors = {};
  }
  hint(ui, "Close the file and show a model's attention again.");
}

// Draws the name of the model's input file, which replaces the text.
void draw_input_file(Ui& ui, State& state) {
  heading(ui, "Input", true);
  draw_samples(ui, state);
  const std::filesystem::path file = state.edited().run.input;
  paragraph(ui, on_screen(file.filename().string()));
  hint(ui, file.string());
  if (button(ui, "Back to text", "input.close")) return_to_text(state);
  hint(ui, "Close the file and return to the text and its model.");
}

}  // namespace

void draw_text_panel(Ui& ui, State& state) {
  if (!state.edited().run.tensors.file.empty()) {
    draw_tensor_file(ui, state);
    return;
  }
  if (!state.edited().run.input.empty()) {
    draw_input_file(ui, state);
    return;
  }
  const Architecture* architecture = effective_architecture(state);
  const bool has_target = architecture != nullptr && architecture->reads == Reads::SourceAndTarget;
  heading(ui, has_target ? "Source" : "Text", true);
  draw_samples(ui, state);
  if (state.text.edit.text() != state.edited().run.text) {
    state.text.edit.assign(state.edited().run.text);
  }
  if (draw_text_editor(ui, state.text,
                       {.id = "text",
                        .placeholder = "Type or drop a text here",
                        .visible_lines = kEditorLines,
                        .lines = TextLines::Wrapped,
                        .has_keyboard = !state.dialogs.open()},
                       state.requests.clipboard)) {
    state.edit().run.text = state.text.edit.text();
    state.edit().run.ids.clear();
    state.text.is_edited = true;
  }
  draw_counts(ui, state);
  draw_overlong(ui, state);
  if (has_target) draw_target(ui, state);
  if (!has_target && reads_sentences(state)) draw_second(ui, state);
}

namespace {

// Range of tokens under the pointer, [first, first + count); first -1: none.
struct TokenRange {
  Index first = -1, count = 0;
  bool contains(Index token) const { return first >= 0 && token >= first && token < first + count; }
};

void draw_stream(Ui& ui, const std::string& name, const std::vector<TraceToken>& tokens,
                 const TokenRange& query, const TokenRange& key) {
  const Look& look = *ui.look;
  float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  const std::size_t chips = std::min(tokens.size(), kMaxChips);
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ui.px(3), ui.px(4)});
  ImGui::PushFont(ui.fonts.small);
  const float full_width = ImGui::GetContentRegionAvail().x;
  const auto width_of = [&](std::size_t i) {
    return chip_width(ui, ui.shown_label(tokens[i].label), full_width);
  };
  // More lines scroll, so that the widgets below stay visible.
  const float line = ImGui::GetTextLineHeight() + ui.px(8);
  const float left = ImGui::GetCursorScreenPos().x, scrollbar = ImGui::GetStyle().ScrollbarSize;
  int lines = 1;
  float x = left;
  for (std::size_t i = 0; i < chips; ++i) {
    const float width = width_of(i);
    if (x > left && x + width >= right) {
      ++lines;
      x = left;
    }
    x += width + ui.px(3);
  }
  if (lines > kChipLines) right -= scrollbar;
  ImGui::BeginChild(name.c_str(), {0, line * static_cast<float>(kChipLines)});
  for (std::size_t i = 0; i < chips; ++i) {
    const float next = ImGui::GetItemRectMax().x + ui.px(3) + width_of(i);
    if (i > 0 && next < right) ImGui::SameLine();
    const auto token = static_cast<Index>(i);
    const bool is_query = query.contains(token), is_key = key.contains(token);
    const ImVec4& background = is_query ? look.query : (is_key ? look.key : look.raised);
    chip(ui, ui.shown_label(tokens[i].label), background,
         is_query || is_key ? look.on_accent : look.text);
    mark(ui, name + "." + std::to_string(i));
    draw_token_hint(ui, tokens[i], i);
  }
  if (tokens.size() > kMaxChips) {
    const auto hidden = static_cast<long long>(tokens.size() - kMaxChips);
    faint(ui, "and " + grouped(hidden) + " more");
  }
  ImGui::EndChild();
  ImGui::PopFont();
  ImGui::PopStyleVar();
}

}  // namespace

void draw_tokens(Ui& ui, State& state) {
  if (state.edited_trace() == nullptr) return;
  const Trace& trace = *state.edited_trace();
  const State::PointedTokens hit = state.pointed_tokens();
  const auto draw = [&](const char* name, const std::string& stream,
                        const std::vector<TraceToken>& tokens) {
    draw_stream(ui, name, tokens,
                hit.query_stream == stream ? TokenRange{hit.query, hit.queries} : TokenRange(),
                hit.key_stream == stream ? TokenRange{hit.key, hit.keys} : TokenRange());
  };
  const bool has_source = trace.parts.kind && !trace.streams.empty();
  if (has_source) {
    faint(ui, "Source");
    draw("source", kSourceStream, trace.tokens_of({kSourceStream}));
    faint(ui, "Target");
  }
  draw("token", "", trace.tokens);
}

}  // namespace attnscope::window
