#!/usr/bin/env python3
"""Makes the Debian package, looks into it, installs it on a clean Debian 12, uses it as a user would, and removes it.
usage: package_test.py SOURCE_DIR BUILD_DIR

Where no clean root can be made (no root rights, no network, no mounts), the package is unpacked into a folder instead, and
used from there; its dependencies are then only looked up. The output says which of the two was done.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

LARGEST = 20 << 20  # Bytes of the package: its programs are stripped.
NETWORK_SECONDS = 100  # Of one step that downloads.
USER = ["setpriv", "--reuid=1000", "--regid=1000", "--clear-groups"]
FILES = [
    "usr/bin/vernier", "usr/bin/vernierd", "usr/bin/vernier-supervisor",
    "usr/share/vernier/proto/vernier/v1/study_service.proto", "usr/share/vernier/proto/vizier/vizier_service.proto",
    "usr/share/man/man1/vernier.1", "usr/share/man/man8/vernierd.8", "usr/lib/systemd/user/vernierd.service",
    "usr/share/bash-completion/completions/vernier", "usr/share/zsh/vendor-completions/_vernier",
    "usr/share/fish/vendor_completions.d/vernier.fish", "usr/share/doc/vernier/docs/guides/getting_started.md",
    "usr/share/doc/vernier/examples/moons/train.py",
]
# What a user does first, from the guide that was installed: typed into a shell.
FIRST_STUDY = """
set -e
cp -r {prefix}/usr/share/doc/vernier/examples/moons "$HOME"
cd "$HOME/moons"
vernier run study.yaml
vernier study show moons
"""


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}")
    return done.stdout


def attempt(command):
    """Why the command did not succeed; None if it did."""
    done = subprocess.run(["timeout", str(NETWORK_SECONDS), *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return f"{done.returncode}: {done.stdout[-500:].strip()}" if done.returncode else None


def check(holds, what):
    if not holds:
        sys.exit(f"package_test: {what}")


def pack(build, folder):
    run(["cpack", "--config", build / "CPackConfig.cmake", "-D", "CPACK_COMPONENTS_ALL=programs", "-B", folder])
    found = list(folder.glob("*.deb"))
    check(len(found) == 1, f"cpack made {found}")
    return found[0]


def look_into(package, folder):
    """Fields and files of the package, which is unpacked to a folder."""
    fields = run(["dpkg-deb", "--field", package])
    print(fields)
    for wanted in ("libc6", "libgrpc", "libprotobuf", "libsqlite3", "libyaml-cpp"):
        check(re.search(rf"^Depends:.*\b{re.escape(wanted)}", fields, re.M), f"does not depend on {wanted}")
    check("-dev" not in re.search(r"^Depends: (.*)", fields, re.M)[1], "depends on a development package")
    check(package.stat().st_size < LARGEST, f"has {package.stat().st_size} bytes, {LARGEST} at most")

    run(["dpkg-deb", "--extract", package, folder])
    for name in FILES:
        check((folder / name).is_file(), f"lacks /{name}")
    for program in (folder / "usr/bin").iterdir():
        check(".symtab" not in run(["readelf", "--section-headers", "--wide", program]), f"{program.name} is not stripped")
    for path in folder.rglob("*"):
        check(not path.name.endswith(".pyc"), f"has {path}")
        check(path.is_symlink() or not path.stat().st_mode & 0o022, f"others may write {path}")


def clean_root(source, folder):
    """Unpacks a clean Debian 12, or says why it cannot."""
    made = subprocess.run([source / "scripts/lib/debian_root"], capture_output=True, text=True)
    if made.returncode:
        return made.stderr.strip()
    folder.mkdir()
    unpacked = subprocess.run(["tar", "-C", folder, "-xf", made.stdout.strip()], capture_output=True, text=True)
    if unpacked.returncode:
        return unpacked.stderr.strip()
    return attempt(inside(folder, ["apt-get", "update", "-qq"]))


def inside(root, command):
    """A command in the root, with its own processes and /proc."""
    script = 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
    return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, root, "env", "-i",
            "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", "HOME=/home/ann", *command]


def use_in_root(package, root):
    """Why the dependencies could not be downloaded; None if all was done."""
    shutil.copy(package, root / "tmp")
    install = ["apt-get", "install", "-y", "-qq", f"/tmp/{package.name}"]
    run(inside(root, [*install, "--simulate"]))  # The dependencies are there, and go together.
    reason = attempt(inside(root, [*install, "--download-only"]))
    if reason:
        return reason
    run(inside(root, install))
    home = root / "home/ann"
    home.mkdir()
    os.chown(home, 1000, 1000)
    shown = run(inside(root, [*USER, "sh", "-c", FIRST_STUDY.format(prefix="")]))
    check("COMPLETED" in shown, f"the first study did not complete:\n{shown}")
    run(inside(root, ["bash", "-n", "/usr/share/bash-completion/completions/vernier"]))

    files = run(inside(root, ["dpkg-query", "--listfiles", "vernier"])).split("\n")
    run(inside(root, ["apt-get", "purge", "-y", "-qq", "vernier"]))
    left = [name for name in files if "vernier" in name and (root / name.lstrip("/")).exists()]
    check(not left, f"removal left {left}")
    check((home / ".local/state/vernier/vernier.db").exists(), "removal took the user's studies")
    return None


def use_unpacked(package, unpacked, home):
    home.mkdir()
    env = {"PATH": f"{unpacked}/usr/bin:{os.environ['PATH']}", "HOME": str(home), "LC_ALL": "C.UTF-8"}
    shown = run(["sh", "-c", FIRST_STUDY.format(prefix=unpacked)], env=env)
    check("COMPLETED" in shown, f"the first study did not complete:\n{shown}")
    run(["apt-get", "install", "--simulate", "--no-install-recommends", package])


def main():
    source, build = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="vernier-package-") as name:
        folder = pathlib.Path(name)
        (folder / "out").mkdir()
        package = pack(build, folder / "out")
        look_into(package, folder / "unpacked")
        reason = clean_root(source, folder / "root") or use_in_root(package, folder / "root")
        if reason:
            use_unpacked(package, folder / "unpacked", folder / "home")
            print(f"used unpacked, since there is no clean Debian 12: {reason}")
        else:
            print("installed on a clean Debian 12, used, removed")


if __name__ == "__main__":
    main()
