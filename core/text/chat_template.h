// Chat templates: text that frames a user's message for models trained on conversations.
//
// Templates are Jinja programs. Known families are recognised by their markers, as by llama.cpp's
// llama_chat_detect_template(), and applied to a single message without running the program.
#pragma once

#include <string>
#include <string_view>

namespace attnscope {

// Texts around a message. They contain markers that the model's tokenizer recognises as special
// tokens, but not the begin token, which the tokenizer adds.
struct ChatFormat {
  std::string family;  // "ChatML"
  std::string before;  // default system message, begin of the user's turn
  std::string after;   // end of the user's turn, begin of the model's reply
  bool trims = false;  // removes white space around the message

  std::string turn(std::string_view message) const;
};

// Format of a template, as in "chat_template" of tokenizer_config.json or
// "tokenizer.chat_template" of a GGUF file. Throws InputError for an unknown template; the message
// begins with `place` and quotes the first line.
//
// Many templates add a default system message to a conversation without one. `before` contains:
// - ChatML, Phi-3, Zephyr, EXAONE, Megrez, Kimi K2, DeepSeek Coder: the message if the template
//   contains it in one piece; messages composed of several pieces (SmolLM3) are left out.
// - Llama 3.1 and later: a message with two dates. "Today Date" is the template's fixed default.
// - Granite 4.0: the message assigned to a variable. Ling 2, openPangu: their constant message.
// - Granite 3, gpt-oss, Mistral Small, Solar Open: none, as theirs contains the current date.
// - Other families: none.
ChatFormat chat_format(std::string_view chat_template, std::string_view place);

}  // namespace attnscope
