// Large memory in large pages: the first touch of each page of 4 KiB costs as much as parsing what
// goes into it, and what is reached at random in gigabytes of small pages misses the processor's
// table of pages nearly each time.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace ordeal {

inline constexpr std::size_t kHugePage = std::size_t{1} << 21U;

// A hint to the kernel about memory of 4 MiB and more, of which little will stay untouched.
void advise_huge_pages(void* memory, std::size_t bytes);

// Allocator that gives the hint. Thread-safe, as any allocator without state.
template <class T>
struct HugePages {
  using value_type = T;

  HugePages() = default;
  template <class U>
  HugePages(const HugePages<U>& /*other*/) {}  // NOLINT(google-explicit-constructor): as required

  T* allocate(std::size_t count) {
    if (!large(count)) return std::allocator<T>().allocate(count);
    void* const memory = ::operator new (count * sizeof(T), std::align_val_t{kHugePage});
    advise_huge_pages(memory, count * sizeof(T));
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    if (!large(count)) return std::allocator<T>().deallocate(memory, count);
    ::operator delete (memory, std::align_val_t{kHugePage});
  }
  friend bool operator==(HugePages, HugePages) { return true; }

 private:
  static bool large(std::size_t count) { return count >= 2 * kHugePage / sizeof(T); }
};

// For arrays that grow with the history.
template <class T>
using BigVector = std::vector<T, HugePages<T>>;

}  // namespace ordeal
