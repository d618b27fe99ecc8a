#!/bin/sh
# Makes what the image holds of ours: `scripts/image-root.sh FOLDER`, from the root of a checkout or of the image's build context.
set -eu
pnpm install --frozen-lockfile --filter tranche --filter '@tranche/cli...'
node scripts/bundle-cli.ts "$1"
# For whatever user the image is run as.
chmod -R a+rX,go-w "$1"
