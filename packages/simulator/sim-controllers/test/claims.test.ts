import { type ApiObject, ApiStatusError, resources } from '@tranche/sim-api'
import { describe, expect, it } from 'vitest'
import { type Bench, createBench } from './bench.ts'

describe('pods', () => {
  it('106 without a controller are adopted, and no other is created', async () => {
    const bench = await createBench({ nodes: ['n0', 'n1'], pods: ['n0 orphan'] })
    expect(await bench.pass()).toBe('1/0/0')
    const { uid } = (await bench.daemonSet()).metadata
    expect((await bench.pods()).map(ownerUids)).toEqual([[uid], [uid]])
    expect(bench.requests.filter((request) => request === 'get daemonsets')).toHaveLength(1)
  })

  it('keep their other owners when they are taken over', async () => {
    const bench = await createBench({ nodes: ['n0'], pods: ['n0 orphan'] })
    const [pod] = await bench.pods()
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'beside', uid: 'beside' }]
    await bench.admin.patch(resources.pods, pod!.metadata.name, 'demo', { metadata: { ownerReferences } })
    await bench.pass()
    expect((await bench.pods()).map(ownerUids)).toEqual([['beside', (await bench.daemonSet()).metadata.uid]])
  })

  it('that are terminating, or owned by another controller, are ignored', async () => {
    const bench = await createBench({ nodes: ['n0', 'n1'], pods: ['n0 orphan terminating', 'n1 unrelated'] })
    expect(await bench.pass()).toBe('2/0/0')
    expect((await bench.pods()).filter((pod) => ownerUids(pod).length === 0)).toHaveLength(2)
  })

  it('54 are not adopted if the server already deletes the DaemonSet, and the cache does not show it', async () => {
    const bench: Bench = await createBench({
      nodes: ['n0'],
      pods: ['n0 orphan'],
      async gate(verb, id, name) {
        if (verb === 'get' && id.resource === 'daemonsets') await bench.admin.delete(id, name, 'demo', { propagationPolicy: 'Foreground' })
      },
    })
    await expect(bench.pass()).rejects.toThrow('has just been deleted')
    expect((await bench.pods()).map(ownerUids)).toEqual([[]])
  })

  it('are not adopted by a recreated DaemonSet', async () => {
    const bench = await createBench({ nodes: ['n0'], pods: ['n0 orphan'] })
    const daemonSet = await bench.daemonSet()
    const former = { ...daemonSet, metadata: { ...daemonSet.metadata, uid: 'former' } }
    await expect(bench.passWith(former)).rejects.toThrow('its uid was former')
    expect((await bench.pods()).map(ownerUids)).toEqual([[]])
  })

  it('whose labels no longer match are released, and adopted when they match again', async () => {
    const bench = await createBench({ nodes: ['n0'], pods: ['n0'] })
    const [pod] = await bench.pods()
    const relabel = (app: string): Promise<unknown> =>
      bench.admin.patch(resources.pods, pod!.metadata.name, 'demo', { metadata: { labels: { app } } })
    await relabel('other')
    expect(await bench.pass()).toBe('1/0/0')
    expect(ownerUids(await podNamed(bench, pod!.metadata.name))).toEqual([])
    await relabel('agent')
    // Of the two the older one stays, which is the one that came back.
    expect(await bench.pass()).toBe('0/1/0')
    expect((await bench.pods()).map(({ metadata }) => metadata.name)).toEqual([pod!.metadata.name])
  })

  it('53 are left as they are while the DaemonSet is being deleted', async () => {
    const bench = await createBench({ nodes: ['n0', 'n1'], pods: ['n0 orphan'] })
    await bench.admin.delete(resources.daemonSets, 'agent', 'demo', { propagationPolicy: 'Foreground' })
    expect(await bench.pass()).toBe('0/0/0')
    expect((await bench.pods()).map(ownerUids)).toEqual([[]])
  })

  it('count as updated by their template generation after adoption, even with another template', async () => {
    const bench = await createBench({ nodes: ['n0'], pods: ['n0 old orphan'] })
    const [pod] = await bench.pods()
    await bench.admin.patch(resources.pods, pod!.metadata.name, 'demo', { metadata: { labels: { 'pod-template-generation': '1' } } })
    expect(await bench.passes(2)).toEqual(['0/0/0', '0/0/0'])
    expect((await bench.daemonSet()).status).toMatchObject({ updatedNumberScheduled: 1 })
  })

  it('26 are ignored if the selector selects everything', async () => {
    const bench = await createBench({ nodes: ['n0'], pods: ['n0 orphan'] })
    const daemonSet = await bench.daemonSet()
    expect(await bench.passWith({ ...daemonSet, spec: { ...daemonSet.spec, selector: {} } })).toBe('0/0/1')
  })
})

describe('revisions', () => {
  it('67 of the DaemonSet, and orphans of its namespace, are claimed; those of other namespaces are not', async () => {
    const bench = await createBench({ pods: ['n0'] })
    await bench.admin.create(resources.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'far' } })
    await createRevision(bench, { name: 'near', namespace: 'demo' })
    await createRevision(bench, { name: 'away', namespace: 'far' })
    await createRevision(bench, { name: 'strange', namespace: 'demo', labels: { app: 'other' } })
    await bench.pass()
    const { items } = await bench.admin.list(resources.controllerRevisions)
    const owned = items.filter((one) => ownerUids(one).length > 0).map(({ metadata }) => metadata.name)
    expect(owned).toEqual([expect.stringMatching(/^agent-/), 'near'])
  })

  it('without a hash label get their name for it', async () => {
    const bench = await createBench({ pods: ['n0'] })
    await createRevision(bench, { name: 'near', namespace: 'demo' })
    await bench.pass()
    const { metadata } = await bench.admin.get(resources.controllerRevisions, 'near', 'demo')
    expect(metadata.labels).toMatchObject({ 'controller-revision-hash': 'near' })
  })

  it('raise the number of the current revision above their own', async () => {
    const bench = await createBench({ pods: ['n0'] })
    await createRevision(bench, { name: 'near', namespace: 'demo', revision: 7 })
    await bench.pass()
    expect(await revisions(bench)).toEqual([
      ['near', 7],
      [expect.stringMatching(/^agent-/), 8],
    ])
  })

  it('whose labels no longer match are released', async () => {
    const bench = await createBench({ pods: ['n0'] })
    const [current] = (await bench.admin.list(resources.controllerRevisions)).items
    await bench.admin.patch(resources.controllerRevisions, current!.metadata.name, 'demo', { metadata: { labels: { app: 'other' } } })
    await bench.pass()
    // The released one has the name and holds the same template: it is used, whatever its owner.
    expect(ownerUids(await bench.admin.get(resources.controllerRevisions, current!.metadata.name, 'demo'))).toEqual([])
    expect(await revisions(bench)).toHaveLength(1)
  })

  it('103 with the same template are merged, and every pod gets the remaining hash, even those of old templates', async () => {
    const bench = await createBench({ nodes: ['n0', 'n1'], pods: ['n0', 'n1 old'], spec: { updateStrategy: { type: 'OnDelete' } } })
    const [current] = (await bench.admin.list(resources.controllerRevisions)).items
    const labels = { app: 'agent', 'controller-revision-hash': 'dup' }
    await createRevision(bench, { name: 'dup', namespace: 'demo', labels, revision: 5, data: current!['data'] })
    expect(await bench.pass()).toBe('0/0/0')
    expect(await revisions(bench)).toEqual([['dup', 5]])
    expect((await bench.pods()).map(({ metadata }) => metadata.labels!['controller-revision-hash'])).toEqual(['dup', 'dup'])
    await bench.patch({ updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } } })
    expect(await bench.pass()).toBe('0/0/0')
    expect((await bench.daemonSet()).status).toMatchObject({ updatedNumberScheduled: 2 })
  })

  it('97 with another template under the next name make the controller count a collision, once', async () => {
    const bench = await createBench({ nodes: ['n0'], spec: { updateStrategy: { type: 'OnDelete' } } })
    await bench.pass()
    const name = await nextName(bench, 'agent:v2')
    await createRevision(bench, { name, namespace: 'demo', labels: { some: 'other' } })
    await bench.setImage('agent:v2')
    await expect(bench.pass()).rejects.toMatchObject({ code: 409 })
    expect((await bench.daemonSet()).status).toMatchObject({ collisionCount: 1, observedGeneration: 3 })
    await bench.pass()
    expect((await bench.daemonSet()).status).toMatchObject({ collisionCount: 1, observedGeneration: 4 })
    const own = (await revisions(bench)).filter(([one]) => String(one).startsWith('agent-'))
    expect(own.map(([, number]) => number).sort()).toEqual([1, 1, 2])
  })

  it('97 count no collision twice while the cache has not shown the first', async () => {
    const bench = await createBench({ nodes: ['n0'], spec: { updateStrategy: { type: 'OnDelete' } } })
    await bench.pass()
    const name = await nextName(bench, 'agent:v2')
    await createRevision(bench, { name, namespace: 'demo', labels: { some: 'other' } })
    await bench.setImage('agent:v2')
    const before = await bench.daemonSet()
    await bench.pass().catch(() => {})
    await expect(bench.passWith(before)).rejects.toThrow('found a stale collision count (undefined, expected 1)')
    expect((await bench.daemonSet()).status).toMatchObject({ collisionCount: 1 })
  })

  it('with the same template under the next name are used', async () => {
    const bench = await createBench({ nodes: ['n0'] })
    await bench.pass()
    const [current] = (await bench.admin.list(resources.controllerRevisions)).items
    // The cache does not show it: it has no owner, and its labels match no DaemonSet.
    await bench.admin.patch(resources.controllerRevisions, current!.metadata.name, 'demo', {
      metadata: { ownerReferences: null, labels: { app: null } },
    })
    await bench.pass()
    expect(await revisions(bench)).toHaveLength(1)
  })
})

interface RevisionOptions {
  readonly name: string
  readonly namespace: string
  readonly labels?: Readonly<Record<string, string>>
  readonly revision?: number
  readonly data?: unknown
}

async function createRevision(
  bench: Bench,
  { name, namespace, labels = { app: 'agent' }, revision = 1, data = { spec: { template: {} } } }: RevisionOptions,
): Promise<void> {
  await bench.admin.create(resources.controllerRevisions, {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: { name, namespace, labels },
    revision,
    data,
  })
}

/** @returns the name that the revision of this image gets; it is made and taken away again */
async function nextName(bench: Bench, image: string): Promise<string> {
  const before = await revisions(bench)
  await bench.setImage(image)
  await bench.pass()
  const [name] = (await revisions(bench)).find(([one]) => !before.some(([other]) => other === one))!
  await bench.setImage('agent:v1')
  await bench.admin.delete(resources.controllerRevisions, String(name), 'demo')
  await bench.pass()
  return String(name)
}

async function revisions(bench: Bench): Promise<readonly (readonly [name: string, number: unknown])[]> {
  const { items } = await bench.admin.list(resources.controllerRevisions, { namespace: 'demo' })
  return items.map((one) => [one.metadata.name, one['revision']] as const).sort((a, b) => Number(a[1]) - Number(b[1]))
}

async function podNamed(bench: Bench, name: string): Promise<ApiObject> {
  const found = (await bench.pods()).find(({ metadata }) => metadata.name === name)
  if (found === undefined) throw new ApiStatusError(404, 'NotFound', name)
  return found
}

function ownerUids({ metadata }: ApiObject): readonly string[] {
  return (metadata.ownerReferences ?? []).map(({ uid }) => uid)
}
