import { describe, expect } from 'vitest'
import type { Api } from '../fixtures/api.ts'
import { type Body, valueAt } from '../fixtures/body.ts'
import type { ConformanceTest } from '../fixtures/fixtures.ts'
import { idlePod } from '../fixtures/objects.ts'
import { pathOf } from '../fixtures/paths.ts'
import { allReady, type Fleet, fleetTest } from './fleet-fixture.ts'

/** Behavior of the DaemonSet controller toward objects that name a DaemonSet as their owner and that it did not create. */
export function describeForeignOwners(base: ConformanceTest): void {
  const it = fleetTest(base)

  describe('an object that names a DaemonSet as its owner', () => {
    it('in another namespace does not affect the DaemonSet, and is collected', async ({ api, namespace, otherNamespace, fleet }) => {
      const metadata = { ...(await ownedBy(fleet, { api, namespace })), finalizers: ['x.y/hold'] }
      await api.create(pathOf.controllerRevisions(otherNamespace), revision({ ...metadata, name: 'forged' }))
      await api.create(pathOf.pods(otherNamespace), idlePod('forged', { nodeName: fleet.nodes[0] }, metadata))
      const isMarked = (object: Body | undefined): boolean => object?.metadata.deletionTimestamp !== undefined
      await api.until(pathOf.controllerRevisions(otherNamespace), 'forged', 'the mark of the revision', isMarked)
      await api.until(pathOf.pods(otherNamespace), 'forged', 'the mark of the pod', isMarked)
      await expectOwnAlone(fleet, 2)
      for (const path of [pathOf.controllerRevisions(otherNamespace, 'forged'), pathOf.pods(otherNamespace, 'forged')])
        await api.patch(path, 'merge', { metadata: { finalizers: null } })
    })

    it('loses that owner if the selector does not match its labels', async ({ api, namespace, fleet }) => {
      const metadata = { ...(await ownedBy(fleet, { api, namespace })), labels: { app: 'other' } }
      // A new revision does not wake the controller; the pod does.
      await api.create(pathOf.controllerRevisions(namespace), revision({ ...metadata, name: 'forged' }))
      await api.create(pathOf.pods(namespace), idlePod('forged', { nodeName: fleet.nodes[0] }, metadata))
      const isFree = (object: Body | undefined): boolean => object !== undefined && object.metadata.ownerReferences === undefined
      await api.until(pathOf.pods(namespace), 'forged', 'a pod without an owner', isFree)
      await api.until(pathOf.controllerRevisions(namespace), 'forged', 'a revision without an owner', isFree)
      await expectOwnAlone(fleet, 2)
    })

    it('with controller: false is ignored if the selector does not match its labels', async ({ api, namespace, fleet }) => {
      const { ownerReferences, ...own } = await ownedBy(fleet, { api, namespace })
      const metadata = { ...own, ownerReferences: ownerReferences.map((one) => ({ ...one, controller: false })), labels: { app: 'other' } }
      await api.create(pathOf.pods(namespace), idlePod('forged', { nodeName: fleet.nodes[0] }, metadata))
      await api.create(pathOf.controllerRevisions(namespace), revision({ ...metadata, name: 'forged' }))
      await expectOwnAlone(fleet, 2)
      for (const path of [pathOf.controllerRevisions(namespace, 'forged'), pathOf.pods(namespace, 'forged')])
        expect((await api.get(path)).body.metadata.ownerReferences).toMatchObject([{ controller: false }])
    })

    it('with controller: false is adopted if the selector matches its labels', async ({ api, namespace, fleet }) => {
      const { ownerReferences, ...own } = await ownedBy(fleet, { api, namespace })
      const metadata = { ...own, ownerReferences: ownerReferences.map((one) => ({ ...one, controller: false })) }
      await api.create(pathOf.controllerRevisions(namespace), revision({ ...metadata, name: 'adopted' }))
      await fleet.setImage('main:v2')
      const isAdopted = (object: Body | undefined): boolean => valueAt(object?.metadata.ownerReferences?.[0], 'controller') === true
      await api.until(pathOf.controllerRevisions(namespace), 'adopted', 'a revision with a controller', isAdopted)
      await fleet.settled()
      expect((await fleet.revisions()).map((one) => one['revision'])).toContain(FORGED_NUMBER + 1)
    })
  })
}

const FORGED_NUMBER = 900

/** Creates the DaemonSet. @returns metadata of an object that looks like its own */
async function ownedBy(
  fleet: Fleet,
  { api, namespace }: { readonly api: Api; readonly namespace: string },
): Promise<{ readonly labels: object; readonly ownerReferences: readonly object[] }> {
  await fleet.create()
  const { metadata } = (await api.get(pathOf.daemonSets(namespace, 'agent'))).body
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: metadata.uid, controller: true }
  return { labels: { app: 'agent', 'controller-revision-hash': 'forged' }, ownerReferences: [owner] }
}

/** The keys of its data are sorted: a patch of Kubernetes sorts them, and data is immutable to the byte. */
function revision(metadata: object): object {
  const template = {
    $patch: 'replace',
    metadata: { labels: { app: 'agent' } },
    spec: { containers: [{ image: 'main:forged', name: 'main' }] },
  }
  return { apiVersion: 'apps/v1', kind: 'ControllerRevision', metadata, data: { spec: { template } }, revision: FORGED_NUMBER }
}

/** Updates the DaemonSet, and sees its next revision and its own pods alone. */
async function expectOwnAlone(fleet: Fleet, next: number): Promise<void> {
  await fleet.setImage('main:v2')
  await fleet.log.until('the new version everywhere', allReady(fleet.nodes.length, `rev${next}`))
  const own = (await fleet.revisions()).filter((one) => one.metadata.name !== 'forged')
  expect(own.map((one) => one['revision'])).toEqual([1, next])
  expect((await fleet.settled())['status']).toMatchObject({
    desiredNumberScheduled: 3,
    currentNumberScheduled: 3,
    updatedNumberScheduled: 3,
  })
}
