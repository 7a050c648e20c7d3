#include "core/text/chat_template.h"

#include <algorithm>
#include <vector>

#include "core/base/error.h"
#include "core/base/json.h"

namespace attnscope {
namespace {

using Texts = std::vector<std::string_view>;

struct ChatFamily {
  std::string_view name;
  Texts markers, absent;  // texts that templates of the family contain and lack
  std::string_view user, user_end;
  std::string_view reply;  // start of the reply; a template may append to it, e.g. "<think>"
  bool trims = false;
  std::string_view opening{};
  std::string_view system{}, system_end{};  // begin and end of a default system message
};

// The first family whose markers are present applies.
const std::vector<ChatFamily>& chat_families() {
  // clang-format off
  static const std::vector<ChatFamily> all = {
      {"Phi-4", {"<|im_start|>", "<|im_sep|>"}, {}, "<|im_start|>user<|im_sep|>", "<|im_end|>",
       "<|im_start|>assistant<|im_sep|>"},
      {"SmolVLM", {"<|im_start|>", "<end_of_utterance>"}, {}, "User: ", "<end_of_utterance>\n",
       "Assistant:", false, "<|im_start|>"},
      {"ChatML", {"<|im_start|>"}, {}, "<|im_start|>user\n", "<|im_end|>\n",
       "<|im_start|>assistant\n", false, "", "<|im_start|>system\n", "<|im_end|>"},
      {"Mistral v7", {"[INST] ", "[SYSTEM_PROMPT]"}, {}, "[INST] ", "[/INST]", ""},
      {"Mistral v7 Tekken", {"[INST]", "[SYSTEM_PROMPT]"}, {}, "[INST]", "[/INST]", ""},
      {"Mistral v1", {"' [INST] ' + system_message"}, {}, " [INST] ", " [/INST]", ""},
      {"Mistral v1", {" [INST]", "[AVAILABLE_TOOLS]"}, {}, " [INST] ", " [/INST]", ""},
      {"Mistral v3 Tekken", {"\"[INST]\"", "[AVAILABLE_TOOLS]"}, {}, "[INST]", "[/INST]", ""},
      {"Mistral v3", {"[INST]", "[AVAILABLE_TOOLS]"}, {}, "[INST] ", "[/INST]", ""},
      {"Llama 2", {"[INST]", "content.strip()"}, {}, "[INST] ", " [/INST]", "", true},
      {"Llama 2", {"[INST]"}, {}, "[INST] ", " [/INST]", ""},
      {"Phi-4-mini", {"<|assistant|>", "<|end|>", "'|>' + message['content'] + '<|end|>'"}, {},
       "<|user|>", "<|end|>", "<|assistant|>", false, "", "<|system|>", "<|end|>"},
      {"Phi-3", {"<|assistant|>", "<|end|>"}, {}, "<|user|>\n", "<|end|>\n", "<|assistant|>\n",
       false, "", "<|system|>\n", "<|end|>"},
      {"GLM-4.7", {"[gMASK]<sop>", "<|user|>{{"}, {}, "<|user|>", "", "<|assistant|>", false,
       "[gMASK]<sop>"},
      {"GLM-4", {"[gMASK]<sop>"}, {}, "<|user|>\n", "", "<|assistant|>", false, "[gMASK]<sop>"},
      {"Zephyr", {"<|assistant|>", "<|user|>\n' + message['content'] + eos_token"}, {},
       "<|user|>\n", "</s>\n", "<|assistant|>\n", false, "", "<|system|>\n", "</s>"},
      {"Falcon 3", {"<|assistant|>", "<|user|>", "</s>"}, {"<|tool_declare|>"}, "<|user|>\n",
       "\n", "<|assistant|>\n"},
      {"GLM-Edge", {"<|assistant|>", "<|user|>"}, {"<|tool_declare|>"}, "<|user|>\n", "",
       "<|assistant|>"},
      {"GLM-Edge", {"<|{{ item['role'] }}|>", "<|begin_of_image|>"}, {}, "<|user|>\n", "",
       "<|assistant|>"},
      {"StableLM Zephyr", {"<|user|>", "<|endoftext|>"}, {"<|tool_declare|>"}, "<|user|>\n",
       "<|endoftext|>\n", "<|assistant|>\n"},
      {"Monarch", {"bos_token + message['role']"}, {}, "user\n", "</s>\n", "<s>assistant\n"},
      {"Gemma", {"<start_of_turn>"}, {}, "<start_of_turn>user\n", "<end_of_turn>\n",
       "<start_of_turn>model\n", true},
      {"Orion", {"'\n\nAssistant: ' + eos_token"}, {}, "Human: ", "\n\n", "Assistant: </s>"},
      {"OpenChat", {"GPT4 Correct "}, {}, "GPT4 Correct User: ", "<|end_of_turn|>",
       "GPT4 Correct Assistant:"},
      {"Vicuna", {"USER: ", "ASSISTANT: "}, {}, "USER: ", "\n", "ASSISTANT:"},
      {"DeepSeek Coder", {"### Instruction:", "<|EOT|>"}, {}, "### Instruction:\n", "\n",
       "### Response:\n", false, "", "You are an AI programming assistant", "\n"},
      {"Command-R", {"<|START_OF_TURN_TOKEN|>", "<|USER_TOKEN|>"}, {},
       "<|START_OF_TURN_TOKEN|><|USER_TOKEN|>", "<|END_OF_TURN_TOKEN|>",
       "<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>", true},
      {"Llama 3", {"<|start_header_id|>", "<|end_header_id|>"}, {},
       "<|start_header_id|>user<|end_header_id|>\n\n", "<|eot_id|>",
       "<|start_header_id|>assistant<|end_header_id|>\n\n", true},
      {"ChatGLM3", {"[gMASK]sop"}, {}, "<|user|>\n ", "", "<|assistant|>", false, "[gMASK]sop"},
      {"MiniCPM", {"<用户>"}, {}, "<用户>", "<AI>", "", true},
      {"DeepSeek-V2", {"'Assistant: ' + message['content'] + eos_token"}, {}, "User: ", "\n\n",
       "Assistant:"},
      {"DeepSeek-V3", {"<｜Assistant｜>", "<｜User｜>", "<｜end▁of▁sentence｜>"}, {}, "<｜User｜>", "",
       "<｜Assistant｜>"},
      {"EXAONE", {"[|system|]", "[|assistant|]", "[|endofturn|]"}, {}, "[|user|]", "\n",
       "[|assistant|]", true, "", "[|system|]", "[|endofturn|]"},
      {"RWKV World", {"rwkv-world"}, {}, "User: ", "\n\n", "Assistant:", true},
      {"RWKV World", {"{{- 'User: ' + message['content']|trim + '\n\n' -}}"}, {}, "User: ",
       "\n\n", "Assistant:", true},
      {"Granite", {"<|start_of_role|>"}, {}, "<|start_of_role|>user<|end_of_role|>",
       "<|end_of_text|>\n", "<|start_of_role|>assistant<|end_of_role|>"},
      {"GigaChat", {"message['role'] + additional_special_tokens[0]"}, {}, "user<|role_sep|>", "<|message_sep|>available functions<|role_sep|>[]<|message_sep|>",
       "assistant<|role_sep|>"},
      {"Megrez", {"<|role_start|>"}, {}, "<|role_start|>user<|role_end|>", "<|turn_end|>",
       "<|role_start|>assistant<|role_end|>", false, "", "<|role_start|>system<|role_end|>",
       "<|turn_end|>"},
      {"YandexGPT", {" Ассистент:"}, {}, " Пользователь: ", "\n\n", " Ассистент:[SEP]"},
      {"Ling", {"<role>ASSISTANT</role>", "'HUMAN'"}, {}, "<role>HUMAN</role>", "",
       "<role>ASSISTANT</role>"},
      {"Ling 2", {"<role>ASSISTANT</role>", "<role>HUMAN</role>", "<|role_end|>"}, {"<think>"},
       "<role>HUMAN</role>", "<|role_end|>", "<role>ASSISTANT</role>", false,
       "<role>SYSTEM</role>detailed thinking off<|role_end|>"},
      {"Llama 4", {"<|header_start|>", "<|header_end|>"}, {},
       "<|header_start|>user<|header_end|>\n\n", "<|eot|>",
       "<|header_start|>assistant<|header_end|>\n\n", true},
      {"dots.llm1", {"<|endofuserprompt|>"}, {}, "<|userprompt|>", "<|endofuserprompt|>",
       "<|response|>"},
      {"Hunyuan", {"<|extra_0|>", "<|extra_4|>"}, {}, "<|startoftext|>", "<|extra_0|>", ""},
      {"gpt-oss", {"<|start|>", "<|channel|>"}, {}, "<|start|>user<|message|>", "<|end|>",
       "<|start|>assistant"},
      {"Hunyuan dense", {"<｜hy_Assistant｜>", "<｜hy_place▁holder▁no▁3｜>"},
       {"<｜hy_begin▁of▁sentence｜>"}, "<｜hy_User｜>", "", "<｜hy_Assistant｜>"},
      {"Kimi K2", {"<|im_assistant|>assistant<|im_middle|>"}, {}, "<|im_user|>user<|im_middle|>",
       "<|im_end|>", "<|im_assistant|>assistant<|im_middle|>", false, "",
       "<|im_system|>system<|im_middle|>", "<|im_end|>"},
      {"Seed-OSS", {"<seed:bos>"}, {}, "<seed:bos>user\n", "<seed:eos>", "<seed:bos>assistant\n"},
      {"Grok 2", {"'Assistant: '  + message['content'] + '<|separator|>"}, {}, "Human: ",
       "<|separator|>\n\n", "Assistant:", true},
      {"openPangu", {"[unused9]系统：[unused10]"}, {}, "[unused9]用户：", "[unused10]", "[unused9]助手：",
       false, "[unused9]系统：[unused10]"},
      {"Solar Open", {"<|begin|>", "<|end|>", "<|content|>"}, {}, "<|begin|>user<|content|>",
       "<|end|>", "<|begin|>assistant"},
  };
  // clang-format on
  return all;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

// Converts "\n" and other escapes of Jinja's strings.
std::string unescaped(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      result += text[at];
      continue;
    }
    const char c = text[++at];
    if (c != 'n' && c != 't' && c != '\\' && c != '\'' && c != '"') result += '\\';
    result += c == 'n' ? '\n' : c == 't' ? '\t' : c;
  }
  return result;
}

std::string_view trimmed(std::string_view text, bool front, bool back) {
  constexpr std::string_view kWhiteSpace = " \t\r\n\v\f";
  if (front) text.remove_prefix(std::min(text.find_first_not_of(kWhiteSpace), text.size()));
  if (back) text = text.substr(0, text.find_last_not_of(kWhiteSpace) + 1);
  return text;
}

// Appends the quoted strings of an expression or statement.
void add_quoted(std::string_view code, std::vector<std::string>& texts) {
  for (std::size_t at = 0; at < code.size(); ++at) {
    const char quote = code[at];
    if (quote != '\'' && quote != '"') continue;
    std::size_t end = at + 1;
    while (end < code.size() && code[end] != quote) end += code[end] == '\\' ? 2 : 1;
    if (end >= code.size()) return;
    texts.push_back(unescaped(code.substr(at + 1, end - at - 1)));
    at = end;
  }
}

// Position of the next "{{", "{%" or "{#"; the size of the text if there is none.
std::size_t next_tag(std::string_view source, std::size_t at) {
  for (at = source.find('{', at); at != source.npos; at = source.find('{', at + 1)) {
    const std::string_view kind = source.substr(at + 1, 1);
    if (kind == "{" || kind == "%" || kind == "#") return at;
  }
  return source.size();
}

// Text between two tags, without the white space that the tags remove.
std::string_view text_between(std::string_view text, bool trims_front, bool trims_back) {
  text = trimmed(text, trims_front, trims_back);
  const std::size_t indentation = text.find_last_not_of(" \t") + 1;
  const bool is_indented = indentation > 0 && text[indentation - 1] == '\n';
  return is_indented ? text.substr(0, indentation) : text;
}

// Texts that a template can write: text outside of "{{ }}" and "{% %}", and quoted strings.
std::vector<std::string> written_texts(std::string_view source) {
  std::vector<std::string> texts;
  bool trims_next = false;
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t tag = next_tag(source, at);
    const bool trims_before = tag + 2 < source.size() && source[tag + 2] == '-';
    const std::string_view text =
        text_between(source.substr(at, tag - at), trims_next, trims_before);
    if (!text.empty()) texts.emplace_back(text);
    if (tag == source.size()) break;
    const char kind = source[tag + 1];
    const std::string close = {kind == '{' ? '}' : kind, '}'};
    const std::size_t end = std::min(source.find(close, tag + 2), source.size());
    if (kind != '#') add_quoted(source.substr(tag + 2, end - tag - 2), texts);
    trims_next = end < source.size() && source[end - 1] == '-';
    at = end + close.size();
  }
  return texts;
}

// Default system message that one of the texts contains completely; "" if none.
std::string stated_system(const ChatFamily& family, const std::vector<std::string>& texts) {
  if (family.system.empty()) return "";
  for (const std::string_view text : texts) {
    const std::size_t begin = text.find(family.system);
    if (begin == text.npos) continue;
    const std::size_t end = text.find(family.system_end, begin + family.system.size());
    if (end == text.npos) continue;
    const std::string_view rest = text.substr(end + family.system_end.size());
    if (trimmed(rest, true, true).empty()) return std::string(text.substr(begin));
  }
  return "";
}

// Llama 3.1: the system message consists of two dates.
std::string dated_system(std::string_view chat_template, const std::vector<std::string>& texts) {
  const auto find = [&](std::string_view begin) {
    return std::ranges::find_if(texts, [&](const auto& text) { return text.starts_with(begin); });
  };
  const auto knowledge = find("Cutting Knowledge Date: "), today = find("Today Date: ");
  constexpr std::string_view kDate = "set date_string = \"";
  const std::size_t date = chat_template.find(kDate);
  if (knowledge == texts.end() || today == texts.end() || date == chat_template.npos) return "";
  const std::size_t begin = date + kDate.size();
  const std::size_t end = chat_template.find('"', begin);
  if (end == chat_template.npos) return "";
  return "<|start_header_id|>system<|end_header_id|>\n\n" + *knowledge + *today +
         std::string(chat_template.substr(begin, end - begin)) + "\n\n<|eot_id|>";
}

// Granite 4.0: the system message is the value of a variable.
std::string granite_system(std::string_view chat_template) {
  constexpr std::string_view kVariable = "g4_default_system_message = '";
  const std::size_t begin = chat_template.find(kVariable);
  if (begin == chat_template.npos) return "";
  const std::string_view value = chat_template.substr(begin + kVariable.size());
  return "<|start_of_role|>system<|end_of_role|>" + unescaped(value.substr(0, value.find('\''))) +
         "<|end_of_text|>\n";
}

// Returns family.reply, or a text of the template that extends it.
std::string reply_begin(const ChatFamily& family, std::string_view chat_template) {
  const std::size_t prompt = chat_template.rfind("add_generation_prompt");
  std::string reply(family.reply);
  if (prompt == chat_template.npos || reply.empty()) return reply;
  const std::size_t statement = chat_template.rfind('{', prompt);
  if (statement == chat_template.npos) return reply;
  for (const std::string& text : written_texts(chat_template.substr(statement))) {
    if (text == family.reply) return text;
    if (text.starts_with(family.reply) && reply == family.reply) reply = text;
  }
  return reply;
}

}  // namespace

std::string ChatFormat::turn(std::string_view message) const {
  return before + std::string(trimmed(message, trims, trims)) + after;
}

ChatFormat chat_format(std::string_view chat_template, std::string_view place) {
  const std::string with_line_ends = unescaped(chat_template);
  for (const ChatFamily& family : chat_families()) {
    const auto present = [&](std::string_view marker) { return contains(with_line_ends, marker); };
    if (!std::ranges::all_of(family.markers, present)) continue;
    if (std::ranges::any_of(family.absent, present)) continue;
    const std::vector<std::string> texts = written_texts(chat_template);
    std::string system = stated_system(family, texts);
    if (family.name == "Llama 3") system = dated_system(chat_template, texts);
    if (family.name == "Granite") system = granite_system(chat_template);
    return {std::string(family.name),
            std::string(family.opening) + system + std::string(family.user),
            std::string(family.user_end) + reply_begin(family, chat_template), family.trims};
  }
  const std::string_view start = trimmed(chat_template, true, false);
  const Json first_line(start.substr(0, start.find('\n')));
  throw InputError(std::string(place) + ": chat template: expected a known one, found " +
                   shortened(first_line));
}

}  // namespace attnscope
