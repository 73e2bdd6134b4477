struct Band {
    unsigned long long odd;
    float2 range;
    char name;
};
