import { resourcePaths } from '@tranche/kube-client'
import { keyOf, type Node, type ObjectKey, type Pod } from '@tranche/kube-types'
import { stageKey } from '../scenarios/stage-objects.ts'
import { pickByName } from './draw.ts'
import type { ClusterOperation } from './schedule.ts'
import { durationText } from './words.ts'
import { holdNode } from './node-holder.ts'
import { drainByOther, OTHER_REASON } from './other-drain.ts'
import type { World } from './world.ts'

const FINALIZER = 'example.com/stuck'
const TAINT = 'example.com/fault'
const POOL_TAINT = 'example.com/pool'
const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service'
/** Milliseconds after which a person acts on a silent kubelet; Kubernetes has marked its node as NotReady by then. */
const OBSERVED_MS = 60_000
const quotaKey = { namespace: stageKey.namespace, name: 'no-more-pods' }
const pathTo = {
  resourceQuotas: { group: '', version: 'v1', plural: 'resourcequotas', namespaced: true },
  budgets: { group: 'policy', version: 'v1', plural: 'poddisruptionbudgets', namespaced: true },
} as const

/** Changes nodes or pods as other clients do. */
export async function changeCluster(world: World, operation: ClusterOperation): Promise<void> {
  switch (operation.kind) {
    case 'addNode':
    case 'removeNode':
    case 'silenceNode':
      return changeMachines(world, operation)
    case 'outOfService':
      return takeOutOfService(world, operation)
    case 'maintain':
      return maintain(world, operation)
    case 'drainByOther':
      return drainByOther(world, operation)
    case 'cordon':
    case 'taint':
      return markNode(world, operation)
    case 'zoneOutage':
      return takeZone(world, operation)
    case 'taintPool':
      return taintPool(world, operation)
    case 'quota':
      return limitPods(world, operation.forMs)
    case 'crowd':
      return crowdNode(world, operation)
    case 'noRegistry':
      return cutFromRegistry(world, operation)
    case 'consume':
      return consume(world, operation)
    case 'holdNode':
      return holdNode(world, operation)
    default:
      return changePod(world, operation)
  }
}

async function changeMachines(
  world: World,
  operation: Extract<ClusterOperation, { readonly kind: 'addNode' | 'removeNode' | 'silenceNode' }>,
): Promise<void> {
  const { nodes } = world.simulator
  if (operation.kind === 'addNode') {
    world.note(`node ${operation.name} joins`)
    return nodes.addNode(operation.name)
  }
  const name = pickByName(await nodesOf(world), operation.pick)?.metadata.name
  if (name === undefined) return undefined
  if (operation.kind === 'removeNode') {
    world.note(`node ${name} is removed`)
    return nodes.removeNode(name)
  }
  world.note(`the kubelet of ${name} falls silent for ${durationText(operation.forMs)}`)
  await nodes.kill(name)
  world.later(operation.forMs, async () => {
    world.note(`the kubelet of ${name} is back`)
    await nodes.revive(name).catch(() => {})
  })
}

async function takeOutOfService(world: World, operation: Extract<ClusterOperation, { readonly kind: 'outOfService' }>): Promise<void> {
  const name = pickByName(await nodesOf(world), operation.pick)?.metadata.name
  if (name === undefined) return
  const { nodes } = world.simulator
  world.note(`the kubelet of ${name} falls silent`)
  await nodes.kill(name)
  world.later(OBSERVED_MS, () => {
    world.note(`a person takes ${name} out of service for ${durationText(operation.forMs)}`)
    return setTaint(world, name, { key: OUT_OF_SERVICE, effect: 'NoExecute' })
  })
  world.later(OBSERVED_MS + operation.forMs, async () => {
    world.note(`the kubelet of ${name} is back, and a person puts it into service`)
    await nodes.revive(name).catch(() => {})
    await setTaint(world, name, { key: OUT_OF_SERVICE, effect: null })
  })
}

async function maintain(world: World, operation: Extract<ClusterOperation, { readonly kind: 'maintain' }>): Promise<void> {
  const name = pickByName(await nodesOf(world), operation.pick)?.metadata.name
  if (name === undefined) return
  const { condition, isSilent, forMs } = operation
  const { nodes } = world.simulator
  const set = (status: 'True' | 'False'): Promise<unknown> => {
    const body = { status: { conditions: [{ type: condition, status, reason: OTHER_REASON }] } }
    return world.people.patch(resourcePaths.nodes, { namespace: '', name }, { type: 'strategic', body }, { subresource: 'status' })
  }
  world.note(`node ${name} has ${condition} for ${durationText(forMs)}, and its ${isSilent ? 'kubelet is silent' : 'pods are not Ready'}`)
  await set('True')
  if (isSilent) await nodes.kill(name)
  else await setPodsReady(world, name, 'False')
  world.later(forMs, async () => {
    world.note(`node ${name} is back in service`)
    await set('False').catch(() => {})
    await (isSilent ? nodes.revive(name) : setPodsReady(world, name, 'True')).catch(() => {})
  })
}

/** As a kubelet does it whose readiness probe the maintenance disturbs. */
async function setPodsReady({ people, serverNowMs }: World, node: string, status: 'True' | 'False'): Promise<void> {
  const { items } = await people.list<Pod>(resourcePaths.pods, { namespace: stageKey.namespace })
  const lastTransitionTime = new Date(serverNowMs()).toISOString().replace(/\.\d+/, '')
  for (const pod of items.filter(({ spec }) => spec?.nodeName === node)) {
    if (pod.status?.startTime === undefined) continue
    const body = { status: { conditions: [{ type: 'Ready', status, lastTransitionTime }] } }
    await people.patch(resourcePaths.pods, keyOf(pod), { type: 'strategic', body }, { subresource: 'status' }).catch(() => {})
  }
}

async function markNode(world: World, operation: Extract<ClusterOperation, { readonly kind: 'cordon' | 'taint' }>): Promise<void> {
  const node = pickByName(await nodesOf(world), operation.pick)
  if (node === undefined) return
  const { name } = node.metadata
  const others = async (): Promise<readonly object[]> => {
    const { spec } = await world.people.get<Node>(resourcePaths.nodes, { namespace: '', name })
    return (spec?.taints ?? []).filter(({ key }) => key !== TAINT)
  }
  const set = (spec: object): Promise<unknown> =>
    world.people.patch(resourcePaths.nodes, { namespace: '', name }, { type: 'merge', body: { spec } })
  world.note(
    `node ${name} is ${operation.kind === 'cordon' ? 'cordoned' : `tainted ${operation.effect}`} for ${durationText(operation.forMs)}`,
  )
  if (operation.kind === 'cordon') await set({ unschedulable: true })
  else await set({ taints: [...(await others()), { key: TAINT, effect: operation.effect }] })
  world.later(operation.forMs, async () => {
    await (operation.kind === 'cordon' ? set({ unschedulable: null }) : others().then((taints) => set({ taints }))).catch(() => {})
  })
}

/** Fills the node up to what the agent requests, and lets a pod wait that is as important as the agent. */
async function crowdNode(world: World, { pick, forMs }: Extract<ClusterOperation, { readonly kind: 'crowd' }>): Promise<void> {
  const node = pickByName(await nodesOf(world), pick)?.metadata.name
  if (node === undefined || world.schedule.shape.cpu === undefined) return
  await world.people.create(resourcePaths.namespaces, crowdNamespace).catch(() => {})
  const created = await Promise.all([
    crowdPod(world, { nodeName: node, ...requesting('7500m') }),
    crowdPod(world, { nodeSelector: { 'kubernetes.io/hostname': node }, ...requesting('500m') }),
  ])
  world.note(`node ${node} is full for ${durationText(forMs)}, and another pod waits for its room`)
  world.later(forMs, async () => {
    world.note(`the other pods of ${node} are gone`)
    for (const pod of created) await world.people.delete(resourcePaths.pods, keyOf(pod), { gracePeriodSeconds: 0 }).catch(() => {})
  })
}

async function cutFromRegistry(world: World, { pick, forMs }: Extract<ClusterOperation, { readonly kind: 'noRegistry' }>): Promise<void> {
  const node = pickByName(await nodesOf(world), pick)?.metadata.name
  if (node === undefined) return
  const set = async (value: 'true' | null): Promise<void> => {
    const body = { metadata: { annotations: { 'sim.tranche.dev/no-registry': value } } }
    await world.people.patch(resourcePaths.nodes, { namespace: '', name: node }, { type: 'merge', body })
  }
  world.note(`node ${node} reaches no registry for ${durationText(forMs)}`)
  await set('true')
  world.later(forMs, () => set(null))
}

/** Runs a pod on the node that uses the agent for a while. */
async function consume(world: World, operation: Extract<ClusterOperation, { readonly kind: 'consume' }>): Promise<void> {
  const { people } = world
  const node = pickByName(await nodesOf(world), operation.pick)?.metadata.name
  if (node === undefined) return
  await people.create(resourcePaths.namespaces, crowdNamespace).catch(() => {})
  const labels = { 'example.com/uses': 'agent', kept: operation.kept }
  const finalizers = operation.kept === 'finalizer' ? [FINALIZER] : []
  if (operation.kept === 'budget') await people.create(pathTo.budgets, consumerBudget as never).catch(() => {})
  const metadata = { namespace: crowdNamespace.metadata.name, generateName: 'consumer-', labels, finalizers }
  const spec = { nodeName: node, containers: [{ name: 'main', image: 'registry.example/main:1' }] }
  const pod = keyOf((await people.create(resourcePaths.pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec } as never)) as unknown as Pod)
  const kept = operation.kept === 'not' ? '' : `, and a ${operation.kept} keeps it`
  world.note(`a pod on ${node} uses the agent for ${durationText(operation.forMs)}${kept}`)
  world.later(operation.forMs, async () => {
    await people.patch(resourcePaths.pods, pod, { type: 'merge', body: { metadata: { finalizers: null } } }).catch(() => {})
    await people.delete(resourcePaths.pods, pod, { gracePeriodSeconds: 0 }).catch(() => {})
  })
}

const consumerBudget = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { namespace: 'crowd', name: 'consumers' },
  spec: { maxUnavailable: 0, selector: { matchLabels: { kept: 'budget' } } },
}

const crowdNamespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'crowd' } }

function requesting(cpu: string): object {
  return { containers: [{ name: 'main', image: 'registry.example/main:1', resources: { requests: { cpu } } }] }
}

async function crowdPod({ people }: World, spec: object): Promise<Pod> {
  const metadata = { namespace: crowdNamespace.metadata.name, generateName: 'crowd-' }
  return (await people.create(resourcePaths.pods, { apiVersion: 'v1', kind: 'Pod', metadata, spec } as never)) as unknown as Pod
}

async function takeZone(world: World, operation: Extract<ClusterOperation, { readonly kind: 'zoneOutage' }>): Promise<void> {
  const { nodes } = world.simulator
  const names = pool(await nodesOf(world), operation)
  world.note(`a zone goes out for ${durationText(operation.forMs)}: ${names.join(', ')}`)
  await Promise.all(names.map((name) => nodes.kill(name)))
  world.later(operation.forMs, async () => {
    world.note(`the zone is back: ${names.join(', ')}`)
    await Promise.all(names.map((name) => nodes.revive(name).catch(() => {})))
  })
}

async function taintPool(world: World, operation: Extract<ClusterOperation, { readonly kind: 'taintPool' }>): Promise<void> {
  const names = pool(await nodesOf(world), operation)
  world.note(`a pool is tainted ${operation.effect} for ${durationText(operation.forMs)}: ${names.join(', ')}`)
  await Promise.all(names.map((name) => setTaint(world, name, { key: POOL_TAINT, effect: operation.effect })))
  world.later(operation.forMs, async () => {
    world.note(`the pool is given back: ${names.join(', ')}`)
    await Promise.all(names.map((name) => setTaint(world, name, { key: POOL_TAINT, effect: null }).catch(() => {})))
  })
}

/** @param taint its effect; null removes it */
async function setTaint({ people }: World, name: string, taint: { readonly key: string; readonly effect: string | null }): Promise<void> {
  const key = { namespace: '', name }
  const { spec } = await people.get<Node>(resourcePaths.nodes, key)
  const others = (spec?.taints ?? []).filter((one) => one.key !== taint.key)
  const taints = taint.effect === null ? others : [...others, taint]
  await people.patch(resourcePaths.nodes, key, { type: 'merge', body: { spec: { taints } } })
}

/** @returns neighbours by name, wrapping at the end of the list; at least one if there is a node */
function pool(nodes: readonly Node[], { pick, share }: { readonly pick: number; readonly share: number }): readonly string[] {
  const names = nodes.map(({ metadata }) => metadata.name).toSorted()
  const size = Math.ceil(names.length * share)
  return Array.from({ length: size }, (_, at) => names[(pick + at) % names.length]!)
}

async function limitPods(world: World, forMs: number): Promise<void> {
  const { people } = world
  const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: quotaKey, spec: { hard: { pods: '0' } } }
  world.note(`a quota allows no new pod for ${durationText(forMs)}`)
  await people.create(pathTo.resourceQuotas, quota as never)
  world.later(forMs, async () => {
    await people.delete(pathTo.resourceQuotas, quotaKey).catch(() => {})
  })
}

async function changePod(
  world: World,
  operation: Extract<ClusterOperation, { readonly kind: 'deletePod' | 'failPod' | 'stickPod' }>,
): Promise<void> {
  const { people } = world
  const { items } = await people.list<Pod>(resourcePaths.pods, { namespace: stageKey.namespace })
  const pod = pickByName(items, operation.pick)
  if (pod === undefined) return
  const key = keyOf(pod)
  const where = `${key.name} on ${pod.spec?.nodeName ?? 'no node'}`
  switch (operation.kind) {
    case 'deletePod':
      world.note(`a person ${operation.evict ? 'evicts' : 'deletes'} pod ${where}`)
      if (operation.evict) return evict(world, key)
      await people.delete(resourcePaths.pods, key)
      return
    case 'failPod':
      // Only its kubelet fails a pod, so a pod that no kubelet has started cannot fail.
      if (pod.status?.startTime === undefined) return
      world.note(`pod ${where} fails`)
      return void (await people.patch(
        resourcePaths.pods,
        key,
        { type: 'merge', body: { status: { phase: 'Failed' } } },
        { subresource: 'status' },
      ))
    case 'stickPod': {
      world.note(`a finalizer holds pod ${where} for ${durationText(operation.forMs)}`)
      const set = (finalizers: readonly string[] | null): Promise<unknown> =>
        people.patch(resourcePaths.pods, key, { type: 'merge', body: { metadata: { finalizers } } })
      await set([FINALIZER])
      return world.later(operation.forMs, async () => void (await set(null).catch(() => {})))
    }
    default:
      return operation satisfies never
  }
}

/** A disruption budget may refuse the eviction. */
async function evict({ simulator }: World, { namespace, name }: ObjectKey): Promise<void> {
  const body = JSON.stringify({ apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name } })
  const path = `/api/v1/namespaces/${namespace}/pods/${name}/eviction`
  const headers = { 'content-type': 'application/json' }
  await simulator.exchangeFor('people')({ method: 'POST', path, headers, body }, new AbortController().signal)
}

async function nodesOf({ people }: World): Promise<readonly Node[]> {
  return (await people.list<Node>(resourcePaths.nodes)).items
}
