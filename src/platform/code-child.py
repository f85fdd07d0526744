"""Runs a user's Python functions, one at a time: JSON lines in, JSON lines out."""
import asyncio
import importlib.util
import inspect
import io
import json
import math
import os
import sys
import traceback

# The user's prints go to stderr; answers go to a private copy of stdout.
answers = os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n")
os.dup2(2, 1)
requests = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8")
modules = {}


class Missing(Exception):
    pass


def say(message):
    answers.write(json.dumps(message, ensure_ascii=True) + "\n")
    answers.flush()


def load(path):
    if path not in modules:
        folder = os.path.dirname(os.path.abspath(path))
        if folder not in sys.path:
            sys.path.insert(0, folder)
        name = os.path.basename(path).rsplit(".", 1)[0]
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        modules[path] = module
    return modules[path]


def indent_of(code):
    for line in code.split("\n"):
        if line.strip() and line[0] in " \t":
            return line[: len(line) - len(line.lstrip())]
    return "    "


def compile_inline(code):
    params = ", ".join(name + "=None" for name in code["parameters"])
    pad = indent_of(code["body"])
    lines = "\n".join(pad + line for line in code["body"].split("\n"))
    text = "import json\ndef main(%s):\n%s\n" % (params, lines)
    scope = {"__name__": "inline"}
    exec(compile(text, "<inline>", "exec"), scope)
    return scope["main"]


def function_of(code):
    if code["kind"] == "inline":
        return compile_inline(code)
    name = code.get("functionName", "main")
    target = load(code["path"])
    for part in name.split("."):
        if not hasattr(target, part):
            raise Missing('%s has no function "%s"' % (code["path"], name))
        target = getattr(target, part)
    return target


def special(value):
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return None


def work(request):
    code = request["code"]
    try:
        if code["kind"] == "file" and not os.path.exists(code["path"]):
            raise Missing("no such file: " + code["path"])
        function = function_of(code)
        result = function(*request["args"])
        if inspect.isawaitable(result):
            async def wait():
                return await result
            result = asyncio.run(wait())
        if special(result):
            return {"ok": True, "special": special(result)}
    except Missing as error:
        return {"ok": False, "message": str(error)}
    except BaseException as error:  # SystemExit included: user code must not end the process
        text = "%s: %s" % (type(error).__name__, error)
        return {"ok": False, "message": text, "stack": traceback.format_exc()}
    try:
        json.dumps(result)
        return {"ok": True, "value": result}
    except Exception as error:
        return {"ok": False, "uncloneable": True, "message": str(error)}


say({"type": "ready"})
for line in requests:
    request = json.loads(line)
    answer = work(request)
    answer.update({"type": "done", "id": request["id"]})
    try:
        say(answer)
    except Exception as error:
        say({"type": "done", "id": request["id"], "ok": False, "reason": "threw", "message": str(error)})
