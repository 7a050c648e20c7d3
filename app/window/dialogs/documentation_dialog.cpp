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

void read_index(DocumentationDialog& now) {
  now.loaded = -1;
  now.problem.clear();
  try {
    now.pages = documentation_pages(documentation_folder());
    if (now.pages.empty()) now.problem = "index.md: expected a list of pages, found none";
  } catch (const std::exception& e) {
    now.pages.clear();
    now.problem = e.what();
  }
  now.chosen = std::clamp(now.chosen, 0, std::max(static_cast<int>(now.pages.size()) - 1, 0));
}

void read_page(DocumentationDialog& now) {
  if (now.loaded == now.chosen || now.pages.empty()) return;
  now.loaded = now.chosen;
  now.blocks.clear();
  now.problem.clear();
  const std::string& file = now.pages[static_cast<std::size_t>(now.chosen)].file;
  try {
    now.blocks = documentation_blocks(read_file(documentation_folder() / file));
  } catch (const std::exception& e) {
    now.problem = e.what();
  }
}

// The list of pages, under the headings of the index. True if another page was chosen.
bool choose_page(Ui& ui, DocumentationDialog& now) {
  const int before = now.chosen;
  const int last = std::max(static_cast<int>(now.pages.size()) - 1, 0);
  if (take_key(ui, "Down")) now.chosen = std::min(now.chosen + 1, last);
  if (take_key(ui, "Up")) now.chosen = std::max(now.chosen - 1, 0);
  std::string group;
  for (std::size_t i = 0; i < now.pages.size(); ++i) {
    const DocumentationPage& page = now.pages[i];
    if (page.group != group) heading(ui, on_screen(page.group).c_str(), i == 0);
    group = page.group;
    const bool chosen = static_cast<int>(i) == now.chosen;
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::Selectable(on_screen(page.title).c_str(), chosen)) {
      now.chosen = static_cast<int>(i);
    }
    ImGui::PopID();
    mark(ui, "documentation." + page.file);
    if (chosen && now.chosen != before && !ImGui::IsItemVisible()) ImGui::SetScrollHereY();
  }
  return now.chosen != before;
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

void draw_documentation(Ui& ui, DocumentationDialog& now) {
  if (!begin_dialog(ui, "Documentation", now.open, 1080, 720)) return;
  if (ImGui::IsWindowAppearing()) read_index(now);
  ImGui::BeginChild("pages", {ui.px(kListWidth), 0});
  const bool moved = choose_page(ui, now);
  ImGui::EndChild();
  ImGui::SameLine(0, ui.px(kGap));
  read_page(now);
  ImGui::BeginChild("page", {0, 0});
  if (moved) ImGui::SetScrollY(0);
  if (!now.problem.empty()) paragraph(ui, on_screen(now.problem));
  for (std::size_t i = 0; i < now.blocks.size(); ++i) {
    draw_block(ui, now.blocks[i], static_cast<int>(i));
  }
  if (!now.pages.empty()) {
    const std::string& file = now.pages[static_cast<std::size_t>(now.chosen)].file;
    faint(ui, on_screen((documentation_folder() / file).string()));
  }
  ImGui::EndChild();
  end_dialog();
}

}  // namespace attnscope::window
