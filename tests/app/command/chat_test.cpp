// Texts as turns of a conversation: --chat.
#include <gtest/gtest.h>

#include "core/base/file.h"
#include "core/base/home.h"
#include "core/tensor/safetensors.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"
#include "tests/support/process.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

namespace fs = std::filesystem;

class ChatOption : public ::testing::Test {
 protected:
  // Runs a copy of a bundled model with this tokenizer_config.json on the text "Hi".
  testing::ProcessResult run_model(const std::string& config, bool chat) {
    const fs::path model = folder_.path() / "model";
    fs::remove_all(model);
    fs::copy(testing::source_folder() / "assets/models/twin-rope", model);
    write_file(model / "tokenizer_config.json", config);
    std::vector<std::string> arguments{"run", "--model", model.string(), "--text",
                                       "Hi",  "-o",      out_.string()};
    if (chat) arguments.emplace_back("--chat");
    return testing::run_process(testing::program_path(), arguments);
  }
  Index token_count() { return read_safetensors(out_).tensors.at("ids").shape.back(); }

  testing::TemporaryFolder folder_;
  fs::path out_ = folder_.path() / "out.safetensors";
};

constexpr const char* kChatMl =
    R"({"chat_template": "{% for m in messages %}<|im_start|>{{ m['role'] }}<|im_end|>{% endfor %}"})";

TEST_F(ChatOption, FramesText) {
  EXPECT_EQ(run_model(kChatMl, false).status, 0);
  const Index plain = token_count();
  const testing::ProcessResult result = run_model(kChatMl, true);
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_GT(token_count(), plain);
}

TEST_F(ChatOption, RequiresKnownTemplate) {
  testing::expect_refusal(run_model("{}", true), "which has none");
  testing::expect_refusal(run_model(R"({"chat_template": "{{ unheard_of }}\nsecond"})", true),
                          "{{ unheard_of }}");
}

TEST_F(ChatOption, ReadsDefaultOfNamedTemplates) {
  const std::string named = R"({"chat_template": [{"name": "tool_use", "template": "{{ x }}"},
      {"name": "default", "template": "<|im_start|>{{ role }}<|im_end|>"}]})";
  EXPECT_EQ(run_model(named, true).status, 0);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
