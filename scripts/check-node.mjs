/**
 * Prints one clear line if the running Node.js is too old, and exits with 1. The required version is in `engines` of package.json.
 *
 * It is plain JavaScript, so that an old Node.js can run it. `node --import ./scripts/check-node.mjs program.ts` runs it before any
 * TypeScript is loaded.
 */
import { readFileSync } from 'node:fs'

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
const needed = Number(/\d+/.exec(manifest.engines.node)[0])
const running = Number(process.versions.node.split('.')[0])

if (running < needed) {
  console.error(
    `NODE_TOO_OLD: Tranche needs Node.js ${needed} or newer, and this is ${process.versions.node} (${process.execPath}). ` +
      `Run it through pnpm (npx -y ${manifest.packageManager} start), which brings Node.js ${needed} on Linux, or install Node.js ${needed}.`,
  )
  process.exit(1)
}
