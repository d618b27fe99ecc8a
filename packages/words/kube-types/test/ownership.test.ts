import { describe, expect, it } from 'vitest'
import { isOwnedBy, isReleaseOf, type KubeObject, type OwnerReference, revisionsOf, rolloutOf } from '@tranche/kube-types'

const rollout = objectOf({ name: 'agent', uid: 'rollout-uid' })
const notController: OwnerReference = { apiVersion: 'rollouts.kruise.io/v1beta1', kind: 'Rollout', name: 'agent', uid: 'rollout-uid' }
const owner: OwnerReference = { ...notController, controller: true }

describe('the Rollout of a BatchRelease (F15)', () => {
  it('is its controller, of our group and of its name, in either version', () => {
    expect(rolloutOf(releaseOf(owner))).toEqual(owner)
    expect(rolloutOf(releaseOf({ ...owner, apiVersion: 'rollouts.kruise.io/v1alpha1' }))?.uid).toBe('rollout-uid')
    expect(isReleaseOf(releaseOf(owner), rollout)).toBe(true)
  })

  it.each<[string, KubeObject]>([
    ['no owner', objectOf({ name: 'agent' })],
    ['a Rollout of another group', releaseOf({ ...owner, apiVersion: 'argoproj.io/v1alpha1' })],
    ['a Rollout of a group with the same beginning', releaseOf({ ...owner, apiVersion: 'rollouts.kruise.io.example/v1' })],
    ['a Rollout of the core group', releaseOf({ ...owner, apiVersion: 'v1' })],
    ['another kind of our group', releaseOf({ ...owner, kind: 'BatchRelease' })],
    ['an owner that does not control it', releaseOf({ ...owner, controller: false })],
    ['an owner that does not say whether it controls it', releaseOf(notController)],
    ['a Rollout of another name', releaseOf({ ...owner, name: 'other' })],
  ])('is none with %s', (_what, release) => {
    expect(rolloutOf(release)).toBeUndefined()
    expect(isReleaseOf(release, rollout)).toBe(false)
  })

  it('is another one of the same name if uid or namespace differ', () => {
    expect(isReleaseOf(releaseOf({ ...owner, uid: 'before' }), rollout)).toBe(false)
    expect(isReleaseOf(releaseOf(owner, 'tenant'), rollout)).toBe(false)
  })
})

describe('what a DaemonSet owns (F15)', () => {
  const daemonSet = {
    metadata: { namespace: 'demo', name: 'agent', uid: 'ds', resourceVersion: '1' },
    spec: { selector: { matchLabels: { app: 'agent' } }, template: {} },
  }
  const reference: OwnerReference = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', uid: 'ds', controller: true }
  const revision = (metadata: Partial<KubeObject['metadata']>): KubeObject =>
    objectOf({ name: 'one', labels: { app: 'agent' }, ownerReferences: [reference], ...metadata })

  it.each<[string, Partial<KubeObject['metadata']>, boolean]>([
    ['its own', {}, true],
    ['one of another namespace', { namespace: 'tenant' }, false],
    ['one that another controls', { ownerReferences: [{ ...reference, uid: 'other' }] }, false],
    ['one that another kind with its uid controls', { ownerReferences: [{ ...reference, kind: 'ReplicaSet' }] }, false],
    ['one that it does not control', { ownerReferences: [{ ...reference, controller: false }] }, false],
    ['one without the labels of its selector', { labels: { app: 'other' } }, false],
    ['one without labels', { labels: {} }, false],
  ])('%s counts: %s', (_what, metadata, counts) => {
    expect(isOwnedBy(revision(metadata), daemonSet)).toBe(counts)
  })

  it('is no revision that is being deleted', () => {
    const going = { ...revision({ deletionTimestamp: '2026-01-01T00:00:00Z' }), revision: 1 }
    const standing = { ...revision({}), revision: 2 }
    expect(revisionsOf(daemonSet, [going, standing])).toEqual([standing])
  })
})

function objectOf(metadata: Partial<KubeObject['metadata']>): KubeObject {
  return { metadata: { namespace: 'demo', name: 'agent', uid: 'release-uid', resourceVersion: '1', ...metadata } }
}

function releaseOf(reference: OwnerReference, namespace = 'demo'): KubeObject {
  return objectOf({ namespace, ownerReferences: [reference] })
}
