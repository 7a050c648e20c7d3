// Target for option values of the command line. Input: name of the option, line break, value.
#include <array>
#include <functional>

#include "app/command/experiment_options.h"
#include "app/command/group_text.h"
#include "app/command/length_list.h"
#include "core/attention/backend.h"
#include "core/attention/variant.h"
#include "core/base/error.h"
#include "core/base/memory_budget.h"
#include "core/base/strict_json.h"
#include "core/part/choice.h"
#include "core/trace/intervention.h"
#include "core/view/export/frame_sequence.h"
#include "core/view/view_values.h"
#include "tests/fuzz/target.h"

namespace attnscope::fuzz {
namespace {

struct OptionReader {
  const char* name;
  const char* example;
  std::function<void(const std::string&)> read;
};

const std::vector<OptionReader>& readers() {
  static const std::vector<OptionReader> list{
      {"variant", "local,window=4,dilation=2", [](auto& t) { command::variant_from_text(t); }},
      {"variant", "longformer,window=4,global=[0,5]",
       [](auto& t) { command::variant_from_text(t); }},
      {"variant", R"({"type": "lsh", "buckets": 4, "rounds": 2})",
       [](auto& t) { variant_from_json(parse_json(t, "f"), "f"); }},
      {"position", "rope,base=10000", [](auto& t) { command::encoding_from_text(t); }},
      {"position", R"({"type": "alibi"})",
       [](auto& t) { encoding_from_json(parse_json(t, "f"), "f"); }},
      {"exits", "saturation,decay=2", [](auto& t) { command::exits_from_text(t); }},
      {"retrieval", "knn,store=a.safetensors,k=8",
       [](auto& t) { command::retrieval_from_text(t); }},
      {"group", "layers=0,2,4-6;heads=0;variant=local,window=4",
       [](auto& t) { command::group_from_text(t); }},
      {"ids", "1,2,300", [](auto& t) { command::ids_from_text(t, "--ids", 0); }},
      {"grid", "28,28", [](auto& t) { command::numbers_from_text(t, 1); }},
      {"lengths", "64..512", [](auto& t) { command::lengths_from_text(t); }},
      {"intervene", "forbid query=5 key=3 layer=1", [](auto& t) { intervention_from_text(t); }},
      {"interventions", R"(["off layer=0", "replace position=2 token=7"])",
       [](auto& t) { interventions_from_json(parse_json(t, "f"), "f"); }},
      {"frames", "query=0:64", [](auto& t) { frames_from_text(t); }},
      {"view", R"({"layer": 0, "head": 1, "view": "map"})",
       [](auto& t) { view_settings_from_json(parse_json(t, "f"), "f"); }},
      {"memory", "1.5GB", [](auto& t) { memory_from_text(t, "f"); }},
      {"backend", "cpu", [](auto& t) { backend_choice(t); }}};
  return list;
}

void read_option(const std::string& input) {
  const std::size_t line = std::min(input.find('\n'), input.size());
  const std::string name = input.substr(0, line);
  const std::string value = line < input.size() ? input.substr(line + 1) : "";
  for (const OptionReader& reader : readers()) {
    if (name != reader.name) continue;
    try {
      reader.read(value);
    } catch (const InputError&) {
    }
  }
}

std::vector<std::string> option_seeds() {
  std::vector<std::string> seeds;
  for (const OptionReader& reader : readers()) {
    seeds.push_back(std::string(reader.name) + "\n" + reader.example);
  }
  for (const Variant& variant : variants()) {
    seeds.push_back("variant\n" + to_json(default_choice(variant)).dump());
  }
  return seeds;
}

}  // namespace

Target options_target() {
  return {"options", Format::Bytes, read_option, option_seeds};
}

}  // namespace attnscope::fuzz
