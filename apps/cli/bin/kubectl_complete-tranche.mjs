#!/usr/bin/env node
// kubectl runs a program of this name at every Tab behind `kubectl tranche`, with the words so far.
process.argv.splice(2, 0, '__complete', '--directive', '--')
await import('./tranche.mjs')
