"""Workflow systems read what iotrail exports: make, Snakemake, HTCondor, Pegasus, xmllint, WfCommons.

usage: run.py IOTRAIL        (the packages of requirements.txt are installed)

Real workflows are recorded, exported in every format, read by the program that the format belongs to, and run again by
make and Snakemake in a directory that holds nothing but the inputs. What could not be tested is said at the end.
"""

import filecmp
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FORMATS = {"pegasus": "w.yml", "dax": "w.dax", "dagman": "w.dag", "makefile": "w.mk", "snakemake": "w.smk", "wfformat": "w.wf.json"}
NASTY = ["$$", "$$(x)", "a b", "it's", 'say "x"', "$HOME", "${x}", "$(DOLLAR)", "{brace}", "{{", "back\\slash", "trailing\\", "*", "#no", "%d", "é→",
         "line\nbreak", "end\n", "tab\t", "", "a;b|c&d", "<in>", "!", "~", "`id`", "-n", "--x=y z", "\x01", "\u2028", b"\xff\xfe".decode("latin-1")]
SNAKEMAKE = "/usr/bin/snakemake" if os.path.exists("/usr/bin/snakemake") else "snakemake"
missed = []


class Workflow:
    """A workflow: how its directory is made, what runs it, and what must come out of it."""

    def __init__(self, name, files, command, results, jobs):
        self.name, self.files, self.command, self.results, self.jobs = name, files, command, results, jobs

    def prepare(self, directory):
        directory.mkdir(parents=True)
        for name, text in self.files.items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


class Montage(Workflow):
    """Ten small tiles of the sky, 17 overlaps."""

    def __init__(self):
        super().__init__("montage", {}, ["make", "-j2"], ["mosaic.fits"], 42)

    def prepare(self, directory):
        run([sys.executable, ROOT / "tests" / "workflow" / "montage.py", directory], ROOT)


SHELL = Workflow(
    "shell",
    {"in.txt": "b\na\nb\n", "run.sh": """sort in.txt | uniq -c | gzip -n >out.gz
sort <in.txt >sorted.txt 2>err.txt
wc -l in.txt >>log.txt 2>&1
wc -c sorted.txt >>log.txt
cat sorted.txt >'a b $x.txt'
mv sorted.txt final.txt
rm err.txt
mkdir -p d/e
cp final.txt d/e/copy.txt
(cd d/e && tr ab AB <copy.txt >upper.txt)
grep nothing in.txt >none.txt || true
"""},
    ["sh", "run.sh"],
    ["out.gz", "final.txt", "log.txt", "a b $x.txt", "d/e/upper.txt", "none.txt"],
    11,
)

C = Workflow(
    "c",
    {
        "one.c": '#include "x.h"\nint one(void){return X;}\n', "two.c": '#include "x.h"\nint two(void){return 2*X;}\n',
        "main.c": "int one(void),two(void);int main(void){return one()+two()-3;}\n", "x.h": "#define X 1\n",
        "Makefile": "CFLAGS=-O1\nall: prog result\nprog: main.o libx.a\n\tcc -o prog main.o libx.a\nlibx.a: one.o two.o\n\tar rcD libx.a one.o two.o\n"
        "one.o two.o: x.h\n%.o: %.c\n\tcc $(CFLAGS) -c -o $@ $<\nresult: prog\n\t./prog && echo fine >result\n",
    },
    ["make", "-j2"],
    ["prog", "libx.a", "result"],
    6,
)


def main():
    iotrail = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for workflow in workflows():
            check(iotrail, scratch / workflow.name, workflow)
        nasty(iotrail, scratch / "nasty")
    for what in sorted(set(missed)):
        print(f"NOT TESTED: {what}", file=sys.stderr)
    print(f"exchange: {', '.join(FORMATS)} read by their programs; make and Snakemake made the same files again")


def workflows():
    yield SHELL
    if tool("cc", "a make of C files"):
        yield C
    if all([tool(name, "Montage") for name in ("mProjectPP", "mDiffFit")]):
        yield Montage()


def tool(name, what):
    found = shutil.which(name)
    if not found:
        missed.append(f"{what}: {name} is not installed")
    return found


def package(name):
    try:
        return __import__(name)
    except ImportError as error:
        missed.append(f"the package {name}: {error}")
        return None


def check(iotrail, directory, workflow):
    place = directory / "recorded"
    workflow.prepare(place)
    trail = directory / "t.trail"
    run([iotrail, "-q", "record", "-o", trail, "--", *workflow.command], place)
    exports = export(iotrail, trail, directory)
    jobs = check_wfformat(exports["wfformat"], directory)
    expect(len(jobs) == workflow.jobs, f"{workflow.name}: {len(jobs)} jobs, not {workflow.jobs}: {jobs}")
    check_pegasus(exports["pegasus"], workflow.jobs)
    check_dax(exports["dax"])
    check_dagman(exports["dagman"], workflow.jobs)
    again_with_make(exports["makefile"], workflow, directory, place)
    again_with_snakemake(exports["snakemake"], workflow, directory, place)
    print(f"  {workflow.name}: {len(jobs)} jobs")


def export(iotrail, trail, directory):
    exports = {}
    for format, name in FORMATS.items():
        exports[format] = directory / name
        run([iotrail, "-q", "workflow", trail, "--format", format, "-o", exports[format]], directory)
    return exports


def again_with_make(makefile, workflow, directory, recorded):
    clean = directory / "clean-make"
    workflow.prepare(clean)
    listed = run(["make", "-n", "-f", makefile], clean).stdout
    lines = [line for line in listed.splitlines() if line and not line.startswith(("mkdir -p .iotrail", "{ ls -d ", "make: ", "_", "rm -f -- "))]
    expect(len(lines) == workflow.jobs, f"make -n lists {len(lines)} jobs, not {workflow.jobs}:\n{listed}")
    run(["make", "-j2", "-f", makefile], clean)
    compare(workflow, recorded, clean, "make")
    idle = run(["make", "-q", "-f", makefile], clean, codes=(0, 1))
    expect(idle.returncode == 0, "make has something to do after it made everything")


def snakemake_works(directory):
    """Whether the installation can run anything at all."""
    (directory / "probe.smk").write_text('rule all:\n    shell: "true"\n')
    probe = subprocess.run([SNAKEMAKE, "-s", "probe.smk", "--cores", "1"], cwd=directory, capture_output=True, text=True, check=False)
    if probe.returncode != 0:
        missed.append(f"Snakemake: this installation cannot run a rule that does nothing: {probe.stderr[-300:]}")
    return probe.returncode == 0


def again_with_snakemake(snakefile, workflow, directory, recorded):
    if not tool("snakemake", "Snakemake") or not snakemake_works(directory):
        return
    clean = directory / "clean-snakemake"
    workflow.prepare(clean)
    # The one of the distribution, whatever the environment of this script is.
    snakemake = [SNAKEMAKE, "-s", snakefile, "--cores", "2"]
    plan = run([*snakemake, "-n"], clean).stdout
    count = len(re.findall(r"^rule job_\d+:", plan, re.MULTILINE))
    expect(count == workflow.jobs, f"snakemake -n lists {count} jobs, not {workflow.jobs}:\n{plan[-3000:]}")
    run(snakemake, clean)
    compare(workflow, recorded, clean, "snakemake")


def compare(workflow, recorded, clean, program):
    for name in workflow.results:
        expect((recorded / name).exists(), f"{workflow.name}: the recording made no {name}")
        expect((clean / name).exists(), f"{workflow.name}: {program} made no {name}")
        same = filecmp.cmp(recorded / name, clean / name, shallow=False)
        expect(same, f"{workflow.name}: {program} made another {name}")


def check_wfformat(path, directory):
    instance = json.loads(path.read_text())
    schema = ROOT / "schema" / "wfformat-1.5.json"
    jsonschema = package("jsonschema")
    if jsonschema:
        jsonschema.validate(instance, json.loads(schema.read_text()))
    if package("wfcommons"):
        code = f"""
import pathlib
from wfcommons.wfinstances import Instance
from wfcommons.wfbench import BashTranslator
instance = Instance(pathlib.Path({str(path)!r}), schema_file=pathlib.Path({str(schema)!r}))
print('tasks:', len(instance.workflow.tasks))
BashTranslator(instance.workflow).translate(output_folder=pathlib.Path({str(directory / 'bash')!r}))
"""
        count = int(re.search(r"tasks: (\d+)", run([sys.executable, "-c", code], directory).stdout)[1])
        expect(count == len(instance["workflow"]["specification"]["tasks"]), f"wfcommons reads {count} tasks")
    return [task["name"] for task in instance["workflow"]["specification"]["tasks"]]


def check_pegasus(path, jobs):
    """Builds the workflow with the API from what the file says, and compares what the API writes with the file."""
    yaml = package("yaml")
    if not yaml or not package("Pegasus"):
        return
    from Pegasus.api import File, Job, ReplicaCatalog, Transformation, TransformationCatalog, Workflow as Pegasus

    said = yaml.safe_load(path.read_text())
    workflow, replicas, programs = Pegasus(said["name"]), ReplicaCatalog(), TransformationCatalog()
    for row in said.get("replicaCatalog", {}).get("replicas", []):
        for pfn in row["pfns"]:
            replicas.add_replica(pfn["site"], row["lfn"], pfn["pfn"])
    for row in said["transformationCatalog"]["transformations"]:
        site = row["sites"][0]
        programs.add_transformations(Transformation(row["name"], site=site["name"], pfn=site["pfn"], is_stageable=False))
    of_id = {}
    for row in said["jobs"]:
        job = Job(row["name"], _id=row["id"]).add_args(*row["arguments"])
        for use in row["uses"]:
            file = File(use["lfn"])
            if use["type"] == "input":
                job.add_inputs(file)
            else:
                job.add_outputs(file, stage_out=use["stageOut"], register_replica=use["registerReplica"])
        of_id[row["id"]] = job
        workflow.add_jobs(job)
    for row in said["jobDependencies"]:
        workflow.add_dependency(of_id[row["id"]], children=[of_id[child] for child in row["children"]])
    workflow.add_replica_catalog(replicas).add_transformation_catalog(programs)
    written = path.with_suffix(".again.yml")
    workflow.write(str(written))
    again = yaml.safe_load(written.read_text())
    expect(len(again["jobs"]) == jobs, f"Pegasus has {len(again['jobs'])} jobs")
    for mine, theirs in zip(said["jobs"], again["jobs"]):
        expect(mine["arguments"] == theirs["arguments"] and mine["name"] == theirs["name"], f"Pegasus: {mine} {theirs}")
    links = lambda document: {(row["id"], child) for row in document["jobDependencies"] for child in row["children"]}
    # The API adds the dependencies that follow from files; each of them must be one that the file states.
    expect(links(again) == links(said), f"Pegasus finds other dependencies: {links(again) ^ links(said)}")


def check_dax(path):
    if tool("xmllint", "DAX"):
        run(["xmllint", "--noout", "--schema", ROOT / "schema" / "dax-3.6.xsd", path], path.parent)


def dag(path):
    """The nodes of a DAG with their submit descriptions, and its edges, read after the manual's description."""
    nodes, descriptions, edges, inside = {}, {}, set(), None
    for line in path.read_text().splitlines():
        words = line.split()
        if inside is not None:
            if line.strip() == "}":
                inside = None
            else:
                descriptions[inside] += line + "\n"
        elif not words or words[0].startswith("#"):
            continue
        elif words[0] == "SUBMIT-DESCRIPTION" and words[2] == "{":
            inside = words[1]
            descriptions[inside] = ""
        elif words[0] == "JOB":
            nodes[words[1]] = words[2]
        elif words[0] == "PARENT":
            at = words.index("CHILD")
            edges |= {(parent, child) for parent in words[1:at] for child in words[at + 1:]}
        else:
            sys.exit(f"FAILED: no command of DAGMan: {line}")
    return {node: descriptions[name] for node, name in nodes.items()}, edges


def words_of(value):
    """The words of `arguments` in the new syntax of condor_submit."""
    expect(value.startswith('"') and value.endswith('"'), f"no quotes around {value}")
    text, words, word, at, quoted = value[1:-1].replace('""', '"'), [], None, 0, False
    while at < len(text):
        sign = text[at]
        if sign == "'":
            if quoted and text[at + 1:at + 2] == "'":
                word, at = word + "'", at + 1
            else:
                quoted, word = not quoted, word or ""
        elif sign in " \t" and not quoted:
            words, word = words + ([word] if word is not None else []), None
        else:
            word = (word or "") + sign
        at += 1
    return words + ([word] if word is not None else [])


def check_dagman(path, jobs):
    nodes, edges = dag(path)
    expect(len(nodes) == jobs, f"the DAG has {len(nodes)} nodes, not {jobs}")
    expect(all(node in nodes for edge in edges for node in edge), "the DAG has edges without nodes")
    htcondor = package("htcondor2")
    if htcondor:
        for text in nodes.values():
            submit = htcondor.Submit(text)
            expect(submit["executable"], text)


def submitted(text):
    """Program and arguments as HTCondor expands them, else as the manual says."""
    htcondor = package("htcondor2")
    if htcondor:
        submit = htcondor.Submit(text)
        return [submit.expand("executable"), *words_of(submit.expand("arguments"))]
    values = dict(line.strip().split(" = ", 1) for line in text.splitlines() if " = " in line)
    return [values["executable"], *words_of(values["arguments"].replace("$(DOLLAR)", "$"))]


def nasty(iotrail, directory):
    """A program that writes its arguments is recorded with nasty ones; every format must start it with the same."""
    directory.mkdir()
    say = directory / "say"
    say.write_text("#!/bin/sh\nfor a; do printf '%s\\0' \"$a\"; done >>said\n")
    say.chmod(0o755)
    arguments = [word.encode("latin-1") if word == "\xff\xfe" else word.encode() for word in NASTY]
    wanted = b"".join(word + b"\0" for word in arguments)
    run([iotrail, "-q", "record", "-o", directory / "t.trail", "--", "sh", "-c", 'true; ./say "$@"; true', "sh", *arguments], directory)
    expect((directory / "said").read_bytes() == wanted, "the recorded program did not say its arguments")
    exports = export(iotrail, directory / "t.trail", directory)

    def said(command, program):
        place = directory / program
        place.mkdir()
        shutil.copy(say, place / "say")
        run(command, place)
        expect((place / "said").read_bytes() == wanted, f"{program} starts the program with other arguments: {(place / 'said').read_bytes()}")

    said(["make", "-f", exports["makefile"]], "make")
    if tool("snakemake", "Snakemake"):
        said(["/usr/bin/snakemake" if os.path.exists("/usr/bin/snakemake") else "snakemake", "-s", exports["snakemake"], "--cores", "1"], "snakemake")
    nodes, _ = dag(exports["dagman"])
    said(submitted(next(iter(nodes.values()))), "dagman")
    task = json.loads(exports["wfformat"].read_text())["workflow"]["execution"]["tasks"][0]["command"]
    said([task["program"], *task["arguments"]], "wfformat")
    yaml = package("yaml")
    if yaml:
        document = yaml.safe_load(exports["pegasus"].read_text())
        pfn = document["transformationCatalog"]["transformations"][0]["sites"][0]["pfn"]
        said([pfn, *shlex.split(" ".join(document["jobs"][0]["arguments"]))], "pegasus")
    check_dax(exports["dax"])
    from xml.etree import ElementTree

    space = "{http://pegasus.isi.edu/schema/DAX}"
    dax = ElementTree.parse(exports["dax"]).getroot()
    program = dax.find(f"{space}executable/{space}pfn").get("url").removeprefix("file://")
    said([program, *shlex.split(dax.find(f"{space}job/{space}argument").text)], "dax")
    print(f"  {len(arguments)} nasty arguments")


def run(command, place, codes=(0,)):
    command = [word if isinstance(word, bytes) else str(word) for word in command]
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    environment["PATH"] = os.pathsep.join([str(pathlib.Path(sys.executable).parent), environment.get("PATH", "")])
    done = subprocess.run(command, cwd=place, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    done.stdout, done.stderr = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    if done.returncode not in codes:
        sys.exit(f"FAILED: {command}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done


def expect(truth, message):
    if not truth:
        sys.exit(f"FAILED: {message}")


if __name__ == "__main__":
    main()
