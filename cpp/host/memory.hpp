// The memory of one array, or of a kernel's dynamic shared memory, where the kernel finds it.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <system_error>

#include <sys/mman.h>
#include <unistd.h>

namespace fourways {

#ifndef FOURWAYS_SANITIZED

class Memory {
    static constexpr std::size_t guard = std::size_t(64) << 20; // bytes without access, on either side
    char *reserved, *pages;
    std::size_t length; // of the pages

public:
    char *begin;
    std::size_t size;
    const bool writable;

    Memory(int file, std::size_t offset, std::size_t size, bool writable) : size(size), writable(writable)
    {
        const std::size_t page = sysconf(_SC_PAGESIZE), first = offset / page * page;
        length = (offset + size + page - 1) / page * page - first;
        void *place = mmap(nullptr, guard + length + guard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (place == MAP_FAILED)
            throw std::system_error(errno, std::generic_category(), "no address space for an array");
        reserved = static_cast<char *>(place);
        pages = reserved + guard;
        begin = pages + (offset - first);
        if (!length)
            return;
        constexpr int both = PROT_READ | PROT_WRITE;
        if (mmap(pages, length, both, MAP_SHARED | MAP_FIXED | MAP_POPULATE, file, first) == MAP_FAILED)
            throw std::system_error(errno, std::generic_category(), "no memory for an array");
        poison(pages, begin);
        poison(begin + size, pages + length);
        if (!writable)
            mprotect(pages, length, PROT_READ);
    }
    Memory(const Memory &) = delete;
    ~Memory() { munmap(reserved, guard + length + guard); }

    bool holds(const char *address) const { return reserved <= address && address < pages + length + guard; }

    // Floats are NaN: what is read from there must not look right. Where only reading is allowed another NaN stands, so
    // that a kernel that copies too much is seen.
    void poison(char *from, char *to) const
    {
        for (; from != to; ++from)
            *from = writable || reinterpret_cast<std::uintptr_t>(from) % 4 != 3 ? 0xFF : 0x7F;
    }

    const char *changed_beside() const // the first byte, or null
    {
        if (!writable)
            return nullptr;
        const auto changed = [](const char *from, const char *to) {
            return std::find_if(from, to, [](char byte) { return byte != char(0xFF); });
        };
        const char *const end = begin + size, *const before = changed(pages, begin);
        if (before != begin)
            return before;
        const char *const after = changed(end, pages + length);
        return after != pages + length ? after : nullptr;
    }
    void keep() {}
};

#else

class Memory {
    std::unique_ptr<char[]> bytes;
    const int file;
    const std::size_t offset;

public:
    char *begin;
    std::size_t size;

    Memory(int file, std::size_t offset, std::size_t size, bool)
        : bytes(new char[size]), file(file), offset(offset), begin(bytes.get()), size(size)
    {
        for (std::size_t done = 0; done < size;)
            done += pread(file, begin + done, size - done, offset + done);
    }
    bool holds(const char *) const { return false; }
    const char *changed_beside() const { return nullptr; }
    void keep()
    {
        for (std::size_t done = 0; done < size;)
            done += pwrite(file, begin + done, size - done, offset + done);
    }
};

#endif

} // namespace fourways
