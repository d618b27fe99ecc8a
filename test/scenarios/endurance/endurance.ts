/** Many releases one after the other, with faults and restarts, and what is left over after each. */
import { createSeededFaults } from '@tranche/sim-api'
import { untilReleased } from '../looks.ts'
import { setStage, type Stage, type StageOptions } from '../stage.ts'
import { countLeftOvers, expireEvents, type LeftOvers, watchStatuses } from './left-overs.ts'

/** Options of an endurance run. */
export interface EnduranceOptions {
  readonly nodes: number
  readonly releases: number
  /** Virtual time from the start of a release to the start of the next one, in milliseconds. */
  readonly everyMs: number
  /** Number of releases between two samples. */
  readonly sampleEvery: number
  /** @default 1 */
  readonly seed?: number
  /** Whether a version crashes before the good one is released. @default every tenth */
  readonly isBad?: (release: number) => boolean
  /** Whether both programs restart after the release. @default after every 25 of the first tenth: later restarts would hide leaks */
  readonly restartsAfter?: (release: number) => boolean
  /** Called after each release with the stage, for planted leaks. */
  readonly afterRelease?: (stage: Stage, release: number) => Promise<void> | void
  /** Called with every sample as soon as it is taken. */
  readonly onSample?: (sample: EnduranceSample) => void
}

/** State at rest after a number of releases. */
export interface EnduranceSample extends LeftOvers {
  readonly release: number
  /** Largest status since the start, in bytes as JSON, by kind. */
  readonly largestStatus: Readonly<Record<string, number>>
  /** Heap in use after a garbage collection, in bytes; null without `--expose-gc`. */
  readonly heapBytes: number | null
}

/** Every tenth version crashes, and is replaced by a good one once everything has stopped. */
const BAD_EVERY = 10
/** Both programs restart this often at the beginning. */
const RESTART_EVERY = 25
/** Longer than every retry, back-off and watch renewal of an idle program. */
const REST_MS = 20 * 60_000

/**
 * Plays the releases in virtual time with seeded faults in requests and watches of both programs.
 *
 * @returns samples at rest and without faults, the first one before the first release
 */
export async function playEndurance(options: EnduranceOptions): Promise<readonly EnduranceSample[]> {
  const { nodes, releases, everyMs, sampleEvery, seed = 1, isBad = (release) => release % BAD_EVERY === 0 } = options
  const { restartsAfter = (release) => release % RESTART_EVERY === 0 && release <= releases / 10 } = options
  const steps = ['10%', '50%', '100%'].map((replicas) => ({ replicas, pause: { duration: 5 } }))
  const streams = createStreamCounter()
  const stage = await setStage({
    nodes,
    maxUnavailable: Math.ceil(nodes / 5),
    steps,
    records: false,
    seed,
    tap: streams.tap,
  })
  const largest = watchStatuses(stage)
  const samples: EnduranceSample[] = []
  const sample = async (release: number): Promise<void> => {
    // The history of the API server, which fills up in the first hundreds of releases.
    stage.simulator.server.compact()
    const taken = { release, ...(await countLeftOvers(stage)), streams: streams.open(), largestStatus: largest(), heapBytes: heapBytes() }
    samples.push(taken)
    options.onSample?.(taken)
  }
  await stage.pass(REST_MS)
  await sample(0)
  for (let release = 1; release <= releases; release++) {
    const endMs = stage.clock.monotonicMs() + everyMs
    await playRelease(stage, { release, seed, isBad: isBad(release) })
    await options.afterRelease?.(stage, release)
    if (restartsAfter(release)) await restart(stage)
    await stage.pass(Math.max(REST_MS, endMs - stage.clock.monotonicMs()))
    await expireEvents(stage)
    if (release % sampleEvery === 0) await sample(release)
  }
  await stage.end()
  return samples
}

async function playRelease(
  stage: Stage,
  { release, seed, isBad }: { readonly release: number; readonly seed: number; readonly isBad: boolean },
): Promise<void> {
  const applies = (actor: string): boolean => /^(controller|executor)-/.test(actor)
  const heal = stage.disturb(createSeededFaults({ seed: seed + release, requests: 0.03, events: 0.005, mostDelayMs: 2_000, applies }))
  if (isBad) {
    await stage.setImage(`v${release}-bad-crash`)
    await stage.until('everything stops', async () => (await stage.rollout()).status?.failure?.stops === true, 3_600_000)
  }
  await stage.setImage(`v${release}-good`)
  await untilReleased(stage, `v${release}-good`, 3_600_000)
  heal()
}

async function restart(stage: Stage): Promise<void> {
  for (const identity of ['executor-1', 'controller-1']) {
    let isStopped = false
    void stage
      .program(identity)
      .stop()
      .then(() => (isStopped = true))
    await stage.until(`${identity} has stopped`, () => isStopped)
  }
  await stage.startController('controller-1')
  await stage.startExecutor('executor-1')
}

interface StreamCounter {
  readonly tap: NonNullable<StageOptions['tap']>
  open(): number
}

/** Counts answers whose body has not ended: watches, and requests in flight. */
function createStreamCounter(): StreamCounter {
  let count = 0
  async function* counted(body: AsyncIterable<string>): AsyncIterable<string> {
    count++
    try {
      yield* body
    } finally {
      count--
    }
  }
  return {
    tap: (_identity, exchange) => async (request, signal) => {
      const response = await exchange(request, signal)
      return { ...response, body: counted(response.body) }
    },
    open: () => count,
  }
}

/** Needs `--expose-gc`. Twice, because finalizers of the first collection release more. */
function heapBytes(): number | null {
  const { gc } = globalThis as { readonly gc?: () => void }
  if (gc === undefined) return null
  gc()
  gc()
  return process.memoryUsage().heapUsed
}
