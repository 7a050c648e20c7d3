// Widgets generated from descriptions of the parameters of a variant, an encoding or a view.
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
  struct Entry {  // text field of a list; invalid text changes no value
    std::string text, problem;
    Value value;  // last value read from the text, or written to it
  };
  std::map<std::string, Entry> by_id;
  std::string focused_id{};  // parameter that a click just set: its field gets the focus
  std::set<std::string> expanded_scopes{};  // scopes that show rarely used parameters
  // Keys of the parameters in the open overflow list of a strip; fixed while the list is open.
  std::set<std::string> overflow_keys{};
};

// Returns why the values are invalid; empty if they are valid.
using ValuesRefusal = std::function<std::string(const Values&)>;

// Draws one row per parameter. `scope` ("variant") prefixes the widgets' ids. Refused choices are
// disabled and show the reason. Returns true if `values` changed.
bool draw_parameters(Ui& ui, const std::string& scope, const std::vector<Parameter>& parameters,
                     const ValuesRefusal& refusal, Values& values, ParameterWidgets& widgets);

// Reasons why parameters have no effect at present, by parameter key.
using IdleReasons = std::map<std::string, std::string, std::less<>>;

// Natural width of a parameter strip, in pixels.
float parameter_strip_width(const Ui& ui, const std::vector<Parameter>& parameters,
                            const Values& values);

// Draws the parameters of a view side by side. If the line is too short, some parameters with
// initial values move to a list at the line's end. Keeps `reserved` pixels of the line free for
// other items. Disables parameters without effect and shows the reasons.
bool draw_parameter_strip(Ui& ui, const std::string& scope,
                          const std::vector<Parameter>& parameters, const IdleReasons& idle,
                          Values& values, ParameterWidgets& widgets, float reserved = 0);

}  // namespace attnscope::window
