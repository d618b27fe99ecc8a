import type { Api } from '../fixtures/api.ts'
import { type Body, valueAt } from '../fixtures/body.ts'
import type { ConformanceTest } from '../fixtures/fixtures.ts'
import { daemonSet } from '../fixtures/objects.ts'
import { pathOf } from '../fixtures/paths.ts'
import { followPods, type NodeHistories, type PodNow } from './node-histories.ts'

/** Three nodes, labelled for one test, and the DaemonSet `agent` that runs on them. */
export interface Fleet {
  readonly nodes: readonly string[]
  /** The label of the three nodes; its value is `yes`. */
  readonly label: string
  readonly log: NodeHistories
  /** Creates the DaemonSet and waits until it is ready on all nodes. */
  create(spec?: Readonly<Record<string, unknown>>, podSpec?: Readonly<Record<string, unknown>>): Promise<void>
  setImage(image: string): Promise<void>
  patch(body: object): Promise<void>
  /** Waits until the status says that all pods are as the spec wants them. @returns the DaemonSet */
  settled(): Promise<Body>
  /** The revisions, by their number. */
  revisions(): Promise<readonly Body[]>
}

/** Adds the fixture `fleet`. Its nodes lose their label, and a taint with its key, with the test. */
export function fleetTest(it: ConformanceTest) {
  return it.extend('fleet', async ({ api, namespace, uniqueName }, { onCleanup }): Promise<Fleet> => {
    const label = `conformance.tranche.dev/${uniqueName}`
    const nodes = (await readyNodes(api)).slice(0, 3)
    if (nodes.length < 3) throw new Error('the controller level needs three nodes that are ready, schedulable and without taints')
    await labelAll(api, nodes, { [label]: 'yes' })
    onCleanup(() => release(api, nodes, label))
    return openFleet(api, namespace, { nodes, label, log: await followPods(api, namespace, 'agent') })
  })
}

/** @returns whether each of `count` nodes has one pod, all Ready and of one revision */
export function allReady(count: number, revision: string): (pods: readonly PodNow[]) => boolean {
  return (pods) => pods.length === count && pods.every((pod) => pod.state === 'Ready' && pod.revision === revision)
}

function openFleet(api: Api, namespace: string, { nodes, label, log }: Pick<Fleet, 'nodes' | 'label' | 'log'>): Fleet {
  const path = pathOf.daemonSets(namespace, 'agent')
  const fleet: Fleet = {
    nodes,
    label,
    log,
    async create(spec = {}, podSpec = {}) {
      await api.create(
        pathOf.daemonSets(namespace),
        daemonSet('agent', { spec, podSpec: { nodeSelector: { [label]: 'yes' }, ...podSpec } }),
      )
      await log.until('a ready pod on each node', allReady(nodes.length, 'rev1'))
    },
    setImage: (image) => fleet.patch({ spec: { template: { spec: { containers: [{ name: 'main', image }] } } } }),
    async patch(body) {
      const answer = await api.patch(path, 'strategic', body)
      if (answer.status !== 200) throw new Error(answer.text)
    },
    settled: async () => (await api.until(pathOf.daemonSets(namespace), 'agent', 'the settled status', isSettled))!,
    async revisions() {
      const { body } = await api.get(pathOf.controllerRevisions(namespace))
      return body.items.toSorted((a, b) => Number(a['revision']) - Number(b['revision']))
    },
  }
  return fleet
}

function isSettled(daemonSet: Body | undefined): boolean {
  const status = (daemonSet?.['status'] ?? {}) as Readonly<Record<string, number | undefined>>
  const desired = status['desiredNumberScheduled']
  return (
    status['observedGeneration'] === daemonSet?.metadata.generation &&
    [status['updatedNumberScheduled'], status['numberAvailable'], status['currentNumberScheduled']].every(
      (count) => (count ?? 0) === desired,
    )
  )
}

async function readyNodes(api: Api): Promise<readonly string[]> {
  const { body } = await api.get(pathOf.nodes())
  return body.items.filter(isFree).map(({ metadata }) => metadata.name)
}

function isFree(node: Body): boolean {
  const conditions = (valueAt(node, 'status.conditions') ?? []) as readonly { readonly type: string; readonly status: string }[]
  const isReady = conditions.some(({ type, status }) => type === 'Ready' && status === 'True')
  return isReady && valueAt(node, 'spec.unschedulable') !== true && ((valueAt(node, 'spec.taints') ?? []) as readonly object[]).length === 0
}

async function release(api: Api, nodes: readonly string[], label: string): Promise<void> {
  await labelAll(api, nodes, { [label]: null })
  const path = pathOf.nodes(nodes[0])
  const { body } = await api.get(path)
  const taints = (valueAt(body, 'spec.taints') ?? []) as readonly { readonly key: string }[]
  if (taints.some(({ key }) => key === label))
    await api.patch(path, 'merge', { spec: { taints: taints.filter(({ key }) => key !== label) } })
}

async function labelAll(api: Api, nodes: readonly string[], labels: object): Promise<void> {
  await Promise.all(nodes.map((name) => api.patch(pathOf.nodes(name), 'merge', { metadata: { labels } })))
}
