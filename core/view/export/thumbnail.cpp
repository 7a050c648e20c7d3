#include "core/view/export/thumbnail.h"

#include <array>

#include "core/base/error.h"
#include "core/figure/render.h"
#include "core/view/parts/no_space.h"

namespace attnscope {

Image thumbnail(const Traces& traces, const Session& session, const ThumbnailOptions& options) {
  constexpr std::array<double, 3> kFontSizes = {8, 6.5, 5};
  const Trace& trace = *traces.trace;
  Session session_with_defaults = session;
  session_with_defaults.view = with_defaults(session.view, trace);
  const View& selected = view(session.view.id);
  ViewLayout layout;
  for (const double font_size : kFontSizes) {
    layout = selected.lay_out({.trace = trace,
                               .session = session_with_defaults,
                               .findings = traces.findings,
                               .canvas = {.width = options.width,
                                          .height = options.height,
                                          .font_size = font_size,
                                          .theme = options.dark ? Theme::dark() : Theme::light(),
                                          .measure = file_text_measure(),
                                          .scale = options.scale},
                               .figure = {.framed = false}});
    if (!lacks_space(layout.refusal)) break;
  }
  if (!layout.refusal.empty()) throw InputError(session.view.id + ": " + layout.refusal);
  return render_image(layout.list, options.scale);
}

}  // namespace attnscope
