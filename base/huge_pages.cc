#include "base/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>

namespace ordeal {

void advise_huge_pages(void* memory, std::size_t bytes) {
  static constexpr std::uintptr_t kPage = 4096;
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + kPage - 1) & ~(kPage - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) & ~(kPage - 1);
  if (end < begin + 2 * kHugePage) return;
  // Where the kernel has none, small pages do as well.
  (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace ordeal
