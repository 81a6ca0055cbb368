"""A kernel's own Python function, with what a GPU does differently replaced."""

import ast
import builtins
import functools
import inspect
import textwrap
from types import FunctionType, ModuleType, SimpleNamespace

from tests.reference.arithmetic import OPERATORS, binary, cast, literal, unary
from tests.reference.functions import FUNCTIONS
from tests.reference.groups import PARAMETERS, Request
from tests.reference.thread import replaced
from tinytorch_gpu import cuda

JOIN = "join "  # `v: "join float64"` tells the type of `v` where two paths meet
PLACED = ("array",)  # asked with the place in the source that asks


class _Replace(ast.NodeTransformer):
    """Replace operators, literals and calls.

    Args:
        names: what the function's names mean.
        kernel: the function's name, to tell places in different functions apart.
    """

    def __init__(self, names, kernel):
        self._names = names
        self._kernel = kernel

    def visit_FunctionDef(self, node):
        node.decorator_list = []
        for argument in node.args.args:
            argument.annotation = None
        self.generic_visit(node)
        never = ast.If(ast.Constant(value=False), [ast.Expr(ast.Yield())], [])
        node.body.insert(0, never)  # so that every function is a generator
        return node

    def visit_AnnAssign(self, node):
        if node.value is not None:
            return self.visit(ast.Assign([node.target], node.value))
        told = ast.literal_eval(node.annotation) if _is_text(node.annotation) else ""
        if not told.startswith(JOIN):
            return ast.Pass()
        read = ast.Name(node.target.id, ast.Load())
        dtype = ast.Constant(told.removeprefix(JOIN))
        return ast.Assign([node.target], _call("cast", read, dtype))

    def visit_Constant(self, node):
        return _call("literal", node)

    def visit_BinOp(self, node):
        self.generic_visit(node)
        name = ast.Constant(OPERATORS[type(node.op)])
        return _call("binary", name, node.left, node.right)

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        names = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}
        if isinstance(node.op, ast.Not):
            return node
        return _call("unary", ast.Constant(names[type(node.op)]), node.operand)

    def visit_AugAssign(self, node):
        read = ast.parse(ast.unparse(node.target), mode="eval").body
        return self.visit(
            ast.Assign([node.target], ast.BinOp(read, node.op, node.value))
        )

    def visit_Expr(self, node):
        return node if _is_text(node.value) else self.generic_visit(node)

    def visit_Call(self, node):
        called = self._meaning(node.func)
        place = ast.Constant(f"{self._kernel} {node.lineno} {node.col_offset}")
        node.args = [self.visit(a) for a in node.args]
        node.keywords = [self.visit(k) for k in node.keywords]
        name = self._group_name(called, node.func)
        if name is not None:
            request = _call("request", ast.Constant(name), *node.args)
            request.keywords = node.keywords
            return ast.Yield(request)
        if is_function(called):
            return ast.YieldFrom(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in PLACED:
            node.args.insert(0, place)
        return node

    def _group_name(self, called, node):
        """Name the group operation that is called, or None."""
        if isinstance(node, ast.Attribute):
            if node.attr == "sync":
                return "grid.sync"
            is_known = self._meaning(node.value) is cuda and node.attr in PARAMETERS
            return node.attr if is_known else None
        of_cuda = vars(cuda)
        return next((n for n in PARAMETERS if called is of_cuda.get(n, self)), None)

    def _meaning(self, node):
        """Return the object that a name or `module.name` means, or None."""
        if isinstance(node, ast.Name):
            return self._names.get(node.id)
        if isinstance(node, ast.Attribute):
            return getattr(self._meaning(node.value), node.attr, None)
        return None


def _is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def is_function(value):
    """Tell whether a value is a device function: jitted, or Python's own."""
    return isinstance(getattr(value, "py_func", value), FunctionType)


def _call(name, *arguments):
    return ast.Call(ast.Name(f"__{name}__", ast.Load()), list(arguments), [])


def interpreted(function, thread):
    """Return a generator function that runs a kernel's Python function.

    Args:
        function: the Python function.
        thread: what its `cuda` becomes.
    """
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    names = dict(vars(builtins)) | dict(function.__globals__)
    names |= {name: cell.cell_contents for name, cell in cells}
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    tree = _Replace(names, function.__name__).visit(tree)
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} & set(names)
    told = {n: _told(names[n], thread) for n in used}
    told |= {"__literal__": literal, "__binary__": binary, "__unary__": unary}
    told |= {"__cast__": cast, "__request__": Request, "__builtins__": {}}
    code = compile(
        ast.fix_missing_locations(tree), function.__code__.co_filename, "exec"
    )
    exec(code, told)
    return told[function.__name__]


def _told(value, thread):
    """Return what a global of the kernel means to the thread."""
    if isinstance(value, ModuleType) and value is not cuda:
        table = {n: _told(v, thread) for n, v in vars(value).items() if _is_plain(v)}
        return SimpleNamespace(**table)
    if _is_known(value):
        return FUNCTIONS[value]
    if is_function(value):
        python = getattr(value, "py_func", value)
        made = functools.cache(lambda: interpreted(python, thread))
        return lambda *given, **named: made()(*given, **named)
    return replaced(value, thread)


def _is_plain(value):
    return isinstance(value, (int, float)) or _is_known(value)


def _is_known(value):
    try:
        return value in FUNCTIONS
    except TypeError:
        return False
