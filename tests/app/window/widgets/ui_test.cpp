#include "app/window/widgets/ui.h"

#include <gtest/gtest.h>
#include <imgui_internal.h>

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

class DialogTest : public ::testing::Test {
 protected:
  DialogTest() {
    ui_.fonts.load(atlas_, 1);
    ImGui::CreateContext(&atlas_);
    ImGui::GetIO().IniFilename = nullptr;
    ImGui::GetIO().DisplaySize = {640, 480};
    ui_.look = &Look::light();
#if IMGUI_VERSION_NUM >= 19200
    ImGui::GetIO().BackendFlags |= ImGuiBackendFlags_RendererHasTextures;
#endif
  }
  ~DialogTest() override {
    ImGui::DestroyContext();
  }

  void draw_frame(bool& open) {
    ImGui::NewFrame();
    if (begin_dialog(ui_, "Export", open, 300)) {
      ImGui::TextUnformatted("content");
      end_dialog();
    }
    ImGui::Render();
  }
  static bool is_drawn() {
    const ImGuiWindow* window = ImGui::FindWindowByName("##Export");
    return window != nullptr && window->Active;
  }

  ImFontAtlas atlas_;
  Ui ui_;
};

// After closing, no frame shows the dialog without its content.
TEST_F(DialogTest, DisappearsInFrameAfterClosing) {
  for (int opening = 0; opening < 2; ++opening) {
    bool open = true;
    draw_frame(open);
    draw_frame(open);
    EXPECT_TRUE(is_drawn());
    open = false;
    draw_frame(open);
    EXPECT_FALSE(is_drawn());
    EXPECT_TRUE(ImGui::GetCurrentContext()->OpenPopupStack.empty());
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
