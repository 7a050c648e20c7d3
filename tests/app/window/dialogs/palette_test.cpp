#include "app/window/dialogs/palette.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "app/window/actions/actions.h"
#include "core/base/file.h"
#include "core/base/home.h"
#include "core/checkpoint/model_store.h"
#include "core/checkpoint/published_model.h"
#include "core/experiment/run.h"
#include "core/experiment/samples.h"
#include "tests/support/compare.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

class PaletteTest : public ::testing::Test {
 protected:
  PaletteTest() {
    state_.session.edit().run.text = "the old house stood by the sea";
    state_.text.card = CachedModelCard{"default", model_card("default")};
    entries_ = palette_entries(state_, model_groups());
  }
  std::vector<std::string> ids(const std::string& typed) const {
    std::vector<std::string> result;
    for (const PaletteEntry* entry : matching_entries(entries_, typed)) result.push_back(entry->id);
    return result;
  }
  const PaletteEntry& entry(const std::string& id) const {
    const auto found = std::ranges::find(entries_, id, &PaletteEntry::id);
    if (found == entries_.end()) throw std::runtime_error("no entry " + id);
    return *found;
  }

  State state_;
  std::vector<PaletteEntry> entries_;
};

TEST_F(PaletteTest, ListsActionsUntilSomethingIsTyped) {
  const auto is_listed = [&](const Action& a) { return !a.is_listed || a.is_listed(state_); };
  EXPECT_EQ(static_cast<std::ptrdiff_t>(ids("").size()),
            std::ranges::count_if(actions(), is_listed));
  EXPECT_TRUE(ids("no such command").empty());
}

TEST_F(PaletteTest, SelectsFirstEnabledEntry) {
  const std::vector<const PaletteEntry*> all = matching_entries(entries_, "");
  EXPECT_FALSE(all.front()->enabled(state_));  // Stop generating
  const std::size_t first = first_enabled(all, state_);
  EXPECT_GT(first, 0U);
  EXPECT_TRUE(all[first]->enabled(state_));
  EXPECT_EQ(first_enabled({}, state_), 0U);
}

// An installed model is opened instead of fetched.
TEST_F(PaletteTest, OffersToOpenInstalledModel) {
  const testing::TemporaryFolder folder;
  ::setenv("XDG_DATA_HOME", folder.path().c_str(), 1);
  const auto lists = [&](const std::string& id) {
    entries_ = palette_entries(state_, model_groups());
    return std::ranges::count(ids("smollm2-135m"), id) == 1;
  };
  EXPECT_TRUE(lists("get_smollm2"));
  EXPECT_FALSE(lists("open_smollm2"));
  std::filesystem::create_directories(user_models_folder());
  write_file(user_models_folder() / smollm2().file, "GGUF");
  EXPECT_FALSE(lists("get_smollm2"));
  EXPECT_TRUE(lists("open_smollm2"));
  entry("open_smollm2").run(state_);
  EXPECT_EQ(state_.session->run.model, smollm2().file);
  ::unsetenv("XDG_DATA_HOME");
}

TEST_F(PaletteTest, IgnoresCaseAndRanksLabelsFirst) {
  ASSERT_FALSE(ids("EXPORT").empty());
  EXPECT_EQ(ids("EXPORT").front(), "export");
  EXPECT_EQ(ids("full screen").front(), "full_screen");
}

TEST_F(PaletteTest, FindsVariantsEncodingsModelsLessonsAndSamples) {
  for (const auto& [typed, id] :
       std::vector<std::pair<std::string, std::string>>{{"lsh", "variant.lsh"},
                                                        {"reformer", "variant.lsh"},
                                                        {"alibi", "position.alibi"},
                                                        {"brackets", "model.brackets"},
                                                        {"self-attention", "lesson.self-attention"},
                                                        {"alice", "sample.alice"}}) {
    const std::vector<std::string> found = ids(typed);
    EXPECT_TRUE(std::ranges::find(found, id) != found.end()) << typed;
  }
  EXPECT_EQ(ids("lsh").front(), "variant.lsh");
  EXPECT_EQ(ids("alice").front(), "sample.alice");
}

TEST_F(PaletteTest, EntriesHaveUniqueIdsAndLabels) {
  std::set<std::string> unique_ids;
  for (const PaletteEntry& e : entries_) {
    EXPECT_TRUE(unique_ids.insert(e.id).second) << e.id;
    EXPECT_FALSE(e.label.empty()) << e.id;
    EXPECT_FALSE(e.kind.empty()) << e.id;
  }
}

TEST_F(PaletteTest, EntriesSelectNamedSettings) {
  ExperimentRun runner(cpu_only(), model_store());
  state_.run.trace = runner.run(state_.session->run);
  entry("sample.alice").run(state_);
  EXPECT_EQ(state_.session->run.text.substr(0, 5), "Alice");
  entry("variant.lsh").run(state_);
  EXPECT_EQ(state_.session->run.variant->id, "lsh");
  entry("position.alibi").run(state_);
  EXPECT_EQ(state_.session->run.encoding->id, "alibi");
  entry("lesson.self-attention").run(state_);
  EXPECT_NE(state_.lesson.lesson, nullptr);
  entry("model.brackets").run(state_);
  EXPECT_EQ(state_.session->run.model, "brackets");
}

// Imported attention has no method to select; the entry states the reason.
TEST_F(PaletteTest, DisablesMethodsOfImportedAttention) {
  EXPECT_TRUE(entry("variant.lsh").enabled(state_));
  Trace imported;
  imported.is_imported = true;
  state_.run.trace = std::make_shared<const Trace>(imported);
  EXPECT_FALSE(entry("variant.lsh").enabled(state_));
  EXPECT_NE(entry("variant.lsh").refusal(state_), "");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
