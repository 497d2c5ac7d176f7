"""How the libraries of arrays make an array: what the extension asks once a library."""

#: The element types of librung, in the order of the extension's table.
TYPES = ("float16", "bfloat16", "float32", "float64", "uint8", "int8", "uint16", "int16",
         "int32", "uint32", "int64", "uint64")


class Library:
    """What is None, a library has none of: then results are `rung.Array`, or given to `adopt`."""
    types = None  # in the order of TYPES
    scalars = None
    empty = None
    like = False
    stream = None  # stream(array): the current one, as an integer
    capsule = None  # DLPack's, on the current stream; None: ask __dlpack__()
    more = None  # functions of an array; one true: there is more to it than memory, as a gradient
    quick = None  # quick(shape, strides, type, index of a GPU): a quicker empty(), or None
    keeps = False  # results lie in memory as their input does; it has transpose()
    load = None
    adopt = None
    immutable = False
    copy = None  # copy(bytes, name of a type, like): an array of these elements

    def __init__(self, **has):
        self.__dict__.update(has)


def name_of(kind: type) -> str:
    """The library of a type: of it, or of what it inherits from."""
    for base in kind.__mro__:
        module = base.__module__ or ""
        if (module + ".").startswith("numpy.ma."):
            raise TypeError("a masked array has no DLTensor: its mask would be lost; expected: "
                            "array.filled(value) or array.compressed()")
        root = module.partition(".")[0]
        root = {"jaxlib": "jax"}.get(root, root)
        if root in _MAKERS:
            return root
    return "rung"


_made: "dict[str, Library]" = {}


def library(name: str) -> Library:
    if name not in _made:
        _made[name] = _MAKERS[name]()
    return _made[name]


def _rung() -> Library:
    return Library()


def _numpy() -> Library:
    import numpy
    types = tuple(getattr(numpy, name, None) for name in TYPES)
    return Library(types=tuple(kind and numpy.dtype(kind) for kind in types), scalars=types,
                   empty=numpy.empty, keeps=True)


def _cupy() -> Library:
    import cupy
    import numpy

    def empty(shape, kind, like):
        with like.device:
            return cupy.empty(shape, kind)

    def copy(elements, kind, like):
        with like.device:
            return cupy.array(numpy.frombuffer(elements, kind))
    return Library(types=tuple(getattr(cupy, name, None) for name in TYPES), empty=empty, like=True,
                   stream=lambda like: cupy.cuda.get_current_stream().ptr, copy=copy)


def _torch() -> Library:
    import torch
    import torch.utils.dlpack
    # Unsigned results are torch.int64, as those of torch.sum() are: the same 64 bits.
    types = tuple(torch.int64 if name == "uint64" else getattr(torch, name, None) for name in TYPES)
    raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None)

    def stream(like):
        if raw_stream is not None:
            return raw_stream(like.get_device())
        return torch.cuda.current_stream(like.device).cuda_stream

    # In C, both: their call costs less than a function's that asks them.
    more = torch.Tensor.requires_grad.__get__, torch.Tensor.is_neg

    def capsule(x):
        # __dlpack__() makes stream objects; and it refuses what needs a gradient.
        if not isinstance(x, torch.Tensor) or any(is_so(x) for is_so in more):
            return None
        return torch.utils.dlpack.to_dlpack(x)

    def empty(shape, kind, like):
        if type(like) is torch.Tensor:
            return like.new_empty(shape, dtype=kind)  # the quicker one
        return torch.empty(shape, dtype=kind, device=like.device)

    try:  # what PyTorch's own compiled code calls: not by way of the dispatcher
        empty_strided, device = torch._C._dynamo.guards._empty_strided_cuda, torch._C._cuda_getDevice
    except AttributeError:
        quick = None
    else:
        def quick(shape, strides, kind, index):
            return empty_strided(shape, strides, kind) if index == device() else None
    return Library(types=types, like=True, empty=empty, quick=quick, stream=stream,
                   capsule=capsule, more=more, copy=lambda elements, kind, like: torch.frombuffer(
                       elements, dtype=getattr(torch, kind)).to(like.device, non_blocking=True))


def _jax() -> Library:
    import jax
    import numpy
    # Results of 64 bits stay so where JAX's own would be narrowed.
    wide = getattr(jax, "enable_x64", None)  # which may refuse to be a bool
    if wide is None:
        wide = jax.experimental.enable_x64

    def empty(shape, kind, like):
        with wide(True):  # nobody else has this memory yet: it may be written once
            return jax.block_until_ready(jax.numpy.empty(shape, kind, device=like.device))

    def copy(elements, kind, like):
        with wide(True):
            row = numpy.frombuffer(elements, numpy.dtype(getattr(jax.numpy, kind)))
            return jax.numpy.array(row, device=like.device)
    return Library(types=tuple(getattr(jax.numpy, name, None) for name in TYPES), empty=empty,
                   like=True, adopt=jax.dlpack.from_dlpack, immutable=True, copy=copy)


def _pandas() -> Library:
    return Library(load=lambda column: column.to_numpy())


_MAKERS = {
    "rung": _rung, "numpy": _numpy, "cupy": _cupy, "torch": _torch, "jax": _jax, "pandas": _pandas}
