#!/usr/bin/python3
"""An apptainer for tests: takes the words that Vernier gives it, and runs commands as they are, on this host.

A program gets the variables with the prefix APPTAINERENV_, and none of its caller's, as with --cleanenv. An image is a file that
`pull` makes, of what its source is called. `calls` beside the program has a line for each call.
"""

import os
import pathlib
import sys

PREFIX = "APPTAINERENV_"
WITHOUT_VALUE = {"--cleanenv", "--no-home", "--nv"}


def fail(message):
    print(f"FATAL:   {message}", file=sys.stderr)
    sys.exit(255)


def main():
    words = sys.argv[1:]
    with open(pathlib.Path(sys.argv[0]).parent / "calls", "a", encoding="utf-8") as calls:
        calls.write(" ".join(words) + "\n")
    if words == ["--version"]:
        print("apptainer version 9.9")
        return
    action = words.pop(0)
    if action == "pull":
        _, image, source = words
        if not source.startswith("docker://org/"):
            fail(f"{source}: not found in any registry")
        pathlib.Path(image).write_text(source)
        return
    folder = "/"
    while words[0].startswith("-"):
        option = words.pop(0)
        if option in WITHOUT_VALUE:
            continue
        value = words.pop(0)
        if option == "--mount":
            source = dict(field.split("=", 1) for field in value.split(",") if "=" in field)["source"]
            if not os.path.isdir(source):
                fail(f"mount {source}: no such folder")
        elif option == "--pwd":
            folder = value
        else:
            fail(f"unknown flag: {option}")
    image = words.pop(0)
    if not os.path.exists(image):
        fail(f"{image}: no such image")
    if action != "exec":
        fail("the tests' images have no runscript")
    os.chdir(folder)
    variables = {name[len(PREFIX):]: value for name, value in os.environ.items() if name.startswith(PREFIX)}
    os.execvpe(words[0], words, {"PATH": "/usr/bin:/bin", **variables})


main()
