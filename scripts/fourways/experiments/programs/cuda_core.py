"""`cuda.core` without arrays: memory is filled on the GPU, and copied back through the host's pinned memory."""

# import
import sys

import numpy as np
from cuda.core import Device, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode, launch

# context
device = Device()
device.set_current()
stream = device.create_stream()
x, y = (device.allocate(4000, stream=stream) for _ in range(2))
x.fill(np.float32(3), stream=stream)

# load
kernel = ObjectCode.from_cubin(sys.argv[2]).get_kernel("doublify")
config = LaunchConfig(grid=4, block=256)

# launch
launch(stream, config, kernel, x, y, np.int64(1000))
stream.sync()

# launches
for _ in range(int(sys.argv[1])):
    launch(stream, config, kernel, x, y, np.int64(1000))
stream.sync()

# check
answer = LegacyPinnedMemoryResource().allocate(4000)  # the host's, for copies
y.copy_to(answer, stream=stream)
stream.sync()
assert (np.from_dlpack(answer).view(np.float32) == 6).all()
