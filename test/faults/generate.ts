import { listFailpoints } from '@tranche/failpoints'
import { controllerFailpointPorts } from '@tranche/controller'
import { executorFailpointPorts } from '@tranche/executor'
import { createRandom, type Random } from '@tranche/sim-api'
import { apiFailpointPorts } from './api-program.ts'
import { between, duration, pick } from './draw.ts'
import { generatePins } from './generate-pins.ts'
import { generatePolicy } from './generate-policy.ts'
import { generateSections } from './generate-sections.ts'
import { generatePlans, generateSteps } from './generate-steps.ts'
import {
  type ApiOperation,
  apiSlots,
  type Ask,
  type ClusterOperation,
  type Operation,
  type Incident,
  type ProcessOperation,
  roleOf,
  type Schedule,
  type Shape,
  slots,
  type Steps,
  type TenantOperation,
  type Upgrade,
  type OwnerOperation,
} from './schedule.ts'

const SECOND = 1_000
const MINUTE = 60_000

/**
 * @param upgrades number of upgrades beside the incidents of the seed, which stay the same except for admission @default 0
 * @returns the schedule of the seed, always the same
 */
export function generateSchedule(seed: number, upgrades = 0): Schedule {
  const random = createRandom('faults', seed)
  const shape = generateShape(random)
  const stormMs = between(random, 1 * MINUTE, 12 * MINUTE)
  const count = 3 + random.integer(18)
  const mix = generateMix(random)
  const drawn = Array.from({ length: count }, (): Incident => ({ atMs: random.integer(stormMs), ...generateOperation(random, mix) }))
  const first: Incident = { atMs: 1 * SECOND, kind: 'template', tag: 'v2', whole: random.next() < 0.3 }
  const clocks = generateClocks(seed, stormMs)
  const swaps = upgrades > 0 ? [] : generateSwaps(seed, stormMs)
  const beside = [
    ...clocks.kills,
    ...generateZones(seed, stormMs),
    ...generateTenant(seed, stormMs),
    ...generateOddStatuses(seed, stormMs),
    ...generateDeletions(seed, stormMs),
    ...swaps,
  ]
  const sections = generateSections(seed, { stormMs, withGroup: upgrades === 0 })
  const plans = generatePlans(seed, stormMs)
  const incidents = [
    first,
    ...drawn.map(plans.change),
    ...beside,
    ...generateUpgrades(seed, upgrades, stormMs),
    ...generateApiFaults(seed, upgrades, stormMs),
    ...sections.incidents,
    ...plans.incidents,
  ]
  const timed = plans.among({ ...shape, steps: clocks.lengthen(shape.steps) })
  const served = upgrades > 0 ? withAdmission(timed, createRandom('admission', seed)) : timed
  const whole = sections.among(served)
  const pins = generatePins(seed, stormMs, whole)
  return {
    seed,
    shape: pins.among(whole),
    stormMs,
    incidents: [...incidents, ...pins.incidents].toSorted((a, b) => a.atMs - b.atMs),
    aheadMs: clocks.aheadMs,
    upgrades,
  }
}

interface Clocks {
  readonly aheadMs: readonly number[]
  /** Kills after which one leader reads the timestamps of another. */
  readonly kills: readonly Incident[]
  /** Gives more pauses a duration, long enough for a change of the leader within the pause. */
  lengthen(steps: Steps): Steps
}

/** In half of the worlds all clocks are right. Has its own random numbers. */
function generateClocks(seed: number, stormMs: number): Clocks {
  const random = createRandom('clocks', seed)
  if (random.next() < 0.5) return { aheadMs: [0], kills: [], lengthen: (steps) => steps }
  const ahead = (): number => (random.next() < 0.5 ? -1 : 1) * Math.round(SECOND * (24 * 3_600) ** random.next())
  const aheadMs = Array.from({ length: 7 }, () => (random.next() < 0.3 ? 0 : ahead()))
  const kills = Array.from({ length: 2 + random.integer(5) }, (): Incident => {
    const slot = pick(random, ['controller-a', 'controller-b'] as const)
    return { atMs: random.integer(stormMs), kind: 'kill', slot, downMs: duration(random, 10 * SECOND) }
  })
  const lengthen = (steps: Steps): Steps =>
    steps.map((step) => {
      if (step.pause === undefined || (step.pause.duration === undefined && random.next() < 0.5)) return step
      return { ...step, pause: { duration: 20 + random.integer(400) } }
    }) as Steps
  return { aheadMs, kills, lengthen }
}

/** Faults of many nodes at once. Has its own random numbers. */
function generateZones(seed: number, stormMs: number): readonly Incident[] {
  const random = createRandom('zones', seed)
  const count = pick(random, [0, 0, 1, 1, 2])
  return Array.from({ length: count }, (): Incident => {
    const place = { atMs: random.integer(stormMs), pick: random.integer(1_000), share: 0.2 + 0.8 * random.next() }
    const forMs = duration(random, 10 * MINUTE)
    if (random.next() < 0.5) return { ...place, kind: 'zoneOutage', forMs }
    return { ...place, kind: 'taintPool', effect: pick(random, ['NoSchedule', 'NoSchedule', 'NoExecute']), forMs }
  })
}

/** Half of the worlds have a tenant. Has its own random numbers. */
function generateTenant(seed: number, stormMs: number): readonly Incident[] {
  const random = createRandom('tenant', seed)
  if (random.next() < 0.5) return []
  const operations = Array.from(
    { length: 1 + random.integer(5) },
    (): Incident => ({ atMs: random.integer(stormMs), ...generateForgery(random) }),
  )
  if (random.next() < 0.8) return operations
  const copy: Incident = {
    atMs: random.integer(stormMs),
    kind: 'copyAgent',
    tag: pick(random, ['v1', 'v2', 'v3']),
    forMs: duration(random, 10 * MINUTE),
  }
  return [...operations, copy]
}

function generateForgery(random: Random): TenantOperation {
  const at = random.integer(1_000)
  const forMs = duration(random, 10 * MINUTE)
  switch (random.integer(5)) {
    case 0:
    case 1:
      return {
        kind: 'forgeRevision',
        pick: at,
        copies: pick(random, ['hash', 'hash', 'template', 'nothing']),
        number: pick(random, ['same', 'oldest', 'newest']),
      }
    case 2:
    case 3:
      return { kind: 'forgePod', pick: at, phase: pick(random, ['running', 'failed', 'stuck', 'stuck']) }
    default:
      return { kind: 'forgeRelease', forMs }
  }
}

/** In every sixth world the tenant has a Rollout whose status has odd times. Has its own random numbers. */
function generateOddStatuses(seed: number, stormMs: number): readonly Incident[] {
  const random = createRandom('odd statuses', seed)
  if (random.next() < 5 / 6) return []
  const everyMs = between(random, 2 * SECOND, 20 * SECOND)
  const forMs = between(random, 10 * SECOND, 4 * MINUTE)
  return [{ atMs: random.integer(stormMs), kind: 'spoilStatus', hasAgent: random.next() < 0.5, everyMs, forMs }]
}

/** In a third of the worlds, clients delete the BatchRelease. Has its own random numbers. */
function generateDeletions(seed: number, stormMs: number): readonly Incident[] {
  const random = createRandom('deletions', seed)
  const count = pick(random, [0, 0, 0, 0, 1, 3])
  return Array.from({ length: count }, (): Incident => {
    return { atMs: random.integer(stormMs), kind: 'deleteRelease', propagation: pick(random, ['Background', 'Foreground']) }
  })
}

/** A third of the worlds get other definitions. Has its own random numbers. */
function generateSwaps(seed: number, stormMs: number): readonly Incident[] {
  const random = createRandom('definitions', seed)
  const count = pick(random, [0, 0, 1])
  return Array.from(
    { length: count },
    (): Incident => ({ atMs: random.integer(stormMs), kind: 'swapDefinitions', forMs: duration(random, 3 * MINUTE) }),
  )
}

/** Admission as in real clusters. */
function withAdmission(shape: Shape, random: Random): Shape {
  return { ...shape, admission: pick(random, ['none', 'none', 'inProcess', 'policy', 'policy', 'webhook', 'webhook']) }
}

/** Has its own random numbers. */
function generateUpgrades(seed: number, upgrades: number, stormMs: number): readonly Incident[] {
  const random = createRandom('upgrades', seed)
  const beside = createRandom('upgrades beside', seed)
  return Array.from(
    { length: upgrades },
    (): Incident => ({ atMs: between(random, 1 * SECOND, stormMs), ...generateUpgrade(random), ...generateBeside(beside) }),
  )
}

type Beside = 'apisAfterMs' | 'asks' | 'askedBeforeMs' | 'admission' | 'admissionAwayMs'

function generateUpgrade(random: Random): Omit<Upgrade, Beside> {
  return {
    kind: 'upgrade',
    manner: pick(random, ['rolling', 'rolling', 'rolling', 'atOnce']),
    ends: pick(random, ['asked', 'asked', 'killed']),
    definitions: pick(random, ['stay', 'goBack']),
    afterMs: duration(random, 40 * SECOND),
    controllersAfterMs: duration(random, 10 * SECOND),
    executorsAfterMs: duration(random, 10 * SECOND),
    gapMs: duration(random, 10 * SECOND),
  }
}

function generateBeside(random: Random): Pick<Upgrade, Beside> {
  return {
    apisAfterMs: duration(random, 10 * SECOND),
    asks: apiSlots.map(() => ({ ...generateAsk(random), lookedMs: 0, waitMs: 20 * SECOND })),
    askedBeforeMs: random.integer(400),
    admission: pick(random, ['first', 'between', 'last']),
    admissionAwayMs: random.next() < 0.3 ? duration(random, 20 * SECOND) : 0,
  }
}

/** Requests to the API, and faults of its processes; none without upgrades. Has its own random numbers. */
function generateApiFaults(seed: number, upgrades: number, stormMs: number): readonly Incident[] {
  if (upgrades === 0) return []
  const random = createRandom('api', seed)
  const at = (): number => between(random, 1 * SECOND, stormMs)
  const asks = Array.from({ length: upgrades }, (): Incident => ({ atMs: at(), ...generateAsk(random) }))
  const operations = Array.from({ length: 2 + random.integer(6) }, (): Incident => ({ atMs: at(), ...generateApiFault(random) }))
  return [...asks, ...operations]
}

function generateAsk(random: Random): Ask {
  return {
    kind: 'ask',
    type: pick(random, askTypes),
    lookedMs: duration(random, 20 * SECOND),
    waitMs: pick(random, [0, 0, 5 * SECOND, 40 * SECOND]),
  }
}

/** Actions that stop a release are about as frequent as those that continue it. */
const askTypes: readonly Ask['type'][] = [
  ...(['approve', 'approve', 'approve', 'approve', 'pause', 'pause', 'resume', 'resume', 'resume'] as const),
  ...(['jump', 'promote', 'retry', 'retry', 'abort', 'undo', 'restart'] as const),
]

function generateApiFault(random: Random): ProcessOperation | ApiOperation {
  const forMs = duration(random, 5 * MINUTE)
  const slot = pick(random, apiSlots)
  switch (random.integer(4)) {
    case 0: {
      const requests = pick(random, [0.05, 0.2, 0.6, 1])
      return {
        kind: 'faultPhase',
        who: 'api',
        requests,
        events: pick(random, [0, 0.1, 0.5]),
        mostDelayMs: pick(random, [200, 3_000, 30_000]),
        forMs,
      }
    }
    case 1:
      return { kind: 'lag', slot, resource: pick(random, [null, 'rollouts', 'daemonsets']), ms: duration(random, 4 * MINUTE), forMs }
    default:
      return generateProcessOperation(random, apiSlots, ['PATCH /rollouts/', 'PATCH /daemonsets/', 'POST /tokenreviews'])
  }
}

function generateShape(random: Random): Shape {
  return {
    nodes: random.next() < 0.05 ? 0 : 1 + random.integer(12),
    admission: pick(random, ['none', 'inProcess']),
    queue: pick(random, ['shared', 'own']),
    declares: random.next() < 0.8 ? 'RollingUpdate' : 'OnDelete',
    toleratesAll: random.next() < 0.7,
    rollbackInBatch: random.next() < 0.2,
    leaseSeconds: pick(random, [15, 15, 60]),
    steps: generateSteps(random),
    policy: random.next() < 0.5 ? generatePolicy(random) : null,
    maxUnavailable: generateBudget(random),
    minReadySeconds: pick(random, [0, 0, 0, 1, 5, 20]),
    watchDelayMs: pick(random, [5, 20, 20, 300, 2_000]),
    startMs: pick(random, [200, 1_000, 1_000, 5_000, 15_000]),
    stopMs: pick(random, [100, 500, 500, 5_000]),
  }
}

function generateBudget(random: Random): number | string {
  return random.next() < 0.6 ? 1 + random.integer(4) : `${pick(random, [5, 10, 25, 34, 50, 100])}%`
}

/** Weights of the kinds of faults in this world, so that some worlds have only one kind and others all of them. */
interface Mix {
  readonly process: number
  readonly api: number
  readonly cluster: number
  readonly owner: number
}

function generateMix(random: Random): Mix {
  const weight = (): number => pick(random, [0, 1, 1, 3])
  return { process: weight(), api: weight(), cluster: weight(), owner: weight() + 1 }
}

function generateOperation(random: Random, { process, api, cluster, owner }: Mix): Operation {
  const at = random.next() * (process + api + cluster + owner)
  if (at < process) return generateProcessOperation(random)
  if (at < process + api) return generateApiOperation(random)
  return at < process + api + cluster ? generateClusterOperation(random) : generateOwnerOperation(random)
}

const points = {
  // Calls for copies of config are drawn where config is pinned.
  controller: [...listFailpoints(controllerFailpointPorts)].filter(([point]) => !point.startsWith('pins.')),
  executor: [...listFailpoints(executorFailpointPorts)],
  api: [...listFailpoints(apiFailpointPorts)],
}
/** By the return value of the call: a call that returns no promise cannot hang on its own. */
const modes = { promise: ['kill', 'freeze', 'hang'], value: ['kill', 'freeze'] } as const

const writes = ['DELETE /pods/', 'PATCH /batchreleases/', 'PATCH /pods/', 'PATCH /daemonsets/', 'PUT /rollouts/']

function generateProcessOperation(random: Random, ofSlots = slots, ofWrites = writes): ProcessOperation {
  const slot = pick(random, ofSlots)
  const role = roleOf(slot)
  const forMs = duration(random, 60 * MINUTE)
  switch (random.integer(7)) {
    case 0:
      return { kind: 'kill', slot, downMs: duration(random, 2 * MINUTE) }
    case 1:
      return { kind: 'freeze', slot, forMs, replaced: random.next() < 0.5 }
    case 2:
    case 3: {
      const [point, ends] = pick(random, points[role])
      return { kind: 'trap', role, point, skip: random.integer(4), mode: pick(random, modes[ends]), forMs }
    }
    case 4:
      return { kind: 'freezeBefore', slot, write: pick(random, ofWrites), forMs }
    case 5:
      return { kind: 'cutOff', slot, forMs: duration(random, 5 * MINUTE) }
    default:
      return { kind: 'stepOwnClock', slot, ms: clockStep(random) }
  }
}

function generateApiOperation(random: Random): ApiOperation {
  const forMs = duration(random, 5 * MINUTE)
  switch (random.integer(6)) {
    case 0:
    case 1:
    case 2: {
      const requests = pick(random, [0, 0.05, 0.2, 0.6, 1])
      const events = pick(random, [0, 0.02, 0.1, 0.5])
      const mostDelayMs = pick(random, [200, 3_000, 30_000, 120_000])
      return { kind: 'faultPhase', who: pick(random, ['controller', 'executor', 'ours', 'native']), requests, events, mostDelayMs, forMs }
    }
    case 3:
      return {
        kind: 'lag',
        slot: pick(random, slots),
        resource: pick(random, [null, 'pods', 'nodes', 'daemonsets', 'batchreleases', 'rollouts']),
        ms: duration(random, 4 * MINUTE),
        forMs,
      }
    case 4:
      return {
        kind: 'badQueue',
        lost: pick(random, [0, 0.3, 1]),
        doubled: pick(random, [0, 0.5]),
        mostDelayMs: pick(random, [0, 2_000, 90_000]),
        forMs,
      }
    default:
      return { kind: 'stepServerClock', ms: clockStep(random) }
  }
}

function generateClusterOperation(random: Random): ClusterOperation {
  const at = random.integer(1_000)
  const forMs = duration(random, 8 * MINUTE)
  switch (random.integer(12)) {
    case 0:
      return { kind: 'addNode', name: `added-${random.integer(4)}` }
    case 1:
      return { kind: 'removeNode', pick: at }
    case 2:
    case 3:
      return { kind: 'silenceNode', pick: at, forMs }
    case 4:
      return { kind: 'cordon', pick: at, forMs }
    case 5:
      return { kind: 'taint', pick: at, effect: pick(random, ['NoSchedule', 'NoExecute']), forMs }
    case 6:
    case 7:
      return { kind: 'deletePod', pick: at, evict: random.next() < 0.5 }
    case 8:
      return { kind: 'failPod', pick: at }
    case 9:
      return { kind: 'stickPod', pick: at, forMs }
    case 10:
      return { kind: 'maintain', pick: at, condition: pick(random, lifecycleConditions), isSilent: random.next() < 0.5, forMs }
    default:
      return { kind: 'quota', forMs: duration(random, 3 * MINUTE) }
  }
}

const lifecycleConditions = ['DrainInProgress', 'Drained', 'MaintenancePlanned', 'MaintenanceInProgress', 'GracefulNodeShutdownInProgress']
const goodTags = ['v1', 'v2', 'v2', 'v3', 'v3', 'v4', 'v5']
const badTags = [
  'v6-bad-ready',
  'v6-bad-probe',
  'v6-bad-late',
  'v6-bad-restart',
  'v7-bad-crash',
  'v7-bad-oom',
  'v7-bad-start',
  'v8-bad-pull',
  'v8-bad-config',
  'v8-bad-heals',
  'v9-bad-flap',
]

function generateOwnerOperation(random: Random): OwnerOperation {
  switch (random.integer(27)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return { kind: 'template', tag: pick(random, random.next() < 0.4 ? badTags : goodTags), whole: random.next() < 0.3 }
    case 4:
      return { kind: 'reapply' }
    case 5:
    case 6:
      return { kind: 'pause' }
    case 7:
    case 8:
      return { kind: 'resume' }
    case 9:
      return { kind: 'jump', step: 1 + random.integer(4), by: pick(random, ['status', 'action']) }
    case 10:
      return { kind: 'steps', steps: generateSteps(random) }
    case 11:
      return { kind: 'budget', maxUnavailable: generateBudget(random) }
    case 12:
      return { kind: 'minReady', seconds: pick(random, [0, 1, 10, 30]) }
    case 13:
      return { kind: 'disable', forMs: duration(random, 2 * MINUTE) }
    case 14:
      return random.next() < 0.5
        ? { kind: 'deleteRollout', forMs: duration(random, 2 * MINUTE) }
        : { kind: 'deleteDaemonSet', forMs: duration(random, 2 * MINUTE) }
    case 15:
    case 16:
      return { kind: 'act', type: pick(random, ['promote', 'abort', 'retry']) }
    case 17:
      return { kind: 'onDelete', policy: pick(random, [null, 'Freeze', 'Complete', 'Rollback']) }
    case 18:
    case 19:
      return { kind: 'policy', spec: generatePolicy(random) }
    case 20:
      return random.next() < 0.5
        ? { kind: 'spoilPolicy', forMs: duration(random, 3 * MINUTE) }
        : { kind: 'deletePolicy', forMs: duration(random, 3 * MINUTE) }
    case 21:
      return { kind: 'namePolicy', isNamed: random.next() < 0.7 }
    default:
      return { kind: 'approve', by: pick(random, ['status', 'status', 'action']) }
  }
}

function clockStep(random: Random): number {
  return (random.next() < 0.5 ? -1 : 1) * duration(random, 10 * MINUTE)
}
