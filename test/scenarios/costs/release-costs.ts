import type { Exchange, WireRequest, WireResponse } from '@tranche/wire'
import { untilReleased } from '../looks.ts'
import { idealMakespan, slotsOf } from '../makespan.ts'
import { measuredPods } from '../openkruise-faults/measured.ts'
import { setStage, type Stage, type StageOptions } from '../stage.ts'

/** A release whose costs are measured: one controller, one executor, batches of 10 %, 50 % and all nodes. */
export interface MeasuredRelease {
  readonly nodes: number
  /** maxUnavailable. */
  readonly limit: number
  /** Wraps the counted connection between a program and the API server. @default no wrapper */
  readonly tap?: StageOptions['tap']
}

/** Costs of a release by name. The same on every machine: they are counts and virtual time. */
export type ReleaseCosts = Readonly<Record<string, number>>

/**
 * Plays the release in virtual time.
 *
 * @returns `PROGRAM VERB resource` (requests), `PROGRAM sent bytes` and `PROGRAM received bytes` (bodies and watch events), `PROGRAM passes`,
 * `accepted writes` (by any client, each is a watch event), `makespan ms`, and `makespan over ideal, per mille`
 */
export async function measureRelease({ nodes, limit, tap }: MeasuredRelease): Promise<ReleaseCosts> {
  const sizes = [Math.ceil(nodes / 10), Math.ceil(nodes / 2), nodes]
  const steps = sizes.map((replicas) => ({ replicas, pause: { duration: 0 } }))
  const counter = createCounter()
  const wrap = (identity: string, exchange: Exchange): Exchange => {
    const counted = counter.tap(identity, exchange)
    return tap?.(identity, counted) ?? counted
  }
  const stage = await setStage({ nodes, maxUnavailable: limit, steps, annotations: measuredPods, counts: true, tap: wrap })
  try {
    const passesBefore = await passes(stage)
    const writesBefore = stage.recording().length
    counter.reset()
    const sinceMs = stage.clock.nowMs()
    await stage.setImage('v2')
    await untilReleased(stage, 'v2', 3_600_000)
    const slots = slotsOf(stage, sinceMs)
    const makespanMs = (slots.at(-1)?.endMs ?? Number.NaN) - sinceMs
    return sorted({
      ...counter.counts(),
      ...Object.fromEntries(Object.entries(await passes(stage)).map(([name, count]) => [name, count - (passesBefore[name] ?? 0)])),
      'accepted writes': stage.recording().length - writesBefore,
      'makespan ms': Math.round(makespanMs),
      'makespan over ideal, per mille': Math.round((1000 * makespanMs) / idealMakespan(slots, { limit, sizes }) - 1000),
    })
  } finally {
    await stage.end()
  }
}

async function passes({ scrape }: Stage): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const identity of ['controller-1', 'executor-1']) {
    const lines = ((await scrape(identity)) ?? '').split('\n').filter((line) => line.startsWith('tranche_passes_total'))
    counts[`${nameOf(identity)} passes`] = lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
  }
  return counts
}

interface Counter {
  readonly tap: NonNullable<StageOptions['tap']>
  counts(): ReleaseCosts
  reset(): void
}

function createCounter(): Counter {
  let counts: Record<string, number> = {}
  const add = (name: string, count: number): void => void (counts[name] = (counts[name] ?? 0) + count)
  return {
    tap: (identity, exchange) => async (request, signal) => {
      const program = nameOf(identity)
      add(`${program} ${requestKind(request)}`, 1)
      add(`${program} sent bytes`, Buffer.byteLength(request.body ?? ''))
      const response = await exchange(request, signal)
      return { ...response, body: counting(response.body, (bytes) => add(`${program} received bytes`, bytes)) }
    },
    counts: () => counts,
    reset: () => void (counts = {}),
  }
}

async function* counting(body: WireResponse['body'], add: (bytes: number) => void): AsyncIterable<string> {
  for await (const chunk of body) {
    add(Buffer.byteLength(chunk))
    yield chunk
  }
}

/** @returns verb and resource: `PATCH pods`, `PATCH rollouts/status`, `WATCH nodes` */
export function requestKind({ method, path }: WireRequest): string {
  const [plain = '', query = ''] = path.split('?')
  const parts = plain.split('/').slice(plain.startsWith('/api/') ? 3 : 4)
  const [resource = plain, name, subresource] = parts[0] === 'namespaces' && parts.length > 2 ? parts.slice(2) : parts
  const verb = new URLSearchParams(query).has('watch') ? 'WATCH' : method === 'GET' && name === undefined ? 'LIST' : method
  return `${verb} ${subresource === undefined ? resource : `${resource}/${subresource}`}`
}

function nameOf(identity: string): string {
  return identity.replace(/-\d+$/, '')
}

function sorted(costs: ReleaseCosts): ReleaseCosts {
  return Object.fromEntries(Object.entries(costs).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
