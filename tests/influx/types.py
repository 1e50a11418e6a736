"""Checks the dashboards that `iotrail export grafana` writes against the types of Grafana's schema, panels against those of their kind.

usage: types.py IOTRAIL     (after `npm --prefix tests/influx ci`)
"""
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKED = HERE / "checked"
KINDS = {"barchart": "BarChart", "table": "Table", "timeseries": "TimeSeries"}
TSC = [HERE / "node_modules/.bin/tsc", "--noEmit", "--strict", "--skipLibCheck", "--module", "nodenext", "--moduleResolution", "nodenext",
       "--target", "es2022"]


def source(dashboard):
    """A module in which the dashboard, and the options and fields of each panel, are assigned to their types."""
    kinds = sorted({panel["type"] for panel in dashboard["panels"]})
    lines = ['import type { Dashboard } from "@grafana/schema/dist/esm/raw/dashboard/x/Dashboard_types.gen";',
             'import type { Plain } from "../plain.ts";']
    for kind in kinds:
        module = f"@grafana/schema/dist/esm/raw/composable/{kind}/panelcfg/x/{KINDS[kind]}PanelCfg_types.gen"
        lines.append(f'import type {{ Options as {kind}Options, FieldConfig as {kind}Fields }} from "{module}";')
    lines.append(f"export const dashboard: Plain<Dashboard> = {json.dumps(dashboard, indent=1)};")
    for number, panel in enumerate(dashboard["panels"]):
        options, custom = panel["options"], panel["fieldConfig"]["defaults"]["custom"]
        lines.append(f"export const options{number}: Partial<Plain<{panel['type']}Options>> = {json.dumps(options)};")
        lines.append(f"export const fields{number}: Partial<Plain<{panel['type']}Fields>> = {json.dumps(custom)};")
    return "\n".join(lines) + "\n"


def errors(texts):
    """What the compiler says about these modules."""
    CHECKED.mkdir(exist_ok=True)
    for name, text in texts.items():
        (CHECKED / f"{name}.ts").write_text(text)
    ran = subprocess.run([*TSC, "--allowImportingTsExtensions", *(CHECKED / f"{name}.ts" for name in texts)],
                         capture_output=True, text=True, cwd=HERE)
    return ran.stdout + ran.stderr if ran.returncode else ""


def main():
    out = CHECKED / "grafana"
    subprocess.run([sys.argv[1], "export", "grafana", "-q", "-o", out, "--db", "d"], check=True)
    dashboards = {path.stem: json.loads(path.read_text()) for path in sorted((out / "dashboards").glob("*.json"))}
    said = errors({name: source(dashboard) for name, dashboard in dashboards.items()})
    if said:
        print(said, file=sys.stderr)
        return 1
    # The compiler sees what is wrong.
    name, dashboard = next(iter(dashboards.items()))
    for place, wrong in (("gridPos", {"x": "left"}), ("options", {"tooltip": {"mode": "nowhere", "sort": "none"}})):
        broken = json.loads(json.dumps(dashboard))
        broken["panels"][0][place] = {**broken["panels"][0][place], **wrong}
        assert errors({"broken": source(broken)}), f"{name}: a wrong {place} passes"
    panels = sum(len(dashboard["panels"]) for dashboard in dashboards.values())
    print(f"{len(dashboards)} dashboards with {panels} panels have the types of Grafana's schema")
    return 0


if __name__ == "__main__":
    sys.exit(main())
