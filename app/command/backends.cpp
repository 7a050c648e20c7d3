#include "app/command/backends.h"

#include <cstdio>

#include "app/command/output.h"
#include "app/gpu/provider.h"
#include "core/base/error.h"

namespace attnscope::command {

BackendProvider backends() {
  return headless_backends();
}

Backend& require_backend(const BackendProvider& provider, BackendChoice choice) {
  const BackendOffer offer = provider(choice);
  if (!offer.backend) {
    throw InputError("--device " + std::string(to_string(choice)) + ": " + offer.note);
  }
  if (!offer.note.empty()) {
    print_note("running on the CPU: " + offer.note);
  }
  return *offer.backend;
}

}  // namespace attnscope::command
