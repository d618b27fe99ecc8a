import type { ReleasePolicy } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import type { Lease } from '@tranche/kube-types'
import { expect } from 'vitest'
import { drive, setStage, type Stage, type StageOptions } from './stage.ts'
import { policyKey, stageKey } from './stage-objects.ts'

/** Namespace of the Leases of nodes. */
export const LEASES = 'medik8s-leases'
/** Policy that takes the Lease of a node. */
export const locking: ReleasePolicy['spec'] = { downtime: { nodeLock: 'Take' } }
/** How long a lock lasts, in milliseconds. */
export const LOCK_MS = 600_000

/** Sets a stage of four nodes, two of which may be down, with a policy that locks nodes. */
export async function setLockStage(options: StageOptions & { readonly withNamespace?: boolean } = {}): Promise<Stage> {
  const stage = await setStage({ nodes: 4, maxUnavailable: 2, steps: [{ replicas: '100%' }], policy: locking, ...options })
  if (options.withNamespace !== false) await makeLeaseNamespace(stage)
  return stage
}

/** Creates the namespace of the Leases. */
export async function makeLeaseNamespace({ clock, client }: Stage): Promise<void> {
  await drive(clock, client.create(resourcePaths.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: LEASES } }))
}

/** Takes the Lease of a node as another program, by the protocol of medik8s. `atMs`: time of the renewal. @default now */
export async function holdNode({ clock, client }: Stage, node: string, { seconds = 3_600, atMs = clock.nowMs() } = {}): Promise<void> {
  const renewTime = new Date(atMs).toISOString().replace('Z', '000Z')
  const spec = { holderIdentity: 'node-maintenance', leaseDurationSeconds: seconds, acquireTime: renewTime, renewTime, leaseTransitions: 0 }
  const metadata = { namespace: LEASES, name: `node-${node}` }
  await drive(clock, client.create(resourcePaths.leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }))
}

/** Gives the Lease of a node back. */
export async function freeNode({ clock, client }: Stage, node: string): Promise<void> {
  await drive(clock, client.delete(resourcePaths.leases, { namespace: LEASES, name: `node-${node}` }))
}

/** @returns the Leases of nodes, by name */
export async function nodeLeases({ client }: Stage): Promise<readonly Lease[]> {
  return (await client.list<Lease>(resourcePaths.leases, { namespace: LEASES })).items
}

/** @returns names of the Leases that BatchReleases hold */
export async function heldByReleases(stage: Stage): Promise<readonly string[]> {
  return (await nodeLeases(stage)).filter(({ spec }) => isOurs(spec?.holderIdentity)).map(({ metadata }) => metadata.name)
}

/** Waits until a BatchRelease holds the Leases of that many nodes. */
export function untilLocked(stage: Stage, count = 1): Promise<void> {
  return stage.until(`${count} nodes are locked`, async () => (await heldByReleases(stage)).length >= count)
}

/** Applies a template whose pods start this late. */
export async function setSlowImage(stage: Stage, tag: string, startMs: number): Promise<void> {
  const spec = { containers: [{ name: 'agent', image: `registry.example/node-agent:${tag}` }] }
  const metadata = { annotations: { 'sim.tranche.dev/start-ms': String(startMs) } }
  const body = { spec: { template: { metadata, spec } } }
  await drive(stage.clock, stage.client.patch(resourcePaths.daemonSets, stageKey, { type: 'strategic', body }))
}

/** Changes the policy. */
export async function setPolicy({ clock, client }: Stage, spec: ReleasePolicy['spec']): Promise<void> {
  await drive(clock, client.patch(resourcePaths.releasePolicies, policyKey, { type: 'merge', body: { spec } }))
}

/** @returns the writes of Leases of nodes by executors, by verb */
export function leaseWrites(stage: Stage): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { kind, actor = '', verb = '', namespace } of stage.recording())
    if (kind === 'Lease' && namespace === LEASES && actor.startsWith('executor')) counts[verb] = (counts[verb] ?? 0) + 1
  return counts
}

/** Expects that soon no BatchRelease holds a Lease of a node. */
export async function expectNoLocks(stage: Stage): Promise<void> {
  await stage.until('no node is locked', async () => (await heldByReleases(stage)).length === 0, 90_000)
}

/** Expects that each pod was deleted while a BatchRelease held the Lease of its node. */
export function expectLocked(stage: Stage): void {
  const holders = new Map<string, string>()
  let deletions = 0
  for (const { kind, type, actor = '', verb, o, node = '', namespace } of stage.recording()) {
    if (kind === 'Lease' && namespace === LEASES) {
      const { metadata, spec } = o as unknown as Lease
      if (type === 'DELETED') holders.delete(metadata.name)
      else holders.set(metadata.name, spec?.holderIdentity ?? '')
    }
    if (kind !== 'Pod' || verb !== 'delete' || !actor.startsWith('executor') || o['owner'] !== stageKey.name || type === 'DELETED') continue
    deletions++
    expect(isOurs(holders.get(`node-${node}`)), `the pod of ${node} was deleted`).toBe(true)
  }
  expect(deletions).toBeGreaterThan(0)
}

function isOurs(holder = ''): boolean {
  return holder.startsWith('tranche/')
}
