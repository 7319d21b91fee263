#!/usr/bin/env python3
"""spent.py REPEATS COMMAND...: seconds of wall time, seconds of processor time and MiB at the peak of the fastest run."""

import os
import sys
import time


def run(command):
    start = time.monotonic()
    child = os.posix_spawnp(command[0], command, os.environ,
                            file_actions=[(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_RDWR, 0) for fd in (0, 1)])
    _, status, usage = os.wait4(child, 0)
    if status:
        sys.exit(f"{command[0]} failed")
    return time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


runs = [run(sys.argv[2:]) for _ in range(int(sys.argv[1]))]
print(*(f"{min(column):.3f}" for column in zip(*runs)))
