// The program that a kernel file becomes: it launches its kernels for the Python that started it (process.py in
// scripts/fourways/host), so that a kernel that crashes or never ends takes down this program and not that Python.
//
// Descriptor 0 is a socket to Python: each message is one whole (SOCK_SEQPACKET). The file whose descriptor is argv[1]
// holds a launch's description and its arrays. The kernel works in that file's own pages, each array ending where a
// page without any access begins. -DFOURWAYS_SANITIZED: on the heap instead, where AddressSanitizer watches each byte.
// -DFOURWAYS_BLOCKS: the kernel is instrumented, and a race between blocks ends the program (between_blocks.hpp).
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <thread>

#include <cxxabi.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef FOURWAYS_BLOCKS
#include "between_blocks.hpp"
#endif
#include "launch.hpp"
#include "memory.hpp"

extern char _end; // the linker's: behind the kernel's static shared memory and variables, which are linked last

dim3 gridDim, blockDim;
uint3 blockIdx;
constinit thread_local uint3 threadIdx{};

namespace fourways {

char *dynamic_memory;
bool threaded;

unsigned sync_block(int line, bool vote) { return launch->sync_block(line, vote); }
Visit meet(Visit visit) { return launch->meet(visit); }
long long nanoseconds() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
void sleep(unsigned nanoseconds) { std::this_thread::sleep_for(std::chrono::nanoseconds(nanoseconds)); }

namespace {

std::string signatures() // a line for each kernel: its type, a tab, its limits
{
    std::string lines;
    for (const Kernel *kernel = kernels; kernel->told; ++kernel) {
        const char *const mangled = kernel->told->name();
        char *const name = abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr);
        lines += std::string(name ? name : mangled) + '\t'; // a library that is older than its compiler
        const Limits &limits = kernel->limits;
        for (const long long limit : {limits.threads, limits.cluster[0], limits.cluster[1], limits.cluster[2]})
            lines += std::to_string(limit) + ' ';
        lines.back() = '\n';
        std::free(name);
    }
    return lines;
}

std::string variable_sizes() // a line for each variable
{
    std::string lines;
    for (const Variable *each = variables; each->name; ++each)
        lines += std::string(each->name) + ' ' + std::to_string(each->size) + '\n';
    return lines;
}

// Move all variables from a place in the file, or to it; each begins at a multiple of 16 bytes.
template <class Move> void move_variables(Move move, int file, std::size_t offset)
{
    for (const Variable *each = variables; each->name; ++each) {
        if (each->size && move(file, each->place, each->size, offset) != static_cast<ssize_t>(each->size))
            throw std::runtime_error(std::string("the variable ") + each->name + " cannot be moved");
        offset += (each->size + 15) / 16 * 16;
    }
}

// What Python turns into a message: who did it, and where. Python's struct is "11q".
struct Fault {
    enum Place : long long { nowhere = -1, stack = -2, variables = -3 };
    long long signal, writes = -1; // 0: no signal, bytes beside an array were found changed; writes -1: unknown
    long long memory = nowhere;    // number of the memory, and the byte counted from its beginning
    long long offset = 0;
    long long finished = 0; // blocks
    long long thread[3] = {-1, -1, -1};
    long long block[3] = {};
};

void send(const void *message, std::size_t size) { ::send(0, message, size, MSG_NOSIGNAL); }

[[noreturn]] void end_with(Fault fault)
{
    fault.finished = finished_blocks;
    send(&fault, sizeof fault);
    _exit(1);
}

} // namespace

#ifdef FOURWAYS_BLOCKS
[[noreturn]] void end_with(Race race)
{
    send(&race, sizeof race);
    _exit(1);
}
#endif

namespace {

std::list<Memory> memories; // of the present launch; the last one is the dynamic shared memory

void find(Fault &fault, const char *address)
{
    long long number = 0;
    for (const Memory &memory : memories) {
        if (memory.holds(address))
            fault.memory = number, fault.offset = address - memory.begin;
        ++number;
    }
}

// Runs on a stack of its own. It may call little: the program is broken.
void on_signal(int signal, siginfo_t *info, void *context)
{
    Fault fault{signal};
    fault.thread[0] = threadIdx.x, fault.thread[1] = threadIdx.y, fault.thread[2] = threadIdx.z;
    fault.block[0] = blockIdx.x, fault.block[1] = blockIdx.y, fault.block[2] = blockIdx.z;
    if (signal == SIGSEGV || signal == SIGBUS) {
        const auto *const address = static_cast<const char *>(info->si_addr);
        find(fault, address);
        const mcontext_t &machine = static_cast<const ucontext_t *>(context)->uc_mcontext;
#if defined(__x86_64__)
        fault.writes = machine.gregs[REG_ERR] >> 1 & 1; // of the page fault's error code
        const auto *const stack = reinterpret_cast<const char *>(machine.gregs[REG_RSP]);
#elif defined(__aarch64__)
        const auto *const stack = reinterpret_cast<const char *>(machine.sp);
#else
        const char *const stack = nullptr;
#endif
        constexpr long long near = 1 << 20;
        if (fault.memory == Fault::nowhere && stack && address > stack - near && address < stack + near)
            fault.memory = Fault::stack;
        if (fault.memory == Fault::nowhere && address >= &_end && address < &_end + near)
            fault.memory = Fault::variables;
    }
    end_with(fault);
}

// The seconds that a launch may go without finishing a block; 0 while nothing runs.
std::atomic<long long> patience = 0;
const uint3 *thread_of_loops; // of the thread that runs a block as loops

void watch()
{
    long long seen = -1, waited = 0;
    for (;;) {
        pollfd python{0, 0, 0};
        if (poll(&python, 1, 1000) > 0) // Python has closed its end, or is no more
            _exit(0);
        const long long finished = finished_blocks;
        waited = patience && finished == seen ? waited + 1 : 0;
        seen = finished;
        if (!patience || waited < patience)
            continue;
        Fault fault{SIGALRM};
#ifndef FOURWAYS_SANITIZED // whose race with the kernel ThreadSanitizer would report
        if (!threaded)
            fault.thread[0] = thread_of_loops->x, fault.thread[1] = thread_of_loops->y,
            fault.thread[2] = thread_of_loops->z;
#endif
        end_with(fault);
    }
}

} // namespace

void watch_from_now_on()
{
    static const bool once = (std::thread(watch).detach(), true);
    (void)once;
}

namespace {

// The words of a launch: kernel, grid, block, bytes of dynamic shared memory, seconds of patience; the place in the file
// of the module's variables; how many memories,
// and for each its place in the file, size, and whether the kernel may write it; how many arguments, and for each a
// memory and the pointer's place in it, or -1 and the value's place in this text.
void launch_from(int file, std::size_t size)
{
    std::vector<long long> text(size / sizeof(long long));
    if (pread(file, text.data(), size, 0) != static_cast<ssize_t>(size))
        throw std::runtime_error("the launch's description cannot be read");
    const long long *word = text.data();
    const int number = *word++;
    unsigned shape[6];
    for (unsigned &extent : shape)
        extent = *word++;
    const std::size_t shared_bytes = *word++;
    const long long seconds = *word++, variables_place = *word++;
    memories.clear();
    std::vector<char *> begins;
    for (long long left = *word++; left; --left, word += 3)
        begins.push_back(memories.emplace_back(file, word[0], word[1], word[2]).begin);
    char *const shared = begins.back();
    std::vector<void *> places(*word++), arguments;
    for (void *&place : places) {
        const long long memory = *word++, offset = *word++;
        if (memory >= 0)
            place = begins[memory] + offset;
        else
            place = reinterpret_cast<char *>(text.data()) + offset;
        arguments.push_back(memory >= 0 ? static_cast<void *>(&place) : place);
    }
#ifdef FOURWAYS_BLOCKS
    between_blocks.begin_launch();
    for (const Memory &memory : memories)
        if (&memory != &memories.back())
            between_blocks.watch_array(memory.begin, memory.size);
#endif
    move_variables(pread, file, variables_place);
    finished_blocks = 0;
    patience = seconds;
    const std::string problem = run(number, shape, shared, shared_bytes, arguments.data());
    patience = 0;
    if (!problem.empty())
        throw std::runtime_error(problem);
#ifdef FOURWAYS_BLOCKS
    between_blocks.end_launch();
#endif
    for (Memory &memory : memories) {
        if (const char *const byte = memory.changed_beside()) {
            Fault fault{0, 1};
            find(fault, byte);
            end_with(fault);
        }
        memory.keep();
    }
    move_variables(pwrite, file, variables_place);
    memories.clear();
}

} // namespace

// Before the thread's own code runs: signals of a thread that has overflowed its stack need another one.
void prepare_thread()
{
#ifndef FOURWAYS_SANITIZED // a sanitizer does this itself
    alignas(16) static thread_local char room[32768];
    const stack_t other{room, 0, sizeof room};
    sigaltstack(&other, nullptr);
#endif
}

} // namespace fourways

int main(int, char **arguments)
{
    using namespace fourways;
    const int file = std::atoi(arguments[1]);
    std::setvbuf(stdout, nullptr, _IOLBF, 0); // what a kernel printed before it crashed is not lost
    rlimit stack;
    getrlimit(RLIMIT_STACK, &stack);
    stack.rlim_cur = std::min<rlim_t>(stack.rlim_cur, 8 << 20); // without a limit a recursion would take all memory
    setrlimit(RLIMIT_STACK, &stack);
    prepare_thread();
#ifndef FOURWAYS_SANITIZED
    struct sigaction action {};
    action.sa_sigaction = on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    const rlimit printed{1 << 20, RLIM_INFINITY}; // bytes in a file, so of what is printed; the arrays are mapped
    setrlimit(RLIMIT_FSIZE, &printed);
    for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGXFSZ})
        sigaction(signal, &action, nullptr);
#endif
    thread_of_loops = &threadIdx;
    const std::string known = signatures() + '\n' + variable_sizes() + '\n';
    if (pwrite(file, known.data(), known.size(), 0) == static_cast<ssize_t>(known.size())) {
        move_variables(pwrite, file, known.size());
        send("ready", 5);
    }
    for (std::size_t size; recv(0, &size, sizeof size, 0) == sizeof size;) {
        std::string answer = "done";
        try {
            launch_from(file, size);
        } catch (const std::exception &error) {
            answer = std::string("!") + error.what();
        }
        send(answer.data(), answer.size());
    }
    _exit(0);
}
