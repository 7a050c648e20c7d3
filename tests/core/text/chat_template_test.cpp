// The templates are excerpts of published templates. Expected turns are the results of
// transformers' apply_chat_template() for the complete templates.
#include "core/text/chat_template.h"

#include <gtest/gtest.h>

#include "core/base/error.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

std::string turn(std::string_view chat_template, std::string_view message = " Hi! ") {
  return chat_format(chat_template, "m.gguf").turn(message);
}

std::string family(std::string_view chat_template) {
  return chat_format(chat_template, "m.gguf").family;
}

TEST(ChatTemplate, ChatMlKeepsTheDefaultSystemMessage) {
  EXPECT_EQ(
      turn("{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' "
           "%}{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by "
           "Hugging Face<|im_end|>\n' }}{% endif %}{{'<|im_start|>' + message['role'] + '\n' "
           "+ message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if "
           "add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"),
      "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging "
      "Face<|im_end|>\n<|im_start|>user\n Hi! <|im_end|>\n<|im_start|>assistant\n");
}

TEST(ChatTemplate, ReadsEscapedLineEndsAndQuotes) {
  EXPECT_EQ(turn(R"({{- '<|im_start|>system\nYou\'re "Qwen".<|im_end|>\n' }})"),
            "<|im_start|>system\nYou're \"Qwen\".<|im_end|>\n<|im_start|>user\n Hi! <|im_end|>\n"
            "<|im_start|>assistant\n");
}

TEST(ChatTemplate, OmitsComposedSystemMessages) {
  EXPECT_EQ(turn("{{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}"),
            "<|im_start|>user\n Hi! <|im_end|>\n<|im_start|>assistant\n");
}

TEST(ChatTemplate, RepliesBeginWithGenerationPrompt) {
  EXPECT_EQ(turn("{{'<｜User｜>' + message['content']}}{{'<｜Assistant｜>' + content + "
                 "'<｜end▁of▁sentence｜>'}}{% if add_generation_prompt and not ns.is_tool "
                 "%}{{'<｜Assistant｜><think>\\n'}}{% endif %}"),
            "<｜User｜> Hi! <｜Assistant｜><think>\n");
  EXPECT_EQ(turn("[gMASK]<sop>{% for item in messages %}<|{{ item.role }}|>\n{{ item.content }}{% "
                 "endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}"),
            "[gMASK]<sop><|user|>\n Hi! <|assistant|>\n");
}

TEST(ChatTemplate, Llama3StatesItsDates) {
  EXPECT_EQ(
      turn("{%- if strftime_now is defined %}{%- set date_string = strftime_now(\"%d %b %Y\") "
           "%}{%- else %}{%- set date_string = \"26 Jul 2024\" %}{%- endif %}\n{{- "
           "\"<|start_header_id|>system<|end_header_id|>\\n\\n\" }}\n{{- \"Cutting Knowledge "
           "Date: December 2023\\n\" }}\n{{- \"Today Date: \" + date_string + \"\\n\\n\" }}"),
      "<|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\n"
      "Today Date: 26 Jul 2024\n\n<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n"
      "Hi!<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n");
  EXPECT_EQ(turn("{{ '<|start_header_id|>' + message['role'] + '<|end_header_id|>' }}"),
            "<|start_header_id|>user<|end_header_id|>\n\nHi!<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n");
}

TEST(ChatTemplate, Granite4StatesItsSystemMessage) {
  EXPECT_EQ(turn("{%- set g4_default_system_message = 'You are a helpful assistant.' %}{{- "
                 "'<|start_of_role|>assistant<|end_of_role|>' }}"),
            "<|start_of_role|>system<|end_of_role|>You are a helpful assistant.<|end_of_text|>\n"
            "<|start_of_role|>user<|end_of_role|> Hi! <|end_of_text|>\n"
            "<|start_of_role|>assistant<|end_of_role|>");
}

TEST(ChatTemplate, FormatsOneTurnOfEachFamily) {
  const char* cases[][2] = {
      {"{{ '[INST] ' + message['content'] + ' [/INST]' }}", "[INST]  Hi!  [/INST]"},
      {"{{ '[INST] ' + content.strip() + ' [/INST]' }}", "[INST] Hi! [/INST]"},
      {"{{ ' [INST] ' + system_message }}", " [INST]  Hi!  [/INST]"},
      {"[AVAILABLE_TOOLS]{{- \"[INST]\" + message }}", "[INST] Hi! [/INST]"},
      {"[AVAILABLE_TOOLS]{{- \"[INST] \" + message }}", "[INST]  Hi! [/INST]"},
      {"[SYSTEM_PROMPT]{{ '[INST]' + message }}", "[INST] Hi! [/INST]"},
      {"<start_of_turn>", "<start_of_turn>user\nHi!<end_of_turn>\n<start_of_turn>model\n"},
      {"<|user|> <|end|> <|assistant|>", "<|user|>\n Hi! <|end|>\n<|assistant|>\n"},
      {"{{ '<|user|>\n' + message['content'] + eos_token }}{{ '<|assistant|>' }}",
       "<|user|>\n Hi! </s>\n<|assistant|>\n"},
      {"<|START_OF_TURN_TOKEN|><|USER_TOKEN|>",
       "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>Hi!<|END_OF_TURN_TOKEN|><|START_OF_TURN_TOKEN|>"
       "<|CHATBOT_TOKEN|>"},
      {"{{'### Instruction:\n'}}<|EOT|>", "### Instruction:\n Hi! \n### Response:\n"},
      {"<|start|><|channel|>", "<|start|>user<|message|> Hi! <|end|><|start|>assistant"},
  };
  for (const auto& [chat_template, expected] : cases) {
    EXPECT_EQ(turn(chat_template), expected) << chat_template;
  }
  EXPECT_EQ(family("<|im_start|><|im_sep|>"), "Phi-4");
}

TEST(ChatTemplate, RejectsUnknownTemplates) {
  try {
    chat_format("\n {# Hello #}\n{{ messages }}", "m.gguf");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "m.gguf: chat template: expected a known one, found \"{# Hello #}\"");
  }
  EXPECT_THROW(chat_format("", "m.gguf"), InputError);
}

TEST(ChatTemplate, AcceptsUnbalancedTags) {
  for (const char* text :
       {"<|im_start|>{{", "<|im_start|>{% '", "<|im_start|>{{ 'a\\", "{<|im_start|>{",
        "<|im_start|>{#", "<|im_start|> add_generation_prompt", "{{-}}<|im_start|>-"}) {
    EXPECT_EQ(family(text), "ChatML") << text;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
