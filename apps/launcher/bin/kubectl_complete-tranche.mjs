#!/usr/bin/env node
// kubectl runs a program of this name at every Tab after `kubectl tranche`, with the typed words.
process.argv.splice(2, 0, '__complete', '--directive', '--')
await import('./tranche.mjs')
