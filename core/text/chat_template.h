// Chat templates: text that frames a user's message for models trained on conversations.
//
// Templates are Jinja programs. Known families are recognised by their markers, as by llama.cpp's
// llama_chat_detect_template(), and applied to a single message without running the program.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

// A turn is `before`, the message, `after`. Both contain markers that the model's tokenizer
// recognises as special tokens. The begin token, which the tokenizer adds, is left out.
struct ChatFormat {
  std::string family;  // "ChatML"
  std::string before;  // default system message, begin of the user's turn
  std::string after;   // end of the user's turn, begin of the model's reply
  bool trims = false;  // removes white space around the message

  std::string turn(std::string_view message) const;
};

// Format of a template, as in "chat_template" of tokenizer_config.json or
// "tokenizer.chat_template" of a GGUF file. InputError, beginning with `place`, states the first
// line of an unknown template.
//
// Default system messages, of a conversation without one, follow the template where it states them:
// - ChatML, Phi-3, Zephyr, EXAONE, Megrez, Kimi K2, DeepSeek Coder: the message if the template
//   contains it in one piece. Messages composed of several (SmolLM3) are left out.
// - Llama 3.1 and later: its dates; "Today Date" is the template's own for programs without a
// clock.
// - Granite 4.0: the value of the template's variable. Ling 2, openPangu: a fixed message.
// - Granite 3, gpt-oss, Mistral Small, Solar Open: left out, since it contains the current date.
// - Others: none.
ChatFormat chat_format(std::string_view chat_template, std::string_view place);

}  // namespace attnscope
