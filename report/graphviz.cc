#include "report/graphviz.h"

#include <graphviz/gvc.h>

#include <memory>
#include <mutex>

namespace ordeal {
namespace {

struct CloseGraph {
  void operator()(Agraph_t* graph) const { agclose(graph); }
};
struct FreeContext {
  void operator()(GVC_t* context) const { gvFreeContext(context); }
};

// One for all pictures: the library's measuring of text keeps pointers into the first context.
GVC_t* context() {
  static const std::unique_ptr<GVC_t, FreeContext> kContext(gvContext());
  return kContext.get();
}

std::string element_only(const std::string& svg) {
  const std::size_t begin = svg.find("<svg");
  return begin == std::string::npos ? "" : svg.substr(begin);
}

}  // namespace

std::string svg_of_dot(const std::string& dot) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  agseterr(AGMAX);  // says nothing on stderr
  const std::unique_ptr<Agraph_t, CloseGraph> graph(agmemread(dot.c_str()));
  if (!graph) return "";
  if (gvLayout(context(), graph.get(), "dot") != 0) return "";
  char* data = nullptr;
  unsigned int length = 0;
  std::string svg;
  if (gvRenderData(context(), graph.get(), "svg", &data, &length) == 0) {
    svg.assign(data, length);
    gvFreeRenderData(data);
  }
  gvFreeLayout(context(), graph.get());
  return element_only(svg);
}

}  // namespace ordeal
