import type { Taint } from '@tranche/kube-types'
import { buildNode } from '@tranche/sim-nodes'
import { type ApiObject, resources } from '@tranche/sim-api'
import { createWorld, daemonSet, namespace, type World } from '../harness.ts'

/** A cluster to begin with, before any controller runs. */
export interface Stage {
  /** Each node as words: its name, `label=value`, `!key:Effect` taints, `NotReady`, `cordoned`. */
  readonly nodes: readonly string[]
  readonly daemonSet?: Parameters<typeof daemonSet>[0]
  /** Pods of the DaemonSet as words: a node, `*n` that many, `foreign` `failed` `unready` `unbound` `succeeded` `terminating`. */
  readonly pods?: readonly string[]
}

/** Pods never finish starting or stopping, so that only the actions of one pass are counted. */
const slow = { 'sim.tranche.dev/start-ms': '600000', 'sim.tranche.dev/stop-ms': '600000' }

/** Builds the cluster, then starts the controllers and lets three seconds pass. */
export async function play(stage: Stage): Promise<World> {
  const world = await build(stage)
  await world.sim.start()
  await world.pass(3000)
  return world
}

/** Builds the cluster; nothing runs yet. */
export async function build({ nodes, daemonSet: overrides = {}, pods = [] }: Stage): Promise<World> {
  const world = await createWorld()
  for (const words of nodes) await addNode(world, words)
  const owner = await world.admin.create(
    resources.daemonSets,
    daemonSet({
      ...overrides,
      spec: { updateStrategy: { type: 'OnDelete' }, ...overrides.spec },
      annotations: { ...slow, ...overrides.annotations },
    }),
  )
  for (const words of pods) await addPods(world, owner, words)
  return world
}

/** Actions of the DaemonSet controller: created pods, deleted pods, and events about them. */
export function done(world: World): string {
  const own = world.recording().filter(({ actor }) => actor === 'daemonset-controller')
  const created = own.filter(({ kind, type }) => kind === 'Pod' && type === 'ADDED').length
  const deleted = new Set(own.filter(({ kind, verb }) => kind === 'Pod' && verb === 'delete').map(({ uid }) => uid)).size
  const reasons = ['FailedDaemonPod', 'SucceededDaemonPod', 'SelectingAll', 'FailedCreate']
  const events = own.filter(({ kind, o }) => kind === 'Event' && reasons.includes(String(o['reason']))).length
  return `${created}/${deleted}/${events}`
}

/** Adds a node, given in the words of {@link Stage}. */
export async function addNode(world: World, words: string): Promise<void> {
  const [name = '', ...rest] = words.split(' ')
  const labels = Object.fromEntries(rest.filter((word) => word.includes('=')).map((word) => word.split('=')))
  const taints = rest.filter((word) => word.startsWith('!')).map(readTaint)
  const node = buildNode(name, 1, world.sim.clock.nowMs(), { labels, taints }) as Readonly<Record<string, object>>
  const conditions = [{ type: 'Ready', status: rest.includes('NotReady') ? 'False' : 'True' }]
  await world.admin.create(resources.nodes, {
    ...node,
    spec: { ...node['spec'], ...(rest.includes('cordoned') && { unschedulable: true }) },
    status: { ...node['status'], conditions },
  })
}

function readTaint(word: string): Taint {
  const at = word.lastIndexOf(':')
  return { key: word.slice(1, at), effect: word.slice(at + 1) }
}

async function addPods(world: World, owner: ApiObject, words: string): Promise<void> {
  const count = Number(/\*(\d+)/.exec(words)?.[1] ?? 1)
  for (let at = 0; at < count; at++) await addPod(world, owner, words)
}

async function addPod({ admin }: World, owner: ApiObject, words: string): Promise<void> {
  const has = (word: string): boolean => words.split(' ').includes(word)
  const [nodeName = ''] = words.split(/[ *]/)
  const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [nodeName] }] }]
  const pod = await admin.create(resources.pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: 'agent-',
      namespace,
      labels: { app: has('foreign') ? 'other' : 'agent' },
      annotations: slow,
      ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: owner.metadata.name, uid: owner.metadata.uid, controller: true }],
    },
    spec: {
      ...(has('unbound') ? { schedulerName: 'none' } : { nodeName }),
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
      containers: [{ name: 'agent', image: 'agent:v1' }],
    },
  })
  const phase = has('failed') ? 'Failed' : has('succeeded') ? 'Succeeded' : 'Running'
  const ready = has('unready') || phase !== 'Running' ? 'False' : 'True'
  const status = {
    phase: has('unbound') ? 'Pending' : phase,
    conditions: [{ type: 'Ready', status: ready, lastTransitionTime: '2023-01-01T00:00:00Z' }],
    containerStatuses: [
      { name: 'agent', image: 'agent:v1', imageID: '', ready: ready === 'True', restartCount: 0, state: { running: {} } },
    ],
  }
  await admin.patch(resources.pods, pod.metadata.name, namespace, { status }, 'status')
  if (has('terminating')) await admin.delete(resources.pods, pod.metadata.name, namespace)
}
