// What step.cu and step.cpp share: an array on the GPU, and the function that launches.

typedef float Number;                   // CHANGE: the type of the arrays' elements
constexpr const char *TYPESTR = "<f4"; // CHANGE: np.dtype("float32").str
struct Field { Number *data; long long h, w; };

// CHANGE
const char *launch(Field u, Field v, Field new_u, Field new_v, float dt, int steps,
                   long long stream);
