"""A program that does things to files, sockets and processes with every secret of a list.

usage: plant.py SECRETS.json        (in an empty directory)
"""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys


def main():
    secrets = json.loads(pathlib.Path(sys.argv[1]).read_text())
    for number, (kind, secret) in enumerate(secrets):
        name = secret.replace("/", "_")
        files(name, number)
        proc(name)
        sockets(kind, name)
    arguments(secrets)
    for _, secret in secrets[::20]:
        programs(secret)


def files(name, number):
    pathlib.Path(name).mkdir(exist_ok=True)
    for path in (f"{name}/x", f"{name}/data.{name}", f"run_{number}.{name}", f"{name}.dat", f".{name}", f"a{name}b", f"{name}/{number:06}.h5"):
        with open(path, "w") as file:
            file.write(name)
    pathlib.Path(f"{name}/content").write_text(f"{name} {name}\n")
    os.rename(f"{name}/x", f"{name}/{name}")
    os.symlink(f"{name}/{name}", f"link-{name}")
    for path in (f"/usr/share/{name}", f"/usr/lib/lib{name}.so.1", f"/usr/bin/{name}", f"/etc/{name}.conf", f"/dev/{name}", f"/dev/sd{name}", f"/sys/{name}/x",
                 f"/usr/../home/{name}", f"/opt/{name}", f"/usr/local/{name}", f"/run/{name}", f"/var/lib/{name}", f"/tmp/{name}/none"):
        missing(path)
    if number % 10 == 0:
        os.chdir(name)
        missing(f"../{name}")
        os.chdir("..")
        os.close(os.memfd_create(name))


def proc(name):
    here = os.getcwd()
    for path in (f"/proc/self/root{here}/{name}/{name}", f"/proc/self/cwd/{name}", f"/proc/{os.getpid()}/root/home/{name}", f"/proc/{os.getpid()}/cwd/{name}/{name}",
                 f"/proc/{name}/stat", f"/proc/self/task/{name}", f"/proc/sys/{name}", f"/proc/self/task/{os.getpid()}/root/{name}", f"/proc/self/fd/{name}"):
        missing(path)
    handle = os.open(name, os.O_DIRECTORY)
    missing(f"/proc/self/fd/{handle}/{name}")
    os.close(handle)


def missing(path):
    try:
        os.close(os.open(path, os.O_RDONLY))
    except OSError:
        pass


def sockets(kind, name):
    for address in (f"\0{name}", f"{name}.sock"[-90:]):
        server = socket.socket(socket.AF_UNIX)
        server.bind(address)
        server.listen(1)
        client = socket.socket(socket.AF_UNIX)
        client.connect(address)
        accepted, _ = server.accept()
        client.send(name.encode())
        accepted.recv(10)
        for end in (client, accepted, server):
            end.close()
    family = {"ipv4": socket.AF_INET, "ipv6": socket.AF_INET6}.get(kind)
    if family is not None:
        try:
            talk = socket.socket(family, socket.SOCK_DGRAM)
            talk.connect((name, 9))
            talk.close()
        except OSError:
            pass


FORMS = ("{0}", "--{0}", "--output={0}", "--{0}=x", "-{0}", "-I{0}", "-n{0}", "/home/{0}/x", "--file=/home/{0}/y.{0}", "a,{0},b", "{0}@{0}:/data/{0}", "https://{0}.org/{0}?{0}={0}#{0}",
         "'{0}'", '"{0}"', "${0}", "x={0}", "/usr/bin/{0}", "{0} {0}", "a\n{0}", "[{0}]:22", "file:///{0}", "%{0}%", "{0}\t", "/proc/self/root/{0}", "~{0}/x", "\\{0}", "ls;{0}|{0}&")


def arguments(secrets):
    words = [form.format(secret) for _, secret in secrets for form in FORMS]
    for at in range(0, len(words), 500):
        subprocess.run(["true", *words[at : at + 500]], check=True)
    for _, secret in secrets:
        environment = {"PATH": os.environ["PATH"], "HOME": f"/home/{secret}", "OMP_NUM_THREADS": secret, f"V_{''.join(c for c in secret if c.isalnum())}": "1"}
        subprocess.run(["true", secret], env=environment, check=True)
        # The content of a file becomes an argument.
        subprocess.run(["sh", "-c", f'true "$(cat "{secret}/content")" < "{secret}/content"'], check=True)


def programs(secret):
    shutil.copy("/bin/true", f"{secret}/{secret}.exe")
    subprocess.run([f"./{secret}/{secret}.exe"], check=True)


main()
