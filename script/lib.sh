# shellcheck shell=bash
# Sourced by the scripts beside it: where things are, and how the playground is built.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
# What rustup installed goes before an older cargo of the system.
PATH=$root/.data/node/node_modules/.bin:${HOME-}/.cargo/bin:$PATH

say() { printf '%s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# Whether something listens on port $2 of host $1.
listens() { (exec 3<>"/dev/tcp/$1/$2") 2>/dev/null; }

# The directory of the newest Postgres, 15 or later, that has the server and its tools in one place;
# with a major version as the argument, of that Postgres.
pg_bindir() {
  local dir newest=14 found=''
  for dir in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin {/opt/homebrew,/usr/local}/opt/postgresql*/bin \
    "$(dirname "$(command -v pg_ctl || echo /)")"; do
    [[ -x $dir/initdb && -x $dir/pg_ctl && -x $dir/postgres ]] || continue
    [[ $("$dir/postgres" --version) =~ \)\ ([0-9]+) ]] || continue
    ((BASH_REMATCH[1] > newest && (${1:-0} == 0 || BASH_REMATCH[1] == ${1:-0}))) || continue
    newest=${BASH_REMATCH[1]} found=$dir
  done
  [[ $found ]] && echo "$found"
}

chromium_bin() { command -v chromium || command -v chromium-browser || command -v google-chrome; }

# Installs and builds the playground, each only if what it depends on has changed.
build_playground() (
  cd "$root/web-playground" || exit
  cmp -s package-lock.json node_modules/.installed || {
    npm ci --include=dev --no-audit --no-fund
    cp package-lock.json node_modules/.installed
  }
  sources=$(find . \( -name node_modules -o -path ./dist -o -path ./test -o -path ./test-results \) -prune -o -type f -print0 |
    LC_ALL=C sort -z | xargs -0 cksum)
  [[ -e dist/index.html && $sources == "$(cat node_modules/.built 2>/dev/null)" ]] || {
    npm run build
    printf '%s\n' "$sources" >node_modules/.built
  }
)
