# Two commands do all set-up: `make demo` shows the main job, `make test` proves it.
SHELL := /bin/bash
.PHONY: help demo build sql install dist test test-rust test-interop test-workflow test-sql test-browser lint docs bench clean

help:            ## What can be made
	@grep -hE '^[a-z-]+: .*##|^[a-z-]+:  +##' $(MAKEFILE_LIST) | sed -E 's/:.*## */\t/' | expand -t 16

demo:            ## Build iotrail, analyse real traces, say where the picture and the page are
	@scripts/demo.sh

build:           ## Build the release binary, target/release/iotrail (FEATURES=sqlite: with exports to SQLite)
	cargo build --release --locked --features "$(FEATURES)"

sql:             ## Build the query engine, target/release/iotrail-sql (heavy)
	cargo build --release --locked -p iotrail-sql

install: FEATURES := sqlite
install: build   ## Install binaries (iotrail-sql if built), man pages and completions below PREFIX (default /usr/local)
	@scripts/install.sh "$${PREFIX:-/usr/local}"

dist:            ## An archive for other machines with checksum, below dist/ (STATIC=no: linked dynamically)
	@scripts/dist.sh "$${STATIC:-yes}"

test:            ## Install what is missing, run every test but the query engine's, print one summary
	@scripts/test.sh all

test-rust:       ## Unit, property, snapshot and command-line tests
	@scripts/test.sh rust

test-interop:    ## DuckDB, pandas, pm4py, networkx, JSON schemas
	@scripts/test.sh interop

test-workflow:   ## Montage recorded; workflow systems read what is exported
	@scripts/test.sh workflow

test-sql:        ## The query engine (heavy)
	@scripts/test.sh sql

test-browser:    ## The report in headless Chromium
	@scripts/test.sh browser

lint:            ## Format, clippy, licences
	@scripts/lint.sh

docs:            ## API documentation and links of the user guide
	@scripts/docs.sh

bench:           ## Whole commands, compared with other tools (long)
	@bench/run.sh

clean:           ## Remove what was built
	cargo clean
