import type { DrainRules } from '@tranche/api-schema'
import { resourcePaths } from '@tranche/kube-client'
import type { Condition, Node } from '@tranche/kube-types'
import { expect } from 'vitest'
import { drive, setStage, type Stage, type StageOptions } from './stage.ts'
import { stageKey } from './stage-objects.ts'

/** Namespace of the pods that use the agent. */
export const TEAM = 'team-a'
/** CSI driver of the volumes. */
export const DRIVER = 'disk.example.com'
/** Consumers by label. */
export const byLabel: DrainRules = { consumers: [{ selector: { matchLabels: { uses: 'agent' } } }] }
/** Labels of these consumers. */
export const labelled = { uses: 'agent' }
/** Container of a consumer. */
export const container = { name: 'main', image: 'registry.example/main:1' }

/** Sets a stage of four nodes, two of which may be down, with a policy that drains. */
export async function setDrainStage(drain: DrainRules | undefined, options: StageOptions = {}): Promise<Stage> {
  const policy = drain === undefined ? {} : { drain }
  const stage = await setStage({ nodes: 4, maxUnavailable: 2, steps: [{ replicas: '100%' }], policy, ...options })
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: TEAM } }
  await drive(stage.clock, stage.client.create(resourcePaths.namespaces, namespace))
  return stage
}

/** Creates a pod on a node, and waits until it runs. */
export async function makeConsumer(stage: Stage, name: string, nodeName: string, spec: object = {}, more: object = {}): Promise<void> {
  const metadata = { namespace: TEAM, name, ...more }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { nodeName, containers: [container], ...spec } }
  await drive(stage.clock, stage.client.create(resourcePaths.pods, pod))
  await stage.until(`${name} runs`, async () => {
    const { status } = await stage.client.get<{ status?: { phase?: string } }>(resourcePaths.pods, { namespace: TEAM, name })
    return status?.phase === 'Running'
  })
}

/** Creates a claim that is bound to a volume of the driver. */
export async function makeVolume(stage: Stage, name: string): Promise<void> {
  const spec = { csi: { driver: DRIVER, volumeHandle: name } }
  const volume = { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name: `pv-${name}` }, spec }
  await drive(stage.clock, stage.client.create(resourcePaths.persistentVolumes, volume))
  const metadata = { namespace: TEAM, name }
  const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec: { volumeName: `pv-${name}` } }
  await drive(stage.clock, stage.client.create(resourcePaths.persistentVolumeClaims, claim))
}

/** Creates a PodDisruptionBudget that keeps labelled consumers. */
export async function makeBudget(stage: Stage): Promise<void> {
  const metadata = { namespace: TEAM, name: 'web' }
  const spec = { maxUnavailable: 0, selector: { matchLabels: labelled } }
  await drive(stage.clock, stage.client.create(budgets, { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec } as never))
  await stage.pass(10_000)
}

/** Deletes that PodDisruptionBudget. */
export async function deleteBudget(stage: Stage): Promise<void> {
  await drive(stage.clock, stage.client.delete(budgets, { namespace: TEAM, name: 'web' }))
}

const budgets = { group: 'policy', version: 'v1', plural: 'poddisruptionbudgets', namespaced: true }

/** @returns all nodes */
export async function nodesOf(stage: Stage): Promise<readonly Node[]> {
  return (await stage.client.list<Node>(resourcePaths.nodes)).items
}

/** @returns the node of this name */
export function readNode(stage: Stage, name: string): Promise<Node> {
  return stage.client.get<Node>(resourcePaths.nodes, { namespace: '', name })
}

/** Cordons or uncordons a node, as a user with kubectl. */
export async function setCordon(stage: Stage, name: string, unschedulable: boolean): Promise<void> {
  await drive(
    stage.clock,
    stage.client.patch(resourcePaths.nodes, { namespace: '', name }, { type: 'merge', body: { spec: { unschedulable } } }),
  )
}

/** @returns the condition `DrainInProgress` of the node */
export function drainConditionOf({ status }: Node): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === 'DrainInProgress')
}

/** Sets the condition `DrainInProgress` of a node, as another program. */
export async function setOtherDrain(stage: Stage, name: string, status: 'True' | 'False'): Promise<void> {
  const body = { status: { conditions: [{ type: 'DrainInProgress', status, reason: 'NodeMaintenance', message: 'broken fan' }] } }
  const patch = { type: 'strategic', body } as const
  await drive(stage.clock, stage.client.patch(resourcePaths.nodes, { namespace: '', name }, patch, { subresource: 'status' }))
}

/** Waits until the node is unschedulable with a mark of a drain. */
export async function untilCordoned(stage: Stage, name: string): Promise<void> {
  await stage.until(`${name} is cordoned`, async () => {
    const { metadata, spec } = await readNode(stage, name)
    return spec?.unschedulable === true && isMarked(metadata)
  })
}

/** @returns names of the pods that are left in the namespace of the consumers */
export async function consumerNames(stage: Stage): Promise<readonly string[]> {
  const { items } = await drive(stage.clock, stage.client.list<Node>(resourcePaths.pods, { namespace: TEAM }))
  return items.map(({ metadata }) => metadata.name).toSorted()
}

/** Expects that soon no node has a mark, and that only those are unschedulable that a user cordoned. */
export async function expectNoMarks(stage: Stage, cordonedByUser: readonly string[] = []): Promise<void> {
  const isFree = async (): Promise<boolean> => (await nodesOf(stage)).every(({ metadata }) => !isMarked(metadata))
  await stage.until('no node has a mark', isFree, 90_000)
  const left = (await drive(stage.clock, nodesOf(stage))).filter(({ spec }) => spec?.unschedulable === true)
  expect(left.map(({ metadata }) => metadata.name)).toEqual(cordonedByUser)
}

/** Expects that each old pod was deleted after the consumers of that name had left its node. */
export function expectDrained(stage: Stage, prefix: string): void {
  const left = new Map<string, number>()
  for (const { kind, type, t, o, node = '' } of stage.recording())
    if (kind === 'Pod' && type === 'DELETED' && String(o['name']).startsWith(prefix)) left.set(node, t)
  expect(left.size).toBeGreaterThan(0)
  for (const { kind, actor = '', verb, t, o, node = '' } of stage.recording())
    if (kind === 'Pod' && verb === 'delete' && actor.startsWith('executor') && o['owner'] === stageKey.name && left.has(node))
      expect(t, node).toBeGreaterThanOrEqual(left.get(node) ?? Number.POSITIVE_INFINITY)
}

function isMarked({ annotations }: Node['metadata']): boolean {
  return annotations?.['tranche.dev/cordon'] !== undefined
}
