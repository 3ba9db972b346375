#include "history/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>

namespace ordeal {

void advise_huge_pages(void* memory, std::size_t bytes) {
  static constexpr std::uintptr_t kPage = 4096;
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + kPage - 1) & ~(kPage - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) & ~(kPage - 1);
  static constexpr std::size_t kWorthwhile = std::size_t{1} << 22U;
  if (end < begin + kWorthwhile) return;
  // Where the kernel has none, small pages do as well.
  (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace ordeal
