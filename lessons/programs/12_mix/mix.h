// The one declaration of the launch. mix.cu and nb_mix.cpp include it, so they cannot differ.

typedef float Number; // CHANGE, with DTYPE in mix.py: double is float64, int is int32

// CHANGE
extern "C" const char *launch(const Number *x, const Number *y, Number *out, long long n,
                              Number low, Number high, long long stream); // CHANGE
