// Updates of the font atlas's texture.
#pragma once

#include <imgui.h>

#include <vector>

#include "app/window/widgets/shaped_glyphs.h"

namespace attnscope::window {

// Copies boxes of the atlas's pixels to its texture. Requires the context that owns the texture.
void update_font_texture(const ImFontAtlas& atlas, const std::vector<TextureBox>& boxes);

}  // namespace attnscope::window
