// Manual page, completions, and the installed program.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "core/base/file.h"
#include "core/base/json.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"
#include "tests/support/process.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::ProcessResult;
using testing::run_process;

const std::string kProgram = testing::program_path();

bool is_installed(const char* program) {
  return run_process("/bin/sh", {"-c", std::string("command -v ") + program}).status == 0;
}

std::string output_of(const std::vector<std::string>& arguments) {
  const ProcessResult result = run_process(kProgram, arguments);
  EXPECT_EQ(result.status, 0) << result.err;
  return result.out;
}

TEST(Manual, ContainsAllCommandsAndOptions) {
  const std::string page = output_of({"manual"});
  EXPECT_TRUE(page.starts_with(".TH ATTNSCOPE 1")) << page.substr(0, 80);
  for (const char* command : {"render", "run", "train", "cost", "window", "pairs", "completion"}) {
    EXPECT_NE(page.find(std::string(".SS \\fBattnscope ") + command), std::string::npos) << command;
  }
  EXPECT_NE(page.find("\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fITEXT\\fR"), std::string::npos);
  EXPECT_NE(page.find("light, dark"), std::string::npos);
  EXPECT_NE(page.find("[\\fIsession\\fR]"), std::string::npos);  // optional argument without a name
  testing::TemporaryFolder folder;
  const std::string file = (folder.path() / "attnscope.1").string();
  write_file(file, page);
  const ProcessResult groff_result =
      run_process("/bin/sh", {"-c",
                              "command -v groff > /dev/null || exit 0; "
                              "groff -man -Tutf8 -ww -z '" +
                                  file + "' 2>&1"});
  EXPECT_EQ(groff_result.status, 0);
  EXPECT_EQ(groff_result.out, "");  // no warnings
}

TEST(Completion, ContainsCommandsOptionsAndValues) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const std::string script = output_of({"completion", shell});
    for (const char* word : {"render", "compare-variant", "twin-rope", "longformer", "mechanism",
                             "viridis", "self-attention"}) {
      EXPECT_NE(script.find(word), std::string::npos) << shell << ": " << word;
    }
    if (!is_installed(shell)) continue;
    testing::TemporaryFolder folder;
    const std::string file = (folder.path() / "script").string();
    write_file(file, script);
    const ProcessResult check_result =
        run_process("/bin/sh", {"-c", std::string(shell) + " -n '" + file + "' 2>&1"});
    EXPECT_EQ(check_result.status, 0) << check_result.out;
  }
  EXPECT_EQ(run_process(kProgram, {"completion", "tcsh"}).status, 2);
}

// Completions that bash offers for the last element of `words`.
std::set<std::string> completions(const std::vector<std::string>& words) {
  testing::TemporaryFolder folder;
  const std::string file = (folder.path() / "script").string();
  write_file(file, output_of({"completion", "bash"}));
  std::string script = "cd '" + folder.path().string() + "'; . '" + file + "'; COMP_WORDS=(";
  for (const std::string& word : words) script += " '" + word + "'";
  script += "); COMP_CWORD=" + std::to_string(words.size() - 1) +
            "; _attnscope; printf '%s\\n' \"${COMPREPLY[@]}\"";
  const ProcessResult result = run_process("/bin/bash", {"-c", script});
  EXPECT_EQ(result.status, 0) << result.err;
  std::set<std::string> lines;
  std::string line;
  for (const char c : result.out) {
    if (c == '\n') {
      lines.insert(line);
      line.clear();
    } else {
      line += c;
    }
  }
  return lines;
}

TEST(Completion, OffersMatchingWordsInBash) {
  EXPECT_EQ(completions({"attnscope", "ren"}), std::set<std::string>{"render"});
  EXPECT_EQ(completions({"attnscope", "render", "--varia"}), std::set<std::string>{"--variant"});
  EXPECT_EQ(completions({"attnscope", "render", "--variant", "longf"}),
            std::set<std::string>{"longformer"});
  EXPECT_EQ(completions({"attnscope", "render", "--theme", ""}).count("dark"), 1U);
  EXPECT_EQ(completions({"attnscope", "render", "-o", "scr"}), std::set<std::string>{"script"});
  EXPECT_EQ(completions({"attnscope", "render", "scr"}), std::set<std::string>{"script"});
  EXPECT_TRUE(completions({"attnscope", "list", "--varia"}).count("--variant") == 0);
}

TEST(Version, IsPrintedAfterProgramName) {
  const std::string version = output_of({"--version"});
  EXPECT_TRUE(version.starts_with("attnscope ")) << version;
}

// The installed program finds the installed models and renders a picture.
TEST(Install, RunsFromInstalledFolder) {
  testing::TemporaryFolder folder;
  const std::string prefix = (folder.path() / "usr").string();
  const std::filesystem::path pages = testing::build_folder() / "pages";
  ASSERT_TRUE(std::filesystem::exists(pages / "attnscope.1")) << "build attnscope_pages";
  const ProcessResult install_result = run_process(
      "/usr/bin/env", {"cmake", "--install", testing::build_folder().string(), "--prefix", prefix});
  ASSERT_EQ(install_result.status, 0) << install_result.err;
  const std::filesystem::path share = folder.path() / "usr" / "share";
  for (const char* file :
       {"applications/attnscope.desktop", "icons/hicolor/scalable/apps/attnscope.svg",
        "man/man1/attnscope.1", "bash-completion/completions/attnscope",
        "zsh/site-functions/_attnscope", "fish/vendor_completions.d/attnscope.fish",
        "attnscope/assets/models/default/config.json", "attnscope/assets/docs/index.md",
        "attnscope/shaders"}) {
    EXPECT_TRUE(std::filesystem::exists(share / file)) << file;
  }
  // Installed pages equal the output of the program.
  EXPECT_EQ(read_file(share / "man/man1/attnscope.1"), output_of({"manual"}));
  EXPECT_EQ(read_file(share / "bash-completion/completions/attnscope"),
            output_of({"completion", "bash"}));

  // The installed program uses installed models only: one of them is renamed.
  std::filesystem::rename(share / "attnscope/assets/models/twin-rope",
                          share / "attnscope/assets/models/moved");
  const std::string program = prefix + "/bin/attnscope";
  const ProcessResult list_result =
      run_process("/usr/bin/env", {"-u", "ATTNSCOPE_HOME", program, "list", "--json"});
  ASSERT_EQ(list_result.status, 0) << list_result.err;
  std::set<std::string> models;
  const Json listing = Json::parse(list_result.out);
  for (const Json& model : listing["models"]) {
    models.insert(model["name"].get<std::string>());
  }
  EXPECT_TRUE(models.contains("moved"));
  EXPECT_FALSE(models.contains("twin-rope"));
  const std::string picture = (folder.path() / "map.png").string();
  const ProcessResult render_result =
      run_process("/usr/bin/env", {"-u", "ATTNSCOPE_HOME", program, "render", "--text",
                                   "she gave him the lamp", "-o", picture});
  EXPECT_EQ(render_result.status, 0) << render_result.err;
  EXPECT_GT(std::filesystem::file_size(picture), 1000U);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
