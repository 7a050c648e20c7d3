#include "app/window/dialogs/documentation_dialog.h"

#include <algorithm>

#include "app/window/dialogs/dialogs.h"
#include "core/base/file.h"
#include "core/base/home.h"

namespace attnscope::window {
namespace {

using Kind = DocumentationBlock::Kind;

constexpr double kListWidth = 230, kGap = 16;  // units

std::filesystem::path documentation_folder() {
  return home_folder() / "assets" / "docs";
}

void read_index(DocumentationDialog& dialog) {
  dialog.loaded_page = -1;
  dialog.problem.clear();
  try {
    dialog.pages = documentation_pages(documentation_folder());
    if (dialog.pages.empty()) dialog.problem = "index.md: expected a list of pages, found none";
  } catch (const std::exception& e) {
    dialog.pages.clear();
    dialog.problem = e.what();
  }
  dialog.page = std::clamp(dialog.page, 0, std::max(static_cast<int>(dialog.pages.size()) - 1, 0));
}

void read_page(DocumentationDialog& dialog) {
  if (dialog.loaded_page == dialog.page || dialog.pages.empty()) return;
  dialog.loaded_page = dialog.page;
  dialog.blocks.clear();
  dialog.problem.clear();
  const std::string& file = dialog.pages[static_cast<std::size_t>(dialog.page)].file;
  try {
    dialog.blocks = documentation_blocks(read_file(documentation_folder() / file));
  } catch (const std::exception& e) {
    dialog.problem = e.what();
  }
}

// Draws the list of pages under the headings of the index. True if another page was selected.
bool draw_page_list(Ui& ui, DocumentationDialog& dialog) {
  const int old_page = dialog.page;
  const int last_page = std::max(static_cast<int>(dialog.pages.size()) - 1, 0);
  if (take_key(ui, "Down")) dialog.page = std::min(dialog.page + 1, last_page);
  if (take_key(ui, "Up")) dialog.page = std::max(dialog.page - 1, 0);
  std::string group;
  for (std::size_t i = 0; i < dialog.pages.size(); ++i) {
    const DocumentationPage& page = dialog.pages[i];
    if (page.group != group) heading(ui, on_screen(page.group).c_str(), i == 0);
    group = page.group;
    const bool is_selected = static_cast<int>(i) == dialog.page;
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::Selectable(on_screen(page.title).c_str(), is_selected)) {
      dialog.page = static_cast<int>(i);
    }
    ImGui::PopID();
    mark(ui, "documentation." + page.file);
    if (is_selected && dialog.page != old_page && !ImGui::IsItemVisible()) ImGui::SetScrollHereY();
  }
  return dialog.page != old_page;
}

void draw_table(const DocumentationBlock& block, int number) {
  const int columns = static_cast<int>(block.rows[0].size());
  const std::string id = "table " + std::to_string(number);
  constexpr ImGuiTableFlags kFlags =
      ImGuiTableFlags_BordersInnerH | ImGuiTableFlags_SizingStretchProp;
  if (!ImGui::BeginTable(id.c_str(), columns, kFlags)) return;
  for (const auto& row : block.rows) {
    ImGui::TableNextRow();
    for (const std::string& cell : row) {
      ImGui::TableNextColumn();
      ImGui::PushTextWrapPos(0);
      ImGui::TextUnformatted(on_screen(cell).c_str());
      ImGui::PopTextWrapPos();
    }
  }
  ImGui::EndTable();
}

void draw_block(Ui& ui, const DocumentationBlock& block, int number) {
  if (block.kind == Kind::Table) {
    draw_table(block, number);
    ImGui::Dummy({0, ui.px(6)});
    return;
  }
  const std::string text = on_screen(block.text);
  if (block.kind == Kind::Heading) {
    heading(ui, text.c_str());
    return;
  }
  if (block.kind == Kind::Title) ImGui::PushFont(ui.fonts.title);
  if (block.kind == Kind::Code) ImGui::PushStyleColor(ImGuiCol_Text, ui.look->accent);
  if (block.kind == Kind::Item) {
    ImGui::Bullet();
    ImGui::SameLine();
  }
  ImGui::PushTextWrapPos(0);
  ImGui::TextUnformatted(text.c_str());
  ImGui::PopTextWrapPos();
  if (block.kind == Kind::Code) ImGui::PopStyleColor();
  if (block.kind == Kind::Title) ImGui::PopFont();
  if (block.kind != Kind::Item) ImGui::Dummy({0, ui.px(4)});
}

}  // namespace

void draw_documentation(Ui& ui, DocumentationDialog& dialog) {
  if (!begin_dialog(ui, "Documentation", dialog.open, 1080, 720)) return;
  if (ImGui::IsWindowAppearing()) read_index(dialog);
  ImGui::BeginChild("pages", {ui.px(kListWidth), 0});
  const bool page_changed = draw_page_list(ui, dialog);
  ImGui::EndChild();
  ImGui::SameLine(0, ui.px(kGap));
  read_page(dialog);
  ImGui::BeginChild("page", {0, 0});
  if (page_changed) ImGui::SetScrollY(0);
  if (!dialog.problem.empty()) paragraph(ui, on_screen(dialog.problem));
  for (std::size_t i = 0; i < dialog.blocks.size(); ++i) {
    draw_block(ui, dialog.blocks[i], static_cast<int>(i));
  }
  if (!dialog.pages.empty()) {
    const std::string& file = dialog.pages[static_cast<std::size_t>(dialog.page)].file;
    faint(ui, on_screen((documentation_folder() / file).string()));
  }
  ImGui::EndChild();
  end_dialog();
}

}  // namespace attnscope::window
