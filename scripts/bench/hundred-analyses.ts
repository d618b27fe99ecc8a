/**
 * Runs a hundred analyses at once against a hundred servers in another process, three times. Prints one JSON object,
 * {@link HundredAnalyses}.
 *
 *   node --expose-gc scripts/bench/hundred-analyses.ts 2048
 *
 * The argument is the size of each answer in bytes, at most 1048576.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { judgeAnswer } from '../../packages/core/analysis/src/index.ts'
import type { Analysis, BatchRelease } from '../../packages/words/api-schema/src/index.ts'
import { FakeClock, systemClock } from '../../packages/words/clock/src/index.ts'
import { createAnalysisPass } from '../../packages/shells/controllers/src/index.ts'
import { silentLogger } from '../../packages/words/telemetry/src/index.ts'
import { createEgressClient, parseHostRule } from '../../packages/adapters/egress/src/index.ts'
import { applyPatch } from '../../packages/harness/testing/src/index.ts'
import { createMetricPort } from '../../apps/controller/src/index.ts'
import { within } from './until.ts'

/** Cost of the measurements. */
export interface HundredAnalyses {
  /** Memory of the process with everything loaded, before the first measurement. */
  readonly idleMebibytes: number
  /** Peak memory above that. */
  readonly aboveIdleMebibytes: number
  /** Median time from the moment when all are due until all are written. */
  readonly roundMs: number
}

const ANALYSES = 100
const RELEASES = 5
const ROUNDS = 3
const INTERVAL_MS = 30_000

if (process.argv[2] === 'serve') await serve(Number(process.argv[3]))
else {
  console.log(JSON.stringify(await play(Number(process.argv[2] ?? 2048))))
  process.exit(0)
}

async function play(answerBytes: number): Promise<HundredAnalyses> {
  const servers = fork(import.meta.filename, ['serve', String(answerBytes)])
  const [ports] = (await within('the servers to listen', once(servers, 'message'), { withinSeconds: 30 })) as [readonly number[]]
  const world = createWorld(ports)
  globalThis.gc?.()
  const idleBytes = process.memoryUsage.rss()
  const roundsMs: number[] = []
  for (let round = 0; round < ROUNDS; round++) roundsMs.push(await world.measureAll())
  servers.kill()
  return {
    idleMebibytes: Math.round(idleBytes / 2 ** 20),
    aboveIdleMebibytes: Math.round(process.resourceUsage().maxRSS / 1024 - idleBytes / 2 ** 20),
    roundMs: Math.round(roundsMs.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0),
  }
}

interface World {
  /** Makes all analyses due, and waits until their results are written. @returns the duration in milliseconds */
  measureAll(): Promise<number>
}

function createWorld(ports: readonly number[]): World {
  const clock = new FakeClock()
  const releases = new Map(Array.from({ length: RELEASES }, (_one, at) => [`agent-${at}`, aRelease(`agent-${at}`, ports, at)]))
  const allowHosts = [parseHostRule('127.0.0.1')].filter((rule) => typeof rule !== 'string')
  const egress = createEgressClient({ clock: systemClock, allowHosts, userAgent: 'bench/1' })
  const secrets = { read: () => Promise.reject(new Error('there are no secrets here')) }
  let answers = 0
  let onAllAnswered = (): void => undefined
  const analyses = createAnalysisPass({
    cluster: {
      read: ({ name }) => ({ release: releases.get(name)!, nodes: () => ['node-1', 'node-2'] }),
      async patchStatus(release, patch) {
        releases.set(release.metadata.name, applyPatch(release, patch) ?? release)
      },
    },
    metrics: createMetricPort({ egress, secrets }),
    judge: { judge: async (_namespace, judged) => judgeAnswer(judged) },
    clock,
    events: { record: () => undefined, flush: async () => undefined },
    wake: () => {
      if (++answers === ANALYSES) onAllAnswered()
    },
  })
  const passAll = async (): Promise<void> => {
    for (const name of releases.keys()) await analyses.reconcile({ namespace: 'bench', name }, new AbortController().signal, silentLogger)
  }
  return {
    async measureAll() {
      answers = 0
      const allAnswered = new Promise<void>((resolve) => (onAllAnswered = resolve))
      await passAll()
      clock.advance(INTERVAL_MS)
      const startMs = performance.now()
      await passAll()
      await within(`${ANALYSES} analyses to be answered`, allAnswered, { withinSeconds: 60 })
      await passAll()
      const failed = [...releases.values()].flatMap(({ status }) => status?.analysis ?? []).filter(({ errors = 0 }) => errors > 0)
      if (failed.length > 0) throw new Error(`an analysis could not be measured: ${failed[0]?.message}`)
      return performance.now() - startMs
    },
  }
}

function aRelease(name: string, ports: readonly number[], at: number): BatchRelease {
  const each = ANALYSES / RELEASES
  const analysis = ports.slice(at * each, (at + 1) * each).map(
    (port): Analysis => ({
      name: `metric-${port}`,
      background: true,
      initialDelay: '30s',
      interval: '30s',
      prometheus: { address: `http://127.0.0.1:${port}`, query: 'errors{revision="{{canaryRevision}}",node=~"{{nodes}}"}' },
      successCondition: 'size(result) > 0 && result.all(v, v < 0.05)',
      failureCondition: 'result.exists(v, v > 0.5)',
    }),
  )
  return {
    apiVersion: 'rollouts.kruise.io/v1beta1',
    kind: 'BatchRelease',
    metadata: { namespace: 'bench', name, uid: name, resourceVersion: '1', generation: 1 },
    spec: {
      workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name },
      releasePlan: { batches: [{ canaryReplicas: '100%' }], batchPartition: 0, enableExtraWorkloadForCanary: false },
      tranche: { release: 'r1', canaryRevision: 'v2', analysis },
    },
    status: { phase: 'Progressing', observedRelease: 'r1', canaryStatus: { currentBatch: 0, batchState: 'Upgrading' } },
  }
}

/** Answers like a Prometheus server, with as many series as fit. */
async function serve(answerBytes: number): Promise<void> {
  const series = { metric: { __name__: 'errors', node: 'node-123', pod: 'agent-x7f2k' }, value: [1_700_000_000.123, '0.01'] }
  const count = Math.max(1, Math.floor((answerBytes - 80) / (JSON.stringify(series).length + 1)))
  const answer = JSON.stringify({ status: 'success', data: { resultType: 'vector', result: Array.from({ length: count }, () => series) } })
  const ports: number[] = []
  for (let at = 0; at < ANALYSES; at++) {
    const server = createServer((_request, response) => response.setHeader('content-type', 'application/json').end(answer))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    ports.push((server.address() as AddressInfo).port)
  }
  process.send?.(ports)
}
