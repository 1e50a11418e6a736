# Sourced by the other scripts: installs what a test needs and is missing, into the system (Debian packages, as root) or
# into .cache/ (PyPI, npm). Nothing of it is needed to run iotrail.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache="$root/.cache"

# debian PROGRAM=PACKAGE...: installs the packages whose programs are missing.
debian() {
  local missing=()
  for pair in "$@"; do
    command -v "${pair%%=*}" >/dev/null || missing+=("${pair#*=}")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
    echo "missing: ${missing[*]} (install these packages and run again)" >&2
    return 1
  fi
  echo "installing ${missing[*]}"
  { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}"; } \
    >"$cache/apt.log" 2>&1 || { tail -n 20 "$cache/apt.log" >&2; return 1; }
}

# python_with REQUIREMENTS: a virtual environment in .cache/ with exactly these packages; prints its interpreter.
python_with() {
  local file=$1 venv
  venv=$cache/venv-$(basename "$(dirname "$file")")
  if ! cmp -s "$file" "$venv/requirements.txt"; then
    { python3 -m venv --clear "$venv" && "$venv/bin/pip" install -q -r "$file" && cp "$file" "$venv/requirements.txt"; } \
      >"$cache/pip.log" 2>&1 || { tail -n 20 "$cache/pip.log" >&2; return 1; }
  fi
  echo "$venv/bin/python"
}

# cargo_tool NAME VERSION: a cargo subcommand from crates.io; without optimisation it is built in a third of the time.
cargo_tool() {
  command -v "$1" >/dev/null && return 0
  echo "installing $1 $2 (once, some minutes)"
  CARGO_PROFILE_DEV_DEBUG=0 cargo install --debug --quiet --locked "$1" --version "$2" >"$cache/$1.log" 2>&1 || { tail -n 20 "$cache/$1.log" >&2; return 1; }
}

mkdir -p "$cache"
