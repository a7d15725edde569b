#!/usr/bin/env python3
"""Writes docs/reference/python.md from the docstrings of the Python package. Reads its source; imports nothing of it.

  tools/python_reference.py            writes the file
  tools/python_reference.py --check    fails if the file is not what it would write, or if a public name has no docstring
"""

import ast
import inspect
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "python/vernier"
TARGET = ROOT / "docs/reference/python.md"
# Headings of the names that `vernier` has from its own modules, in the order of the page. Names of a module that is not here
# stand under its first sentence, at the end.
SECTIONS = {
    "_study": "Studies",
    "_space": "Parameters",
    "_trials": "Trials",
    "_server": "Servers",
    "trainer": "Training programs",
    "_errors": "Errors",
}
HEAD = """# Python reference

Everything public in the package `vernier`, from its docstrings, by `tools/python_reference.py`. The [guide](../guides/python.md) shows how it
fits together.

Every call may raise `TypeError` for an argument of a wrong type, `InvalidValueError` for one that is not allowed, and, where a file or a server
is used, `StoreError`, `StoreBusyError`, `ServerUnavailableError` and `AccessDeniedError`; they are not repeated below.

| type | what it is |
|---|---|
| `Value` | a value of a parameter: `bool`, `int`, `float` or `str`. Numbers of NumPy and PyTorch are taken, too |
| `Space` | a mapping of names to parameters, or to lists of values |
| `Condition` | a mapping of names of other parameters to a value, or a list of values |
| `Names` | a name, or a list of names |
| `Choice` | the name of an algorithm or a stopping rule, or a mapping with it and options |
| `Storage` | the path of a file; `None` or `":memory:"` is memory |
"""

# "`trials`: …" and "StateError: …" at the beginning of a sentence.
ITEM = re.compile(r"(?:^|(?<=[.!?])\s+)(?=(?:`[^`]+`,\s+)*`[^`]+`:\s|(?:[A-Z]\w*Error, )*[A-Z]\w*Error(?: \([^)]*\))?:\s)")
ERROR = re.compile(r"^[A-Z]\w*Error")


class Module:
    """A source file of the package."""

    def __init__(self, name):
        self.name = name
        self.tree = ast.parse((PACKAGE / f"{name}.py").read_text())
        self.doc = ast.get_docstring(self.tree) or ""
        kinds = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        self.definitions = {node.name: node for node in self.tree.body if isinstance(node, kinds)}

    def public_names(self):
        """``__all__``, in the order of the source."""
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
                return ast.literal_eval(node.value)
        return [name for name in self.definitions if not name.startswith("_")]

    def imports(self):
        """(module, name) of everything that the module takes from others of the package, also for type checkers only."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("vernier"):
                for alias in node.names:
                    yield node.module.removeprefix("vernier").lstrip("."), alias.asname or alias.name


class Page:
    def __init__(self):
        self.contents = []
        self.lines = []
        self.problems = []
        self.modules = {}
        # Where each name that is imported from the package itself is defined.
        package = Module("__init__")
        self.homes = {name: module for module, name in package.imports() if name in package.public_names()}

    def module(self, name):
        if name not in self.modules:
            self.modules[name] = Module(name)
        return self.modules[name]

    def write(self):
        homes = [home for home in dict.fromkeys(self.homes.values()) if home]
        for home in sorted(homes, key=lambda h: list(SECTIONS).index(h) if h in SECTIONS else len(SECTIONS)):
            module = self.module(home)
            names = functions_first(module, [n for n in module.definitions if self.homes.get(n) == home])
            self.section(SECTIONS.get(home) or module.doc.split(".")[0], [f"vernier.{name}" for name in names])
            for name in names:
                self.definition(module, name, f"vernier.{name}")
        for path in sorted(PACKAGE.glob("[a-z]*.py")):
            if path.stem not in homes:
                self.submodule(self.module(path.stem))
        return "\n".join([HEAD, *self.contents, "", *self.lines]).rstrip() + "\n"

    def submodule(self, module):
        imported = {name: home for home, name in module.imports()}
        names = functions_first(module, module.public_names())
        self.section(f"vernier.{module.name}", [f"vernier.{module.name}.{name}" for name in names])
        self.lines.append(f"{markdown(module.doc)}\n")
        for name in names:
            home = module if name in module.definitions else self.module(imported[name])
            self.definition(home, name, f"vernier.{module.name}.{name}")

    def section(self, title, names):
        links = " · ".join(f"[{name.split('.')[-1]}](#{name.replace('.', '').lower()})" for name in names)
        self.contents.append(f"- [{title}](#{title.replace('.', '').replace(' ', '-').lower()}): {links}")
        self.lines.append(f"## {title}\n")

    def definition(self, module, name, full):
        node = module.definitions[name]
        self.lines.append(f"### {full}\n")
        if isinstance(node, ast.ClassDef):
            self.of_class(module, node, full)
        else:
            self.lines.append(code(signature(node, full)))
            self.doc(node, full)

    def of_class(self, module, node, full):
        bases = [ast.unparse(base) for base in node.bases]
        doc = ast.get_docstring(node) or ""
        init = self.constructor(module, node)
        if init is not None and not re.search(r"\b[Mm]ade by\b", doc):
            self.lines.append(code(signature(init, full, skips_self=True)))
        self.doc(node, full)
        shown = [base for base in bases if base in self.homes or hasattr(__builtins__, base)]
        if shown:
            self.lines.append(f"A subclass of {', '.join(f'`{base}`' for base in shown)}.\n")
        fields = list(attributes(node)) + ([] if init is None else list(attributes(init)))
        for text, note in fields:
            self.lines.append(f"- `{text}`{': ' + one_line(note) if note else ''}")
        if fields:
            self.lines.append("")
        for member in node.body:
            if isinstance(member, (ast.FunctionDef, ast.AsyncFunctionDef)) and not member.name.startswith("_"):
                self.member(member, full)

    def constructor(self, module, node):
        """__init__, also that of a base class in the same module."""
        for member in node.body:
            if isinstance(member, ast.FunctionDef) and member.name == "__init__":
                return member
        for base in node.bases:
            if ast.unparse(base) in module.definitions:
                return self.constructor(module, module.definitions[ast.unparse(base)])
        return None

    def member(self, node, owner):
        name = f"{owner.split('.')[-1]}.{node.name}"
        decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
        self.lines.append(f"#### {name}\n")
        if "property" in decorators:
            self.lines.append(code(f"{name}: {ast.unparse(node.returns)}"))
        else:
            self.lines.append(code(signature(node, name, skips_self=True)))
        self.doc(node, f"{owner}.{node.name}")

    def doc(self, node, full):
        doc = ast.get_docstring(node)
        if doc:
            self.lines.append(markdown(doc) + "\n")
        else:
            self.problems.append(f"python/vernier: {full} has no docstring")


def functions_first(module, names):
    return sorted(names, key=lambda name: isinstance(module.definitions.get(name), (ast.ClassDef, type(None))))


def code(text):
    return f"```python\n{text}\n```\n"


def signature(node, name, skips_self=False):
    """The call on one line, or one argument a line if that is too long."""
    arguments = node.args
    plain = arguments.posonlyargs + arguments.args
    defaults = [None] * (len(plain) - len(arguments.defaults)) + arguments.defaults
    parts = [argument(a, d) for a, d in zip(plain, defaults)][1 if skips_self else 0 :]
    if arguments.vararg:
        parts.append("*" + argument(arguments.vararg, None))
    elif arguments.kwonlyargs:
        parts.append("*")
    parts += [argument(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults)]
    if arguments.kwarg:
        parts.append("**" + argument(arguments.kwarg, None))
    start = ("async " if isinstance(node, ast.AsyncFunctionDef) else "") + name
    end = "" if node.returns is None or node.name == "__init__" else f" -> {ast.unparse(node.returns)}"
    line = f"{start}({', '.join(parts)}){end}"
    line = re.sub(r"'([^'\"]*)'", r'"\1"', line)
    parts = [re.sub(r"'([^'\"]*)'", r'"\1"', part) for part in parts]
    return line if len(line) <= 110 else f"{start}(\n" + "".join(f"    {part},\n" for part in parts) + f"){end}"


def argument(node, default):
    text = node.arg if node.annotation is None else f"{node.arg}: {ast.unparse(node.annotation)}"
    if default is None:
        return text
    return f"{text} = {ast.unparse(default)}" if node.annotation is not None else f"{text}={ast.unparse(default)}"


def attributes(node):
    """(text, docstring) of fields: annotated names of a class, and what __init__ sets and documents."""
    is_class = isinstance(node, ast.ClassDef)
    for statement, following in zip(node.body, [*node.body[1:], None]):
        target = statement.target if isinstance(statement, ast.AnnAssign) else None
        if isinstance(statement, ast.Assign):
            target = statement.targets[0]
        is_documented = isinstance(following, ast.Expr) and isinstance(getattr(following.value, "value", None), str)
        doc = inspect.cleandoc(following.value.value) if is_documented else ""
        if is_class and isinstance(statement, ast.AnnAssign) and isinstance(target, ast.Name) and not target.id.startswith("_"):
            yield f"{target.id}: {ast.unparse(statement.annotation)}", doc
        elif not is_class and is_documented and isinstance(target, ast.Attribute) and not target.attr.startswith("_"):
            yield target.attr, doc


def markdown(doc):
    """A docstring as Markdown: ``names`` as code, and each argument and each error as an item of a list."""
    paragraphs = []
    for paragraph in re.split(r"\n\n+", inspect.cleandoc(doc).replace("``", "`")):
        if paragraph.startswith("    "):
            paragraphs.append(paragraph)
            continue
        words, *items = ITEM.split(paragraph)
        paragraphs += [words] if words else []
        if items:
            paragraphs.append("\n".join("- " + " ".join(ERROR.sub(r"`\g<0>`", item, count=1).split()) for item in items))
    return "\n\n".join(paragraphs)


def one_line(doc):
    return " ".join(markdown(doc).split())


def main():
    page = Page()
    text = page.write()
    if "--check" in sys.argv[1:]:
        if not TARGET.exists() or TARGET.read_text() != text:
            page.problems.append("docs/reference/python.md is not current: run tools/python_reference.py")
    else:
        TARGET.write_text(text)
    print(*page.problems, sep="\n", end="\n" if page.problems else "")
    sys.exit(1 if page.problems else 0)


if __name__ == "__main__":
    main()
