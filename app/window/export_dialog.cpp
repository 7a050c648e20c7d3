#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "app/window/dialogs.h"
#include "app/window/files.h"
#include "app/window/table.h"
#include "core/base/file.h"
#include "core/view/picture.h"

namespace attnscope::window {

namespace {

constexpr std::array<const char*, 4> kEndings = {".png", ".svg", ".pdf", ".csv"};
constexpr int kPixels = 0, kNumbers = 3;              // of kEndings
constexpr double kLeastSide = 100, kMostSide = 8000;  // units
constexpr double kLeastScale = 0.25, kMostScale = 8;

int format_of(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  const auto found = std::find(kEndings.begin(), kEndings.end(), ending);
  return found == kEndings.end() ? -1 : static_cast<int>(found - kEndings.begin());
}

void draw_path(Ui& ui, State& state) {
  ExportDialog& dialog = state.exporting;
  ImGui::TextUnformatted("File");
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
                {"CSV", "The numbers of the layer and head, with their tokens.", "csv"}},
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
}

// A field for a number, one of three in a row, with its label above.
struct NumberField {
  const char* label;
  const char* help;
  double& value;
  double least, most;
  const char* format;
  const char* id;
};

void draw_size(Ui& ui, PictureOptions& picture, bool pixels) {
  const char* high = picture.height > 0 ? "%.0f" : "as needed";
  NumberField fields[] = {
      {"Width", "In units of 1/96 inch.", picture.width, kLeastSide, kMostSide, "%.0f",
       "export.width"},
      {"Height", "In units of 1/96 inch; 0 is as high as the picture needs.", picture.height, 0,
       kMostSide, high, "export.height"},
      {"Scale", "Pixels for each unit (PNG only): 2 is twice as sharp.", picture.scale, kLeastScale,
       kMostScale, "%.2f", "export.scale"},
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
    NumberField& field = fields[i];
    place(i);
    ImGui::SetNextItemWidth(third);
    ImGui::PushID(field.id);
    ImGui::BeginDisabled(i == 2 && !pixels);
    ImGui::InputDouble("##number", &field.value, 0, 0, field.format);
    ImGui::EndDisabled();
    ImGui::PopID();
    mark(ui, field.id);
    hint(ui, field.help);
    field.value = std::clamp(field.value, field.least, field.most);
  }
  if (pixels) {
    faint(ui, std::to_string(std::lround(picture.width * picture.scale)) + " pixels wide");
  } else {
    faint(ui, "Sharp at any size.");
  }
}

void write(State& state) {
  ExportDialog& dialog = state.exporting;
  try {
    Experiment experiment = state.shown;
    experiment.view = state.experiment.view;
    if (format_of(dialog.path) == kNumbers) {
      write_file(dialog.path, picture_csv(*state.trace, experiment));
    } else {
      write_view(dialog.path, *state.trace, experiment, dialog.picture, state.reference.get());
    }
    state.say("Wrote " + dialog.path + ".");
    dialog.open = false;
  } catch (const std::exception& e) {
    dialog.problem = e.what();
  }
}

}  // namespace

void draw_export_dialog(Ui& ui, State& state) {
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
  if (format != kNumbers) {
    draw_theme(ui, dialog.picture);
    draw_size(ui, dialog.picture, format == kPixels);
  }
  if (!dialog.problem.empty()) {
    ImGui::PushStyleColor(ImGuiCol_Text, ui.look->error);
    paragraph(ui, dialog.problem);
    ImGui::PopStyleColor();
  }
  ImGui::Dummy({0, ui.px(4)});
  const bool enter = take_key(ui, "Enter");
  if (button(ui, "Export", "export.accept", true, ui.px(140)) || enter) write(state);
  ImGui::SameLine();
  if (button(ui, "Cancel", "export.cancel", false, ui.px(100))) dialog.open = false;
  if (!open) dialog.open = false;
  end_dialog();
}

}  // namespace attnscope::window
