/**
 * Says in one clear line when the running Node.js is too old, and ends with exit code 1.
 * Plain JavaScript, so that the old Node.js can read it: `node --import ./scripts/check-node.mjs program.ts` runs this before any
 * TypeScript is looked at. The version needed is the one in `engines` of package.json.
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
