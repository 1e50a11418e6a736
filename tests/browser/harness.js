// Opens a sample report in a real Chromium and watches what it must not do.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const reports = join(here, "reports");
const made = new Map();

/** The path of the sample report of that kind; made once in a run. */
export function sample(kind) {
  if (!made.has(kind)) {
    mkdirSync(reports, { recursive: true });
    const file = join(reports, `${kind}.html`);
    const release = kind === "large" ? ["--release"] : [];
    const program = process.env.SAMPLE_REPORT;
    if (kind === "experiment") experiment(file);
    else if (kind === "structure") structure(file);
    else if (program) execFileSync(program, [kind, file], { stdio: "inherit" });
    else
      execFileSync(
        "cargo",
        ["run", "-q", ...release, "-p", "iotrail-report", "--example", "sample_report", "--", kind, file],
        { cwd: root, stdio: "inherit" },
      );
    made.set(kind, file);
  }
  return made.get(kind);
}

/** The report of the recorded experiment, made as a user makes it: import, then report. IOTRAIL names the program. */
function experiment(file) {
  const iotrail = process.env.IOTRAIL ?? join(root, "target/debug/iotrail");
  const example = join(root, "examples/ssf-fpp");
  const trail = join(reports, "experiment.trail");
  execFileSync(iotrail, ["-q", "import", "--force", "-o", trail, join(example, "traces")], { stdio: "inherit" });
  execFileSync(iotrail, ["-q", "report", trail, "--map", join(example, "scratch.toml"), "--by", "cid", "-o", file], {
    stdio: "inherit",
  });
}

/** The report of a recorded structure at 60 %: `programs mesh 200` of bench/structure on four ranks. */
function structure(file) {
  const iotrail = process.env.IOTRAIL ?? join(root, "target/debug/iotrail");
  execFileSync(iotrail, ["-q", "report", join(root, "tests/fixtures/structure/mesh.structure"), "-o", file], {
    stdio: "inherit",
  });
}

export function size(file) {
  return statSync(file).size;
}

const CANDIDATES = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export async function browser() {
  const executablePath = CANDIDATES.find((path) => path && existsSync(path));
  if (!executablePath) throw new Error("no Chromium found: install it or set CHROMIUM to its path");
  return chromium.launch({ executablePath, args: FLAGS });
}

/** A page with the report; `complaints` collects console errors, exceptions and requests beyond the file itself. */
export function open(within, kind, options = {}) {
  return openFile(within, sample(kind), options);
}

/** The same with a report that is there already. */
export async function openFile(within, file, options = {}) {
  const page = await within.newPage({
    viewport: { width: 1440, height: 1000 },
    reducedMotion: "reduce",
    acceptDownloads: true,
    ...options,
  });
  const complaints = [];
  const url = pathToFileURL(file).href;
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (request.url() !== url && !request.url().startsWith("blob:")) complaints.push(`request: ${request.url()}`);
  });
  await page.goto(url);
  await page.waitForSelector("html[data-ready=true]");
  return { page, complaints };
}
