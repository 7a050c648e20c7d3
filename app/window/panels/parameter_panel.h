// Widgets generated from the descriptions of parameters: of a variant, an encoding or a view.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "app/window/widgets/ui.h"
#include "core/base/parameter.h"

namespace attnscope::window {

// State of parameter widgets from frame to frame.
struct ParameterWidgets {
  struct Entry {  // text in the field of a list, which may not be valid yet
    std::string text, problem;
    Value shown;  // value that the text was made from
  };
  std::map<std::string, Entry> by_id;
  std::string focused_id{};  // parameter just set by a click: its field takes the focus
  std::set<std::string> expanded_scopes{};  // scopes whose further parameters are shown
  // Keys of the parameters in the open overflow list of a strip. They stay there while they are
  // changed.
  std::set<std::string> overflow_keys{};
};

// Reason why values are not possible; empty if they are.
using ValuesRefusal = std::function<std::string(const Values&)>;

// Draws one row per parameter. `scope` ("variant") prefixes the widgets' ids. Refused choices are
// disabled and show the reason. Returns true if `values` changed.
bool draw_parameters(Ui& ui, const std::string& scope, const std::vector<Parameter>& parameters,
                     const ValuesRefusal& refusal, Values& values, ParameterWidgets& texts);

// Reasons why parameters have no effect at present, by key.
using IdleReasons = std::map<std::string, std::string, std::less<>>;

// Natural width of a parameter strip, in pixels.
float parameter_strip_width(const Ui& ui, const std::vector<Parameter>& parameters,
                            const Values& values);

// The same side by side: for the parameters of a view. Parameters with initial values that do not
// fit in the line are in a list at its end; `after` pixels of the line are reserved for the items
// that follow. Parameters without effect are disabled and show the reason.
bool draw_parameter_strip(Ui& ui, const std::string& scope,
                          const std::vector<Parameter>& parameters, const IdleReasons& idle,
                          Values& values, ParameterWidgets& texts, float after = 0);

}  // namespace attnscope::window
