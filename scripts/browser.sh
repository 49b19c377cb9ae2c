#!/bin/sh
# Make sure that the browser tests find a browser. Where none can be installed, the tests say so: they are skipped on a
# developer's machine and fail in CI.
for name in chromium chromium-browser google-chrome; do
  command -v "$name" >/dev/null 2>&1 && exit 0
done
[ -n "$PYRAMIDION_BROWSER" ] && exit 0
if command -v apt-get >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
  echo "Installing Chromium for the browser tests ..."
  (apt-get update -q && apt-get install -y -q --no-install-recommends chromium) >/dev/null 2>&1 && exit 0
fi
echo "No Chromium found and none could be installed: install it, or set PYRAMIDION_BROWSER to its path." >&2
exit 0
