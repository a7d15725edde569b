"""Writes a wheel of one package without any tool for building.

usage: make_wheel.py FOLDER NAME VERSION MODULE_TEXT [REQUIREMENT...]

The package NAME holds `task.py` with MODULE_TEXT.
"""

import pathlib
import sys
import zipfile

folder, name, version, text, *requirements = sys.argv[1:]
info = f"{name}-{version}.dist-info"
files = {
    f"{name}/__init__.py": "",
    f"{name}/task.py": text,
    f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
                        + "".join(f"Requires-Dist: {requirement}\n" for requirement in requirements),
    f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
}
files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
with zipfile.ZipFile(pathlib.Path(folder) / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
    for path, content in files.items():
        wheel.writestr(path, content)
