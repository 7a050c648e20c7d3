#include <algorithm>
#include <cmath>
#include <iterator>

#include "app/window/dialogs/dialogs.h"
#include "app/window/dialogs/export_frames.h"
#include "app/window/dialogs/export_preview.h"
#include "app/window/error_text.h"
#include "app/window/files.h"
#include "app/window/jobs/task_kinds.h"
#include "app/window/widgets/text_field.h"
#include "core/base/error.h"
#include "core/figure/plain_text.h"
#include "core/view/export/export_format.h"
#include "core/view/export/picture_preset.h"
#include "core/view/export/view_data.h"

namespace attnscope::window {
namespace {

constexpr const char* kFrameNumber = "-%03d";      // appended to the file name
constexpr double kMinSide = 100, kMaxSide = 8000;  // units
constexpr double kMinPixels = 0.25, kMaxPixels = 8;
constexpr double kMinFont = 5, kMaxFont = 64;                                           // units
constexpr double kSettingsWidth = 540, kMinPreviewWidth = 260, kMaxPreviewWidth = 760;  // units
constexpr double kPointsPerUnit = 72.0 / PictureOptions::kUnitsPerInch;

bool is_movie(const ExportFormat* format) {
  return format != nullptr && format->kind == ExportFormat::Kind::Movie;
}

// File name for another format; sequences of pictures get frame numbers.
std::string with_format(const std::string& name, const ExportFormat& format) {
  std::filesystem::path path(name);
  if (is_numbered(path)) {
    std::string stem = path.stem().string();
    const std::string number = kFrameNumber;
    if (stem.ends_with(number)) stem.resize(stem.size() - number.size());
    path = numbered(path.parent_path() / stem, 0);  // a placeholder before the end becomes 0
  } else {
    path.replace_extension();
  }
  if (format.is_numbered) path += kFrameNumber;
  path += format.ending;
  return path.string();
}

// Determines if the view can be written as a single array (.npy).
void check_single_array(State& state) {
  constexpr Index kMaxTokens = 2048;  // longer runs are not checked
  SingleArrayCheck& check = state.dialogs.exporting.single_array;
  if (check.view == state.session->view && check.trace == state.run.trace) return;
  check = {state.session->view, state.run.trace, ""};
  if (state.run.trace == nullptr || static_cast<Index>(state.run.trace->tokens.size()) > kMaxTokens)
    return;
  try {
    const ViewData data = view_data(*state.run.trace, *state.session, state.run.all_findings());
    const std::size_t count = data.matrices.size();
    if (count != 1) {
      check.refusal = "\n\nNot available: a .npy file holds one array, this view has " +
                      std::to_string(count) + ".";
    }
  } catch (const std::exception& e) {
    check.refusal = std::string("\n\nNot available: ") + e.what();
  }
}

void draw_path(Ui& ui, State& state) {
  ExportDialog& dialog = state.dialogs.exporting;
  ImGui::TextUnformatted("File");
  if (ImGui::IsWindowAppearing() || dialog.focuses_name) focus_next_field(ui);
  dialog.focuses_name = false;
  ImGui::SetNextItemWidth(-ui.px(104));
  text_field(ui, dialog.path, "export.path", "picture.png");
  ImGui::SameLine();
  if (button(ui, "Browse…", "export.browse", false, -1)) {
    browse(state, BrowsePurpose::ExportPath);
  }
  check_single_array(state);
  const std::vector<ExportFormat>& formats = export_formats();
  const ExportFormat* current = export_format(dialog.path);
  const std::string& refusal = dialog.single_array.refusal;
  std::vector<std::string> summaries;
  for (const ExportFormat& format : formats) {
    summaries.push_back(format.summary + (format.is_one_array ? refusal : ""));
  }
  std::vector<Segment> choices;
  for (std::size_t n = 0; n < formats.size(); ++n) {
    choices.push_back({formats[n].label.c_str(), summaries[n].c_str(), formats[n].id.c_str(),
                       !formats[n].is_one_array || refusal.empty()});
  }
  const int clicked =
      segments(ui, "export.format", choices,
               current == nullptr ? -1 : static_cast<int>(current - formats.data()));
  if (clicked >= 0)
    dialog.path = with_format(dialog.path, formats[static_cast<std::size_t>(clicked)]);
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::absolute(dialog.path, ignored);
  faint(ui, "In " + folder.parent_path().lexically_normal().string());
  mark(ui, "export.folder");
}

// Draws presets for intended uses. No preset is selected if the sizes match none of them.
void draw_presets(Ui& ui, ExportDialog& dialog) {
  ImGui::TextUnformatted("For");
  std::vector<Segment> choices;
  int selected = -1;
  for (const PicturePreset& preset : picture_presets()) {
    if (matches_preset(preset, dialog.picture)) selected = static_cast<int>(choices.size());
    choices.push_back({preset.label.c_str(), preset.summary.c_str(), preset.id.c_str()});
  }
  const int clicked = segments(ui, "export.for", choices, selected);
  if (clicked < 0) return;
  apply(picture_presets()[static_cast<std::size_t>(clicked)], dialog.picture);
  dialog.uses_inches = true;
}

// Draws the check box and the text of a figure element. An empty text selects the generated text.
void draw_text(Ui& ui, const char* label, const std::string& id, bool& is_drawn, std::string& text,
               const char* placeholder) {
  ImGui::PushID(id.c_str());
  ImGui::Checkbox(label, &is_drawn);
  mark(ui, id);
  ImGui::SameLine(ui.px(96));
  ImGui::BeginDisabled(!is_drawn);
  ImGui::SetNextItemWidth(-1);
  text_field(ui, text, (id + ".text").c_str(), placeholder);
  ImGui::EndDisabled();
  ImGui::PopID();
}

void draw_parts(Ui& ui, ExportDialog& dialog) {
  FigureParts& parts = dialog.picture.parts;
  ImGui::TextUnformatted("Parts");
  draw_text(ui, "Title", "export.title", parts.title, parts.title_text, "the picture's own title");
  draw_text(ui, "Caption", "export.caption", parts.caption, parts.caption_text,
            "content and settings of the picture");
  ImGui::Checkbox("Tokens", &parts.tokens);
  mark(ui, "export.tokens");
  hint(ui, "Token labels along the sides of maps.");
  ImGui::SameLine(0, ui.px(20));
  ImGui::Checkbox("Colour bar", &parts.colour_bar);
  mark(ui, "export.colour_bar");
  hint(ui, "Legend of the colours: one is enough if several maps share it.");
}

// Offers to leave out the session. Disabled if the format contains none.
void draw_privacy(Ui& ui, ExportDialog& dialog, const ExportFormat* format) {
  ImGui::BeginDisabled(format == nullptr || !format->has_session);
  bool leaves_out = !dialog.picture.embeds_session;
  ImGui::Checkbox("Leave out the session", &leaves_out);
  mark(ui, "export.no_session");
  hint(ui,
       "The file contains the session: the text, and the paths of model and input. With it, a PNG "
       "opens again as it is shown.");
  dialog.picture.embeds_session = !leaves_out;
  ImGui::EndDisabled();
}

void draw_theme(Ui& ui, ExportDialog& dialog) {
  PictureOptions& picture = dialog.picture;
  ImGui::TextUnformatted("Theme");
  const int clicked = segments(ui, "export.theme",
                               {{"Light", "For paper.", "light"}, {"Dark", "For slides.", "dark"}},
                               picture.dark ? 1 : 0);
  if (clicked >= 0) {
    picture.dark = clicked == 1;
    dialog.has_own_theme = true;
  }
  ImGui::Checkbox("Transparent", &picture.transparent);
  mark(ui, "export.transparent");
  hint(ui, "No background: for slides and posters that have their own.");
}

// Numeric field with its label above. Displays value × factor.
struct NumberField {
  const char* label;
  const char* help;
  double& value;
  double factor;
  double min_value, max_value;  // limits of `value`
  bool may_be_zero;
  const char* format;
  const char* id;
  bool enabled = true;
};

void draw_field(Ui& ui, const NumberField& field) {
  double displayed = field.value * field.factor;
  const bool changed =
      number_field(ui, displayed, field.format, field.id, NumberUpdate::WhileTyping);
  hint(ui, field.help);
  if (!changed) return;
  const double value = displayed / field.factor;
  const bool is_zero = field.may_be_zero && !(value > 0);
  field.value = is_zero ? 0 : std::clamp(value, field.min_value, field.max_value);
}

void draw_size(Ui& ui, ExportDialog& dialog, bool has_pixels) {
  PictureOptions& picture = dialog.picture;
  ImGui::TextUnformatted("Size");
  const int unit = segments(ui, "export.unit",
                            {{"Pixels", "Sizes in pixels; the scale is in pixels per unit.", "px"},
                             {"Inches", "Sizes in print, with dots per inch.", "in"}},
                            dialog.uses_inches ? 1 : 0);
  if (unit >= 0) dialog.uses_inches = unit == 1;
  const double factor = dialog.uses_inches ? 1 / PictureOptions::kUnitsPerInch : picture.scale;
  const char* format = dialog.uses_inches ? "%.2f" : "%.0f";
  const NumberField fields[] = {
      {"Width", "Width of the whole picture.", picture.width, factor, kMinSide, kMaxSide, false,
       format, "export.width"},
      {"Height", "Height of the whole picture; 0: as needed.", picture.height, factor, kMinSide,
       kMaxSide, true, picture.height > 0 ? format : "as needed", "export.height"},
      dialog.uses_inches
          ? NumberField{"Dots per inch", "For PNG: 300 is usual in print.", picture.scale,
                        PictureOptions::kUnitsPerInch, kMinPixels, kMaxPixels, false, "%.0f",
                        "export.scale", has_pixels}
          : NumberField{"Scale", "For PNG: pixels per unit, which determine the size of letters.",
                        picture.scale, 1, kMinPixels, kMaxPixels, false, "%.2f", "export.scale",
                        has_pixels},
      {"Font size", "Size of labels in points: 10 is usual in print, more for slides.",
       picture.font_size, kPointsPerUnit, kMinFont, kMaxFont, false, "%.4g", "export.font_size"},
  };
  constexpr int kFields = std::size(fields);
  const float gap = ui.px(8);
  const float field_width = (ImGui::GetContentRegionAvail().x - (kFields - 1) * gap) / kFields;
  const float left = ImGui::GetCursorPosX();
  const auto start_field = [&](int i) {
    if (i > 0) ImGui::SameLine(left + static_cast<float>(i) * (field_width + gap));
  };
  for (int i = 0; i < kFields; ++i) {
    start_field(i);
    ImGui::TextUnformatted(fields[i].label);
    hint(ui, fields[i].help);
  }
  for (int i = 0; i < kFields; ++i) {
    start_field(i);
    ImGui::SetNextItemWidth(field_width);
    ImGui::BeginDisabled(!fields[i].enabled);
    draw_field(ui, fields[i]);
    ImGui::EndDisabled();
  }
  if (has_pixels) {
    faint(ui, std::to_string(std::lround(picture.width * picture.scale)) + " pixels wide, " +
                  brief(picture.width / PictureOptions::kUnitsPerInch, 3) + " inches at " +
                  std::to_string(std::lround(picture.dots_per_inch())) + " dots per inch");
  } else {
    faint(ui, "Vector graphics are sharp at any size.");
  }
}

// Handles progress and the end of an export, even if the dialog was closed.
bool update_export(State& state) {
  ExportDialog& dialog = state.dialogs.exporting;
  const TaskChange change = dialog.task != nullptr ? dialog.task->take_change() : TaskChange::None;
  if (change != TaskChange::End) return change != TaskChange::None;
  dialog.problem = dialog.task->problem();
  if (const std::optional<std::filesystem::path> path = dialog.task->result()) {
    std::error_code ignored;
    const std::filesystem::path written = std::filesystem::absolute(*path, ignored);
    const bool is_sequence = is_numbered(written);
    state.settings.export_folder = written.parent_path().string();
    state.notify("Wrote " + numbered(written, 0).string() +
                 (is_sequence ? " and the following files." : "."));
    dialog.open = false;
  } else if (!dialog.problem.empty() && !dialog.open) {
    state.report_error(dialog.problem);
  }
  dialog.task.reset();
  return true;
}

// Draws the progress. True while a file is being written.
bool draw_progress(Ui& ui, const ExportDialog& dialog) {
  if (dialog.task == nullptr) return false;
  // Animations report progress; a single picture is written in one go.
  if (is_movie(export_format(dialog.destination))) {
    ImGui::ProgressBar(static_cast<float>(dialog.task->fraction()), {-1, 0});
  } else {
    faint(ui, "Writing " + dialog.destination.filename().string() + " …");
  }
  mark(ui, "export.progress");
  if (button(ui, "Stop", "export.stop", false, ui.px(100))) dialog.task->cancel();
  return true;
}

// True if the dialog has asked whether to replace the existing file.
bool asks_to_replace(const ExportDialog& dialog) {
  return !dialog.path.empty() && dialog.overwrite_path == dialog.path;
}

// Data that must live while an animation is written.
struct AnimationExport {
  ExperimentRun run;
  FrameSequence frames;
  AnimationExport(const BackendProvider& backends, const Session& session, const Traces& traces,
                  const FrameOptions& options)
      : run(backends ? backends : cpu_only()), frames(session, traces, options, run) {}
};

struct Export {
  std::function<void(Task& task)> write;
  int files = 1;
};

Export prepare_export(const State& state) {
  const ExportDialog& dialog = state.dialogs.exporting;
  if (state.run.trace == nullptr) throw InputError("There is nothing to export.");
  const SharedSession session = state.shown_session();
  Traces traces(state.run.trace);
  traces.findings = state.run.all_findings();
  if (!is_movie(export_format(dialog.path))) {
    check_export_name(dialog.path);
    return {[path = dialog.path, session, traces, picture = dialog.picture](Task&) {
      write_view(path, *traces.trace, *session, picture, traces.findings);
    }};
  }
  check_frames_name(dialog.path);
  const auto animation =
      std::make_shared<AnimationExport>(dialog.backends, *session, traces, dialog.frames);
  return {[path = dialog.path, animation, picture = dialog.picture](Task& task) {
            const auto progress = [&](double fraction) { task.report(fraction); };
            write_frames(path, animation->frames, picture, progress);
          },
          is_numbered(dialog.path) ? animation->frames.count() : 1};
}

bool any_file_exists(const std::filesystem::path& path, int files) {
  std::error_code ignored;
  for (int file = 0; file < files; ++file) {
    if (std::filesystem::exists(numbered(path, file), ignored)) return true;
  }
  return false;
}

void start_requested_export(State& state) {
  ExportDialog& dialog = state.dialogs.exporting;
  dialog.problem.clear();
  const bool is_confirmed = asks_to_replace(dialog);
  dialog.overwrite_path.clear();
  try {
    const Export request = prepare_export(state);
    if (is_confirmed || !any_file_exists(dialog.path, request.files)) {
      start_export(dialog, dialog.path, request.write);
      return;
    }
    dialog.overwrite_path = dialog.path;
  } catch (const std::exception& e) {
    dialog.problem = error_text(e);
  }
  dialog.focuses_name = true;
}

// Draws everything except the preview.
void draw_settings(Ui& ui, State& state) {
  ExportDialog& dialog = state.dialogs.exporting;
  draw_path(ui, state);
  const ExportFormat* format = export_format(dialog.path);
  if (format == nullptr || format->kind != ExportFormat::Kind::Numbers) {
    draw_presets(ui, dialog);
    draw_parts(ui, dialog);
    draw_theme(ui, dialog);
    ImGui::SameLine(0, ui.px(20));
    draw_privacy(ui, dialog, format);
    draw_size(ui, dialog, format != nullptr && format->has_pixels);
  } else {
    draw_privacy(ui, dialog, format);
  }
  if (is_movie(format) && state.run.trace != nullptr) {
    draw_export_frames(ui, dialog.frames, *state.shown_session(), *state.run.trace);
  }
  if (!dialog.problem.empty()) {
    ImGui::PushStyleColor(ImGuiCol_Text, ui.look->error);
    paragraph(ui, dialog.problem);
    ImGui::PopStyleColor();
  }
  const bool replaces = asks_to_replace(dialog);
  if (replaces) {
    ImGui::TextColored(ui.look->warning, is_numbered(dialog.path)
                                             ? "These files exist. Click again to replace them."
                                             : "This file exists. Click again to replace it.");
  }
  ImGui::Dummy({0, ui.px(4)});
  if (draw_progress(ui, dialog)) return;
  const bool enter = take_key(ui, "Enter");
  if (button(ui, replaces ? "Replace" : "Export", "export.accept", true, ui.px(140)) || enter) {
    start_requested_export(state);
  }
  ImGui::SameLine();
  if (button(ui, "Cancel", "export.cancel", false, ui.px(100))) dialog.open = false;
}

}  // namespace

void start_export(ExportDialog& dialog, const std::filesystem::path& path,
                  const std::function<void(Task& task)>& write) {
  dialog.destination = path;
  dialog.task = std::make_unique<BackgroundTask<std::filesystem::path>>([path, write](Task& task) {
    write(task);  // leaves no partial file
    return path;
  });
}

TaskKind export_tasks() {
  return {
      .update = update_export,
      .tasks = [](State& state) { return std::vector<Task*>{state.dialogs.exporting.task.get()}; },
      .unfinished_file =
          [](const State& state) {
            const ExportDialog& dialog = state.dialogs.exporting;
            const bool is_running = dialog.task != nullptr && !dialog.task->is_finished();
            return is_running ? dialog.destination.string() : "";
          }};
}

void draw_export_dialog(Ui& ui, State& state, Painter& painter) {
  ExportDialog& dialog = state.dialogs.exporting;
  // The dialog is hidden while the file browser selects its path.
  bool open = dialog.open && !(state.dialogs.browser.open &&
                               state.dialogs.browser.purpose == BrowsePurpose::ExportPath);
  const bool was_open = open;
  const float screen_width = ImGui::GetMainViewport()->WorkSize.x;
  // Numeric formats keep the preview, so that the dialog keeps its size while a name is typed.
  const bool has_preview = screen_width >= ui.px(kSettingsWidth + kMinPreviewWidth + 60);
  const double free_width = static_cast<double>(screen_width / ui.px(1)) - kSettingsWidth - 60;
  const double preview_width = has_preview ? std::min(kMaxPreviewWidth, free_width) : 0;
  if (!begin_dialog(ui, "Export", open, kSettingsWidth + preview_width)) {
    if (was_open) dialog.open = false;
    return;
  }
  if (has_preview) {
    const float height = std::min(ui.px(640), ImGui::GetMainViewport()->WorkSize.y - ui.px(110));
    draw_export_preview(ui, state, painter, ui.px(preview_width), height);
    ImGui::SameLine(0, ui.px(16));
    ImGui::BeginChild("settings", {0, height});
  }
  draw_settings(ui, state);
  if (has_preview) ImGui::EndChild();
  if (!open) dialog.open = false;
  end_dialog();
}

}  // namespace attnscope::window
