"""Types for checkers and editors. An array is any object with the buffer protocol, `__dlpack__` or
`__cuda_array_interface__`; results are of the library of the input."""

from typing import Any, Literal, NamedTuple, Optional, Sequence, TypeVar, Union

_A = TypeVar("_A")
_Array = Any
_Device = Union[str, "Context", None]
_Math = Optional[Literal["strict", "fast", "fixed"]]
_Bins = Union[int, Sequence[float], _Array]
_Range = Optional[tuple[float, float]]
_Kernel = Union[Sequence[Sequence[float]], Sequence[Sequence[Sequence[float]]], _Array]
_Origin = Union[int, tuple[int, int]]
_Region = Union[slice, tuple[slice, slice], None]
_Box = Union[Sequence[float], Sequence[Sequence[float]], _Array, None]

__version__: str

class Error(Exception): ...

class Array:
    def __new__(cls, x: _Array) -> Array: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def address(self) -> int: ...
    @property
    def readonly(self) -> bool: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __dlpack__(self, *, stream: Optional[int] = None,
                   max_version: Optional[tuple[int, int]] = None,
                   dl_device: Optional[tuple[int, int]] = None,
                   copy: Optional[bool] = None) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

class Context:
    def __new__(cls, device: Optional[str] = None, *, threads: int = 0, isa: Optional[str] = None,
                stream: Any = None) -> Context: ...
    def close(self) -> None: ...
    def synchronize(self) -> None: ...
    def __enter__(self) -> Context: ...
    def __exit__(self, *exception: Any) -> None: ...

class RDF(NamedTuple):
    bins: _Array
    edges: _Array
    count: _Array
    rdf: _Array
    neighbours: _Array

class Ladder(list[dict[str, Any]]):
    operation: str

class Record(dict[str, Any]): ...

def sum(x: _A, axis: Optional[int] = None, keepdims: bool = False, out: Any = None, *,
        device: _Device = None, rung: Optional[str] = None, threads: int = 0,
        math: _Math = None, stream: Any = None) -> Any: ...
def min(x: _A, axis: Optional[int] = None, keepdims: bool = False, out: Any = None, *,
        device: _Device = None, rung: Optional[str] = None, threads: int = 0,
        math: _Math = None, stream: Any = None) -> Any: ...
def max(x: _A, axis: Optional[int] = None, keepdims: bool = False, out: Any = None, *,
        device: _Device = None, rung: Optional[str] = None, threads: int = 0,
        math: _Math = None, stream: Any = None) -> Any: ...
def mean(x: _A, axis: Optional[int] = None, keepdims: bool = False, out: Any = None, *,
         device: _Device = None, rung: Optional[str] = None, threads: int = 0,
         math: _Math = None, stream: Any = None) -> Any: ...
def cumsum(x: _A, axis: int = -1, exclusive: bool = False, out: Optional[_A] = None, *,
           device: _Device = None, rung: Optional[str] = None, threads: int = 0,
           math: _Math = None, stream: Any = None) -> _A: ...
def cummin(x: _A, axis: int = -1, exclusive: bool = False, out: Optional[_A] = None, *,
           device: _Device = None, rung: Optional[str] = None, threads: int = 0,
           math: _Math = None, stream: Any = None) -> _A: ...
def cummax(x: _A, axis: int = -1, exclusive: bool = False, out: Optional[_A] = None, *,
           device: _Device = None, rung: Optional[str] = None, threads: int = 0,
           math: _Math = None, stream: Any = None) -> _A: ...
def matmul(a: _A, b: _A, out: Optional[_A] = None, alpha: float = 1.0, beta: float = 0.0, *,
           bits: int = 0, device: _Device = None, rung: Optional[str] = None, threads: int = 0,
           math: _Math = None, stream: Any = None) -> _A: ...
def histogram(x: _Array, bins: Union[_Bins, Literal["bytes"]] = 10, range: _Range = None, *,
              modulo: Optional[int] = None, rows: bool = False, outside: bool = False,
              device: _Device = None, rung: Optional[str] = None, threads: int = 0,
              math: _Math = None, stream: Any = None) -> tuple[Any, ...]: ...
def bincount(x: _A, minlength: int = 0, *, device: _Device = None, rung: Optional[str] = None,
             threads: int = 0, math: _Math = None, stream: Any = None) -> _A: ...
def correlate(x: _A, kernel: _Kernel, mode: str = "reflect", origin: _Origin = 0,
              cval: float = 0.0, out: Optional[_A] = None, *, region: _Region = None,
              device: _Device = None, rung: Optional[str] = None, threads: int = 0,
              math: _Math = None, stream: Any = None) -> _A: ...
def convolve(x: _A, kernel: _Kernel, mode: str = "reflect", origin: _Origin = 0,
             cval: float = 0.0, out: Optional[_A] = None, *, region: _Region = None,
             device: _Device = None, rung: Optional[str] = None, threads: int = 0,
             math: _Math = None, stream: Any = None) -> _A: ...
def stencil(x: _A, weights: Sequence[float], *, divide: float = 1.0, steps: int = 1,
            fixed: int = 0,
            edge: Literal["wrap", "constant", "nearest", "reflect", "mirror"] = "wrap",
            edge_value: float = 0.0, means: bool = False, out: Optional[_A] = None,
            device: _Device = None, rung: Optional[str] = None, threads: int = 0,
            math: _Math = None, stream: Any = None) -> Any: ...
def radiator(rows: int, columns: int, steps: int, *, preset: str = "2019",
             dtype: Literal["float32", "float64"] = "float32", means: bool = False,
             out: Any = None, device: _Device = None, rung: Optional[str] = None,
             threads: int = 0, math: _Math = None, stream: Any = None, **changes: Any) -> Any: ...
def pair_histogram(a: _A, b: Optional[_A] = None, bins: _Bins = 100, range: _Range = None, *,
                   box: _Box = None, weights: Any = None, weights_b: Any = None,
                   molecules: Any = None, molecules_b: Any = None, outside: bool = False,
                   device: _Device = None, rung: Optional[str] = None, threads: int = 0,
                   math: _Math = None, stream: Any = None) -> tuple[Any, ...]: ...
def rdf(a: Any, b: Any = None, bins: _Bins = 75, range: _Range = (0.0, 15.0), *,
        box: _Box = None, volume: Optional[float] = None, molecules: Any = None,
        molecules_b: Any = None, start: Optional[int] = None, stop: Optional[int] = None,
        step: Optional[int] = None, progress: bool = False, device: _Device = None,
        rung: Optional[str] = None, threads: int = 0, math: _Math = None,
        stream: Any = None) -> RDF: ...
def devices() -> list[dict[str, Any]]: ...
def operations() -> list[tuple[str, str]]: ...
def ladder(operation: str, device: Optional[str] = None) -> Ladder: ...
def bench(operation: str, sizes: Optional[str] = None, *, rung: Optional[str] = None,
          blocks: Optional[str] = None, device: Optional[str] = None,
          threads: Optional[int] = None, math: Optional[str] = None, hot: bool = False,
          peers: bool = False, samples: Optional[int] = None, seconds: Optional[float] = None,
          launches: Optional[int] = None, seed: Optional[int] = None) -> Record: ...
def explain(operation: str, *, rung: Optional[str] = None, against: Optional[str] = None,
            size: Optional[str] = None, device: Optional[str] = None,
            block: Optional[int] = None, type: Optional[str] = None,
            seed: Optional[int] = None) -> Record: ...
