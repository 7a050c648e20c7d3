// Widgets for the parameters of a variant, an encoding or a view, made from their descriptions.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "app/window/widgets/ui.h"
#include "core/base/parameter.h"

namespace attnscope::window {

// What is typed into the fields of lists while it is no list yet, and which field opens.
struct ListTexts {
  struct Entry {
    std::string text, problem;
    Value shown;  // the value that the text stands for
  };
  std::map<std::string, Entry> by_id;
  std::string opened{};  // of a parameter that is just given: its field gets the keyboard
  std::set<std::string> unfolded{};  // scopes whose further parameters are shown
  // Of the strip whose further parameters are in a list that is open: their keys. They stay there
  // while they are changed.
  std::set<std::string> listed{};
};

// Why values cannot be; empty: they can.
using ValuesRefusal = std::function<std::string(const Values&)>;

// One row for each parameter. `scope` ("variant") begins the widgets' names. Choices that are
// refused cannot be clicked and say why. Returns whether `values` changed.
bool draw_parameters(Ui& ui, const std::string& scope, const std::vector<Parameter>& parameters,
                     const ValuesRefusal& refusal, Values& values, ListTexts& texts);

// Why parameters change nothing as things are, by key.
using IdleReasons = std::map<std::string, std::string, std::less<>>;

// How long a strip of them is that has all the space it likes.
float parameter_strip_width(const Ui& ui, const std::vector<Parameter>& parameters,
                            const Values& values);

// The same side by side: for what belongs to a view. What is as it was and has no room in the line,
// `after` pixels of which are for what follows, is in a list at its end. What is idle cannot be
// changed, and says why.
bool draw_parameter_strip(Ui& ui, const std::string& scope,
                          const std::vector<Parameter>& parameters, const IdleReasons& idle,
                          Values& values, ListTexts& texts, float after = 0);

}  // namespace attnscope::window
