import type { ReleasePolicySpec } from '@tranche/api-schema'
import { createRandom, type Random } from '@tranche/sim-api'
import { duration, pick } from './draw.ts'
import { GROUP, type Incident, type Shape, type Steps } from './schedule.ts'

const SECOND = 1_000
const MINUTE = 60_000

/** What a section of the policy brings into a world. */
export interface Section {
  readonly incidents: readonly Incident[]
  /** Adds to the world, and lets the policy ask for the section. */
  among(shape: Shape): Shape
}

/** @returns room, group, pulls, drains, their conditions, locks, downtime and outages of a world, and its config. Each has its own random numbers, so that none shifts those of another. */
export function generateSections(seed: number, world: { readonly stormMs: number; readonly withGroup: boolean }): Section {
  const { stormMs, withGroup } = world
  const room = maybe('room', seed, 0.66, (random) => drawRoom(random, stormMs))
  const group = withGroup ? maybe('group', seed, 0.75, (random) => drawGroup(random, stormMs)) : nothing
  const pulls = maybe('pulls', seed, 0.66, (random) => drawPulls(random, stormMs))
  const drains = maybe('drain', seed, 0.66, (random) => drawDrains(random, stormMs))
  const conditions = maybe('drain conditions', seed, 0.4, (random) => drawConditions(random, stormMs))
  const locks = maybe('node locks', seed, 0.66, (random) => drawLocks(random, stormMs))
  const downtime = maybe('downtime', seed, 0.75, drawDowntime)
  const outages = maybe('out of service', seed, 0.66, (random) => drawOutages(random, stormMs))
  return {
    incidents: [room, group, pulls, drains, locks, outages, ...(drains === nothing ? [] : [conditions])].flatMap(
      ({ incidents }) => incidents,
    ),
    among: (shape) =>
      withConfig(
        [room, pulls, drains, ...(drains === nothing ? [] : [conditions]), locks, downtime, group].reduce(
          (before, { among }) => among(before),
          shape,
        ),
        seed,
      ),
  }
}

const nothing: Section = { incidents: [], among: (shape) => shape }

/** @param without share of the worlds that have nothing of it */
function maybe(name: string, seed: number, without: number, draw: (random: Random) => Section): Section {
  const random = createRandom(name, seed)
  return random.next() < without ? nothing : draw(random)
}

/** Lets the policy, if there is one, ask for a section. */
function asking(shape: Shape, section: Partial<ReleasePolicySpec>): Shape {
  return shape.policy === null ? shape : { ...shape, policy: { ...shape.policy, ...section } }
}

/** Most worlds have config. */
function withConfig(shape: Shape, seed: number): Shape {
  const random = createRandom('template-config', seed)
  const kinds = (['plain', 'hashed', 'immutable'] as const).filter(() => random.next() < 0.4)
  return kinds.length === 0 ? shape : { ...shape, config: { kinds, isRead: random.next() < 0.5 } }
}

/** Crowded nodes, and an agent that requests something. */
function drawRoom(random: Random, stormMs: number): Section {
  const incidents = Array.from({ length: 1 + random.integer(4) }, (): Incident => {
    return { atMs: random.integer(stormMs), kind: 'crowd', pick: random.integer(1_000), forMs: duration(random, 10 * MINUTE) }
  })
  const checks = random.next() < 0.8
  const among = (shape: Shape): Shape => {
    const requesting = { ...shape, cpu: '500m' }
    return checks ? asking(requesting, { nodes: { ...shape.policy?.nodes, room: 'Check' } }) : requesting
  }
  return { incidents, among }
}

/** Nodes that a person takes out of service: one, a few, or all of a small fleet. */
function drawOutages(random: Random, stormMs: number): Section {
  const atMs = random.integer(stormMs)
  const incidents = Array.from({ length: 1 + random.integer(8) }, (_, at): Incident => {
    return { atMs: atMs + random.integer(5 * SECOND), kind: 'outOfService', pick: at, forMs: duration(random, 10 * MINUTE) }
  })
  return { incidents, among: (shape) => shape }
}

/** Two DaemonSets in one group. */
function drawGroup(random: Random, stormMs: number): Section {
  const incidents = Array.from({ length: 1 + random.integer(4) }, (_, at): Incident => {
    return { atMs: at === 0 ? random.integer(3 * SECOND) : random.integer(stormMs), kind: 'companionTemplate', tag: `v${at + 2}` }
  })
  const steps = [{ replicas: `${10 + random.integer(80)}%`, pause: { duration: 1 + random.integer(60) } }, { replicas: '100%' }] as Steps
  const companion = { steps, maxUnavailable: 1 + random.integer(3) }
  // Without a policy, or after a change of it, the DaemonSet is in no group.
  const isNamed = random.next() < 0.9
  const among = (shape: Shape): Shape => ({
    ...shape,
    companion,
    ...(isNamed && { policy: { ...shape.policy, downtime: { ...shape.policy?.downtime, group: GROUP } } }),
  })
  return { incidents, among }
}

/** Images that are pulled before pods are deleted, and nodes that reach no registry. */
function drawPulls(random: Random, stormMs: number): Section {
  const incidents = Array.from({ length: random.integer(5) }, (): Incident => {
    return { atMs: random.integer(stormMs), kind: 'noRegistry', pick: random.integer(1_000), forMs: duration(random, 10 * MINUTE) }
  })
  const parallel = pick(random, [undefined, 1, 3])
  const timeout = pick(random, [undefined, '5s', '1m'])
  const onFailure = pick(random, [undefined, 'Hold', 'Continue'] as const)
  const prePull = {
    ...(parallel !== undefined && { parallel }),
    ...(timeout !== undefined && { timeout }),
    ...(onFailure !== undefined && { onFailure }),
  }
  return { incidents, among: (shape) => ({ ...asking(shape, { prePull }), prePull: true }) }
}

/** Pods that use the agent. */
function drawDrains(random: Random, stormMs: number): Section {
  const incidents = Array.from({ length: 1 + random.integer(8) }, (): Incident => {
    const kept = pick(random, ['not', 'not', 'budget', 'finalizer'] as const)
    const forMs = duration(random, 10 * MINUTE)
    return { atMs: random.integer(Math.ceil(stormMs / 2)), kind: 'consume', pick: random.integer(1_000), kept, forMs }
  })
  const drain = {
    cordon: random.next() < 0.9,
    consumers: [{ selector: { matchLabels: { 'example.com/uses': 'agent' } } }],
    timeout: pick(random, ['10s', '30s', '2m']),
    onTimeout: pick(random, ['Hold', 'Continue'] as const),
  }
  return { incidents, among: (shape) => asking(shape, { drain }) }
}

/** Another program that sets the condition of a drain, where executors set it as well. */
function drawConditions(random: Random, stormMs: number): Section {
  const incidents = Array.from({ length: random.integer(4) }, (): Incident => {
    const leaves = pick(random, ['False', 'nothing'] as const)
    return { atMs: random.integer(stormMs), kind: 'drainByOther', pick: random.integer(1_000), leaves, forMs: duration(random, 5 * MINUTE) }
  })
  return { incidents, among: (shape) => ({ ...shape, drainConditions: true }) }
}

/** Another program that takes Leases of nodes. */
function drawLocks(random: Random, stormMs: number): Section {
  const incidents = Array.from({ length: 1 + random.integer(8) }, (): Incident => {
    const held = { pick: random.integer(1_000), seconds: pick(random, [10, 30, 120, 300]), crashes: random.next() < 0.3 }
    return { atMs: random.integer(stormMs), kind: 'holdNode', ...held, forMs: duration(random, 10 * MINUTE) }
  })
  // Without a policy, the DaemonSet takes no Lease.
  const isNamed = random.next() < 0.7
  const among = (shape: Shape): Shape => {
    const policy = shape.policy ?? (isNamed ? {} : null)
    const locking = policy === null ? null : { ...policy, downtime: { ...policy.downtime, nodeLock: 'Take' as const } }
    return { ...shape, nodeLocks: true, policy: locking }
  }
  return { incidents, among }
}

/** A limit of downtime that most releases of the storm use up, or few. */
function drawDowntime(random: Random): Section {
  const perDay = pick(random, ['1s', '30s', '2m', '10m'])
  // Without a policy, nothing limits the downtime.
  const isNamed = random.next() < 0.7
  const among = (shape: Shape): Shape => {
    const policy = shape.policy ?? (isNamed ? {} : null)
    const limiting = policy === null ? null : { ...policy, downtime: { ...policy.downtime, perDay } }
    return { ...shape, downtimes: true, policy: limiting }
  }
  return { incidents: [], among }
}
