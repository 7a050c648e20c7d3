#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "app/window/dialogs.h"
#include "app/window/export_job.h"
#include "app/window/files.h"
#include "core/base/error.h"
#include "core/figure/plain_text.h"
#include "core/view/picture.h"
#include "core/view/view_data.h"

namespace attnscope::window {

namespace {

constexpr std::array<const char*, 7> kEndings = {".png", ".svg",         ".pdf", ".csv",
                                                 ".npy", ".safetensors", ".gif"};
constexpr int kPixels = 0, kMoving = 6;               // of kEndings
constexpr double kLeastSide = 100, kMostSide = 8000;  // units
constexpr double kLeastPixels = 0.25, kMostPixels = 8;

int format_of(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  const auto found = std::find(kEndings.begin(), kEndings.end(), ending);
  return found == kEndings.end() ? -1 : static_cast<int>(found - kEndings.begin());
}

void draw_path(Ui& ui, State& state) {
  ExportDialog& dialog = state.exporting;
  ImGui::TextUnformatted("File");
  if (ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(-ui.px(104));
  text_field(ui, "##path", dialog.path, "export.path", "picture.png");
  ImGui::SameLine();
  if (button(ui, "Browse…", "export.browse", false, -1)) {
    browse(state, BrowsePurpose::ExportPath);
  }
  const int clicked =
      segments(ui, "export.format",
               {{"PNG", "Pixels, with the experiment inside.", "png"},
                {"SVG", "Lines and text for the web and drawing programs.", "svg"},
                {"PDF", "Lines and text for papers.", "pdf"},
                {"CSV", "The picture's numbers with their tokens, for spreadsheets.", "csv"},
                {"NPY", "The picture's numbers for NumPy.", "npy"},
                {"Tensors", "The picture's numbers and tokens as safetensors.", "safetensors"},
                {"GIF", "A moving picture, in which a number of the view runs.", "gif"}},
               format_of(dialog.path));
  if (clicked >= 0) {
    dialog.path = std::filesystem::path(dialog.path)
                      .replace_extension(kEndings[static_cast<std::size_t>(clicked)])
                      .string();
  }
}

void draw_theme(Ui& ui, PictureOptions& picture) {
  ImGui::TextUnformatted("Theme");
  const int clicked = segments(ui, "export.theme",
                               {{"Light", "For paper.", "light"}, {"Dark", "For slides.", "dark"}},
                               picture.dark ? 1 : 0);
  if (clicked >= 0) picture.dark = clicked == 1;
  ImGui::Checkbox("Transparent", &picture.transparent);
  mark(ui, "export.transparent");
  hint(ui, "Nothing behind the picture: for slides and posters with a ground of their own.");
}

// A field for a number, one of three in a row, with its label above. It shows value × factor.
struct NumberField {
  const char* label;
  const char* help;
  double& value;
  double factor;
  double least, most;  // of the value
  bool may_be_zero;
  const char* format;
  const char* id;
};

void draw_field(Ui& ui, const NumberField& field) {
  double shown = field.value * field.factor;
  ImGui::PushID(field.id);
  const bool changed = ImGui::InputDouble("##number", &shown, 0, 0, field.format);
  ImGui::PopID();
  mark(ui, field.id);
  hint(ui, field.help);
  if (!changed) return;
  const double value = shown / field.factor;
  const bool zero = field.may_be_zero && !(value > 0);
  field.value = zero ? 0 : std::clamp(value, field.least, field.most);
}

void draw_size(Ui& ui, ExportDialog& dialog, bool pixels) {
  PictureOptions& picture = dialog.picture;
  ImGui::TextUnformatted("Size");
  const int unit =
      segments(ui, "export.unit",
               {{"Pixels", "Sizes in pixels; the scale says how many are a unit.", "px"},
                {"Inches", "Sizes in print, with dots per inch.", "in"}},
               dialog.inches ? 1 : 0);
  if (unit >= 0) dialog.inches = unit == 1;
  const double side = dialog.inches ? 1 / PictureOptions::kUnitsPerInch : picture.scale;
  const char* number = dialog.inches ? "%.2f" : "%.0f";
  const NumberField fields[] = {
      {"Width", "Of the whole picture.", picture.width, side, kLeastSide, kMostSide, false, number,
       "export.width"},
      {"Height", "Of the whole picture; 0 is as high as it needs.", picture.height, side,
       kLeastSide, kMostSide, true, picture.height > 0 ? number : "as needed", "export.height"},
      dialog.inches
          ? NumberField{"Dots per inch", "For PNG: 300 is usual in print.", picture.scale,
                        PictureOptions::kUnitsPerInch, kLeastPixels, kMostPixels, false, "%.0f",
                        "export.scale"}
          : NumberField{"Scale", "Pixels for each unit, for PNG: how large letters are drawn.",
                        picture.scale, 1, kLeastPixels, kMostPixels, false, "%.2f", "export.scale"},
  };
  const float gap = ui.px(8), third = (ImGui::GetContentRegionAvail().x - 2 * gap) / 3;
  const float left = ImGui::GetCursorPosX();
  const auto place = [&](int i) {
    if (i > 0) ImGui::SameLine(left + static_cast<float>(i) * (third + gap));
  };
  for (int i = 0; i < 3; ++i) {
    place(i);
    ImGui::TextUnformatted(fields[i].label);
    hint(ui, fields[i].help);
  }
  for (int i = 0; i < 3; ++i) {
    place(i);
    ImGui::SetNextItemWidth(third);
    ImGui::BeginDisabled(i == 2 && !pixels);
    draw_field(ui, fields[i]);
    ImGui::EndDisabled();
  }
  if (pixels) {
    faint(ui, std::to_string(std::lround(picture.width * picture.scale)) + " pixels wide, " +
                  brief(picture.width / PictureOptions::kUnitsPerInch, 3) + " inches at " +
                  std::to_string(std::lround(picture.dots_per_inch())) + " dots per inch");
  } else {
    faint(ui, "Sharp at any size.");
  }
}

// What moves in a moving picture: one of the view's numbers, from here to there.
void draw_frames(Ui& ui, State& state) {
  FrameOptions& frames = state.exporting.frames;
  const View& shown = view(state.experiment.view.id);
  std::vector<const Parameter*> numbers;
  for (const Parameter& p : shown.parameters) {
    const bool is_number = p.kind == Parameter::Kind::Integer || p.kind == Parameter::Kind::Real;
    if (is_number) numbers.push_back(&p);
  }
  if (numbers.empty()) {
    faint(ui, "This view has no number that could move. Choose another view, such as RoPE.");
    return;
  }
  const auto now = std::find_if(numbers.begin(), numbers.end(),
                                [&](const Parameter* p) { return p->key == frames.key; });
  const auto choose = [&](const Parameter& p) {
    const bool plays = shown.animation && shown.animation->key == p.key;
    frames.key = p.key;
    frames.from = plays ? shown.animation->from : p.slider_least;
    frames.to = plays ? shown.animation->to : p.slider_most;
  };
  if (now == numbers.end()) {
    const auto plays = std::find_if(numbers.begin(), numbers.end(), [&](const Parameter* p) {
      return shown.animation && shown.animation->key == p->key;
    });
    choose(plays == numbers.end() ? *numbers.front() : **plays);
  }
  ImGui::TextUnformatted("What moves");
  ImGui::SetNextItemWidth(-1);
  const auto moved = std::find_if(numbers.begin(), numbers.end(),
                                  [&](const Parameter* p) { return p->key == frames.key; });
  if (ImGui::BeginCombo("##moves", (*moved)->label.c_str())) {
    for (const Parameter* p : numbers) {
      if (ImGui::Selectable(p->label.c_str(), p->key == frames.key)) choose(*p);
    }
    ImGui::EndCombo();
  }
  mark(ui, "export.moves");
  const float gap = ui.px(8), third = (ImGui::GetContentRegionAvail().x - 2 * gap) / 3;
  const float left = ImGui::GetCursorPosX();
  const auto place = [&](int i) {
    if (i > 0) ImGui::SameLine(left + static_cast<float>(i) * (third + gap));
    ImGui::SetNextItemWidth(third);
  };
  for (int i = 0; i < 3; ++i) {
    if (i > 0) ImGui::SameLine(left + static_cast<float>(i) * (third + gap));
    ImGui::TextUnformatted(i == 0 ? "From" : i == 1 ? "To" : "Frames");
  }
  place(0);
  ImGui::InputDouble("##from", &frames.from, 0, 0, "%.4g");
  mark(ui, "export.from");
  place(1);
  ImGui::InputDouble("##to", &frames.to, 0, 0, "%.4g");
  mark(ui, "export.to");
  place(2);
  ImGui::InputInt("##frames", &frames.count, 0, 0);
  mark(ui, "export.frames");
}

// What has become of a file, whether or not the dialog is still open.
void take_job(State& state) {
  ExportDialog& dialog = state.exporting;
  if (dialog.job == nullptr || !dialog.job->over()) return;
  const bool cancelled = dialog.job->cancelled();
  dialog.problem = dialog.job->problem();
  if (dialog.problem.empty() && !cancelled) {
    std::error_code ignored;
    state.say("Wrote " + std::filesystem::absolute(dialog.job->path(), ignored).string() + ".");
    dialog.open = false;
  } else if (!dialog.problem.empty() && !dialog.open) {
    state.complain(dialog.problem);
  }
  dialog.job.reset();
}

// Progress; true while a file is being written.
bool draw_job(Ui& ui, State& state) {
  ExportDialog& dialog = state.exporting;
  if (dialog.job == nullptr) return false;
  // A moving picture knows how far it is; for one picture it is enough to say that it comes.
  if (format_of(dialog.job->path().string()) == kMoving) {
    ImGui::ProgressBar(static_cast<float>(dialog.job->share()), {-1, 0});
  } else {
    faint(ui, "Writing " + dialog.job->path().filename().string() + " …");
  }
  mark(ui, "export.progress");
  if (button(ui, "Stop", "export.stop", false, ui.px(100))) dialog.job->cancel();
  return true;
}

// Whether the button has to be pressed once more, since a file would be lost.
bool asks_to_replace(const ExportDialog& dialog) {
  std::error_code ignored;
  return dialog.replaced == dialog.path && std::filesystem::exists(dialog.path, ignored);
}

void write(State& state) {
  ExportDialog& dialog = state.exporting;
  dialog.problem.clear();
  std::error_code ignored;
  if (std::filesystem::exists(dialog.path, ignored) && dialog.replaced != dialog.path) {
    dialog.replaced = dialog.path;
    return;
  }
  dialog.replaced.clear();
  try {
    if (state.trace == nullptr) throw InputError("There is no picture to export.");
    check_export_name(dialog.path);
    const Experiment experiment = state.shown_experiment();
    const bool moving = format_of(dialog.path) == kMoving;
    if (moving) check_frames(dialog.path, experiment, dialog.frames);
    dialog.job = std::make_shared<ExportJob>(
        dialog.path, [path = dialog.path, moving, experiment, picture = dialog.picture,
                      frames = dialog.frames, trace = state.trace, reference = state.reference,
                      heads = state.measured](const auto& progress, const Stop& stop) {
          if (moving) {
            write_frames(path, *trace, experiment, picture, frames, reference.get(), progress, stop,
                         heads.get());
          } else {
            write_view(path, *trace, experiment, picture, reference.get(), stop, heads.get());
          }
        });
  } catch (const std::exception& e) {
    dialog.problem = e.what();
  }
}

}  // namespace

void draw_export_dialog(Ui& ui, State& state) {
  take_job(state);
  ExportDialog& dialog = state.exporting;
  // While the browser picks the file, it has the stage.
  bool open =
      dialog.open && !(state.browser.open && state.browser.purpose == BrowsePurpose::ExportPath);
  const bool was_open = open;
  if (!begin_dialog(ui, "Export picture", open, 460)) {
    if (was_open) dialog.open = false;
    return;
  }
  draw_path(ui, state);
  const int format = format_of(dialog.path);
  if (!is_data_name(dialog.path)) {
    draw_theme(ui, dialog.picture);
    draw_size(ui, dialog, format == kPixels || format == kMoving);
  }
  if (format == kMoving) draw_frames(ui, state);
  if (!dialog.problem.empty()) {
    ImGui::PushStyleColor(ImGuiCol_Text, ui.look->error);
    paragraph(ui, dialog.problem);
    ImGui::PopStyleColor();
  }
  const bool replaces = asks_to_replace(dialog);
  if (replaces) {
    ImGui::TextColored(ui.look->warning, "This file exists. Click again to replace it.");
  }
  ImGui::Dummy({0, ui.px(4)});
  if (draw_job(ui, state)) {
    end_dialog();
    return;
  }
  const bool enter = take_key(ui, "Enter");
  if (button(ui, replaces ? "Replace" : "Export", "export.accept", true, ui.px(140)) || enter)
    write(state);
  ImGui::SameLine();
  if (button(ui, "Cancel", "export.cancel", false, ui.px(100))) dialog.open = false;
  if (!open) dialog.open = false;
  end_dialog();
}

}  // namespace attnscope::window
