// Whose argument a message is about: "doublify: x is read-only; wanted …".
#pragma once

#include <stdexcept>
#include <string>

namespace fourways {

struct Argument {
    const char *kernel, *name;
    std::string about(const std::string &problem) const { return std::string(kernel) + ": " + name + " " + problem; }
    // In Python it arrives as a ValueError.
    std::invalid_argument value_error(const std::string &problem) const
    {
        return std::invalid_argument(about(problem));
    }
};

} // namespace fourways
