"""GPU arrays that show one protocol alone."""

import cupy


class Interface:
    """A CuPy array of which only __cuda_array_interface__ is to be seen."""

    def __init__(self, array: cupy.ndarray) -> None:
        self.__cuda_array_interface__ = array.__cuda_array_interface__


class Dlpack:
    """A CuPy array of which only DLPack is to be seen."""

    def __init__(self, array: cupy.ndarray) -> None:
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__
