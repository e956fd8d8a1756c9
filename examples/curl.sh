#!/bin/sh
# Plain HTTP: an answer, a stream, the models on offer, and what would be sent upstream.
# Start a gateway first: `npm run demo`. GATEWAY_URL and GATEWAY_API_KEY name another one.
set -eu
url=${GATEWAY_URL:-http://127.0.0.1:8787}
key=${GATEWAY_API_KEY:-mgk_demo}

ask() {
  curl -sS --fail-with-body -N "$url/v1/chat/completions" -H 'content-type: application/json' -H "x-gateway-api-key: $key" "$@"
  echo
}

ask -d '{"model":"@google/gemini-3.8-flash","messages":[{"role":"user","content":"Hello"}]}'
ask -d '{"model":"@google/gemini-3.8-flash","stream":true,"messages":[{"role":"user","content":"Hello"}]}'
ask -H 'x-gateway-dry-run: true' -d '{"model":"@google/gemini-3.8-flash","messages":[{"role":"user","content":"Hello"}]}'
curl -sS --fail-with-body "$url/v1/models" -H "x-gateway-api-key: $key"
echo
