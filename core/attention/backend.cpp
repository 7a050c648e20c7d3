#include "core/attention/backend.h"

#include "core/base/error.h"

namespace attnscope {

std::string_view to_string(BackendChoice choice) {
  switch (choice) {
    case BackendChoice::Auto:
      return "auto";
    case BackendChoice::Cpu:
      return "cpu";
    case BackendChoice::Gpu:
      return "gpu";
  }
  return "";
}

BackendChoice backend_choice(std::string_view text) {
  for (const auto choice : {BackendChoice::Auto, BackendChoice::Cpu, BackendChoice::Gpu}) {
    if (text == to_string(choice)) return choice;
  }
  throw InputError("backend: expected auto, cpu or gpu, found \"" + std::string(text) + "\"");
}

}  // namespace attnscope
