// Views of every checkpoint layout: drawn, or refused in the view's own words.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/checkpoint/model_store.h"
#include "core/experiment/inputs.h"
#include "core/experiment/run.h"
#include "core/model/input_kind.h"
#include "core/view/export/picture.h"
#include "core/view/view.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

namespace fs = std::filesystem;

std::vector<fs::path> stored_layouts() {
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(testing::source_folder() / "tests" / "layouts")) {
    if (fs::exists(entry.path() / "config.json")) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  return folders;
}

bool reads_ids(const ModelConfig& config) {
  return reads_tokens(config) && input_kind(config.input.id).is_text;
}

TEST(StoredLayouts, ViewsAreDrawnOrRefusedInWords) {
  ExperimentRun run(cpu_only());
  for (const fs::path& folder : stored_layouts()) {
    Session session;
    session.run.model = folder.string();
    const auto checkpoint = model_store()->checkpoint(session.run.model);
    if (!reads_ids(checkpoint->model.config)) continue;
    session.run.ids = {5, 6, 7, 8, 9};
    for (const View& view : views()) {
      const std::string context = folder.filename().string() + ", " + view.id;
      session.view.id = view.id;
      try {
        const Traces traces = run.observe(session, required_findings(session));
        static_cast<void>(
            lay_out_picture(*traces.trace, session, PictureOptions(), traces.findings));
      } catch (const InputError& e) {
        EXPECT_TRUE(std::string(e.what()).starts_with(view.id + ": "))
            << context << ": " << e.what();
      } catch (const std::exception& e) {
        ADD_FAILURE() << context << ": " << e.what();
      }
    }
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
