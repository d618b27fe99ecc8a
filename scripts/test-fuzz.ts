/**
 * The fuzzer of the REST API: `pnpm test:fuzz`. Sends valid and invalid requests, generated from apps/api/openapi.json, to every route of a
 * real server. Checks every answer, and the state of the cluster afterwards.
 *
 * ```text
 * pnpm test:fuzz                      one minute, from seed 1
 * pnpm test:fuzz --minutes 5          five minutes
 * pnpm test:fuzz --from 17 --rounds 1 only seed 17
 * pnpm test:fuzz -o json              ends with one line of JSON: {"requests", "findings", "statuses", "operations", …}
 * ```
 *
 * Exits with 1 on a finding, with the smallest request that shows it.
 */
import { parseArgs } from 'node:util'
import { fuzz } from '../apps/api/test/fuzz/fuzz.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    rounds: { type: 'string' },
    from: { type: 'string', default: '1' },
    output: { type: 'string', short: 'o', default: 'text' },
  },
})
const minutes = number('--minutes', values.minutes)
const rounds = values.rounds === undefined ? Number.POSITIVE_INFINITY : number('--rounds', values.rounds)
/** Number of requests per round. Each round has its own seed. */
const RUNS = 400
/** Runs forecasts, as in production. */
const PLAN_MS = 60_000

const endMs = performance.now() + minutes * 60_000
const goesOn = (round: number): boolean => round < rounds && performance.now() < endMs
const report = await fuzz({ seed: number('--from', values.from), runs: RUNS, goesOn, planMs: PLAN_MS })
const { requests, findings, statuses, operations, dearest } = report
const cpuSeconds = Math.round(process.cpuUsage().user / 1e6)
if (values.output === 'json') console.log(JSON.stringify({ requests, findings, statuses, operations, dearest, cpuSeconds }))
else {
  for (const { seed, finding, request } of findings) console.log(`seed ${seed}: ${finding}\n  ${request}\n`)
  const tried = Object.values(operations).filter(({ well }) => well > 0).length
  console.log(`${requests} requests, ${findings.length} findings; ${tried} of ${Object.keys(operations).length} operations answered well`)
  console.log(`the most expensive request took ${dearest.cpuMs} ms of processor time: ${dearest.request}`)
}
process.exitCode = findings.length === 0 ? 0 : 1

function number(option: string, text: string): number {
  const value = Number(text)
  if (value > 0) return value
  console.error(`${option} is "${text}"; give a number above 0`)
  process.exit(2)
}
