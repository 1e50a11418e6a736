import type { Dashboard } from "@grafana/schema/dist/esm/raw/dashboard/x/Dashboard_types.gen";
import type { Plain } from "../plain.ts";
import type { Options as barchartOptions, FieldConfig as barchartFields } from "@grafana/schema/dist/esm/raw/composable/barchart/panelcfg/x/BarChartPanelCfg_types.gen";
import type { Options as tableOptions, FieldConfig as tableFields } from "@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen";
import type { Options as timeseriesOptions, FieldConfig as timeseriesFields } from "@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen";
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
   "title": "iotrail: findings",
   "tooltip": "",
   "type": "link",
   "url": "/d/iotrail-findings/iotrail-findings"
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
      "drawStyle": "points",
      "fillOpacity": 10,
      "lineWidth": 1,
      "pointSize": 4,
      "showPoints": "always",
      "spanNulls": false
     },
     "unit": "bytes"
    },
    "overrides": []
   },
   "gridPos": {
    "h": 12,
    "w": 24,
    "x": 0,
    "y": 0
   },
   "id": 1,
   "options": {
    "legend": {
     "calcs": [],
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": true
    },
    "tooltip": {
     "mode": "single",
     "sort": "none"
    }
   },
   "targets": [
    {
     "alias": "$tag_call $col",
     "datasource": {
      "type": "influxdb",
      "uid": "${source}"
     },
     "query": "SELECT \"offset\", \"offset_after\" FROM \"iotrail_call\" WHERE \"job\" =~ /^${job:regex}$/ AND \"layer\" =~ /^${layer:regex}$/ AND \"host\" =~ /^${host:regex}$/ AND \"rank\" =~ /^${rank:regex}$/ AND \"file\" =~ /^${file:regex}$/ AND \"call\" =~ /^${call:regex}$/ AND $timeFilter GROUP BY \"call\"",
     "rawQuery": true,
     "refId": "A",
     "resultFormat": "time_series"
    }
   ],
   "title": "Position in the file: begin and end of each access",
   "transformations": [],
   "type": "timeseries"
  },
  {
   "datasource": {
    "type": "influxdb",
    "uid": "${source}"
   },
   "fieldConfig": {
    "defaults": {
     "custom": {
      "drawStyle": "points",
      "fillOpacity": 10,
      "lineWidth": 1,
      "pointSize": 4,
      "showPoints": "always",
      "spanNulls": false
     },
     "unit": "bytes"
    },
    "overrides": []
   },
   "gridPos": {
    "h": 8,
    "w": 12,
    "x": 0,
    "y": 12
   },
   "id": 2,
   "options": {
    "legend": {
     "calcs": [],
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": true
    },
    "tooltip": {
     "mode": "single",
     "sort": "none"
    }
   },
   "targets": [
    {
     "alias": "$tag_call $col",
     "datasource": {
      "type": "influxdb",
      "uid": "${source}"
     },
     "query": "SELECT \"size\" FROM \"iotrail_call\" WHERE \"job\" =~ /^${job:regex}$/ AND \"layer\" =~ /^${layer:regex}$/ AND \"host\" =~ /^${host:regex}$/ AND \"rank\" =~ /^${rank:regex}$/ AND \"file\" =~ /^${file:regex}$/ AND \"call\" =~ /^${call:regex}$/ AND $timeFilter GROUP BY \"call\"",
     "rawQuery": true,
     "refId": "A",
     "resultFormat": "time_series"
    }
   ],
   "title": "Bytes of each access",
   "transformations": [],
   "type": "timeseries"
  },
  {
   "datasource": {
    "type": "influxdb",
    "uid": "${source}"
   },
   "fieldConfig": {
    "defaults": {
     "custom": {
      "drawStyle": "points",
      "fillOpacity": 10,
      "lineWidth": 1,
      "pointSize": 4,
      "showPoints": "always",
      "spanNulls": false
     },
     "unit": "ns"
    },
    "overrides": []
   },
   "gridPos": {
    "h": 8,
    "w": 12,
    "x": 12,
    "y": 12
   },
   "id": 3,
   "options": {
    "legend": {
     "calcs": [],
     "displayMode": "list",
     "placement": "bottom",
     "showLegend": true
    },
    "tooltip": {
     "mode": "single",
     "sort": "none"
    }
   },
   "targets": [
    {
     "alias": "$tag_call $col",
     "datasource": {
      "type": "influxdb",
      "uid": "${source}"
     },
     "query": "SELECT \"duration_ns\" FROM \"iotrail_call\" WHERE \"job\" =~ /^${job:regex}$/ AND \"layer\" =~ /^${layer:regex}$/ AND \"host\" =~ /^${host:regex}$/ AND \"rank\" =~ /^${rank:regex}$/ AND \"file\" =~ /^${file:regex}$/ AND \"call\" =~ /^${call:regex}$/ AND $timeFilter GROUP BY \"call\"",
     "rawQuery": true,
     "refId": "A",
     "resultFormat": "time_series"
    }
   ],
   "title": "Duration of each call",
   "transformations": [],
   "type": "timeseries"
  },
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
     "unit": "ns"
    },
    "overrides": []
   },
   "gridPos": {
    "h": 10,
    "w": 8,
    "x": 0,
    "y": 20
   },
   "id": 4,
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
     "query": "SELECT sum(\"duration_ns\") AS \"time_ns\" FROM \"iotrail_call\" WHERE \"job\" =~ /^${job:regex}$/ AND \"layer\" =~ /^${layer:regex}$/ AND \"host\" =~ /^${host:regex}$/ AND \"rank\" =~ /^${rank:regex}$/ AND \"file\" =~ /^${file:regex}$/ AND \"call\" =~ /^${call:regex}$/ AND $timeFilter GROUP BY \"rank\"",
     "rawQuery": true,
     "refId": "A",
     "resultFormat": "table"
    }
   ],
   "title": "Time in calls on this file by rank",
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
    "h": 10,
    "w": 16,
    "x": 8,
    "y": 20
   },
   "id": 5,
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
     "query": "SELECT \"call\", \"rank\", \"pid\", \"tid\", \"offset\", \"size\", \"requested\", \"duration_ns\", \"errno\", \"seq\" FROM \"iotrail_call\" WHERE \"job\" =~ /^${job:regex}$/ AND \"layer\" =~ /^${layer:regex}$/ AND \"host\" =~ /^${host:regex}$/ AND \"rank\" =~ /^${rank:regex}$/ AND \"file\" =~ /^${file:regex}$/ AND \"call\" =~ /^${call:regex}$/ AND $timeFilter LIMIT 1000",
     "rawQuery": true,
     "refId": "A",
     "resultFormat": "table"
    }
   ],
   "title": "Calls on this file",
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
    "datasource": {
     "type": "influxdb",
     "uid": "${source}"
    },
    "hide": 0,
    "includeAll": false,
    "label": "Layer",
    "multi": false,
    "name": "layer",
    "query": "SHOW TAG VALUES FROM \"iotrail_call\" WITH KEY = \"layer\" WHERE \"job\" =~ /^${job:regex}$/",
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
    "label": "Host",
    "multi": true,
    "name": "host",
    "query": "SHOW TAG VALUES FROM \"iotrail_call\" WITH KEY = \"host\" WHERE \"job\" =~ /^${job:regex}$/ AND \"layer\" =~ /^${layer:regex}$/",
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
    "label": "Rank",
    "multi": true,
    "name": "rank",
    "query": "SHOW TAG VALUES FROM \"iotrail_call\" WITH KEY = \"rank\" WHERE \"job\" =~ /^${job:regex}$/ AND \"layer\" =~ /^${layer:regex}$/ AND \"host\" =~ /^${host:regex}$/",
    "refresh": 2,
    "skipUrlSync": false,
    "sort": 0,
    "type": "query"
   },
   {
    "datasource": {
     "type": "influxdb",
     "uid": "${source}"
    },
    "hide": 0,
    "includeAll": false,
    "label": "File",
    "multi": false,
    "name": "file",
    "query": "SELECT \"file\" FROM \"iotrail_file\" WHERE \"job\" =~ /^${job:regex}$/ LIMIT 1000",
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
    "label": "Call",
    "multi": true,
    "name": "call",
    "query": "SHOW TAG VALUES FROM \"iotrail_call\" WITH KEY = \"call\" WHERE \"job\" =~ /^${job:regex}$/ AND \"layer\" =~ /^${layer:regex}$/",
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
 "title": "iotrail: one file",
 "uid": "iotrail-file",
 "version": 1
};
export const options0: Partial<Plain<timeseriesOptions>> = {"legend": {"calcs": [], "displayMode": "list", "placement": "bottom", "showLegend": true}, "tooltip": {"mode": "single", "sort": "none"}};
export const fields0: Partial<Plain<timeseriesFields>> = {"drawStyle": "points", "fillOpacity": 10, "lineWidth": 1, "pointSize": 4, "showPoints": "always", "spanNulls": false};
export const options1: Partial<Plain<timeseriesOptions>> = {"legend": {"calcs": [], "displayMode": "list", "placement": "bottom", "showLegend": true}, "tooltip": {"mode": "single", "sort": "none"}};
export const fields1: Partial<Plain<timeseriesFields>> = {"drawStyle": "points", "fillOpacity": 10, "lineWidth": 1, "pointSize": 4, "showPoints": "always", "spanNulls": false};
export const options2: Partial<Plain<timeseriesOptions>> = {"legend": {"calcs": [], "displayMode": "list", "placement": "bottom", "showLegend": true}, "tooltip": {"mode": "single", "sort": "none"}};
export const fields2: Partial<Plain<timeseriesFields>> = {"drawStyle": "points", "fillOpacity": 10, "lineWidth": 1, "pointSize": 4, "showPoints": "always", "spanNulls": false};
export const options3: Partial<Plain<barchartOptions>> = {"barWidth": 0.9, "fullHighlight": false, "groupWidth": 0.7, "legend": {"calcs": [], "displayMode": "list", "placement": "bottom", "showLegend": false}, "orientation": "horizontal", "showValue": "auto", "stacking": "none", "tooltip": {"mode": "single", "sort": "none"}, "xTickLabelRotation": 0, "xTickLabelSpacing": 0};
export const fields3: Partial<Plain<barchartFields>> = {"fillOpacity": 80, "lineWidth": 1};
export const options4: Partial<Plain<tableOptions>> = {"cellHeight": "sm", "frameIndex": 0, "showHeader": true};
export const fields4: Partial<Plain<tableFields>> = {"align": "auto", "cellOptions": {"type": "auto"}, "filterable": true, "inspect": true};
