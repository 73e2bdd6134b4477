"""A user's kernel with any signature: its inputs, what is right, its launch, its ways."""

from fourways.case.case import Case
from fourways.case.entry import signature_of
from fourways.case.file import named_reference
from fourways.case.for_gpu import on_a_gpu
from fourways.case.skeleton import skeleton
