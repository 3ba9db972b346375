// A library of its own, preloaded into User-Mode Linux: lets it run on processors whose registers
// are more than it knows of.
//
// User-Mode Linux 6.1 keeps the floating-point and vector registers of each of its threads in a
// buffer that ends with AVX (832 bytes). It fetches them from the processes that stand for its own
// by ptrace(2), PTRACE_GETREGSET with NT_X86_XSTATE, which may give less than there is, and puts
// them back by PTRACE_SETREGSET, which may not: with AVX-512, AMX or protection keys it fails, and
// the kernel stops. So what a buffer has no room for is kept here, by the buffer's address, and is
// added when that buffer is put back.
//
// Used by one thread, the kernel's; needs nothing but libc, and allocates nothing from it.
#include <elf.h>
#include <linux/ptrace.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

constexpr std::size_t kStateBytesMax = 16'384;  // with the tiles of AMX it is about 11,000
constexpr std::size_t kBuffersMax = 4096;       // a power of two

struct Kept {
  const void* buffer;
  std::size_t bytes;
  unsigned char state[kStateBytesMax];
};

// Pages of it that are never touched take no memory.
Kept* table() {
  static Kept* kTable = nullptr;
  if (kTable == nullptr) {
    void* memory = mmap(nullptr, sizeof(Kept) * kBuffersMax, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    kTable = static_cast<Kept*>(memory);
  }
  return kTable;
}

// The buffer's place in the table, or a free one; nullptr where the table is full.
Kept* place_of(const void* buffer) {
  Kept* const all = table();
  if (all == nullptr) return nullptr;
  const auto hash = static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(buffer) >> 4U) *
                    11'400'714'819'323'198'485U;
  for (std::size_t i = 0; i < kBuffersMax; ++i) {
    Kept& kept = all[((hash >> 32U) + i) % kBuffersMax];
    if (kept.buffer == buffer || kept.buffer == nullptr) return &kept;
  }
  return nullptr;
}

long to_kernel(int request, pid_t pid, void* address, void* data) {
  return syscall(SYS_ptrace, request, pid, address, data);
}

std::size_t smaller(std::size_t a, std::size_t b) { return a < b ? a : b; }

// All of the state of that process, which on this machine always has the same size.
unsigned char g_state[kStateBytesMax];

long fetch(pid_t pid, void* kind, iovec& wanted) {
  iovec whole{g_state, sizeof g_state};
  if (to_kernel(PTRACE_GETREGSET, pid, kind, &whole) < 0) return -1;
  if (Kept* kept = place_of(wanted.iov_base); kept != nullptr) {
    kept->buffer = wanted.iov_base;
    kept->bytes = whole.iov_len;
    std::memcpy(kept->state, g_state, whole.iov_len);
  }
  wanted.iov_len = smaller(wanted.iov_len, whole.iov_len);
  std::memcpy(wanted.iov_base, g_state, wanted.iov_len);
  return 0;
}

// A buffer that was never fetched into, as of a new thread, is completed from what the process has.
long put_back(pid_t pid, void* kind, const iovec& given) {
  iovec whole{g_state, sizeof g_state};
  if (to_kernel(PTRACE_GETREGSET, pid, kind, &whole) < 0) return -1;
  const Kept* kept = place_of(given.iov_base);
  if (kept != nullptr && kept->buffer == given.iov_base && kept->bytes == whole.iov_len) {
    std::memcpy(g_state, kept->state, whole.iov_len);
  }
  std::memcpy(g_state, given.iov_base, smaller(given.iov_len, whole.iov_len));
  return to_kernel(PTRACE_SETREGSET, pid, kind, &whole);
}

// The system call writes what it peeks, and libc's function returns it.
long peek(int request, pid_t pid, void* address) {
  long value = 0;
  if (to_kernel(request, pid, address, &value) < 0) return -1;
  errno = 0;
  return value;
}

}  // namespace

extern "C" long ptrace(int request, ...) {
  va_list rest;
  va_start(rest, request);
  const pid_t pid = va_arg(rest, pid_t);
  void* const address = va_arg(rest, void*);
  void* const data = va_arg(rest, void*);
  va_end(rest);
  if (request == PTRACE_PEEKTEXT || request == PTRACE_PEEKDATA || request == PTRACE_PEEKUSR) {
    return peek(request, pid, address);
  }
  if (reinterpret_cast<std::uintptr_t>(address) == NT_X86_XSTATE) {
    if (request == PTRACE_GETREGSET) return fetch(pid, address, *static_cast<iovec*>(data));
    if (request == PTRACE_SETREGSET) return put_back(pid, address, *static_cast<iovec*>(data));
  }
  return to_kernel(request, pid, address, data);
}
