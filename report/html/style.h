// Style sheet and script of the page. Colours are variables with a light and a dark set, chosen
// by prefers-color-scheme; outcomes and faults differ in shade as well as in hue, and are always
// named.
#pragma once

#include <string_view>

namespace ordeal {

std::string_view page_style();
// Copies the reproducing command; the page is complete without it.
std::string_view page_script();

}  // namespace ordeal
