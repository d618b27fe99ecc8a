import { describe, expect } from 'vitest'
import { valueAt } from '../fixtures/body.ts'
import type { ConformanceTest } from '../fixtures/fixtures.ts'
import { daemonSet } from '../fixtures/objects.ts'
import { pathOf } from '../fixtures/paths.ts'
import { allReady, fleetTest } from './fleet-fixture.ts'

const up = (nth: number, revision: number): string => `${nth}:rev${revision}:Created > ${nth}:rev${revision}:Ready`
const gone = (nth: number, revision: number): string => `${nth}:rev${revision}:Terminating > ${nth}:rev${revision}:Gone`
const thrice = (history: string): readonly string[] => [history, history, history]

/** The DaemonSet controller, observed by its effects on nodes. */
export function describeDaemonSets(base: ConformanceTest): void {
  const it = fleetTest(base)
  const onDelete = { updateStrategy: { type: 'OnDelete' } }
  const rolling = (maxUnavailable: number, maxSurge = 0): object => ({
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable, maxSurge } },
  })

  describe('a DaemonSet', () => {
    it('runs one pod on each node that its selector matches', async ({ fleet }) => {
      await fleet.create()
      expect(fleet.log.histories()).toEqual(thrice(up(1, 1)))
      expect((await fleet.settled())['status']).toMatchObject({
        desiredNumberScheduled: 3,
        currentNumberScheduled: 3,
        numberReady: 3,
        numberAvailable: 3,
        updatedNumberScheduled: 3,
        numberMisscheduled: 0,
      })
    })

    it('owns its pods, pins them to nodes, and adds tolerations for node problems', async ({ api, namespace, fleet }) => {
      await fleet.create()
      const { metadata } = (await api.get(pathOf.daemonSets(namespace, 'agent'))).body
      const pod = fleet.log.pods()[0]!
      const { body } = await api.get(pathOf.pods(namespace, pod.name))
      expect(pod.name).toMatch(/^agent-.{5}$/)
      expect(body.metadata).toMatchObject({
        labels: { app: 'agent', 'pod-template-generation': '1' },
        ownerReferences: [
          { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: metadata.uid, controller: true, blockOwnerDeletion: true },
        ],
      })
      expect(valueAt(body, 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms')).toEqual([
        { matchFields: [{ key: 'metadata.name', operator: 'In', values: [pod.node] }] },
      ])
      const tolerations = valueAt(body, 'spec.tolerations') as readonly { readonly key: string; readonly effect: string }[]
      expect(tolerations.map(({ key, effect }) => `${key.replace('node.kubernetes.io/', '')}:${effect}`)).toEqual([
        'not-ready:NoExecute',
        'unreachable:NoExecute',
        'disk-pressure:NoSchedule',
        'memory-pressure:NoSchedule',
        'pid-pressure:NoSchedule',
        'unschedulable:NoSchedule',
      ])
    })

    it('runs where a label of its affinity is missing, whatever the name of the label', async ({ fleet }) => {
      const absent = [{ key: 'constructor', operator: 'DoesNotExist' }]
      const required = { nodeSelectorTerms: [{ matchExpressions: absent }] }
      await fleet.create({}, { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } })
      expect((await fleet.settled())['status']).toMatchObject({ desiredNumberScheduled: 3, numberAvailable: 3 })
    })

    it('records its template in a revision that its pods name', async ({ api, namespace, fleet }) => {
      await fleet.create()
      const [revision] = await fleet.revisions()
      const hash = revision?.metadata.labels?.['controller-revision-hash']
      expect(revision).toMatchObject({ revision: 1, metadata: { name: `agent-${hash}`, labels: { app: 'agent' } } })
      expect(valueAt(revision, 'data.spec.template')).toMatchObject({ $patch: 'replace', metadata: { labels: { app: 'agent' } } })
      const { body } = await api.get(pathOf.pods(namespace, fleet.log.pods()[0]!.name))
      expect(body.metadata.labels?.['controller-revision-hash']).toBe(hash)
    })

    it('follows nodes as their labels change', async ({ api, fleet }) => {
      await fleet.create()
      const node = fleet.nodes[0]!
      await api.patch(pathOf.nodes(node), 'merge', { metadata: { labels: { [fleet.label]: 'no' } } })
      await fleet.log.until('the end of the pod', allReady(2, 'rev1'))
      await api.patch(pathOf.nodes(node), 'merge', { metadata: { labels: { [fleet.label]: 'yes' } } })
      await fleet.log.until('a new pod', allReady(3, 'rev1'))
      expect(fleet.log.histories()).toEqual([up(1, 1), up(1, 1), `${up(1, 1)} > ${gone(1, 1)} > ${up(2, 1)}`])
    })

    it('leaves a pod on a node with a NoSchedule taint, and counts it as misscheduled', async ({ api, namespace, fleet }) => {
      await fleet.create()
      await api.patch(pathOf.nodes(fleet.nodes[0]), 'strategic', { spec: { taints: [{ key: fleet.label, effect: 'NoSchedule' }] } })
      // The taint alone does not wake the controller; a change of the spec does.
      const isCounted = (object: unknown): boolean => valueAt(object, 'status.numberMisscheduled') === 1
      const found = api.until(pathOf.daemonSets(namespace), 'agent', 'the misscheduled pod', isCounted)
      await fleet.patch({ spec: { minReadySeconds: 1 } })
      expect((await found)?.['status']).toMatchObject({ desiredNumberScheduled: 2, currentNumberScheduled: 2, numberMisscheduled: 1 })
      expect(fleet.log.histories()).toEqual(thrice(up(1, 1)))
    })

    it('replaces a pod that is deleted', async ({ api, namespace, fleet }) => {
      await fleet.create()
      await api.delete(pathOf.pods(namespace, fleet.log.pods()[0]!.name))
      await fleet.log.until('the end of the pod', (pods) => !allReady(3, 'rev1')(pods))
      await fleet.log.until('a new pod', allReady(3, 'rev1'))
      expect(fleet.log.histories()).toEqual([up(1, 1), up(1, 1), `${up(1, 1)} > ${gone(1, 1)} > ${up(2, 1)}`])
    })

    it('replaces a pod that has failed', async ({ api, namespace, fleet }) => {
      await fleet.create()
      const pod = fleet.log.pods()[0]!
      await api.patch(pathOf.pods(namespace, pod.name, 'status'), 'merge', { status: { phase: 'Failed' } })
      await fleet.log.until('the end of the pod', (pods) => !pods.some(({ uid }) => uid === pod.uid))
      await fleet.log.until('a new pod', allReady(3, 'rev1'))
      expect(fleet.log.histories().at(-1)).toMatch(
        /^1:rev1:Created > 1:rev1:Ready > 1:rev1:Failed > (1:rev1:Terminating > )?1:rev1:Gone > 2:rev1:Created > 2:rev1:Ready$/,
      )
    })
  })

  describe('a rolling update', () => {
    const replaced = `${up(1, 1)} > ${gone(1, 1)} > ${up(2, 2)}`

    it.for([{ limit: 1 }, { limit: 2 }, { limit: 3 }])('replaces every pod with at most $limit down', async ({ limit }, { fleet }) => {
      await fleet.create(rolling(limit) as Readonly<Record<string, unknown>>)
      await fleet.setImage('main:v2')
      await fleet.log.until('the new version everywhere', allReady(3, 'rev2'))
      expect(fleet.log.histories()).toEqual(thrice(replaced))
      expect(fleet.log.mostDown()).toBe(limit)
      expect(valueAt(await fleet.settled(), 'status.updatedNumberScheduled')).toBe(3)
    })

    it('with surge starts the new pod before it ends the old one', async ({ fleet }) => {
      await fleet.create(rolling(0, 1) as Readonly<Record<string, unknown>>)
      await fleet.setImage('main:v2')
      await fleet.log.until('the new version everywhere', allReady(3, 'rev2'))
      expect(fleet.log.histories()).toEqual(thrice(`${up(1, 1)} > ${up(2, 2)} > ${gone(1, 1)}`))
      expect(fleet.log.mostDown()).toBe(0)
    })

    it('raises the number of a revision when the template returns to it', async ({ fleet }) => {
      await fleet.create(rolling(3) as Readonly<Record<string, unknown>>)
      await fleet.setImage('main:v2')
      await fleet.log.until('the new version everywhere', allReady(3, 'rev2'))
      const before = await fleet.revisions()
      await fleet.setImage('main:v1')
      await fleet.log.until('the former version everywhere', allReady(3, 'rev1'))
      const after = await fleet.revisions()
      expect(fleet.log.histories()).toEqual(thrice(`${replaced} > ${gone(2, 2)} > ${up(3, 1)}`))
      expect(before.map((one) => one['revision'])).toEqual([1, 2])
      expect(after.map((one) => one['revision'])).toEqual([2, 3])
      expect(after.map(({ metadata }) => metadata.uid)).toEqual(before.map(({ metadata }) => metadata.uid).toReversed())
    })

    it('keeps as many old revisions as its history limit', async ({ api, namespace, fleet }) => {
      await fleet.create({ ...rolling(3), revisionHistoryLimit: 1 })
      const { resourceVersion } = (await api.get(pathOf.controllerRevisions(namespace))).body.metadata
      const watch = await api.watch(pathOf.controllerRevisions(namespace), { resourceVersion })
      for (const [at, image] of ['main:v2', 'main:v3'].entries()) {
        await fleet.setImage(image)
        await fleet.log.until('the new version everywhere', allReady(3, `rev${at + 2}`))
      }
      for (let event = await watch.next(); event.type !== 'DELETED'; event = await watch.next());
      expect((await fleet.revisions()).map((one) => one['revision'])).toEqual([2, 3])
    })

    it('creates revisions only for changes of the template', async ({ fleet }) => {
      await fleet.create()
      await fleet.patch({ metadata: { labels: { a: 'b' } }, spec: { minReadySeconds: 1, ...onDelete } })
      await fleet.settled()
      expect((await fleet.revisions()).map((one) => one['revision'])).toEqual([1])
      expect(fleet.log.histories()).toEqual(thrice(up(1, 1)))
    })
  })

  describe('OnDelete', () => {
    it('replaces nothing by itself, and gives a new pod the new template', async ({ api, namespace, fleet }) => {
      await fleet.create(onDelete)
      await fleet.setImage('main:v2')
      const isObserved = (object: unknown): boolean => valueAt(object, 'status.observedGeneration') === 2
      const observed = await api.until(pathOf.daemonSets(namespace), 'agent', 'the observed change', isObserved)
      expect(valueAt(observed, 'status.updatedNumberScheduled') ?? 0).toBe(0)
      expect((await fleet.revisions()).map((one) => one['revision'])).toEqual([1, 2])
      const pod = fleet.log.pods()[0]!
      await api.delete(pathOf.pods(namespace, pod.name))
      await fleet.log.until(
        'a new pod',
        (pods) => pods.length === 3 && pods.some(({ revision, state }) => revision === 'rev2' && state === 'Ready'),
      )
      expect(fleet.log.histories()).toEqual([up(1, 1), up(1, 1), `${up(1, 1)} > ${gone(1, 1)} > ${up(2, 2)}`])
    })

    it('continues as a rolling update when its strategy changes', async ({ fleet }) => {
      await fleet.create(onDelete)
      await fleet.setImage('main:v2')
      await fleet.patch({ spec: rolling(3) })
      await fleet.log.until('the new version everywhere', allReady(3, 'rev2'))
      expect(fleet.log.histories()).toEqual(thrice(`${up(1, 1)} > ${gone(1, 1)} > ${up(2, 2)}`))
    })
  })

  describe('the end of a DaemonSet', () => {
    it('deletes pods and revisions in the background', async ({ api, namespace, fleet }) => {
      await fleet.create()
      const [revision] = await fleet.revisions()
      await api.delete(pathOf.daemonSets(namespace, 'agent'))
      await fleet.log.until('the end of all pods', (pods) => pods.length === 0)
      await api.until(
        pathOf.controllerRevisions(namespace),
        revision!.metadata.name,
        'the end of the revision',
        (object) => object === undefined,
      )
      expect(fleet.log.histories()).toEqual(thrice(`${up(1, 1)} > ${gone(1, 1)}`))
    })

    it('waits for its pods in the foreground', async ({ api, namespace, fleet }) => {
      await fleet.create()
      const path = pathOf.daemonSets(namespace)
      const answer = await api.delete(pathOf.daemonSets(namespace, 'agent'), { body: { propagationPolicy: 'Foreground' } })
      expect(answer.body.metadata.finalizers).toEqual(['foregroundDeletion'])
      await api.until(path, 'agent', 'the end of the DaemonSet', (object) => object === undefined)
      expect((await api.get(pathOf.pods(namespace), { query: { labelSelector: 'app=agent' } })).body.items).toEqual([])
    })

    it('leaves orphans that a new DaemonSet adopts unchanged', async ({ api, namespace, fleet }) => {
      await fleet.create()
      const before = await fleet.revisions()
      await api.delete(pathOf.daemonSets(namespace, 'agent'), { body: { propagationPolicy: 'Orphan' } })
      await api.until(pathOf.daemonSets(namespace), 'agent', 'the end of the DaemonSet', (object) => object === undefined)
      const orphan = await api.get(pathOf.pods(namespace, fleet.log.pods()[0]!.name))
      expect(orphan.body.metadata.ownerReferences).toBeUndefined()
      const { metadata } = await api.create(
        pathOf.daemonSets(namespace),
        daemonSet('agent', { podSpec: { nodeSelector: { [fleet.label]: 'yes' } } }),
      )
      await fleet.settled()
      const adopted = await api.get(pathOf.pods(namespace, fleet.log.pods()[0]!.name))
      expect(adopted.body.metadata.ownerReferences).toMatchObject([{ uid: metadata.uid }])
      expect((await fleet.revisions()).map((one) => one.metadata.uid)).toEqual(before.map((one) => one.metadata.uid))
      expect(fleet.log.histories()).toEqual(thrice(up(1, 1)))
    })
  })
}
