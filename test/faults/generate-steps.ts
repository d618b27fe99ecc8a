import { createRandom, type Random } from '@tranche/sim-api'
import { duration, pick } from './draw.ts'
import { type Incident, type Shape, type Steps, ZONE } from './schedule.ts'

const SECOND = 1_000
const MINUTE = 60_000

/** Steps of a world, and their changes. */
export interface StepsDrawn {
  /** Deletions of the BatchRelease, and what the steps become at about that time. */
  readonly incidents: readonly Incident[]
  /** Lets steps select nodes, if they do in this world. */
  among(shape: Shape): Shape
  /** The same for what steps become. */
  change(incident: Incident): Incident
}

/** @returns one to four steps of growing sizes, which select no nodes */
export function generateSteps(random: Random): Steps {
  const count = 1 + random.integer(4)
  const isPercent = random.next() < 0.7
  const most = isPercent ? 100 : 12
  const sizes = Array.from({ length: count }, () => 1 + random.integer(most)).toSorted((a, b) => a - b)
  if (random.next() < 0.6) sizes[count - 1] = most
  return sizes.map((size) => ({ replicas: isPercent ? `${size}%` : size, ...generatePause(random) })) as Steps
}

function generatePause(random: Random): { readonly pause?: { readonly duration?: number } } {
  const dice = random.next()
  if (dice < 0.4) return { pause: {} }
  return dice < 0.7 ? { pause: { duration: 1 + random.integer(60) } } : {}
}

/**
 * In a third of the worlds steps select nodes. In a third they change while a client deletes their BatchRelease. Has its own random numbers.
 */
export function generatePlans(seed: number, stormMs: number): StepsDrawn {
  const nodes = createRandom('nodes of steps', seed)
  const selects = nodes.next() < 1 / 3
  const select = (steps: Steps): Steps => (selects ? selecting(nodes, steps) : steps)
  const change = (incident: Incident): Incident => (incident.kind === 'steps' ? { ...incident, steps: select(incident.steps) } : incident)
  return {
    incidents: generateReplacements(seed, stormMs).map(change),
    among: (shape) => ({ ...shape, steps: select(shape.steps) }),
    change,
  }
}

/** The last step has all nodes: a release would leave the rest behind. */
function selecting(random: Random, steps: Steps): Steps {
  const selected = steps.map((step) => (random.next() < 0.3 ? step : { ...step, nodes: generateSelector(random) }))
  return [...selected, { replicas: '100%' }] as Steps
}

function generateSelector(random: Random): NonNullable<Steps[number]['nodes']> {
  const zone = (): string => pick(random, ['zone-a', 'zone-b', 'zone-c'])
  if (random.next() < 0.7) return { matchLabels: { [ZONE]: zone() } }
  return { matchExpressions: [{ key: ZONE, operator: pick(random, ['In', 'NotIn'] as const), values: [zone(), zone()] }] }
}

function generateReplacements(seed: number, stormMs: number): readonly Incident[] {
  const random = createRandom('replaced plans', seed)
  const count = pick(random, [0, 0, 0, 0, 1, 2])
  return Array.from({ length: count }, (): readonly Incident[] => {
    const atMs = random.integer(stormMs)
    const keptMs = random.next() < 0.5 ? 0 : duration(random, 2 * MINUTE)
    const propagation = pick(random, ['Background', 'Foreground'] as const)
    const changedMs = Math.max(0, Math.min(stormMs - 1, atMs - 2 * SECOND + duration(random, MINUTE)))
    return [
      { atMs, kind: 'deleteRelease', propagation, keptMs },
      { atMs: changedMs, kind: 'steps', steps: generateSteps(random) },
    ]
  }).flat()
}
