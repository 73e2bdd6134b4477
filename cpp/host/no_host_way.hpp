// CUDA's functions that the CPU does not have. compile.py in scripts/fourways/host finds their names in the compiler's
// errors.
#pragma once

#include <type_traits>

#include <texture_types.h>

#define FOURWAYS_REFUSE(name) template <class Result = int, class... Values> Result name(Values...) = delete;
#define FOURWAYS_REFUSE_TEXTURE(name)                                                                                  \
    template <class Result = int, class... Values>                                                                     \
        requires(std::is_same_v<Values, cudaTextureObject_t> || ...) /* a kernel may have a function of that name */   \
    Result name(Values...) = delete;

inline namespace no_host_way {
FOURWAYS_REFUSE(__activemask) // OS threads do not run in step: it would be one lane, or any
FOURWAYS_REFUSE_TEXTURE(surf1Dread)
FOURWAYS_REFUSE_TEXTURE(surf1Dwrite)
FOURWAYS_REFUSE_TEXTURE(surf2Dread)
FOURWAYS_REFUSE_TEXTURE(surf2Dwrite)
FOURWAYS_REFUSE_TEXTURE(surf3Dread)
FOURWAYS_REFUSE_TEXTURE(surf3Dwrite)
FOURWAYS_REFUSE_TEXTURE(tex1D)
FOURWAYS_REFUSE_TEXTURE(tex1Dfetch)
FOURWAYS_REFUSE_TEXTURE(tex1DLayered)
FOURWAYS_REFUSE_TEXTURE(tex2D)
FOURWAYS_REFUSE_TEXTURE(tex2Dgather)
FOURWAYS_REFUSE_TEXTURE(tex2DGrad)
FOURWAYS_REFUSE_TEXTURE(tex2DLayered)
FOURWAYS_REFUSE_TEXTURE(tex2DLod)
FOURWAYS_REFUSE_TEXTURE(tex3D)
FOURWAYS_REFUSE_TEXTURE(tex3DLod)
FOURWAYS_REFUSE_TEXTURE(texCubemap)
} // namespace no_host_way
