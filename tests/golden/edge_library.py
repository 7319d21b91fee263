"""The public detector calls (include/edgecam/edge.h) through ctypes."""

import ctypes
import os
from ctypes import POINTER, Structure, byref, c_bool, c_char_p, c_double, c_float, c_int, c_int64, c_ssize_t, c_void_p

import numpy as np

OPERATORS = ("sobel", "scharr", "prewitt", "roberts", "kirsch", "robinson", "laplacian", "log", "dog", "convolution",
             "canny")
RESPONSES = OPERATORS[:-2]  # those with an integer response and no kernel of their own
NORMS = ("l2", "l1")
BORDERS = ("reflect101", "replicate", "constant")
AUTOMATIC = ("off", "median", "otsu", "percentile")
BACKENDS = ("auto", "cpu", "cuda")


class _Image(Structure):
    _fields_ = [("data", c_void_p), ("width_px", c_int), ("height_px", c_int), ("pitch_bytes", c_ssize_t),
                ("depth_bits", c_int), ("memory", c_int), ("plane_bytes", c_ssize_t), ("time_ns", c_int64)]


class _Kernel(Structure):
    _fields_ = [("size", c_int), ("weights", POINTER(c_float)), ("divisor", c_int)]


_MESSAGE = ctypes.CFUNCTYPE(None, c_void_p, c_int, c_char_p)


class _Logger(Structure):
    _fields_ = [("message", _MESSAGE), ("opaque", c_void_p)]


class _Params(Structure):
    _fields_ = [("op", c_int), ("norm", c_int), ("border", c_int), ("range", c_int), ("aperture", c_int),
                ("blur_sigma", c_double), ("scale", c_double), ("delta", c_double), ("threshold", c_double),
                ("low", c_double), ("high", c_double), ("has_low", c_bool), ("has_high", c_bool),
                ("channels", c_int), ("automatic", c_int), ("stable", c_double), ("auto_time_s", c_double), ("has_auto_time", c_bool), ("absolute", c_bool), ("output_depth_bits", c_int), ("kernel", _Kernel), ("logger", _Logger)]


class _Tuning(Structure):
    _fields_ = [("block_threads", c_int), ("rows_per_thread", c_int)]


class _Device(Structure):
    _fields_ = [("backend", c_int), ("gpu", c_int), ("threads", c_int), ("cpu_features", c_char_p), ("low_latency", c_bool),
                ("tuning", _Tuning), ("untimed", c_bool)]


class Library:
    """On the best instruction set there is, or on the one that EDGECAM_TEST_CPU_FEATURES names ("avx2")."""

    def __init__(self, path):
        self._features = os.environ.get("EDGECAM_TEST_CPU_FEATURES", "").encode() or None
        self._calls = ctypes.CDLL(path)
        self._calls.ec_edge_open.argtypes = [POINTER(c_void_p), POINTER(_Params), POINTER(_Device)]
        self._calls.ec_edge_run.argtypes = [c_void_p, POINTER(_Image), POINTER(_Image)]
        self._calls.ec_edge_thresholds.argtypes = [c_void_p, POINTER(c_double), POINTER(c_double)]
        self._calls.ec_edge_thresholds.restype = c_bool
        self._calls.ec_edge_close.argtypes = [POINTER(c_void_p)]
        self._calls.ec_operator_name.restype = c_char_p
        for index, name in enumerate(OPERATORS):
            assert self._calls.ec_operator_name(index) == name.encode(), "the binding's operators are out of order"

    def run(self, image, depth, op, **options):
        """Edges of a 2-D array, or of the three planes of a 3-D one (its last axis: red, green, blue); rows may be strided, and
        those of the new array that comes back are."""
        return self.sequence([image], depth, op, **options)[0][0]

    def sequence(self, images, depth, op, *, times=None, norm="l2", border="reflect101", limited=False, aperture=0, blur=0, scale=0,
                 delta=0, threshold=0, low=None, high=None, automatic="off", auto_time=None, stable=0, absolute=False, output_depth=None,
                 kernel=None, divisor=0, backend="cpu", threads=1):
        """Images one after the other through one detector, taken at `times` (seconds): a list of (edges, chosen thresholds)."""
        messages = []
        logger = _Logger(_MESSAGE(lambda _, level, text: messages.append(text.decode())), None)
        weights = np.ascontiguousarray(kernel if kernel is not None else [[0]], np.float32)
        params = _Params(op=OPERATORS.index(op), norm=NORMS.index(norm), border=BORDERS.index(border), range=int(limited),
                         aperture=aperture, blur_sigma=blur, scale=scale, delta=delta, threshold=threshold, low=low or 0,
                         high=high or 0, has_low=low is not None, has_high=high is not None, channels=int(images[0].ndim == 3),
                         automatic=AUTOMATIC.index(automatic), stable=stable, auto_time_s=auto_time or 0, has_auto_time=auto_time is not None,
                         absolute=absolute, logger=logger,
                         kernel=_Kernel(weights.shape[0], weights.ctypes.data_as(POINTER(c_float)), divisor))
        device = _Device(BACKENDS.index(backend), 0, threads, self._features)
        edge = c_void_p()
        if self._calls.ec_edge_open(byref(edge), byref(params), byref(device)):
            raise RuntimeError("; ".join(messages))
        results, status = [], 0
        for index, image in enumerate(images):
            if image.ndim == 3:
                image = np.moveaxis(image, 2, 0).copy(order="C")  # ascontiguousarray leaves odd strides along sides of 1
            height, width = image.shape[-2:]
            out_depth = output_depth or depth
            canvas = np.full((height, width + 3), 77, np.uint8 if out_depth == 8 else np.uint16)
            out = canvas[:, :width]
            described = _describe(image, depth)
            described.time_ns = round(times[index] * 1e9) if times else 0
            status = status or self._calls.ec_edge_run(edge, byref(described), byref(_describe(out, out_depth)))
            if not (canvas[:, width:] == 77).all():
                raise RuntimeError("bytes between the rows were written")
            chosen = c_double(), c_double()
            told = self._calls.ec_edge_thresholds(edge, byref(chosen[0]), byref(chosen[1]))
            results.append((out, (chosen[0].value, chosen[1].value) if told else None))
        self._calls.ec_edge_close(byref(edge))
        if status:
            raise RuntimeError("; ".join(messages))
        return results


def _describe(array, depth):
    planes = array.strides[0] if array.ndim == 3 else 0
    array = array[0] if planes else array
    assert array.dtype == (np.uint8 if depth == 8 else np.uint16) and array.strides[1] == array.itemsize
    return _Image(array.ctypes.data, array.shape[1], array.shape[0], array.strides[0], depth, 0, planes, 0)
