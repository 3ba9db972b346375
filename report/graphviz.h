// Pictures of graphs, by the Graphviz library.
#pragma once

#include <string>

namespace ordeal {

// Lays out a graph in the DOT language, and draws it as an <svg> element without a prologue; "" if
// it is no graph. From any thread, one at a time (the library has global state).
std::string svg_of_dot(const std::string& dot);

}  // namespace ordeal
