// Large memory in large pages: the first touch of each page of 4 KiB costs as much as parsing what
// goes into it.
#pragma once

#include <cstddef>

namespace ordeal {

// A hint to the kernel about memory that will be used from front to back; for 2 MiB and more.
void advise_huge_pages(void* memory, std::size_t bytes);

}  // namespace ordeal
