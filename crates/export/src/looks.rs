//! How what jobs read and no job makes was when a job ran: it runs again when that is otherwise, be it newer or older.
//!
//! Dates alone do not tell that an older file lies there now, that a link has taken its place or leads elsewhere, or that others may
//! read it. What is kept of a name is what the file is and who may do what with it, its length, its time, and where links on the way lead; of a
//! directory only the first, because the others change with what is in it. In the makefile it is in `.iotrail/looks-*`, in the Snakefile a parameter of the
//! rule.

/// Functions for `sh`; the explanation of `again` says what each does. They tell names and what is kept of each by `//`, which is in no name.
pub(crate) fn functions(sum: &str) -> [String; 8] {
    let looks = list(sum);
    let look = "_look() ( names=$(LC_ALL=C sort -u); here=$(pwd -P); { \
printf \"%s\\n\" \"$names\" | tr \"\\n\" \"\\0\" | TZ=UTC0 xargs -0 stat -L -c \"%n//%f %s %y\" 2>/dev/null | sed \"s|//\\(4[0-9a-f]*\\) .*|//\\1|\"; \
last=; printf \"%s\\n\" \"$names\" | while IFS= read -r name; do dir=${name%/*}; \
if test \"$dir\" != \"$last\"; then last=$dir; case $dir in .) way=$here plain=$here;; *) way=$(cd -P \"$dir\" 2>/dev/null && pwd -P); case $dir in ./*) plain=$here${dir#.};; *) plain=$dir;; esac;; esac; fi; \
if test -L \"$name\"; then to=$(readlink -f \"$name\"); elif test -z \"$way\" || test \"$way\" = \"$plain\"; then continue; else to=$way; fi; \
printf \"%s//> %s\\n\" \"$name\" \"${to#\"$here/\"}\"; done; } | \
LC_ALL=C awk \"{ at = index(\\$0, \\\"//\\\"); name = substr(\\$0, 1, at - 1); all[name] = all[name] substr(\\$0, at) } END { for (name in all) print name all[name] }\" );";
    let looks_like = format!(
        "_looks() ( job=$1; shift; mkdir -p .iotrail && printf \"%s\\n\" \"$@\" | _look >{looks}$job );"
    );
    let permitted = format!(
        "_permitted() ( job=$1; shift; mkdir -p .iotrail && printf \"%s\\n\" \"$@\" | _look | sed \"s|//\\(.\\)[0-9a-f]*|//\\1|\" >{looks}$job );"
    );
    let leading = format!(
        "_leading() ( job=$1; shift; mkdir -p .iotrail && printf \"%s\\n\" \"$@\" | _look | sed \"s|//[0-9a-f].*//> |//> |;s|//\\(.\\)[0-9a-f]*|//\\1|\" >{looks}$job );"
    );
    let makes =
        format!("_makes() ( job=$1; shift; mkdir -p .iotrail && printf \"%s//\\n\" \"$@\" >{looks}$job );");
    let away = format!(
        "_away() ( job=$1; shift; mkdir -p .iotrail && for name; do test -e \"$name\" || test -L \"$name\" || printf \"%s//-\\n\" \"$name\"; done >{looks}$job );"
    );
    let changed = format!(
        "_changed() ( for list in {looks}*; do test -e \"$list\" || exit 0; done; \
cat {looks}* | sed \"s|//.*||\" | _look | LC_ALL=C awk \"FILENAME == \\\"-\\\" {{ at = index(\\$0, \\\"//\\\"); name = substr(\\$0, 1, at - 1); now[\\$0]; now[name \\\"//\\\"]; \
rest = substr(\\$0, at + 3); sub(/^[0-9a-f]*/, \\\"\\\", rest); now[substr(\\$0, 1, at + 2) rest]; to = index(\\$0, \\\"//> \\\"); if (to) now[name substr(\\$0, to)]; next }} \
{{ gone = substr(\\$0, length(\\$0) - 2) == \\\"//-\\\" ? substr(\\$0, 1, length(\\$0) - 1) : \\\"\\\" }} \
(gone == \\\"\\\" ? !(\\$0 in now) : (gone in now)) {{ job = FILENAME; sub(/.*looks-[0-9a-f]*-/, \\\"\\\", job); if (!(job in done)) print job; done[job] }}\" - {looks}* );"
    );
    let left_alone = format!(
        "_left_alone() ( now=$(sed \"s|//.*||\" {looks}$1 | _look | LC_ALL=C sort); test \"$now\" = \"$(LC_ALL=C sort {looks}$1)\" || {{ \
name=$({{ printf \"%s\\n\" \"$now\"; cat {looks}$1; }} | LC_ALL=C sort | LC_ALL=C uniq -u | head -n 1); name=${{name%%//*}}; \
echo \"${{name#./}}: job $1, or somebody else, has changed it meanwhile, though the job only read it in the recording; make again\" >&2; exit 1; }} );"
    );
    [look.to_owned(), looks_like, permitted, leading, makes, away, changed, left_alone]
}

/// What is kept for a job; its number follows.
fn list(sum: &str) -> String {
    format!(".iotrail/looks-{sum}-")
}

/// For make: `looks-differ` with the number of a job is something if what it read, or what is kept of other names for it, is not as it was.
pub(crate) fn of_make(new: &str) -> String {
    format!(
        "\n# A job is run, too, if what it read and no job makes is not as it was then: older, a link, of other permissions.\n\
changed-looks := $(shell _changed)\nlooks-differ = $(if $(filter $1 $1-%,$(changed-looks)),{new})\n"
    )
}

/// For a Snakefile: `looks` is a parameter that is another one then.
pub(crate) const OF_SNAKEMAKE: &str = "
# What a job read and no job makes: it is run, too, if that is not as it was then: older, a link, of other permissions.
def looks(*names, permissions=True):
    found = []
    for name in names:
        try:
            known = os.stat(name)
        except OSError:
            continue
        times = () if stat.S_ISDIR(known.st_mode) else (known.st_size, known.st_mtime_ns)
        mode = known.st_mode if permissions else stat.S_IFMT(known.st_mode)
        found.append((name, mode, *times, os.path.relpath(os.path.realpath(name))))
    return zlib.crc32(repr(found).encode(\"utf-8\", \"surrogateescape\"))
";

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::Command;

    #[test]
    fn what_looks_otherwise_is_told_by_job() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let run = |line: &str| {
            let line = format!("{} {line}", functions("5a").join(" "));
            let done = Command::new("sh").args(["-c", &line]).current_dir(directory.path()).output().unwrap();
            assert!(
                done.status.success() && done.stderr.is_empty(),
                "{}",
                String::from_utf8_lossy(&done.stderr)
            );
            let mut words: Vec<String> =
                String::from_utf8(done.stdout).unwrap().split_whitespace().map(str::to_owned).collect();
            words.sort();
            words.join(" ")
        };
        let old = |name: &str| Command::new("touch").args(["-d", "@1000"]).arg(at(name)).status().unwrap();
        assert_eq!(run("_changed"), "", "nothing ran");
        for (name, text) in [("a", "x\n"), ("b c", "y\n"), ("d/e", "z\n"), ("f/e", "z\n"), ("-g", "")] {
            fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            fs::write(at(name), text).unwrap();
            old(name);
        }
        symlink("d", at("cur")).unwrap();
        let keep =
            "_looks 4-left ./d; _looks 1 ./a; _looks 2 './b c' ./-g; _looks 3 ./cur/e ./missing ./soon/e; ";
        run(keep);
        fs::create_dir(at("soon")).unwrap();
        assert_eq!(run("_changed"), "", "all is as it was");
        fs::write(at("a"), "older\n").unwrap();
        old("a");
        assert_eq!(run("_changed"), "1");
        run("_looks 1 ./a");
        fs::set_permissions(at("b c"), fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(at("d/new"), "").unwrap();
        assert_eq!(run("_changed"), "2", "and what is in a directory does not matter");
        run("_looks 2 './b c' ./-g");
        fs::remove_file(at("cur")).unwrap();
        symlink("f", at("cur")).unwrap();
        assert_eq!(run("_changed"), "3", "the file looks the same, and is another one");
        run(keep);
        fs::rename(at("a"), at("h")).unwrap();
        symlink("h", at("a")).unwrap();
        fs::write(at("i"), "x").unwrap();
        fs::create_dir(at("k")).unwrap();
        run("_permitted 7-permitted ./i ./k ./missing");
        fs::set_permissions(at("i"), fs::Permissions::from_mode(0o600)).unwrap();
        fs::set_permissions(at("k"), fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(run("_changed"), "1", "jobs set these permissions");
        fs::write(at("i"), "longer").unwrap();
        assert_eq!(run("_changed"), "1 7-permitted");
        fs::remove_file(at(".iotrail/looks-5a-7-permitted")).unwrap();
        symlink("i", at("l")).unwrap();
        run("_leading 9-leading ./l ./k");
        fs::write(at("i"), "something else").unwrap();
        assert_eq!(run("_changed"), "1", "what a link leads to does not matter");
        fs::remove_dir(at("k")).unwrap();
        assert_eq!(run("_changed"), "1 9-leading");
        fs::create_dir(at("k")).unwrap();
        fs::remove_file(at("l")).unwrap();
        symlink("h", at("l")).unwrap();
        assert_eq!(run("_changed"), "1 9-leading", "it leads elsewhere");
        fs::remove_file(at(".iotrail/looks-5a-9-leading")).unwrap();
        run("_makes 5-made './b*c' './b c' ./cur");
        fs::write(at("b*c"), "").unwrap();
        assert_eq!(run("_changed"), "1");
        symlink("later", at("nowhere")).unwrap();
        run("_looks 6 ./nowhere");
        fs::write(at("later"), "").unwrap();
        assert_eq!(run("_changed"), "1", "a job made what it leads to");
        fs::remove_file(at("nowhere")).unwrap();
        symlink("h", at("nowhere")).unwrap();
        assert_eq!(run("_changed"), "1 6", "it leads elsewhere");
        run("_away 8-away './b c' './gone away' ./gone");
        assert_eq!(run("_changed"), "1 6", "what is away is away");
        fs::write(at("gone away"), "").unwrap();
        assert_eq!(run("_changed"), "1 6 8-away");
        fs::remove_file(at("-g")).unwrap();
        fs::remove_file(at("b*c")).unwrap();
        assert_eq!(run("_changed"), "1 2 5-made 6 8-away");
    }
}
