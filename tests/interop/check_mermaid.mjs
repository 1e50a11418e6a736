// Parses Mermaid exports with Mermaid's own parser: node check_mermaid.mjs FILE.mmd...
// Needs `npm install mermaid jsdom` in the working directory or above; exits with 77 without them.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(process.cwd() + "/");
let JSDOM, mermaid;
try {
  ({ JSDOM } = require("jsdom"));
  const { window } = new JSDOM("");
  globalThis.window = window;
  globalThis.document = window.document;
  mermaid = (await import(pathToFileURL(process.cwd() + "/node_modules/mermaid/dist/mermaid.core.mjs"))).default;
} catch (error) {
  console.error(`mermaid or jsdom is not installed: ${error.message}`);
  process.exit(77);
}
for (const file of process.argv.slice(2)) {
  const { diagramType } = await mermaid.parse(readFileSync(file, "utf8"));
  if (!diagramType.startsWith("flowchart")) throw new Error(`${file} is a ${diagramType}`);
}
