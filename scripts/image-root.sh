#!/bin/sh
# Builds Tranche's part of the image: `scripts/image-root.sh FOLDER`, from the root of a checkout or of the image's build context.
set -eu
pnpm install --frozen-lockfile --filter tranche --filter '@tranche/launcher...' --filter '@tranche/dashboard...'
node scripts/bundle-cli.ts "$1"
# Readable for any user that the image runs as.
chmod -R a+rX,go-w "$1"
