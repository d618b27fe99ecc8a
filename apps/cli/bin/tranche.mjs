#!/usr/bin/env node
// Plain JavaScript, so that an old Node.js can read it and say what is wrong.
const needed = 24
const running = Number(process.versions.node.split('.')[0])

if (running < needed) {
  console.error(
    `NODE_TOO_OLD: tranche needs Node.js ${needed} or newer, and this is ${process.versions.node} (${process.execPath}). ` +
      `Run it through pnpm in the repository, which brings Node.js ${needed} on Linux, or install Node.js ${needed}.`,
  )
  process.exitCode = 1
} else {
  await import('../src/main.ts')
}
