/**
 * Records the demo release of `tranche dev --demo --exit` into docs/guides/images/demo.cast, as asciinema stores it. Takes a minute.
 *
 * The recording begins with the release. The lines before it have addresses and tokens of one run.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { castOf, writeCast, type CastFrame } from '../apps/docs-site/src/cast/cast.ts'

const root = resolve(import.meta.dirname, '..')
const FIRST = /^releasing /

const lines: CastFrame[] = [{ seconds: 0, text: '$ tranche dev --demo --exit' }]
let startedMs: number | null = null
const demo = spawn(process.execPath, [join(root, 'apps/launcher/bin/tranche.mjs'), 'dev', '--demo', '--exit', '--seed', '7'], {
  // Progress goes to standard error, the result to standard output.
  stdio: ['ignore', 'pipe', 'pipe'],
  env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0' },
})
for (const input of [demo.stdout, demo.stderr]) createInterface({ input }).on('line', record)
const [exitCode] = (await once(demo, 'close')) as [number | null]
if (exitCode !== 0 || startedMs === null) throw new Error(`the demo ended with ${exitCode}, after ${lines.length - 1} lines`)
writeFileSync(join(root, 'docs/guides/images/demo.cast'), writeCast(castOf('A release of the demo, from the first node to Healthy', lines)))
console.log(`docs/guides/images/demo.cast: ${lines.length} lines in ${lines.at(-1)?.seconds.toFixed(0)} s`)

function record(line: string): void {
  if (FIRST.test(line)) startedMs = performance.now()
  if (startedMs !== null) lines.push({ seconds: 1 + (performance.now() - startedMs) / 1_000, text: line })
}
