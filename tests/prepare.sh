#!/usr/bin/env bash
# What the tests drive besides Python: a browser, PostgreSQL, Redis, nginx.
# As root on Debian they are installed; elsewhere what is there is used, and the rest is named.
set -u
has_postgres() { ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null; }
missing=()
command -v chromium >/dev/null || command -v chromium-browser >/dev/null || missing+=(chromium)
has_postgres || missing+=(postgresql)
command -v redis-server >/dev/null || missing+=(redis-server)
[ -x /usr/sbin/nginx ] || command -v nginx >/dev/null || missing+=(nginx-light)
[ ${#missing[@]} -eq 0 ] && exit 0
if [ "$(id -u)" = 0 ] && [ -f /etc/debian_version ] && command -v apt-get >/dev/null; then
  echo "Installing for the tests: ${missing[*]}"
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null && exit 0
fi
echo "==> NOT FOUND: ${missing[*]}. The tests that need them are SKIPPED; install them to run all."
exit 0
