import type { Dashboard } from "@grafana/schema/dist/esm/raw/dashboard/x/Dashboard_types.gen";
import type { Plain } from "../plain.ts";
import type { Options as barchartOptions, FieldConfig as barchartFields } from "@grafana/schema/dist/esm/raw/composable/barchart/panelcfg/x/BarChartPanelCfg_types.gen";
import type { Options as tableOptions, FieldConfig as tableFields } from "@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen";
export const dashboard: Plain<Dashboard> = {
 "annotations": {
  "list": []
 },
 "editable": true,
 "graphTooltip": 1,
 "links": [
  {
   "asDropdown": false,
   "icon": "dashboard",
   "includeVars": true,
   "keepTime": true,
   "tags": [],
   "targetBlank": false,
   "title": "iotrail: run",
   "tooltip": "",
   "type": "link",
   "url": "/d/iotrail-run/iotrail-run"
  },
  {
   "asDropdown": false,
   "icon": "dashboard",
   "includeVars": true,
   "keepTime": true,
   "tags": [],
   "targetBlank": false,
   "title": "iotrail: one file",
   "tooltip": "",
   "type": "link",
   "url": "/d/iotrail-file/iotrail-file"
  }
 ],
 "panels": [
  {
   "datasource": {
    "type": "influxdb",
    "uid": "${source}"
   },
   "fieldConfig": {
    "defaults": {
     "custom": {
      "fillOpacity": 80,
      "lineWidth": 1
     },
     "links": [
      {
       "targetBlank": false,
       "title": "Accesses of this file",
       "url": "/d/iotrail-file/iotrail-file?${source:queryparam}&${job:queryparam}&var-file=${__data.fields.file:percentencode}&${__url_time_range}"
      }
     ],
     "unit": "ns"
    },
    "overrides": []
   },
   "gridPos": {
    "h": 10,
    "w": 24,
    "x": 0,
    "y": 0
   },
   "id": 1,
   "options": {
    "barWidth": 0.9,
    "fullHighlight": false,
    "groupWidth": 0.7,
    "legend": {
     "calcs": [],
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": false
    },
    "orientation": "horizontal",
    "showValue": "auto",
    "stacking": "none",
    "tooltip": {
     "mode": "single",
     "sort": "none"
    },
    "xTickLabelRotation": 0,
    "xTickLabelSpacing": 0
   },
   "targets": [
    {
     "alias": "",
     "datasource": {
      "type": "influxdb",
      "uid": "${source}"
     },
     "query": "SELECT \"file\", \"saved_ns\" FROM \"iotrail_finding\" WHERE \"job\" =~ /^${job:regex}$/ AND \"rule\" =~ /^${rule:regex}$/ LIMIT 50",
     "rawQuery": true,
     "refId": "A",
     "resultFormat": "table"
    }
   ],
   "title": "Time that findings could save, by file",
   "transformations": [
    {
     "id": "organize",
     "options": {
      "excludeByName": {
       "Time": true,
       "time": true
      }
     }
    }
   ],
   "type": "barchart"
  },
  {
   "datasource": {
    "type": "influxdb",
    "uid": "${source}"
   },
   "fieldConfig": {
    "defaults": {
     "custom": {
      "align": "auto",
      "cellOptions": {
       "type": "auto"
      },
      "filterable": true,
      "inspect": true
     },
     "links": [
      {
       "targetBlank": false,
       "title": "Accesses of this file",
       "url": "/d/iotrail-file/iotrail-file?${source:queryparam}&${job:queryparam}&var-file=${__data.fields.file:percentencode}&${__url_time_range}"
      }
     ],
     "unit": "none"
    },
    "overrides": [
     {
      "matcher": {
       "id": "byRegexp",
       "options": "/_ns$/"
      },
      "properties": [
       {
        "id": "unit",
        "value": "ns"
       }
      ]
     },
     {
      "matcher": {
       "id": "byRegexp",
       "options": "/^(bytes|size|reread|overwritten)/"
      },
      "properties": [
       {
        "id": "unit",
        "value": "bytes"
       }
      ]
     }
    ]
   },
   "gridPos": {
    "h": 14,
    "w": 24,
    "x": 0,
    "y": 10
   },
   "id": 2,
   "options": {
    "cellHeight": "sm",
    "frameIndex": 0,
    "showHeader": true
   },
   "targets": [
    {
     "alias": "",
     "datasource": {
      "type": "influxdb",
      "uid": "${source}"
     },
     "query": "SELECT \"rule\", \"severity\", \"file\", \"program\", \"calls\", \"saved_calls\", \"saved_ns\", \"fix\" FROM \"iotrail_finding\" WHERE \"job\" =~ /^${job:regex}$/ AND \"rule\" =~ /^${rule:regex}$/ LIMIT 500",
     "rawQuery": true,
     "refId": "A",
     "resultFormat": "table"
    }
   ],
   "title": "Findings",
   "transformations": [],
   "type": "table"
  }
 ],
 "refresh": "",
 "schemaVersion": 42,
 "tags": [
  "iotrail"
 ],
 "templating": {
  "list": [
   {
    "hide": 0,
    "includeAll": false,
    "label": "Data source",
    "multi": false,
    "name": "source",
    "query": "influxdb",
    "refresh": 1,
    "skipUrlSync": false,
    "type": "datasource"
   },
   {
    "datasource": {
     "type": "influxdb",
     "uid": "${source}"
    },
    "hide": 0,
    "includeAll": false,
    "label": "Job",
    "multi": false,
    "name": "job",
    "query": "SHOW TAG VALUES FROM \"iotrail_call\" WITH KEY = \"job\"",
    "refresh": 2,
    "skipUrlSync": false,
    "sort": 0,
    "type": "query"
   },
   {
    "allValue": ".*",
    "current": {
     "text": "All",
     "value": "$__all"
    },
    "datasource": {
     "type": "influxdb",
     "uid": "${source}"
    },
    "hide": 0,
    "includeAll": true,
    "label": "Rule",
    "multi": true,
    "name": "rule",
    "query": "SHOW TAG VALUES FROM \"iotrail_finding\" WITH KEY = \"rule\" WHERE \"job\" =~ /^${job:regex}$/",
    "refresh": 2,
    "skipUrlSync": false,
    "sort": 0,
    "type": "query"
   }
  ]
 },
 "time": {
  "from": "now-30d",
  "to": "now"
 },
 "timezone": "browser",
 "title": "iotrail: findings",
 "uid": "iotrail-findings",
 "version": 1
};
export const options0: Partial<Plain<barchartOptions>> = {"barWidth": 0.9, "fullHighlight": false, "groupWidth": 0.7, "legend": {"calcs": [], "displayMode": "list", "placement": "bottom", "showLegend": false}, "orientation": "horizontal", "showValue": "auto", "stacking": "none", "tooltip": {"mode": "single", "sort": "none"}, "xTickLabelRotation": 0, "xTickLabelSpacing": 0};
export const fields0: Partial<Plain<barchartFields>> = {"fillOpacity": 80, "lineWidth": 1};
export const options1: Partial<Plain<tableOptions>> = {"cellHeight": "sm", "frameIndex": 0, "showHeader": true};
export const fields1: Partial<Plain<tableFields>> = {"align": "auto", "cellOptions": {"type": "auto"}, "filterable": true, "inspect": true};
