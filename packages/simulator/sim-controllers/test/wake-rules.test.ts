import type { Node } from '@tranche/kube-types'
import { type ApiObject, resources } from '@tranche/sim-api'
import { isPlacingChanged } from '@tranche/sim-controllers'
import { describe, expect, it } from 'vitest'
import { type Bench, createBench } from './bench.ts'
import { node } from './builders.ts'

const agent = 'demo/agent'
/** Selects what `agent` selects. */
const twin = 'demo/twin'
/** Selects nothing that a test makes. */
const other = 'demo/other'

/** A bench with three DaemonSets, node `n0`, and nothing woken. */
async function createWakeBench(pods: readonly string[] = []): Promise<Bench> {
  const bench = await createBench({ nodes: ['n0'], pods })
  await bench.admin.create(resources.daemonSets, daemonSet('twin', 'agent'))
  await bench.admin.create(resources.daemonSets, daemonSet('other', 'other'))
  expect(await bench.woken()).toEqual([other, twin])
  return bench
}

describe('a DaemonSet is reconciled when', () => {
  it('55 one of its pods is added', async () => {
    const bench = await createWakeBench()
    await bench.addPods('n0')
    expect(await bench.woken()).toEqual([agent])
  })

  it('56 an orphan is added: every DaemonSet that selects it', async () => {
    const bench = await createWakeBench()
    await bench.addPods('n0 orphan')
    expect(await bench.woken()).toEqual([agent, twin])
  })

  it('57 one of its pods changes', async () => {
    const bench = await createWakeBench(['n0'])
    await patchPod(bench, { annotations: { poke: 'yes' } })
    expect(await bench.woken()).toEqual([agent])
  })

  it('58 an orphan is changed and keeps its labels: none', async () => {
    const bench = await createWakeBench(['n0 orphan'])
    await patchPod(bench, { annotations: { poke: 'yes' } })
    expect(await bench.woken()).toEqual([])
  })

  it('59 an orphan gets other labels: every DaemonSet that selects it now', async () => {
    const bench = await createWakeBench(['n0 unrelated'])
    await patchPod(bench, { labels: { app: 'agent' } })
    expect(await bench.woken()).toEqual([agent, twin])
  })

  it('60 a pod gets another owner: both', async () => {
    const bench = await createWakeBench(['n0'])
    await patchPod(bench, { ownerReferences: [await ownerOf(bench, 'twin')] })
    expect(await bench.woken()).toEqual([agent, twin])
  })

  it('61 a pod loses its owner: the former owner and every DaemonSet that selects it', async () => {
    const bench = await createWakeBench(['n0'])
    await patchPod(bench, { ownerReferences: null })
    expect(await bench.woken()).toEqual([agent, twin])
  })

  it.each([
    ['62 a pod of its own is deleted', ['n0'], [agent]],
    ['62 an orphan is deleted: none', ['n0 orphan'], []],
    ['63 a pod without a DaemonSet is deleted: none', ['n0 unrelated'], []],
  ])('%s', async (_name, pods, want) => {
    const bench = await createWakeBench(pods)
    const [pod] = await bench.pods()
    await bench.admin.delete(resources.pods, pod!.metadata.name, 'demo')
    expect(await bench.woken()).toEqual(want)
  })

  it('a pod becomes ready: again one second after minReadySeconds', async () => {
    const bench = await createWakeBench(['n0 unready'])
    await bench.patch({ minReadySeconds: 30 })
    bench.later.splice(0)
    await bench.setReady(true)
    expect(bench.later).toEqual([[agent, 31_000]])
  })

  it('64 a node is added: every DaemonSet that lacks a pod there', async () => {
    const bench = await createWakeBench()
    await bench.addNode('n1 !gpu:NoSchedule')
    expect(await bench.woken()).toEqual([])
    await bench.addNode('n2')
    expect(await bench.woken()).toEqual([agent, other, twin])
  })

  it.each<[name: string, change: object, subresource: string | undefined, want: readonly string[]]>([
    ['65 allocatable changes', { status: { allocatable: { cpu: '9' } } }, 'status', []],
    ['65 it is cordoned', { spec: { unschedulable: true } }, undefined, []],
    ['65 labels change: who lacks a pod there', { metadata: { labels: { x: 'y' } } }, undefined, [other, twin]],
    ['65 a taint drives pods away: whose pods', { spec: { taints: [{ key: 'gpu', effect: 'NoExecute' }] } }, undefined, [agent]],
    ['65 a taint that affects no existing pod: none', { spec: { taints: [{ key: 'gpu', effect: 'NoSchedule' }] } }, undefined, []],
  ])('a node changes: %s', async (_name, change, subresource, want) => {
    const bench = await createWakeBench(['n0'])
    await bench.admin.patch(resources.nodes, 'n0', undefined, change, subresource)
    expect(await bench.woken()).toEqual(want)
  })

  it('65 labels change on a node with its pod, and with pods that count as misscheduled', async () => {
    const bench = await createWakeBench(['n0'])
    await bench.pass()
    await bench.admin.patch(resources.daemonSets, 'agent', 'demo', { status: { numberMisscheduled: 1 } }, 'status')
    await bench.woken()
    await bench.admin.patch(resources.nodes, 'n0', undefined, { metadata: { labels: { x: 'y' } } })
    expect(await bench.woken()).toContain(agent)
  })

  it('65 a node changes to which a pod is pinned but not yet bound', async () => {
    const bench = await createWakeBench(['n0 unbound'])
    await bench.admin.patch(resources.nodes, 'n0', undefined, { metadata: { labels: { x: 'y' } } })
    expect(await bench.woken()).toContain(agent)
  })

  it('104 a node is deleted: none', async () => {
    const bench = await createWakeBench(['n0'])
    await bench.admin.delete(resources.nodes, 'n0', undefined)
    expect(await bench.woken()).toEqual([])
  })

  it('one of its revisions is added: none; changed or deleted: its owner', async () => {
    const bench = await createWakeBench()
    await bench.pass()
    const [revision] = (await bench.admin.list(resources.controllerRevisions)).items
    await bench.woken()
    await bench.admin.create(resources.controllerRevisions, copyOf(revision!, revision!.metadata.ownerReferences))
    expect(await bench.woken()).toEqual([])
    await bench.admin.patch(resources.controllerRevisions, 'copy', 'demo', { revision: 7 })
    expect(await bench.woken()).toEqual([agent])
    await bench.admin.delete(resources.controllerRevisions, 'copy', 'demo')
    expect(await bench.woken()).toEqual([agent])
  })

  it('an orphaned revision is added or relabelled: every DaemonSet that selects it', async () => {
    const bench = await createWakeBench()
    await bench.pass()
    const [revision] = (await bench.admin.list(resources.controllerRevisions)).items
    await bench.woken()
    await bench.admin.create(resources.controllerRevisions, copyOf(revision!, []))
    expect(await bench.woken()).toEqual([agent, twin])
    await bench.admin.patch(resources.controllerRevisions, 'copy', 'demo', { revision: 7 })
    expect(await bench.woken()).toEqual([])
    await bench.admin.patch(resources.controllerRevisions, 'copy', 'demo', { metadata: { labels: { app: 'other' } } })
    expect(await bench.woken()).toEqual([other])
  })

  it('51 it is deleted, which the watch learns only from a new list', async () => {
    const bench = await createWakeBench()
    bench.server.useFaults({
      onEvent: ({ type, resource }) => (type === 'DELETED' && resource.resource === 'daemonsets' ? { kind: 'gap' } : undefined),
    })
    await bench.admin.delete(resources.daemonSets, 'agent', 'demo')
    await bench.clock.advanceAsync(10_000)
    expect(await bench.woken()).toEqual([agent])
  })
})

describe('66 the relevant changes of a node', () => {
  const plain = node('a', { x: 'y' }, [{ key: 'gpu', effect: 'NoSchedule' }])
  const cases: readonly [name: string, changed: Node, want: boolean][] = [
    ['nothing changed', { ...plain }, false],
    ['conditions', { ...plain, status: { conditions: [{ type: 'Ready', status: 'False' }] } }, false],
    ['whether it is cordoned', { ...plain, spec: { ...plain.spec, unschedulable: true } }, false],
    ['labels', node('a', { x: 'z' }, plain.spec!.taints), true],
    ['taints', node('a', { x: 'y' }, []), true],
  ]

  it.each(cases)('%s', (_name, changed, want) => expect(isPlacingChanged(changed, plain)).toBe(want))
})

function daemonSet(name: string, app: string): object {
  const labels = { app }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'agent', image: 'agent:v1' }] } }
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: 'demo' },
    spec: { selector: { matchLabels: labels }, template },
  }
}

async function ownerOf(bench: Bench, name: string): Promise<object> {
  const { uid } = (await bench.admin.get(resources.daemonSets, name, 'demo')).metadata
  return { apiVersion: 'apps/v1', kind: 'DaemonSet', name, uid, controller: true }
}

async function patchPod(bench: Bench, metadata: object): Promise<void> {
  const [pod] = await bench.pods()
  await bench.admin.patch(resources.pods, pod!.metadata.name, 'demo', { metadata })
}

function copyOf(revision: ApiObject, ownerReferences: ApiObject['metadata']['ownerReferences']): object {
  const { labels, namespace } = revision.metadata
  return { ...revision, metadata: { name: 'copy', namespace, labels, ownerReferences }, revision: 5 }
}
