/**
 * Runs queries of policies against a real Prometheus server. Prints one line per query, and exits with 1 if a result is wrong.
 *
 *   node scripts/prometheus-analysis.ts [/usr/bin/prometheus]
 *
 * The server is started on 127.0.0.1 with its own folder, scrapes one number from this process every second, and is ended afterwards.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fitForStatus, judgeAnswer, type MeasurementOutcome, toRequest } from '../packages/core/analysis/src/index.ts'
import type { Analysis } from '../packages/words/api-schema/src/index.ts'
import { systemClock } from '../packages/words/clock/src/index.ts'
import { createEgressClient, parseHostRule } from '../packages/adapters/egress/src/index.ts'
import { createMetricPort } from '../apps/controller/src/index.ts'
import { freePort } from './free-port.ts'

interface Question {
  readonly name: string
  readonly rules: Partial<Analysis> & { readonly query: string; readonly range?: string }
  readonly want: MeasurementOutcome['phase']
}

const questions: readonly Question[] = [
  {
    name: 'success',
    rules: { query: 'demo_errors{revision="{{canaryRevision}}"}', successCondition: 'result[0] < 0.05' },
    want: 'Successful',
  },
  { name: 'failure', rules: { query: 'demo_errors * 100', successCondition: 'result[0] < 0.05' }, want: 'Failed' },
  {
    name: 'inconclusive',
    rules: { query: 'demo_errors * 10', successCondition: 'result[0] < 0.05', failureCondition: 'result[0] > 0.5' },
    want: 'Inconclusive',
  },
  { name: 'NaN', rules: { query: 'demo_errors * 0 / 0', failureCondition: 'result[0] > 0.5' }, want: 'Inconclusive' },
  { name: 'scalar', rules: { query: 'scalar(demo_errors)', successCondition: 'result[0] == 0.01' }, want: 'Successful' },
  { name: 'nodes', rules: { query: 'demo_errors{node=~"{{nodes}}"}', successCondition: 'size(result) == 1' }, want: 'Successful' },
  { name: 'no series', rules: { query: 'nothing_of_that_name', successCondition: 'size(result) == 0' }, want: 'Successful' },
  { name: 'no series, first asked for', rules: { query: 'nothing_of_that_name', successCondition: 'result[0] < 1.0' }, want: 'Error' },
  {
    name: 'range',
    rules: { query: 'demo_errors', range: '1m', successCondition: 'size(result) > 0 && result.all(v, v < 0.05)' },
    want: 'Successful',
  },
  {
    name: 'long query, by POST',
    rules: { query: `demo_errors{node!="${'x'.repeat(4000)}"}`, successCondition: 'result[0] < 0.05' },
    want: 'Successful',
  },
  { name: 'no PromQL', rules: { query: 'demo_errors{', successCondition: 'true' }, want: 'Error' },
]

const binary = process.argv[2] ?? '/usr/bin/prometheus'
const folder = mkdtempSync(join(tmpdir(), 'tranche-prometheus-'))
const exporter = createServer((_request, response) => response.end('demo_errors{revision="v2",node="node-1"} 0.01\n'))
exporter.listen(0, '127.0.0.1')
await once(exporter, 'listening')
const port = await freePort()
writeFileSync(join(folder, 'prometheus.yml'), config((exporter.address() as AddressInfo).port))
const server = spawn(
  binary,
  [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
  ],
  { stdio: 'ignore' },
)
try {
  await untilScraped()
  for (const { name, rules, want } of questions) {
    const outcome = await measure(rules)
    const isKept = outcome.phase === want
    console.log(`${isKept ? 'ok  ' : 'FAIL'} ${name}: ${outcome.phase} ${outcome.value ?? ''} ${outcome.message ?? ''}`.trimEnd())
    if (!isKept) process.exitCode = 1
  }
} finally {
  server.kill()
  exporter.close()
  rmSync(folder, { recursive: true, force: true })
}

async function measure({ query, range, ...rules }: Question['rules']): Promise<MeasurementOutcome> {
  const values = { canaryRevision: 'v2', nodes: 'node-1|node-2' }
  const prometheus = { address: `http://127.0.0.1:${port}`, query, ...(range !== undefined && { range }) }
  const analysis: Analysis = { name: 'demo', prometheus, ...rules }
  const allowHosts = [parseHostRule('127.0.0.1')].filter((rule) => typeof rule !== 'string')
  const egress = createEgressClient({ clock: systemClock, allowHosts, userAgent: 'script/1' })
  const secrets = { read: () => Promise.reject(new Error('there are no secrets here')) }
  const request = toRequest(analysis, values, systemClock.nowMs())
  if (request === null) throw new Error('the analysis sends no request')
  const result = await createMetricPort({ egress, secrets }).ask('demo', request, new AbortController().signal)
  await egress.close()
  if (result.kind === 'failed') return { phase: 'Error', message: result.message }
  const { conceal, ...answer } = result.answer
  return fitForStatus(judgeAnswer({ analysis, values, answer }), conceal)
}

/** Waits for the first scrape of a newly started server. */
async function untilScraped(): Promise<void> {
  for (let tries = 0; tries < 120; tries++) {
    if (server.exitCode !== null) throw new Error(`${binary} ended with ${server.exitCode}`)
    const { phase } = await measure({ query: 'demo_errors', successCondition: 'size(result) == 1' })
    if (phase === 'Successful') return
    await sleep(500)
  }
  throw new Error(`${binary} did not scrape within a minute`)
}

function config(exporterPort: number): string {
  return `global: { scrape_interval: 1s }\nscrape_configs:\n  - { job_name: demo, static_configs: [{ targets: ['127.0.0.1:${exporterPort}'] }] }\n`
}
