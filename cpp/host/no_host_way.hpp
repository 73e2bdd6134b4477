// CUDA's functions that the CPU does not have. compile.py in scripts/fourways/host finds the names of this namespace in
// the compiler's errors.
#pragma once

inline namespace no_host_way {

#define FOURWAYS_REFUSE(name) template <class Result = int, class... Arguments> Result name(Arguments...) = delete;
FOURWAYS_REFUSE(__activemask) // OS threads do not run in step: it would be one lane, or any
FOURWAYS_REFUSE(surf1Dread)
FOURWAYS_REFUSE(surf1Dwrite)
FOURWAYS_REFUSE(surf2Dread)
FOURWAYS_REFUSE(surf2Dwrite)
FOURWAYS_REFUSE(surf3Dread)
FOURWAYS_REFUSE(surf3Dwrite)
FOURWAYS_REFUSE(tex1D)
FOURWAYS_REFUSE(tex1Dfetch)
FOURWAYS_REFUSE(tex1DLayered)
FOURWAYS_REFUSE(tex2D)
FOURWAYS_REFUSE(tex2Dgather)
FOURWAYS_REFUSE(tex2DGrad)
FOURWAYS_REFUSE(tex2DLayered)
FOURWAYS_REFUSE(tex2DLod)
FOURWAYS_REFUSE(tex3D)
FOURWAYS_REFUSE(tex3DLod)
FOURWAYS_REFUSE(texCubemap)

} // namespace no_host_way
