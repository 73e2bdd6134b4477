// What pulse.cu and pulse.cpp share: an array on the GPU, and the function that launches.

typedef float Number; // CHANGE: the type of the arrays' elements
struct Field { Number *data; long long h, w; };

const char *launch(Field u, Field v, Field new_u, Field new_v, float dt, int steps, long long stream); // CHANGE
