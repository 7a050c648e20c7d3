#include "app/command/backends.h"

#include "core/base/error.h"

namespace attnscope::command {

BackendProvider backends() {
  return [](BackendChoice choice) -> BackendOffer {
    if (choice == BackendChoice::Gpu) return {nullptr, "this build has no GPU backend"};
    return {&cpu_backend(), ""};
  };
}

Backend& chosen_backend(const BackendProvider& provider, BackendChoice choice) {
  const BackendOffer offer = provider(choice);
  if (offer.backend) return *offer.backend;
  throw InputError("--backend " + std::string(to_string(choice)) + ": " + offer.note);
}

}  // namespace attnscope::command
