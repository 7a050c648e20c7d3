#include "core/experiment/session.h"

namespace attnscope {

bool same_run(const Session& x, const Session& y) {
  if (x.b.has_value() != y.b.has_value()) return false;
  return x.run == y.run && (!x.b || x.b->run == y.b->run);
}

std::optional<Session> reference_of(const Session& session) {
  if (session.b) return Session{*session.b};
  if (session.run.interventions.empty()) return std::nullopt;
  Session original = session;
  original.run.interventions.clear();
  return original;
}

}  // namespace attnscope
