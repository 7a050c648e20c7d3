// Checks that the fuzz targets are complete: every reader of external bytes must have a target.
// Readers are functions that a header declares as read_..., parse_..., load_... or ..._from_...,
// and source files that obtain bytes directly. A reader without a target must be listed here with
// the reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "core/base/file.h"
#include "tests/support/pattern_match.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

namespace fs = std::filesystem;

// Readers that a target calls indirectly, or that never receive external bytes.
const std::map<std::string, std::string> kReadersWithoutTarget{
    {"read_file", "returns the bytes unchanged"},
    {"read_beginning", "returns the bytes unchanged"},
    {"read_model_options", "within the target config"},
    {"structure_from_json", "within the targets config and session"},
    {"choice_from_json", "within the targets config, session and options"},
    {"incomplete_choice_from_json", "within the targets session and options"},
    {"values_from_json", "within the targets config, session and options"},
    {"partial_values_from_json", "within the targets session and options"},
    {"value_from_text", "within the target options"},
    {"read_tokens", "tokenises the text of a run: within the targets of tokenizers"},
    {"part_from_json", "within the target session"},
    {"colour_end_from_name", "looks up a name in a list"},
    {"stack_from_name", "looks up a name in a list"},
    {"kind_from_name", "looks up a name in a list"},
    {"claim_from_json", "within the target lesson"},
    {"read_normalizers", "within the target tokenizer"},
    {"read_splitters", "within the target tokenizer"},
    {"read_pattern", "within the target tokenizer"},
    {"read_gguf_vocabulary", "within the target gguf"},
    {"mask_from_rows", "arranges rows that the targets session and options read"},
    {"read_added_tokens", "within the target tokenizer"},
    {"read_model", "within the target tokenizer"},
    {"read_processors", "within the target tokenizer"},
    {"read_decoders", "within the target tokenizer"},
    {"read_vocabulary", "within the target tokenizer"},
    {"read_wordpiece_vocabulary", "within the target tokenizer"},
    {"read_bpe_files", "within the target tokenizer"},
    {"read_marian", "within the target tokenizer"},
    {"read_sentencepiece", "within the target tokenizer"},
    {"load_target_tokenizer", "target tokenizer, with other file names"},
    {"read_texts", "texts of a plan, any bytes; target text"},
    {"read_gpt2_layer", "within the target checkpoint"},
    {"read_embedding", "within the target checkpoint"},
    {"read_output_head", "within the target checkpoint"},
    {"read_framebuffer", "screen pixels"},
    {"read_file_to_open", "a dropped session, lesson, text, image or tensors, each a target"},
    {"read_lessons", "bundled lessons"},
    {"retrieval_from_json", "part of sessions and plans: targets session and plan"},
    {"read_model_files", "model cards: target card"},
    {"read_learning_curve", "the log of a training: target training_state"},
    {"stage_from_json", "within the target plan"},
    {"stages_from_text", "a list of numbers, from the command line or a field"},
    {"read_finished_points", "within the targets study and study_rows"},
    {"list_from_text", "a list in the window: value_from_text of the target options"}};

// Source files that obtain bytes directly, each with its target or the reason why it has none.
const std::map<std::string, std::string> kByteSources{
    {"app/window/dialogs/extrapolation_dialog.cpp", "any bytes are a text: target text"},
    {"app/window/widgets/fonts.cpp", "installed fonts, which FreeType and the atlas read"},
    {"core/base/file.cpp", "read_file"},
    {"core/base/file_beginning.cpp", "read_beginning"},
    {"core/base/folder_lock.cpp", "a lock that is never read"},
    {"core/base/processors.cpp", "limits written by the kernel"},
    {"app/window/jobs/autosave.cpp", "program names written by the kernel"},
    {"core/base/memory_budget.cpp", "limits written by the kernel; target options"},
    {"core/base/zip.cpp", "target zip"},
    {"core/base/mapped_file.cpp", "targets safetensors and gguf"},
    {"core/tensor/gguf.cpp", "target gguf"},
    {"core/checkpoint/gguf_source.cpp", "target gguf"},
    {"core/tensor/safetensors.cpp", "target safetensors"},
    {"core/tensor/npy.cpp", "target npy"},
    {"core/figure/png.cpp", "target png"},
    {"core/text/file/tokenizer_files.cpp", "target tokenizer"},
    {"core/input/image_file.cpp", "target image"},
    {"core/input/image_table.cpp", "target picture_table"},
    {"core/input/input_file.cpp", "target input_file"},
    {"core/input/structure_file.cpp", "target drawn"},
    {"core/model/store.cpp", "target store"},
    {"core/training/state.cpp", "target training_state"},
    {"core/training/loss_log.cpp", "target training_state"},
    {"core/training/texts.cpp", "any bytes are a text: target text"},
    {"core/training/evaluate_file.cpp", "any bytes are a text: target text"},
    {"core/experiment/samples.cpp", "the bundled samples"},
    {"core/experiment/expected_pairs.cpp", "target expected_pairs"},
    {"core/experiment/imported_tensors.cpp", "target own_tensors"},
    {"core/experiment/run_files.cpp", "embeds bytes that target own_tensors reads"},
    {"core/experiment/findings/heads.cpp", "any bytes are a text: target text"},
    {"core/view/session_file.cpp", "targets session and png"},
    {"core/checkpoint/folder_source.cpp", "target checkpoint"},
    {"core/checkpoint/card.cpp", "target card"},
    {"core/checkpoint/hub.cpp", "a folder name in the cache of another program"},
    {"core/lesson/lesson.cpp", "target lesson"},
    {"app/window/dialogs/study_job.cpp", "target study"},
    {"core/study/study.cpp", "target study"},
    {"core/study/study_run.cpp", "target study_rows"},
    {"core/study/evaluation_measures.cpp", "any bytes are a text: target text"},
    {"app/window/files.cpp", "opens files that targets read"},
    {"app/window/settings.cpp", "target settings"},
    {"app/window/documentation.cpp", "the bundled pages"},
    {"app/window/dialogs/documentation_dialog.cpp", "the bundled pages"},
    {"app/window/dialogs/calibration_dialog.cpp", "any bytes are a text: target text"},
    {"app/command/train.cpp", "target plan"},
    {"app/window/dialogs/training_job.cpp", "target plan"},
    {"app/command/datastore.cpp", "any bytes are a text: target text"},
    {"app/command/experiment_options.cpp", "targets options and text"},
    {"app/command/evaluate.cpp", "any bytes are a text: target text"},
    {"app/command/window.cpp", "any bytes are a text: target text"},
    {"app/command/statistics.cpp", "any bytes are a text: target text"},
    {"app/command/attend.cpp", "target attend"},
    {"app/command/calibrate.cpp", "any bytes are a text: target text"},
    {"app/gpu/shader.cpp", "the bundled shaders"},
    {"app/gpu/calibration.cpp", "timings of this machine, written by the program"}};

template <class Visit>
void for_each_source(const Visit& visit) {
  const fs::path top = testing::source_folder();
  for (const char* folder : {"core", "app"}) {
    for (const auto& entry : fs::recursive_directory_iterator(top / folder)) {
      if (entry.is_regular_file()) visit(fs::relative(entry, top), read_file(entry.path()));
    }
  }
}

std::string targets_text() {
  std::string text;
  for (const auto& entry : fs::directory_iterator(testing::source_folder() / "tests" / "fuzz")) {
    if (entry.path().filename().string().starts_with("target_")) text += read_file(entry.path());
  }
  return text;
}

TEST(Readers, AllDeclaredReadersHaveTargets) {
  constexpr const char* name =
      R"((?:^|\n)[A-Za-z\[][^\n(;=]*[ >*&]((?:read|parse|load)_\w+|\w+_from_(?:\w+))\()";
  const std::string targets = targets_text();
  std::set<std::string> readers;
  for_each_source([&](const fs::path& path, const std::string& text) {
    if (path.extension() != ".h") return;
    for (const testing::Match& match : testing::find_matches(text, name)) {
      const std::string& reader = match[1];
      readers.insert(reader);
      const bool is_called = !testing::find_match(targets, "\\b" + reader + "\\(").empty();
      EXPECT_TRUE(is_called || kReadersWithoutTarget.contains(reader))
          << reader << " in " << path << " reads external bytes: call it in a target of "
          << "tests/fuzz, or add it to kReadersWithoutTarget";
    }
  });
  EXPECT_GT(readers.size(), 40u);
  for (const auto& [reader, reason] : kReadersWithoutTarget) {
    EXPECT_TRUE(readers.contains(reader)) << reader << " is no longer declared";
  }
}

TEST(Readers, AllSourcesOfBytesAreListed) {
  constexpr std::array kInputFunctions{"read_file(", "read_zip(", "read_npy(", "read_safetensors(",
                                       "read_gguf(", "ifstream",  "fopen(",    "mmap(",
                                       "::open(",    "stbi_",     "gzopen(",   "png_create_read",
                                       "zip_open"};
  const auto obtains_bytes = [&](const std::string& text) {
    return std::ranges::any_of(kInputFunctions, [&](const char* function) {
      return text.find(function) != std::string::npos;
    });
  };
  std::set<std::string> sources;
  for_each_source([&](const fs::path& path, const std::string& text) {
    if (path.extension() != ".cpp" || !obtains_bytes(text)) return;
    sources.insert(path.string());
    EXPECT_TRUE(kByteSources.contains(path.string()))
        << path << " reads external bytes: add it to kByteSources";
  });
  for (const auto& [path, reason] : kByteSources) {
    EXPECT_TRUE(sources.contains(path)) << path << " no longer reads external bytes";
    if (!reason.starts_with("target")) continue;
    const std::string targets =
        read_file(testing::source_folder() / "tests" / "fuzz" / "targets.cpp");
    const std::string name = reason.substr(reason.find(' ') + 1);
    const std::string first = name.substr(0, name.find(' '));
    EXPECT_NE(targets.find(first + "_target()"), std::string::npos) << reason;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
