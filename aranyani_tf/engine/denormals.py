"""Numbers too small for a float's exponent count as 0 within the walk, as they do in XLA's programs.

A node that sends every row the same way has momentums and gradients that fade by a tenth a row. Below 1e-38 the
processor computes with them a hundred times more slowly, and a stream of a hundred thousand rows by a third. On x86 the
register MXCSR says what to do about such numbers; elsewhere nothing is done.
"""

import platform
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

FLUSHED = 0x8040  # results that are too small become 0, and operands count as 0


def mode_setter(typing_context: Any, mode: Any) -> Any:
    """Sets MXCSR to `mode`, or, if that is 0, adds `FLUSHED` to it; gives what it was."""
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        whole = ir.IntType(32)
        if platform.machine().lower() not in ("x86_64", "amd64"):
            return ir.Constant(whole, 0)
        pointer = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer])
        read, write = (cgutils.get_or_insert_function(builder.module, kind, f"llvm.x86.sse.{name}mxcsr")
                       for name in ("st", "ld"))
        place = cgutils.alloca_once(builder, whole)
        builder.call(read, [builder.bitcast(place, pointer)])
        before, wanted = builder.load(place), arguments[0]
        flushed = builder.or_(before, ir.Constant(whole, FLUSHED))
        given = builder.icmp_unsigned("!=", wanted, ir.Constant(whole, 0))
        builder.store(builder.select(given, wanted, flushed), place)
        builder.call(write, [builder.bitcast(place, pointer)])
        return before

    return types.uint32(types.uint32), generate


floating_mode: Any = intrinsic(mode_setter)
