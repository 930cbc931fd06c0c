"""Do what Python's own command line is given, and say on standard error how much work that was.

``python counted.py -c CODE`` or ``python counted.py -m MODULE ARGUMENT...`` writes two numbers: the bytecode
instructions that were executed, and the bytes of compiled code that were loaded. Both are the same on every
machine, however many others it has to serve; seconds are not.
"""

import os
import runpy
import sys


def counted(kind, what, *arguments):
    executed = 0

    def entered(frame, _event, _argument):
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return within

    def within(_frame, event, _argument):
        nonlocal executed
        executed += event == "opcode"
        return within

    sys.settrace(entered)
    try:
        if kind == "-c":
            exec(what, {})
        else:
            sys.argv = [what, *arguments]
            runpy.run_module(what, run_name="__main__", alter_sys=True)
    except SystemExit as left:
        if left.code:
            raise
    finally:
        sys.settrace(None)
    files = {getattr(module, "__cached__", None) for module in list(sys.modules.values())}
    return executed, sum(os.path.getsize(file) for file in files if file and os.path.exists(file))


if __name__ == "__main__":
    print(*counted(*sys.argv[1:]), file=sys.stderr)
