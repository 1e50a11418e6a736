"""Everyday tools: pipelines, git, tar, gzip, sqlite3, find, xargs, make and a compiler."""
import textwrap

from harness import ROOT, scenario

GIT = """export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'
git() { command git -c user.name=t -c user.email=t@example.org -c init.defaultBranch=main -c commit.gpgsign=false \
  -c gc.auto=0 -c core.fsync=all "$@"; }
"""


@scenario("shell pipelines, redirections, statuses")
def shell(stage):
    return stage.bash(r"""
        set -o pipefail
        seq 1 5000 | sort -rn | tee all | tail -n 3 > top; echo "${PIPESTATUS[@]}"
        yes | head -n 1; echo "yes ended with ${PIPESTATUS[0]}"
        cat <<< "here" | tr a-z A-Z
        wc -l < all; diff <(seq 3) <(seq 4); echo "diff $?"
        (exit 3); echo "subshell $?"; false | true; echo "pipe $?"
        for i in 1 2 3; do (sleep 0.$((3 * i)); echo "background $i" >> order) & done; wait; cat order
        sleep 0 & wait $!; echo "waited $?"
        trap 'echo leaving' EXIT; trap 'echo usr1' USR1; kill -USR1 $$
        mkfifo pipe; (echo through > pipe) & cat pipe; rm pipe
        no-such-command; echo "not found $?"
        exec 5> five; echo five >&5; exec 5>&-; cat five
        kill -TERM $$ ; sleep 1; echo never
    """.replace("TERM $$ ;", "TERM $BASHPID;"))


@scenario("git: init, commit, branch, merge, log, gc, clone", needs=["git"], ignore=[r"\.git/index$", r"\.git/logs", r"\.git$", r"sample$"])
def git(stage):
    return stage.sh(GIT + """set -e
        git init -q repository; cd repository
        for i in 1 2 3 4 5; do echo "line $i" >> file; mkdir -p d$i; echo $i > d$i/x; git add -A; git commit -qm "commit $i"; done
        git branch other HEAD~2; git checkout -q other; echo other > other; git add other; git commit -qm other
        git checkout -q main; git merge -q --no-edit other
        git log --oneline --stat; git status --short; git gc -q --prune=now; git fsck --full; git count-objects -v
        cd ..; git clone -q repository copy; cd copy; git log --format=%H; git show --stat HEAD~1; git grep -n line""")


@scenario("tar and gzip: a source tree there and back", needs=["tar", "gzip"], ignore=[r"\.tar"])
def tar(stage):
    return stage.sh(f"""set -e
        tar cf - --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -C {ROOT} crates scripts | gzip -n9 > tree.tar.gz
        gzip -t tree.tar.gz; mkdir out; tar xzf tree.tar.gz -C out; diff -r {ROOT}/crates out/crates
        tar cf sparse.tar --hole-detection=raw -S out/scripts; tar tvf sparse.tar | wc -l; cksum < tree.tar.gz""")


@scenario("sqlite3: transactions, write-ahead log, two writers", needs=["sqlite3"], ignore=[r"-(wal|shm|journal)$", "b.db"])
def sqlite(stage):
    return stage.sh("""
        sqlite3 a.db "create table t(x integer primary key, y text); begin; with recursive n(i) as (select 1 union all select i + 1 from n
            where i < 2000) insert into t select i, hex(i * i) from n; commit; select count(*), sum(length(y)) from t;"
        sqlite3 a.db "begin; delete from t where x % 2; rollback; select count(*) from t; vacuum; pragma integrity_check;"
        sqlite3 b.db "pragma journal_mode = wal; create table t(x);" 
        for w in 1 2; do for i in 1 2 3 4 5 6 7 8; do echo "pragma busy_timeout = 20000; insert into t values ($w * 100 + $i);"; done |
            sqlite3 b.db > /dev/null & done; wait
        sqlite3 b.db "select x from t order by x; pragma wal_checkpoint(truncate); pragma integrity_check;"
        sqlite3 a.db "insert into t values (1, 'again')"; echo "constraint $?" """)


@scenario("find, xargs, rm: two thousand files", needs=["find", "xargs"])
def find(stage):
    return stage.sh("""mkdir d; cd d; for i in 1 2 3 4; do mkdir -p $i/sub; (cd $i/sub; seq 1 500 | xargs touch); done
        find . -type f | wc -l; find . -name '*7' -print0 | sort -z | xargs -0 -n 50 -P 4 sh -c 'for f; do echo x > "$f"; done' sh
        find . -size +0 | sort | cksum; find . -name '*1' -delete; find . -type f | wc -l
        ln -s /no/such dangling; ln 1/sub/2 hard; cp -a 1 copy; mv 2 moved; rm -rf 3; find . | sort | cksum
        find . -newer nosuch; echo $?; rm no-such-file; echo $?; rmdir 4; echo $?; cat 4; echo $?""")


@scenario("make -j2 of a C project", needs=["make", "cc"], ignore=[r"\.o$", r"\.a$", r"program$"])
def make(stage):
    write_project(stage.directory)
    first = stage.run("make", "-j2", "--output-sync=none")
    lines = sorted(first.pop("stdout").splitlines())
    return [first, lines, stage.run("./program"), stage.run("make", "-j2"), stage.run("make", "fails"), stage.run("make", "-j2", "clean")]


def write_project(directory):
    modules = [f"module{i}" for i in range(8)]
    for i, name in enumerate(modules):
        (directory / f"{name}.c").write_text(f"#include <stdio.h>\n#include <math.h>\n#include \"all.h\"\n"
                                             f"int {name}(int x) {{ printf(\"{name} %d\\n\", x); return (int)sqrt(x) + {i}; }}\n")
    (directory / "all.h").write_text("".join(f"int {name}(int);\n" for name in modules))
    (directory / "main.c").write_text("#include \"all.h\"\nint main(void) { int x = 7; " + " ".join(f"x += {name}(x);" for name in modules)
                                      + " return x & 127; }\n")
    (directory / "Makefile").write_text(textwrap.dedent("""\
        objects = $(patsubst %.c,%.o,$(wildcard *.c))
        program: main.o library.a ; cc -o $@ main.o library.a -lm
        library.a: $(filter-out main.o,$(objects)) ; ar rc $@ $^
        %.o: %.c all.h ; cc -O1 -c $< -o $@
        fails: ; echo 'int x = ;' | cc -x c -c - -o /dev/null
        clean: ; rm -f *.o *.a program
        """))


@scenario("cp, dd, sparse files, copy_file_range, cmp, split, sort of a big file")
def copies(stage):
    return stage.sh("""set -e
        seq 1 60000 > numbers; dd if=numbers of=part bs=4096 skip=3 count=10 2> said; sed 's/, .*//' said
        truncate -s 3M sparse; printf x | dd of=sparse bs=1 seek=2000000 conv=notrunc 2> /dev/null; cp --sparse=always sparse sparse2; cmp sparse sparse2
        cp numbers numbers2; split -n 7 numbers piece.; cat piece.* | cmp - numbers; sort -R --random-source=/etc/passwd numbers | sort -n -S 200k -T . | cmp - numbers
        shuf --random-source=/etc/passwd numbers | head -n 5; md5sum numbers piece.*; dd if=numbers of=/dev/full bs=4096 count=1 || echo "full $?" """.replace(
            "bs=4096 count=1 ||", "bs=4096 count=1 2> full ||") + "; grep -o 'No space left on device' full; rm said full")


@scenario("argument lists of a megabyte, a single one of 128 KiB, one too long")
def arguments(stage):
    big = ["x" * 9] * 100_000
    return [stage.run("/bin/echo", *big), stage.run("/bin/echo", "y" * (128 * 1024 - 1)),
            stage.sh("""printf '%s ' $(seq 1 30000) | xargs /bin/echo | cksum; /bin/echo $(printf '%0140000d' 0) 2>&1 | sed 's/.*: //'; echo "${#0}" """),
            stage.run("/bin/echo", "", "", " a", "b\nc", "\udcff\udcfe", "--", "-o", "-h")]
