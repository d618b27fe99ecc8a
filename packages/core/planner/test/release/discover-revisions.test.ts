import { toFleetView } from '@tranche/fleet'
import { daemonSetAnnotations } from '@tranche/kube-types'
import { type DiscoveryView, discoverRevisions } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { aRevision, aView, nodes, templateOf } from '../../../../../test/fakes/build-view.ts'

describe('discoverRevisions', () => {
  const cases: Record<string, { view: Partial<DiscoveryView>; want: object }> = {
    'takes the revision with the template as the canary, and the one most nodes run as the stable one': {
      view: {},
      want: { kind: 'found', canary: 'new', stable: 'old' },
    },
    'waits while the DaemonSet controller has not observed the generation': {
      view: { daemonSet: aView({ generation: 3, observed: 2 }).daemonSet! },
      want: { kind: 'pending', why: 'generation' },
    },
    'waits while no revision holds the template': {
      view: { revisions: [aRevision('old', 1)] },
      want: { kind: 'pending', why: 'revision' },
    },
    'waits while there is no revision at all': {
      view: { revisions: [] },
      want: { kind: 'pending', why: 'revision' },
    },
    'finds the template of a revision whose creationTimestamp is stored as null': {
      view: {
        revisions: [aRevision('old', 1), aRevision('new', 2, { metadata: { creationTimestamp: null }, ...templateOf('new') })],
        daemonSet: withMetadata(),
      },
      want: { kind: 'found', canary: 'new', stable: 'old' },
    },
    'finds the template whatever the order of its members': {
      view: { revisions: [aRevision('new', 2, { spec: { containers: [{ image: 'new', name: 'agent' }] } })] },
      want: { kind: 'found', canary: 'new', stable: 'new' },
    },
    'takes a rolled-back revision, with its new number, as the canary': {
      view: { revisions: [aRevision('new', 3), aRevision('bad', 2)], fleet: nodes('a:bad b:bad c:new') },
      want: { kind: 'found', canary: 'new', stable: 'bad' },
    },
    'takes the newest of two revisions that hold the template': {
      view: { revisions: [aRevision('twin', 1, templateOf('new')), aRevision('new', 2)] },
      want: { kind: 'found', canary: 'new' },
    },
    'keeps the revision of the last release while a single node runs it': {
      view: { revisions: three(), fleet: nodes('a:old b:bad c:bad'), lastStable: 'old' },
      want: { kind: 'found', canary: 'new', stable: 'old' },
    },
    'drops the revision of the last release when no node runs it any more': {
      view: { revisions: three(), fleet: nodes('a:bad b:bad'), lastStable: 'old' },
      want: { kind: 'found', canary: 'new', stable: 'bad' },
    },
    'drops the revision of the last release when only nodes run it that are not desired any more': {
      view: {
        revisions: three(),
        fleet: withOut('a:old b:old', 'c:bad'),
        lastStable: 'old',
      },
      want: { kind: 'found', canary: 'new', stable: 'bad' },
    },
    'keeps the revision of the last release if nodes run it that are out for a while, and all others run the canary (G3)': {
      view: { revisions: three(), fleet: withOut('a:old b:old', 'c:new d:new'), lastStable: 'old' },
      want: { kind: 'found', canary: 'new', stable: 'old' },
    },
    'keeps the revision of the last release if nodes run it that are out for a while, and all others run a frozen release (G3)': {
      view: { revisions: three(), fleet: withOut('a:old b:old', 'c:bad d:new'), lastStable: 'old', daemonSet: frozenAt('bad') },
      want: { kind: 'found', canary: 'new', stable: 'old' },
    },
    'drops the revision of the last release if only pods run it that are about to go from nodes that are out': {
      view: { revisions: three(), fleet: withOut('a:old~', 'c:new d:new'), lastStable: 'old' },
      want: { kind: 'found', canary: 'new', stable: 'new' },
    },
    'keeps the revision of the last release if the nodes run a blocked one (G12)': {
      view: { revisions: three(), fleet: nodes('a:bad b:bad'), lastStable: 'old', blocked: ['bad'] },
      want: { kind: 'found', canary: 'new', stable: 'old' },
    },
    'keeps the revision of the last release if the nodes run a blocked one and the canary (G3, G12)': {
      view: { revisions: three(), fleet: nodes('a:bad b:new c:new'), lastStable: 'old', blocked: ['bad'] },
      want: { kind: 'found', canary: 'new', stable: 'old' },
    },
    'keeps the revision of the last release if every node runs a blocked canary (G12)': {
      view: { revisions: three(), fleet: nodes('a:new b:new'), lastStable: 'old', blocked: ['new'] },
      want: { kind: 'found', canary: 'new', stable: 'old' },
    },
    'takes the canary as stable where every node runs it, though another revision is blocked': {
      view: { revisions: three(), fleet: nodes('a:new b:new'), lastStable: 'old', blocked: ['bad'] },
      want: { kind: 'found', canary: 'new', stable: 'new' },
    },
    'takes a revision that is not blocked as stable, though a blocked one runs on more nodes (G12)': {
      view: { revisions: [aRevision('other', 0), ...three()], fleet: nodes('a:bad b:bad c:other'), lastStable: 'old', blocked: ['bad'] },
      want: { kind: 'found', canary: 'new', stable: 'other' },
    },
    'takes no blocked revision of the history as stable if the other nodes run a deleted one (G12)': {
      view: { revisions: three(), fleet: nodes('a:bad b:gone'), lastStable: 'old', blocked: ['bad'] },
      want: { kind: 'found', canary: 'new', stable: 'old' },
    },
    'takes a blocked revision as stable where the history has lost that of the last release': {
      view: { revisions: three(), fleet: nodes('a:bad b:bad'), lastStable: 'pruned', blocked: ['bad'] },
      want: { kind: 'found', canary: 'new', stable: 'bad' },
    },
    'keeps the revision of the last release where a return to it was frozen, though no node runs it (G12)': {
      view: { revisions: three(), fleet: nodes('a:bad b:bad'), lastStable: 'new', daemonSet: frozenAt('new', 'new') },
      want: { kind: 'found', canary: 'new', stable: 'new' },
    },
    'drops the revision of the last release when no node runs it, and the frozen release was of another one (G3)': {
      view: { revisions: three(), fleet: nodes('a:bad b:bad'), lastStable: 'new', daemonSet: frozenAt('bad', 'new') },
      want: { kind: 'found', canary: 'new', stable: 'bad' },
    },
    'drops the revision of the last release when no node runs it, and another template followed the frozen return to it': {
      view: { revisions: three(), fleet: nodes('a:bad b:bad'), lastStable: 'old', daemonSet: frozenAt('old', 'old') },
      want: { kind: 'found', canary: 'new', stable: 'bad' },
    },
    'never takes a canary as stable that as many nodes run, where none runs the revision of the last release (G3)': {
      view: { revisions: three(), fleet: nodes('a:bad b:new'), lastStable: 'old' },
      want: { kind: 'found', canary: 'new', stable: 'bad' },
    },
    'never takes a canary as stable that most nodes run, where none runs the revision of the last release (G3)': {
      view: { revisions: three(), fleet: nodes('a:bad b:new c:new'), lastStable: 'old' },
      want: { kind: 'found', canary: 'new', stable: 'bad' },
    },
    'never takes a canary as stable if other nodes run a revision that was deleted with the former DaemonSet (G3)': {
      view: { revisions: [aRevision('new', 1)], fleet: nodes('a:gone b:new c:new'), lastStable: 'old' },
      want: { kind: 'found', canary: 'new', stable: 'gone' },
    },
    'takes the canary as stable where every node runs it': {
      view: { revisions: three(), fleet: nodes('a:new b:new'), lastStable: 'old' },
      want: { kind: 'found', canary: 'new', stable: 'new' },
    },
    'takes the canary of a foreign rollout as stable where most nodes run it': {
      view: { revisions: three(), fleet: nodes('a:bad b:new c:new') },
      want: { kind: 'found', canary: 'new', stable: 'new' },
    },
    'drops the revision of the last release when its history is pruned': {
      view: { fleet: nodes('a:old'), lastStable: 'pruned' },
      want: { kind: 'found', canary: 'new', stable: 'old' },
    },
    'never takes a canary as stable that no more nodes run than another revision, without any release before (G3)': {
      view: { fleet: nodes('a:old b:old c:new d:new') },
      want: { kind: 'found', canary: 'new', stable: 'old' },
    },
    'never takes a canary as stable whose pods are all younger than the Rollout, though most nodes run it (G3)': {
      view: { revisions: three(), fleet: bornAt('a:bad b:new c:new', { new: '12:00:05' }), rolloutCreatedAt: at('12:00:00') },
      want: { kind: 'found', canary: 'new', stable: 'bad' },
    },
    'never takes a canary as stable whose pods are as old as the Rollout (G3)': {
      view: { revisions: three(), fleet: bornAt('a:bad b:new c:new', { new: '12:00:00' }), rolloutCreatedAt: at('12:00:00') },
      want: { kind: 'found', canary: 'new', stable: 'bad' },
    },
    'takes a canary that nodes ran before the Rollout was created as stable where most nodes run it': {
      view: { revisions: three(), fleet: bornAt('a:bad b:new c:new', { new: '11:59:59' }), rolloutCreatedAt: at('12:00:00') },
      want: { kind: 'found', canary: 'new', stable: 'new' },
    },
    'takes a canary as stable that every node runs, though it is younger than the Rollout': {
      view: { revisions: three(), fleet: bornAt('a:new b:new', { new: '12:00:05' }), rolloutCreatedAt: at('12:00:00') },
      want: { kind: 'found', canary: 'new', stable: 'new' },
    },
    'takes the newer of two revisions that equally many nodes run': {
      view: { revisions: three(), fleet: nodes('a:old b:bad') },
      want: { kind: 'found', canary: 'new', stable: 'bad' },
    },
    'ignores terminating pods': {
      view: { revisions: three(), fleet: nodes('a:bad~ b:bad~ c:old') },
      want: { kind: 'found', canary: 'new', stable: 'old' },
    },
    'takes the second newest when no node runs anything': {
      view: { revisions: three(), fleet: nodes('') },
      want: { kind: 'found', canary: 'new', stable: 'bad' },
    },
    'takes the only revision for both': {
      view: { revisions: [aRevision('new', 1)], fleet: nodes('') },
      want: { kind: 'found', canary: 'new', stable: 'new' },
    },
  }

  it.each(Object.entries(cases))('%s', (_name, { view, want }) => {
    const { daemonSet, revisions, fleet } = aView()
    expect(discoverRevisions({ daemonSet: daemonSet!, revisions, fleet, lastStable: undefined, ...view })).toMatchObject(want)
  })

  it('uses the name of a revision without a hash label', () => {
    const bare = aRevision('new', 2)
    const revision = { ...bare, metadata: { ...bare.metadata, labels: {} } }
    const { daemonSet, fleet } = aView()
    const found = discoverRevisions({ daemonSet: daemonSet!, revisions: [revision], fleet, lastStable: undefined })
    expect(found).toMatchObject({ canary: 'agent-new' })
  })
})

function three(): DiscoveryView['revisions'] {
  return [aRevision('old', 1), aRevision('bad', 2), aRevision('new', 3)]
}

/** Nodes that are not desired, and then others that are. */
function withOut(out: string, desired: string): DiscoveryView['fleet'] {
  return toFleetView([...nodes(out).nodes.map((node) => ({ ...node, desired: false })), ...nodes(desired).nodes])
}

/** A DaemonSet on which the release of a revision was frozen. */
function frozenAt(revision: string, stable = 'old'): DiscoveryView['daemonSet'] {
  return aView({ annotations: { [daemonSetAnnotations.frozen]: JSON.stringify({ revision, stable }) } }).daemonSet!
}

/** The nodes with pods of a revision that were created at a time of one day. */
function bornAt(text: string, times: Readonly<Record<string, string>>): DiscoveryView['fleet'] {
  const { nodes: all } = nodes(text)
  const born = all.map((node) => ({
    ...node,
    pods: node.pods.map((pod) => ({ ...pod, createdAt: at(times[pod.hash ?? ''] ?? '11:00:00') })),
  }))
  return toFleetView(born)
}

function at(time: string): string {
  return `2026-01-01T${time}Z`
}

function withMetadata(): DiscoveryView['daemonSet'] {
  return aView({ daemonSet: { template: { metadata: {}, ...templateOf('new') } } }).daemonSet!
}
