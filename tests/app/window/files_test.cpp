#include "app/window/files.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "app/window/jobs/task_kinds.h"
#include "core/base/file.h"
#include "core/figure/render.h"
#include "core/tensor/npy.h"
#include "core/view/session_file.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"

namespace attnscope::window {
namespace ATTNSCOPE_FILE {

TEST(Files, OpensSessionUndoably) {
  const testing::TemporaryFolder folder;
  Session stored;
  stored.run.text = "stored text";
  stored.run.causal = false;
  save_session(folder.path() / "s.json", stored);
  State state;
  state.session.edit().run.text = "mine";
  state.history.record(state.session.snapshot(), 0);
  EXPECT_TRUE(open_path(state, folder.path() / "s.json"));
  EXPECT_EQ(*state.session, stored);
  EXPECT_EQ(state.text.edit.text(), "stored text");
  EXPECT_EQ(state.files.session, folder.path() / "s.json");
  EXPECT_EQ(state.history.undo()->run.text, "mine");
}

TEST(Files, OpensTextsWithInvalidUtf8) {
  const testing::TemporaryFolder folder;
  write_file(folder.path() / "t.txt", "caf\xE9 au lait");
  State state;
  EXPECT_TRUE(open_path(state, folder.path() / "t.txt"));
  EXPECT_EQ(state.session->run.text, "caf\xE9 au lait");
}

TEST(Files, OpensPictureWithEmbeddedSession) {
  const testing::TemporaryFolder folder;
  DisplayList list;
  list.width = list.height = 10;
  Session stored;
  stored.run.text = "from a picture";
  save_session(folder.path() / "s.json", stored);
  write_picture(folder.path() / "p.png", list, 1,
                {{kExperimentKeyword, read_file(folder.path() / "s.json")}});
  State state;
  EXPECT_TRUE(open_path(state, folder.path() / "p.png"));
  EXPECT_EQ(state.session->run.text, "from a picture");
}

// Large files are read in the background. Until then, the current content remains.
TEST(Files, ReadsLargeFilesInBackground) {
  const testing::TemporaryFolder folder;
  const auto file = folder.path() / "a.npy";
  write_npy(file, stored(Tensor::full({3, 900, 900}, 1.0F / 900)));
  ASSERT_GT(std::filesystem::file_size(file), std::uintmax_t{8} << 20);
  const auto finish = [](State& state) {
    while (!opening_tasks().update(state))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  State state;
  state.session.edit().run.text = "mine";
  EXPECT_TRUE(open_path(state, file));
  EXPECT_TRUE(has_task_status(state));
  EXPECT_TRUE(state.session->run.tensors.file.empty());
  finish(state);
  EXPECT_FALSE(has_task_status(state));
  EXPECT_EQ(state.session->run.tensors.file, file.string());
  EXPECT_EQ(state.settings.recent, std::vector<std::string>{file.string()});

  // Errors are reported when reading ends, not before.
  std::filesystem::resize_file(file, (std::uintmax_t{8} << 20) + 1);
  EXPECT_TRUE(open_path(state, file));
  EXPECT_TRUE(state.notices.empty());
  finish(state);
  ASSERT_EQ(state.notices.size(), 1U);
  EXPECT_TRUE(state.notices[0].error);

  // The last of two requests replaces the first.
  write_file(folder.path() / "t.txt", "a text");
  EXPECT_TRUE(open_path(state, file));
  EXPECT_TRUE(open_path(state, folder.path() / "t.txt"));
  EXPECT_FALSE(has_task_status(state));
  finish(state);
  EXPECT_EQ(state.session->run.text, "a text");
  EXPECT_EQ(state.notices.size(), 1U);
}

TEST(Files, RemembersRecentFiles) {
  const testing::TemporaryFolder folder;
  write_file(folder.path() / "t.txt", "a text");
  State state;
  EXPECT_TRUE(open_path(state, folder.path() / "t.txt"));
  EXPECT_TRUE(save_to(state, folder.path() / "s.json"));
  EXPECT_FALSE(open_path(state, folder.path() / "none.json"));
  EXPECT_EQ(state.settings.recent, (std::vector<std::string>{(folder.path() / "s.json").string(),
                                                             (folder.path() / "t.txt").string()}));
}

class UnusableFile : public ::testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(UnusableFile, ReportsErrorAndKeepsState) {
  const testing::TemporaryFolder folder;
  const auto& [name, bytes] = GetParam();
  write_file(folder.path() / name, bytes);
  State state;
  state.session.edit().run.text = "mine";
  EXPECT_FALSE(open_path(state, folder.path() / name));
  EXPECT_EQ(state.session->run.text, "mine");
  ASSERT_EQ(state.notices.size(), 1U);
  EXPECT_TRUE(state.notices[0].error);
}

INSTANTIATE_TEST_SUITE_P(
    Files, UnusableFile,
    ::testing::Values(std::pair<std::string, std::string>{"empty.json", ""},
                      std::pair<std::string, std::string>{"list.json", "[]"},
                      std::pair<std::string, std::string>{"wrong.json", "{\"attnscope\": \"x\"}"},
                      std::pair<std::string, std::string>{"none.png", "no picture"},
                      std::pair<std::string, std::string>{"binary.dat", std::string(8, '\0')}));

TEST(Files, OpensTensorsInsteadOfText) {
  const testing::TemporaryFolder folder;
  write_npy(folder.path() / "a.npy", stored(Tensor::full({2, 2}, 0.5F)));
  State state;
  state.session.edit().run.text = "mine";
  state.session.edit().run.variant = default_variant();
  state.history.record(state.session.snapshot(), 0);
  EXPECT_TRUE(open_path(state, folder.path() / "a.npy"));
  EXPECT_EQ(state.session->run.tensors.file, folder.path() / "a.npy");
  EXPECT_FALSE(state.session->run.variant.has_value());
  EXPECT_EQ(state.session->run.text, "mine");  // kept for returning to the text
  write_file(folder.path() / "b.npy", "no array");
  EXPECT_FALSE(open_path(state, folder.path() / "b.npy"));
  EXPECT_EQ(state.session->run.tensors.file, folder.path() / "a.npy");
  write_file(folder.path() / "t.txt", "other");
  EXPECT_TRUE(open_path(state, folder.path() / "t.txt"));
  EXPECT_EQ(state.session->run.tensors, TensorFiles());
}

TEST(Files, OpensNonTextInputs) {
  const std::filesystem::path file =
      testing::source_folder() / "tests" / "model-cases" / "trajectory" / "input.safetensors";
  Session session;
  session.run.text = "the cat";
  const Session opened = with_opened_file(file, session);
  EXPECT_EQ(opened.run.input, file.string());
  EXPECT_TRUE(opened.run.tensors.file.empty());
  EXPECT_EQ(opened.run.text, "the cat");
}

// An image is the input of an image model; with other models, its pixels attend to each other.
TEST(Files, OpensImagesForImageModels) {
  const testing::TemporaryFolder folder;
  DisplayList list;
  list.width = list.height = 10;
  write_picture(folder.path() / "p.png", list, 1, {});
  State state;
  state.session.edit().run.text = "mine";
  EXPECT_TRUE(open_path(state, folder.path() / "p.png"));
  EXPECT_EQ(state.session->run.tensors.file, folder.path() / "p.png");
  EXPECT_EQ(state.session->view.id, "image");
  EXPECT_EQ(state.session->run.text, "mine");
  write_file(folder.path() / "q.jpg", "no picture");
  EXPECT_FALSE(open_path(state, folder.path() / "q.jpg"));
  ASSERT_EQ(state.notices.size(), 1U);
  EXPECT_NE(state.notices[0].text.find("expected an image"), std::string::npos)
      << state.notices[0].text;
  state.session.edit().run.model =
      (testing::source_folder() / "tests" / "model-cases" / "image").string();
  EXPECT_TRUE(open_path(state, folder.path() / "p.png"));
  EXPECT_EQ(state.session->run.input, folder.path() / "p.png");
  EXPECT_TRUE(state.session->run.tensors.file.empty());
  EXPECT_EQ(state.session->run.text, "mine");  // kept for returning to the text
}

TEST(Files, OpensRetrievalStore) {
  const testing::TemporaryFolder folder;
  Store store{Tensor::zeros({2, 3}), IntTensor({2}), IntTensor({2, 2})};
  std::ranges::fill(store.values, 0);
  std::ranges::fill(store.places, 0);
  write_safetensors(folder.path() / "s.safetensors", store_file(store, false));
  State state;
  state.session.edit().run.text = "mine";
  EXPECT_TRUE(open_path(state, folder.path() / "s.safetensors"));
  ASSERT_TRUE(state.session->run.retrieval.has_value());
  EXPECT_EQ(state.session->run.retrieval->retrieval_head.id, retrieval_heads().front().id);
  EXPECT_EQ(state.session->run.retrieval->store, folder.path() / "s.safetensors");
  EXPECT_EQ(state.session->run.text, "mine");
  // Selecting another store keeps the other retrieval parameters.
  state.session.edit().run.retrieval->retrieval_head.values.set("k", Index{2});
  write_safetensors(folder.path() / "t.safetensors", store_file(store, true));
  EXPECT_TRUE(open_store(state, folder.path() / "t.safetensors"));
  EXPECT_EQ(state.session->run.retrieval->store, folder.path() / "t.safetensors");
  EXPECT_EQ(state.session->run.retrieval->retrieval_head.values.integer("k"), 2);
  write_npy(folder.path() / "a.npy", stored(Tensor::zeros({2, 2})));
  EXPECT_FALSE(open_store(state, folder.path() / "a.npy"));
  EXPECT_EQ(state.session->run.retrieval->store, folder.path() / "t.safetensors");
}

TEST(Files, ReportsMissingFileAndFolderWithoutModel) {
  const testing::TemporaryFolder folder;
  State state;
  EXPECT_FALSE(open_path(state, folder.path() / "none.txt"));
  EXPECT_FALSE(open_path(state, folder.path()));
  EXPECT_EQ(state.notices.size(), 2U);
}

TEST(FileBrowser, ListsFoldersFirstAndHidesDotFiles) {
  const testing::TemporaryFolder folder;
  write_file(folder.path() / "b.txt", "12345");
  write_file(folder.path() / ".hidden", "");
  std::filesystem::create_directory(folder.path() / "z");
  FileBrowser browser;
  enter_folder(browser, folder.path());
  ASSERT_EQ(browser.entries.size(), 2U);
  EXPECT_EQ(browser.entries[0].name, "z");
  EXPECT_TRUE(browser.entries[0].is_folder);
  EXPECT_EQ(browser.entries[1].bytes, 5U);
}

TEST(FileBrowser, ArrowKeysStepThroughEntries) {
  FileBrowser browser;
  browser.entries = {{"a", true}, {"b.txt", false}, {"c", true}};
  select_neighbour(browser, 1);
  EXPECT_EQ(browser.name, "a");
  select_neighbour(browser, 1);
  EXPECT_EQ(browser.name, "b.txt");
  select_neighbour(browser, 1);
  select_neighbour(browser, 1);  // already at the last entry
  EXPECT_EQ(browser.name, "c");
  browser.purpose = BrowsePurpose::OpenModel;  // files are not listed
  select_neighbour(browser, -1);
  EXPECT_EQ(browser.name, "a");
  browser.name = "typed";
  select_neighbour(browser, 1);
  EXPECT_EQ(browser.name, "a");
  browser.entries.clear();
  select_neighbour(browser, 1);
  EXPECT_EQ(browser.name, "a");
}

TEST(FileBrowser, EntersFoldersWithoutModel) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "models" / "small");
  State state;
  browse(state, BrowsePurpose::OpenModel);
  enter_folder(state.dialogs.browser, folder.path());
  state.dialogs.browser.name = "models";
  accept_browser(state);
  EXPECT_EQ(state.dialogs.browser.folder.filename(), "models");
  EXPECT_TRUE(state.dialogs.browser.open);
  EXPECT_EQ(state.dialogs.browser.name, "");
  accept_browser(state);  // the folder has no model
  EXPECT_NE(state.dialogs.browser.problem.find("expected a model folder"), std::string::npos);
}

TEST(Files, OpensLesson) {
  State state;
  state.session.edit().run.text = "my own";
  const std::filesystem::path lessons = testing::source_folder() / "assets" / "lessons";
  const std::filesystem::path file = std::filesystem::directory_iterator(lessons)->path();
  ASSERT_TRUE(is_lesson(file));
  EXPECT_TRUE(open_path(state, file));
  ASSERT_NE(state.lesson.lesson, nullptr);
  EXPECT_EQ(state.user_session()->run.text, "my own");
  EXPECT_TRUE(state.files.session.empty());
}

TEST(FileBrowser, KeepsFolderIfTargetIsUnreadable) {
  const testing::TemporaryFolder folder;
  FileBrowser browser;
  enter_folder(browser, folder.path());
  enter_folder(browser, folder.path() / "none");
  EXPECT_EQ(browser.folder, std::filesystem::weakly_canonical(folder.path()));
  EXPECT_NE(browser.problem, "");
}

TEST(FileBrowser, ConfirmsBeforeReplacingFile) {
  const testing::TemporaryFolder folder;
  write_file(folder.path() / "s.json", "precious");
  State state;
  state.settings.folder = folder.path().string();
  browse(state, BrowsePurpose::SaveSession);
  state.dialogs.browser.name = "s.json";
  accept_browser(state);
  EXPECT_TRUE(state.dialogs.browser.replaces);
  EXPECT_EQ(read_file(folder.path() / "s.json"), "precious");
  accept_browser(state);
  EXPECT_FALSE(state.dialogs.browser.open);
  EXPECT_NE(read_file(folder.path() / "s.json"), "precious");
  EXPECT_EQ(state.files.session.filename(), "s.json");
}

TEST(FileBrowser, StaysOpenIfFileIsUnusable) {
  const testing::TemporaryFolder folder;
  write_file(folder.path() / "broken.json", "{");
  State state;
  state.settings.folder = folder.path().string();
  browse(state, BrowsePurpose::OpenFile);
  state.dialogs.browser.name = "broken.json";
  accept_browser(state);
  EXPECT_TRUE(state.dialogs.browser.open);
  EXPECT_NE(state.dialogs.browser.problem, "");
  EXPECT_TRUE(state.notices.empty());
}

TEST(Files, LocatesMovedTensors) {
  const testing::TemporaryFolder folder;
  const auto file = folder.path() / "a.npy";
  write_npy(file, stored(Tensor::from({1, 1}, {1})));
  State state;
  state.session.edit().run.tensors.file = "/old/place/a.npy";
  state.history.record(state.session.snapshot(), 0);
  EXPECT_EQ(missing_file(state), "/old/place/a.npy");
  write_file(folder.path() / "text.npy", "no array");
  EXPECT_FALSE(locate_file(state, folder.path() / "text.npy"));
  EXPECT_EQ(missing_file(state), "/old/place/a.npy");
  EXPECT_TRUE(locate_file(state, file));
  EXPECT_EQ(missing_file(state), "");
  EXPECT_EQ(state.session->run.tensors.file, file);
  EXPECT_EQ(state.history.undo()->run.tensors.file, "/old/place/a.npy");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope::window
