"""Exported workflows that are run again: after a change each gives what it gives in a clean directory, or refuses and says why.

usage: reruns.py IOTRAIL [--shells dash,...] [--only REGEX]... [--sample N] [--part K] [--seed N] [--walks FIRST,COUNT] [--snakemake] [--keep DIR]

The workflows are those of `corpus.py`, run by make (with --snakemake by Snakemake). Each is built; built once more without any change, which must
do nothing wrong; built after `clean`; built after an output was deleted; built after a line was added to an input, and after it was taken away again; after an input was removed; where the workflow says so,
after a file appeared, a symbolic link was switched, or a command of somebody was run, and after that was undone; after somebody put a file into a directory, with and without `clean`, which must stay there; cleaned after a directory was replaced by a link; built where a file of somebody lies under the name of a result. What comes out
is compared byte for byte with what the same export makes of the same inputs in a clean directory. `equal`: the same files;
`refused`: it ended with an error whose line says what to do, and every result is still there; `remarked`: the export says that it does not notice that change; `left`: there are more files, which
another input gave, in a directory that was there before; `WRONG`: anything else. Where `clean` asks to
restore an input, the build is refused until that is done, and gives the same files then. Of workflows whose first build is not equal to the recording, nothing is tried. The input and the output are chosen by chance, from --seed. With --sample N, every N-th
workflow is tried, beginning with the K-th.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

import corpus

REFUSED = re.compile(r"(?:leads to what a job has made since|made what it leads to at the same time|though the job only read it in the recording|it was changed after the jobs left it|has changed it already|has not left it here|is damaged|is not of this job|may hold what had another name|is still as the jobs left it|is not of these jobs|is not of this job alone|it is not there).* and make again")
RESTORE = re.compile("Restore what|Restore, if|Kept, because")
SPARED = re.compile("may be all that is left of it")
UNKNOWN = re.compile("Restore, if|Kept, because")
# Where jobs list the directory that holds files of make, it is seen in the first build whether that matters.
LISTED = re.compile("^.*in which the jobs run.*$", re.MULTILINE)
OWN = {"run.sh"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("iotrail", type=pathlib.Path)
    parser.add_argument("--shells", default="dash")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument("--part", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--walks", default="0,0")
    parser.add_argument("--snakemake", action="store_true")
    parser.add_argument("--keep", type=pathlib.Path)
    arguments = parser.parse_args()
    iotrail = arguments.iotrail.resolve()
    shells = [shell for shell in arguments.shells.split(",") if shutil.which(corpus.SHELLS[shell][0])]
    with tempfile.TemporaryDirectory() as scratch:
        scratch = arguments.keep or pathlib.Path(scratch)
        sample, arguments.sample = arguments.sample, 1
        cases = [case for number, case in enumerate(corpus.choose(arguments, shells, scratch)) if number % sample == arguments.part]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            trials = list(pool.map(lambda case: Trials(case, iotrail, arguments), cases))
    sys.exit(report(trials))


class Trials:
    def __init__(self, case, iotrail, arguments):
        self.case, self.results, self.snakemake = case, {}, arguments.snakemake
        self.chance = random.Random(f"{case.name} {arguments.seed}")
        case.record(iotrail)
        format = "snakemake" if self.snakemake else "makefile"
        if format in case.refused or corpus.LEAVE.search(LISTED.sub("", case.remarks[format])) or corpus.TIMES.search(case.remarks[format]):
            return
        remark = re.search("^# not noticed when it runs again: (.*)$", (case.directory / ("w.smk" if self.snakemake else "w.mk")).read_text(), re.MULTILINE)
        self.unnoticed = remark[1] if remark else ""
        self.inputs = corpus.contents(self.built("inputs"))
        self.first = self.built("first")
        if self.run(self.first).returncode == 0 and corpus.contents(self.first) == case.files:
            self.saved = self.case.directory / "saved"
            subprocess.run(["cp", "-a", self.first, self.saved], check=True)
            self.unchanged()
            if self.case.trials != "unchanged":
                self.others()
        for name, (result, why) in self.results.items():
            if result not in ("equal", "fails"):
                print(f"{result} {self.case.name} {name}: {why}", flush=True)

    def others(self):
        self.cleaned()
        self.spared()
        self.deleted()
        self.changed()
        self.removed()
        self.appeared()
        self.switched()
        self.somebody()
        self.precious()
        self.taken()
        self.linked_away()

    def built(self, name):
        """A clean directory, in which nothing was run yet."""
        place = self.case.directory / name / self.case.place
        self.case.clean(place)
        return place

    def again(self):
        """The first build as it was, in the same place: links may hold its name."""
        shutil.rmtree(self.first)
        subprocess.run(["cp", "-a", self.saved, self.first], check=True)
        return self.first

    def command(self, *goals):
        if self.snakemake:
            return ["snakemake", "-s", self.case.directory / "w.smk", "--cores", "2", "-q", "--nolock", *goals]
        makefile = self.case.directory / "w.mk"
        # Where an input has the name of the target, that has another one.
        clean = re.search(r"^\.PHONY: \S+ (\S+) ", makefile.read_text(), re.MULTILINE)[1]
        return ["make", "-s", "-f", makefile, *(clean if goal == "clean" else goal for goal in goals)]

    def run(self, place, *goals):
        start, command = place / self.case.at, self.command(*goals)
        if goals != ("clean",):
            return corpus.run(command, start)
        before = corpus.contents(place)
        done = corpus.run(command, start)
        if SPARED.search(done.stderr + done.stdout):
            if done.returncode == 0 or corpus.contents(place) != before:
                self.results["spares"] = ("WRONG", f"ended with {done.returncode}, having removed something")
            done = corpus.run(["env", "FORCE=1", *command], start)
        elif lost := self.lost(before, corpus.contents(place)):
            self.results["lost"] = ("WRONG", f"{lost}")
        return done

    def lost(self, before, after):
        """Inputs that something held before, under whatever name, and that nothing holds after."""
        holds = [{found[-1] for found in place.values() if found[0] == "file"} for place in (before, after)]
        inputs = {name: found[-1] for name, found in self.inputs.items() if found[0] == "file" and found[-1]}
        return sorted(name for name, input in inputs.items() if input in holds[0] and input not in holds[1])

    def judge(self, trial, done, place, wanted, there=None):
        """Judges a build; a refusal must leave what was `there` before, by default all results."""
        there, found = self.case.files.keys() if there is None else there, corpus.contents(place)
        different = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
        if done.returncode == 0 and not different:
            self.results[trial] = ("equal", "")
        elif done.returncode != 0 and REFUSED.search(done.stderr + done.stdout) and not trial.startswith(("unchanged", "clean")):
            gone = sorted(there - self.inputs.keys() - found.keys() - {trial.partition(" ")[2]})
            why = REFUSED.search(done.stderr + done.stdout)[0]
            self.results[trial] = ("WRONG", f"refused, but these are gone: {gone}") if gone else ("refused" if self.case.refuses else "WRONG", why)
        elif done.returncode == 0 and all(name.replace("\n", "\\n").replace("\t", "\\t") in self.unnoticed for name in different):
            self.results[trial] = ("remarked", self.unnoticed)
        else:
            said = f"ended with {done.returncode}: {done.stderr.strip()[-300:]}" if done.returncode else "exit code 0"
            self.results[trial] = ("WRONG", f"{said}, other files: {different}")

    def unchanged(self):
        place = self.again()
        self.judge("unchanged", self.run(place), place, self.case.files)

    def cleaned(self):
        # Not a copy: a directory that jobs made anew is told by its number.
        place = self.built("cleaned")
        self.run(place)
        done = self.run(place, "clean")
        said = done.stdout + done.stderr
        if RESTORE.search(said):
            if not UNKNOWN.search(said):
                self.restored(place)
            return
        left = {name for name in corpus.contents(place) if name not in self.inputs}
        if left:
            self.results["clean leaves"] = ("WRONG", f"{sorted(left)}") if done.returncode == 0 else ("WRONG", done.stderr[-300:])
        self.judge("cleaned", self.run(place), place, self.case.files)

    def spared(self):
        """Restored before `clean`, which may spare results until then, an input is there after it, and all is built again."""
        place = self.again()
        start, clean = place / self.case.at, self.command("clean")
        done = corpus.run(clean, start)
        if not SPARED.search(done.stderr + done.stdout):
            return
        self.restore(place, list(self.inputs))
        done = corpus.run(clean, start)
        found = corpus.contents(place)
        lost = [name for name, input in self.inputs.items() if found.get(name) != input]
        if done.returncode != 0 or lost:
            self.results["spared"] = ("WRONG", f"clean ended with {done.returncode}: {done.stderr.strip()[-300:]}; lost are {lost}")
        elif "Kept, because" in done.stdout + done.stderr:
            self.results["spared"] = ("left", "names of before are to be moved away by hand")
        else:
            self.judge("spared", self.run(place), place, self.case.files, found.keys())

    def restore(self, place, changed):
        """All in one go: they may be names of one file."""
        names = sorted(name for name, (kind, *_) in self.inputs.items() if kind != "directory" or name in changed)
        subprocess.run(["rm", "-rf", *names], cwd=place, check=True)
        inputs = self.case.directory / "inputs" / self.case.place
        subprocess.run(["cp", "-a", "--parents", *names, place], cwd=inputs, check=True)

    def restored(self, place):
        before = corpus.contents(place)
        changed = sorted(name for name, found in self.inputs.items() if before.get(name) != found)
        if changed:
            done = self.run(place)
            kept = before.items() <= corpus.contents(place).items()
            if done.returncode == 0 or not kept or not REFUSED.search(done.stderr + done.stdout):
                self.results["not restored"] = ("WRONG", f"ended with {done.returncode}: {done.stderr.strip()[-300:]}; changed are {changed}")
                return
            self.results["not restored"] = ("refused", REFUSED.search(done.stderr + done.stdout)[0])
        if changed:
            self.restore(place, changed)
        # `clean` has removed results, and hard links to inputs that are restored are broken.
        there = corpus.contents(place).keys()
        self.judge("restored", self.run(place), place, self.case.files, there)

    def deleted(self):
        outputs = sorted(name for name, (kind, *_) in self.case.files.items() if kind == "file" and name not in self.inputs)
        if outputs:
            name = self.case.deletes or self.chance.choice(outputs)
            place = self.again()
            (place / name).unlink()
            self.judge(f"deleted {name}", self.run(place), place, self.case.files)
            if not self.snakemake:
                place = self.again()
                (place / name).unlink()
                self.judge(f"deleted-j4 {name}", self.run(place, "-j4"), place, self.case.files)

    def text(self, name):
        """What an input holds; those of `# below` are copies."""
        return corpus.FILES["in.txt" if name in self.case.below else name]

    def named_inputs(self):
        text = self.case.script.read_text()
        below = {self.case.changes} & set(self.case.below)
        here = [name for name in [*corpus.FILES, *below] if not (self.first / name).is_dir()]
        return sorted(name for name in here if name in text and name not in OWN and not name.endswith((".py", ".r", ".m", ".s", ".t", ".c", ".sh")))

    def changed(self):
        names = self.named_inputs()
        names = [name for name in names if self.case.changes in (None, name)]
        # A goal that is changed by hand is new enough.
        goals = re.search("^(?:goals :=|all(?:-jobs)?:)(.*)$", (self.case.directory / "w.mk").read_text(), re.MULTILINE)[1].split()
        names = [name for name in names if name not in goals]
        if not names:
            return
        name = self.chance.choice(names)
        reference, place = self.built("reference"), self.again()
        for directory in (reference, place):
            (directory / name).write_text(self.case.becomes or self.text(name) + "one more\n")
            if self.case.older:
                os.utime(directory / name, (corpus.PAST - 1000, corpus.PAST - 1000))
        wanted = self.run(reference)
        again = self.run(place)
        if again.returncode == 0 and re.search(rf"changes of [^;]*\b{re.escape(name)}\b", self.unnoticed):
            self.results[f"changed {name}"] = ("remarked", self.unnoticed)
            return
        if wanted.returncode != 0 and again.returncode != 0:
            self.results[f"changed {name}"] = ("fails", wanted.stderr.strip()[-200:])
            return
        self.judge(f"changed {name}", again, place, corpus.contents(reference))
        if self.results[f"changed {name}"][0] == "equal" and self.inputs[name] == self.case.files.get(name):
            (place / name).write_text(self.text(name))
            done = self.run(place)
            self.judge(f"back {name}", done, place, self.case.files)
            found = corpus.contents(place)
            different = [other for other in found.keys() | self.case.files.keys() if found.get(other) != self.case.files.get(other)]
            if done.returncode == 0 and different and all(self.is_left_over(other) for other in different):
                self.results[f"back {name}"] = ("left", f"as the commands themselves leave them: {sorted(different)}")

    def removed(self):
        # What the jobs themselves remove nobody else can.
        names = [name for name in self.named_inputs() if (self.saved / name).exists()]
        if not names:
            return
        name = self.chance.choice(names)
        reference, place = self.built("without"), self.again()
        for directory in (reference, place):
            (directory / name).unlink(missing_ok=True)
        wanted, again = self.run(reference), self.run(place)
        if wanted.returncode != 0 and again.returncode != 0:
            self.results[f"removed {name}"] = ("fails", wanted.stderr.strip()[-200:])
        elif again.returncode == 0 and re.search(rf"are removed: [^;]*\b{re.escape(name)}\b", self.unnoticed):
            self.results[f"removed {name}"] = ("remarked", self.unnoticed)
        else:
            self.judge(f"removed {name}", again, place, corpus.contents(reference) if wanted.returncode == 0 else {})

    def appeared(self):
        if name := self.case.appears:
            self.there_and_back("appears", name, lambda place: (place / name).write_text("appeared\n"), lambda place: (place / name).unlink())

    def switched(self):
        if self.case.switched:
            target, name = self.case.switched
            before = os.readlink(self.first / name)
            lead = lambda place, target: ((place / name).unlink(), os.symlink(target, place / name))
            self.there_and_back("switched", name, lambda place: lead(place, target), lambda place: lead(place, before))

    def somebody(self):
        if self.case.then:
            shell = lambda command: lambda place: subprocess.run(command, shell=True, cwd=place, check=True)
            self.there_and_back("then", self.case.then, shell(self.case.then), shell(self.case.undo))

    def precious(self):
        if not (name := self.case.precious):
            return
        for goals in ([], ["clean"]):
            place, trial = self.again(), f"precious{'-cleaned' if goals else ''} {name}"
            if goals:
                self.run(place, *goals)
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text("mine\n")
            with open(place / "in.txt", "a") as file:
                file.write("one more\n")
            done = self.run(place)
            if not (place / name).exists() or (place / name).read_text() != "mine\n":
                self.results[trial] = ("WRONG", f"ended with {done.returncode}, and it is gone")
            elif done.returncode != 0 and not REFUSED.search(done.stderr + done.stdout):
                self.results[trial] = ("WRONG", f"ended with {done.returncode}: {done.stderr.strip()[-300:]}")
            else:
                self.results[trial] = ("refused" if done.returncode else "equal", done.stderr.strip()[-300:])

    def taken(self):
        """Before the first build, a file of somebody lies under a result's name: nothing removes it, `clean` neither."""
        for number, name in enumerate(self.case.taken):
            place, trial = self.built(f"taken{number}"), f"taken {name}"
            (place / name).parent.mkdir(exist_ok=True)
            (place / name).write_text("mine\n")
            done = self.run(place)
            self.run(place, "clean")
            if not (place / name).exists() or (place / name).read_text() != "mine\n":
                self.results[trial] = ("WRONG", f"ended with {done.returncode}, and it is gone")
                continue
            (place / name).unlink()
            self.judge(f"taken-away {name}", self.run(place), place, self.case.files)
            said = done.stderr + done.stdout
            self.results[trial] = ("refused", REFUSED.search(said)[0]) if done.returncode and REFUSED.search(said) else ("WRONG", f"ended with {done.returncode}: {said.strip()[-300:]}")

    def linked_away(self):
        """A directory of results is moved away, and a link to another one lies in its place: `clean` removes nothing there."""
        if not (name := self.case.linked_away):
            return
        place, kept = self.again(), self.case.directory / "kept"
        (place / name).rename(kept)
        os.symlink(kept, place / name)
        before = corpus.contents(kept)
        self.run(place, "clean")
        self.results[f"linked-away {name}"] = ("equal", "") if corpus.contents(kept) == before else ("WRONG", "clean removed files behind a link")

    def there_and_back(self, trial, name, change, undo):
        reference, place = self.built(trial), self.again()
        change(reference)
        change(place)
        wanted = self.run(reference)
        self.judge(f"{trial} {name}", self.run(place), place, corpus.contents(reference))
        if wanted.returncode == 0:
            self.judge(f"{trial}-unchanged {name}", self.run(place), place, corpus.contents(reference))
        undo(place)
        self.judge(f"{trial}-undone {name}", self.run(place), place, self.case.files)

    def is_left_over(self, name):
        """Whether it is a file that the recording does not have, in a directory that no job made."""
        parent = str(pathlib.PurePath(name).parent)
        return name not in self.case.files and (parent == "." or parent in self.inputs)


def report(trials):
    counts = collections.Counter()
    for trial in trials:
        for name, (result, _) in trial.results.items():
            counts[(name.split()[0], result)] += 1
    for kind in sorted({kind for kind, _ in counts}):
        print(kind, " ".join(f"{result}={counts[(kind, result)]}" for result in ("equal", "refused", "remarked", "left", "fails", "WRONG")))
    wrong = sum(count for (_, result), count in counts.items() if result == "WRONG")
    print(f"{len(trials)} recordings, {sum(counts.values())} trials, {wrong} WRONG")
    return 1 if wrong else 0


if __name__ == "__main__":
    main()
