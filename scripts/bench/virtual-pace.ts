/**
 * Measures one release in virtual time: pace, requests, and the size of statuses. Pods take 0.5 s to stop and 2 to 3 s to start. The result
 * is the same on every machine, except for the seconds. Prints one JSON object, {@link VirtualPace}.
 *
 *   node scripts/bench/virtual-pace.ts 300 30        batches of 10 %, 50 % and all nodes, 30 at a time
 *   node scripts/bench/virtual-pace.ts 300 30 100    one batch
 */
import type { Exchange } from '../../packages/words/wire/src/index.ts'
import { type RecordedWrite, type ReleasePace, releasePace } from '../../packages/simulator/recording/src/index.ts'
import { requestKind } from '../../test/scenarios/costs/release-costs.ts'
import { untilReleased } from '../../test/scenarios/looks.ts'
import { measuredPods } from '../../test/scenarios/openkruise-faults/measured.ts'
import { stageKey } from '../../test/scenarios/stage-objects.ts'
import { setStage } from '../../test/scenarios/stage.ts'

/** Result of one release. Requests begin with the change of the DaemonSet. */
export interface VirtualPace {
  readonly nodes: number
  readonly limit: number
  readonly pace: ReleasePace
  /** Number of requests by program, verb and resource: `executor DELETE pods`. */
  readonly requests: Readonly<Record<string, number>>
  /** Largest status of the BatchRelease, which contains the record, in bytes as JSON. */
  readonly releaseBytes: number
  /** The same of the Rollout. */
  readonly rolloutBytes: number
  /** Processor time of programs and simulator in the release. */
  readonly busySeconds: number
}

/** Plays a release. @param shares sizes of the batches in percent */
export async function measurePace(nodes: number, limit: number, shares: readonly number[]): Promise<VirtualPace> {
  const steps = shares.map((share) => ({ replicas: `${share}%`, pause: { duration: 0 } }))
  let requests: Record<string, number> = {}
  const tap =
    (identity: string, exchange: Exchange): Exchange =>
    (request, signal) => {
      const name = `${identity.replace(/-\d+$/, '')} ${requestKind(request)}`
      requests[name] = (requests[name] ?? 0) + 1
      return exchange(request, signal)
    }
  const stage = await setStage({ nodes, maxUnavailable: limit, steps, annotations: measuredPods, tap })
  const sinceMs = stage.clock.nowMs()
  requests = {}
  const atStart = process.cpuUsage()
  await stage.setImage('v2')
  await untilReleased(stage, 'v2', 24 * 3_600_000)
  const { user, system } = process.cpuUsage(atStart)
  const writes = stage.recording()
  const seen = {
    nodes,
    limit,
    pace: releasePace(writes, { daemonSet: stageKey.name, sinceMs, limit }),
    requests: { ...requests },
    releaseBytes: largestStatus(writes, 'BatchRelease'),
    rolloutBytes: largestStatus(writes, 'Rollout'),
    busySeconds: (user + system) / 1e6,
  }
  await stage.end()
  return seen
}

function largestStatus(writes: readonly RecordedWrite[], kind: string): number {
  return writes.reduce((most, write) => (write.kind === kind ? Math.max(most, JSON.stringify(write.o['status'] ?? {}).length) : most), 0)
}

if (import.meta.main) {
  const [nodes = 30, limit = 5, ...shares] = process.argv.slice(2).map(Number)
  console.log(JSON.stringify(await measurePace(nodes, limit, shares.length > 0 ? shares : [10, 50, 100])))
}
