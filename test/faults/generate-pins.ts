import { controllerFailpointPorts } from '@tranche/controller'
import { listFailpoints } from '@tranche/failpoints'
import { createRandom } from '@tranche/sim-api'
import { duration, pick } from './draw.ts'
import type { Incident, Shape } from './schedule.ts'

const MINUTE = 60_000

/** Worlds in which a policy pins config. */
export interface PinsDrawn {
  readonly incidents: readonly Incident[]
  /** Lets the policy pin config; without a policy, there is one for it. */
  among(shape: Shape): Shape
}

const points = [...listFailpoints({ pins: controllerFailpointPorts.pins })]
const modes = { promise: ['kill', 'freeze', 'hang'], value: ['kill', 'freeze'] } as const

/** In half of the worlds with config that carries no hash, a policy pins it, and its owners change it. Has its own random numbers. */
export function generatePins(seed: number, stormMs: number, { config }: Shape): PinsDrawn {
  const random = createRandom('pins', seed)
  if (config?.kinds.includes('plain') !== true || random.next() < 0.5) return { incidents: [], among: (shape) => shape }
  const at = (): number => random.integer(stormMs)
  const writes = Array.from({ length: 2 + random.integer(6) }, (): Incident => {
    return { atMs: at(), kind: 'writeConfig', level: pick(random, ['info', 'debug', 'trace', 'warn']) }
  })
  const removals = Array.from({ length: pick(random, [0, 0, 1]) }, (): Incident => {
    return { atMs: at(), kind: 'deleteConfig', forMs: duration(random, 5 * MINUTE) }
  })
  const traps = Array.from({ length: random.integer(5) }, (): Incident => {
    const [point, ends] = pick(random, points)
    const mode = pick(random, modes[ends])
    return { atMs: at(), kind: 'trap', role: 'controller', point, skip: random.integer(4), mode, forMs: duration(random, 10 * MINUTE) }
  })
  const late = Array.from({ length: random.integer(3) }, (): Incident => {
    const slot = pick(random, ['controller-a', 'controller-b'] as const)
    const write = pick(random, ['POST /configmaps', 'PATCH /configmaps/', 'DELETE /configmaps/', 'PATCH /daemonsets/'])
    return { atMs: at(), kind: 'freezeBefore', slot, write, forMs: duration(random, 10 * MINUTE) }
  })
  // The first pinning is a release too: it begins in the storm, while the first release is in progress or when it has ended.
  const secrets = secretIncidents(seed, stormMs)
  const lifts = policyIncidents(seed, stormMs)
  const start: Incident = { atMs: random.integer(Math.min(stormMs, MINUTE)), kind: 'pinConfig' }
  // A policy has to exist to pin config; this is what it says by default.
  const among = (shape: Shape): Shape => ({
    ...shape,
    policy: { soak: { final: '10s' }, ...shape.policy },
    config: { ...config, isPinned: true, ...(secrets.length > 0 && { secret: true }) },
  })
  return { incidents: [start, ...writes, ...removals, ...traps, ...late, ...secrets, ...lifts], among }
}

/** In a quarter of the worlds that pin config, the policy for pods is missing for a while. Has its own random numbers. */
function policyIncidents(seed: number, stormMs: number): readonly Incident[] {
  const random = createRandom('pod-policy', seed)
  if (random.next() < 0.75) return []
  return Array.from({ length: 1 + random.integer(2) }, (): Incident => {
    return {
      atMs: random.integer(stormMs),
      kind: 'liftPodPolicy',
      part: pick(random, ['policy', 'binding']),
      forMs: duration(random, 20 * MINUTE),
    }
  })
}

/** In half of the worlds that pin config, the template reads a Secret too. Has its own random numbers. @returns none in the others */
function secretIncidents(seed: number, stormMs: number): readonly Incident[] {
  const random = createRandom('secrets', seed)
  if (random.next() < 0.5) return []
  const at = (): number => random.integer(stormMs)
  const writes = Array.from({ length: 1 + random.integer(5) }, (): Incident => {
    return { atMs: at(), kind: 'writeSecret', level: pick(random, ['info', 'debug', 'trace', 'warn']) }
  })
  const labels = Array.from(
    { length: random.integer(3) },
    (_, label): Incident => ({ atMs: at(), kind: 'labelSecret', label: `l${label}` }),
  )
  const removals = Array.from({ length: pick(random, [0, 0, 1]) }, (): Incident => {
    return { atMs: at(), kind: 'deleteSecret', forMs: duration(random, 5 * MINUTE) }
  })
  const late = Array.from({ length: random.integer(3) }, (): Incident => {
    const slot = pick(random, ['controller-a', 'controller-b'] as const)
    const write = pick(random, ['POST /secrets', 'PATCH /secrets/', 'DELETE /secrets/'])
    return { atMs: at(), kind: 'freezeBefore', slot, write, forMs: duration(random, 10 * MINUTE) }
  })
  return [...writes, ...labels, ...removals, ...late]
}
