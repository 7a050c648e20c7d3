// Widgets for the parameters of a variant, an encoding or a view, made from their descriptions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/window/ui.h"
#include "core/base/parameter.h"

namespace attnscope::window {

// What is typed into the fields of lists while it is no list yet.
struct ListTexts {
  struct Entry {
    std::string text, problem;
    Value shown;  // the value that the text stands for
  };
  std::map<std::string, Entry> by_id;
};

// One row for each parameter. `scope` ("variant") begins the widgets' names. Returns whether
// `values` changed.
bool draw_parameters(Ui& ui, const std::string& scope, const std::vector<Parameter>& parameters,
                     Values& values, ListTexts& texts);

// The same side by side, in as many lines as it takes: for what belongs to a view.
bool draw_parameter_strip(Ui& ui, const std::string& scope,
                          const std::vector<Parameter>& parameters, Values& values,
                          ListTexts& texts);

}  // namespace attnscope::window
