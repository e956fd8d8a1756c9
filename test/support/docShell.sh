# The shell in which commands of the pages run: the programs and addresses that they name stand for those of a test.
# It must not know a page. REPOSITORY, NODE and STATUSES come from the test; a failed command ends the shell.
set -euo pipefail
trap 'printf "failed: %s\n" "$BASH_COMMAND" >&2; [ -s "$HOME/gateway.log" ] && cat "$HOME/gateway.log" >&2' ERR
trap 'stop_gateway' EXIT
# The bundle that global setup builds: it starts with a quarter of the CPU time of the sources.
main="$REPOSITORY/.cache/program/main.js"
gateway_pid=""
gateway_port=""

stop_gateway() {
  [ -n "$gateway_pid" ] || return 0
  kill -TERM "$gateway_pid"
  wait "$gateway_pid"
  gateway_pid=""
}

# Runs until the page starts another one or ends. The port is free, so that pages run next to each other.
start_gateway() {
  stop_gateway
  rm -f "$HOME/lines"
  mkfifo "$HOME/lines"
  GATEWAY_SERVER_PORT="${WORKERS_PORT:-0}" "$NODE" "$main" "$@" > "$HOME/lines" 2>&1 &
  gateway_pid=$!
  exec 3< "$HOME/lines"
  gateway_port=""
  while read -r -u 3 line; do
    printf '%s\n' "$line" >> "$HOME/gateway.log"
    if [[ "$line" =~ ^API\ +http://127\.0\.0\.1:([0-9]+)/ ]]; then gateway_port="${BASH_REMATCH[1]}"; break; fi
  done
  cat <&3 >> "$HOME/gateway.log" &
  [ -n "$gateway_port" ]
}

model-gateway() {
  case "${1:-}" in
    serve | demo) start_gateway "$@" ;;
    *) "$NODE" "$main" "$@" ;;
  esac
}

# Runs what the script of package.json runs: each of these ends with `node src/main.ts VERB`.
npm() {
  local words name
  words=("$@")
  [ "${words[0]}" = run ] && words=("${words[@]:1}")
  [ "${words[0]}" = -s ] && words=("${words[@]:1}")
  name="${words[0]}"
  words=("${words[@]:1}")
  [ "${words[0]:-}" = -- ] && words=("${words[@]:1}")
  local script
  script="$("$NODE" -p 'require(process.argv[1]).scripts[process.argv[2]]' "$REPOSITORY/package.json" "$name")"
  # shellcheck disable=SC2086
  model-gateway ${script##*node src/main.ts} "${words[@]+"${words[@]}"}"
}

# The address of the pages is that of the gateway that runs; each status is written down.
curl() {
  command curl -sS --max-time 20 -w '%{stderr}%{http_code}\n' "${@//127.0.0.1:8787/127.0.0.1:$gateway_port}" 2>> "$STATUSES"
}
