import { toFleetView } from '@tranche/fleet'
import { planBatchRelease, wantedAllowance } from '@tranche/planner'
import { describe, expect, it } from 'vitest'
import { aFleetPod, aView, NOW_MS, onceSaid } from '../../../../../test/fakes/build-view.ts'
import { waitingFor } from '../../src/release/waiting-for.ts'

/** Two of five nodes, as many as maxUnavailable, have a terminating pod. */
function stuckView(fields: Parameters<typeof aFleetPod>[2], ready: boolean): ReturnType<typeof aView> {
  const nodes = ['a', 'b'].map((name) => ({
    name,
    desired: true,
    ready,
    answers: ready,
    labels: {},
    pods: [aFleetPod(name, 'old~', fields)],
  }))
  const others = ['c', 'd', 'e'].map((name) => ({
    name,
    desired: true,
    ready: true,
    answers: true,
    labels: {},
    pods: [aFleetPod(name, 'old')],
  }))
  return aView({ view: { fleet: toFleetView([...nodes, ...others]) } })
}

describe('pods that do not terminate, as many as maxUnavailable (F12 PodsStuck)', () => {
  it.each([
    ['only finalizers keep them', { keptBy: ['example.com/keep'], goneByMs: NOW_MS + 1_000 }, true, 'finalizers example.com/keep'],
    ['their grace period is over on nodes that are NotReady', { goneByMs: NOW_MS - 1 }, false, 'NotReady'],
    ['their grace period has long been over on nodes that answer', { goneByMs: NOW_MS - 60_000 }, true, 'kubelet does not end'],
  ] as const)('are reported where %s', (_where, fields, ready, text) => {
    const { waiting } = onceSaid(stuckView(fields, ready)).release.status ?? {}
    expect(waiting).toMatchObject({ reason: 'PodsStuck', nodes: ['a', 'b'] })
    expect(waiting?.message).toContain(text)
  })

  it('are reported where a retry has accepted failures on these nodes, too', () => {
    const failure = { reason: 'Accepted', message: '', nodes: [], count: 0, stops: false, release: 'r1', accepted: ['a', 'b'] }
    const waiting = { reason: 'NotAvailable', message: '', nodes: ['a', 'b'], since: new Date(NOW_MS - 3_600_000).toISOString() }
    const { fleet } = stuckView({ keptBy: ['example.com/keep'] }, true)
    const tranche = { release: 'r1', canaryRevision: 'new', stableRevision: 'old' }
    const view = onceSaid(aView({ tranche, status: { failure, waiting }, view: { fleet } }))
    expect(view.release.status?.waiting).toMatchObject({ reason: 'PodsStuck' })
  })

  it.each([
    ['their grace period is not over', { goneByMs: NOW_MS + 5_000 }, false, 5_000],
    ['a live kubelet may still be ending them', { goneByMs: NOW_MS - 50_000 }, true, 10_000],
  ] as const)('are awaited while %s, and checked again after a delay', (_while, fields, ready, ms) => {
    const view = onceSaid(stuckView(fields, ready))
    expect(view.release.status?.waiting?.reason).not.toBe('PodsStuck')
    expect(planBatchRelease(view)).toMatchObject({ kind: 'wait', recheckAfterMs: ms })
  })
})

it('ignores such pods on nodes that are not desired: they cost nothing (F12, G1)', () => {
  const keptBy = ['example.com/keep']
  const gone = ['a', 'b'].map((name) => ({
    name,
    desired: false,
    ready: true,
    answers: true,
    labels: {},
    pods: [aFleetPod(name, 'old~', { keptBy })],
  }))
  const others = ['c', 'd', 'e', 'f', 'g'].map((name) => ({
    name,
    desired: true,
    ready: true,
    answers: true,
    labels: {},
    pods: [aFleetPod(name, 'old')],
  }))
  expect(onceSaid(aView({ view: { fleet: toFleetView([...gone, ...others]) } })).release.status?.waiting?.reason).toBe('Upgrading')
})

describe('more nodes down than a lowered maxUnavailable', () => {
  it('are reported with the fix', () => {
    const view = onceSaid(aView({ nodes: 'a:old! b:old! c:old! d:old e:old' }))
    expect(view.release.status?.waiting).toMatchObject({ reason: 'BudgetUsedUp', nodes: ['a', 'b', 'c'] })
    expect(view.release.status?.waiting?.message).toContain(
      'nothing is deleted until fewer than 2 are down, or maxUnavailable is at least 4',
    )
  })
})

describe('a budget that dead nodes use up, because more are dead than the policy exempts', () => {
  const viewOf = (nodes: string, exempt: number, maxUnavailable = 2) =>
    aView({
      nodes,
      record: { state: 'open' },
      tranche: { nodes: { notReady: { exempt } } },
      daemonSet: { updateStrategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable } } },
    })
  const hasRoom = (view: ReturnType<typeof aView>) => {
    const wanted = wantedAllowance(view)
    return wanted.kind === 'allow' && wanted.progress.unavailable.length < wanted.allowance.limit
  }

  it.each([
    [
      4,
      'a:old!? b:old!? c:old!? d:old!? e:old!? f:old',
      'no more than 4 are dead, nodes.notReady.exempt is at least 5, or maxUnavailable is at least 6',
    ],
    [1, 'a:old!? b:old!? c:old f:old', 'no more than 1 is dead, nodes.notReady.exempt is at least 2, or maxUnavailable is at least 3'],
    [0, 'a:old!? b:old!? c:old f:old', 'no more than 1 is dead, nodes.notReady.exempt is at least 2, or maxUnavailable is at least 3'],
    [0, 'a:old!? b:old!? c:old! f:old', 'no node is dead, nodes.notReady.exempt is at least 2, or maxUnavailable is at least 4'],
    [1, 'a:old!? b:old!? c:old! d:old! f:old', 'fewer than 2 others are down and no more than 1 is dead, or maxUnavailable is at least 5'],
  ])('says what ends the wait, and each of that does (%i exempt, %s)', (exempt, nodes, text) => {
    const view = viewOf(nodes, exempt)
    const waiting = waitingFor(view, wantedAllowance(view))
    expect(waiting).toMatchObject({
      reason: 'BudgetUsedUp',
      message: expect.stringContaining('because nodes.notReady.exempt leaves out at most'),
    })
    expect(waiting?.message.split('; it continues once ')[1]).toBe(text)
    const [, most = '0'] = /no more than (\d) \w+ dead/.exec(text) ?? []
    const others = text.startsWith('fewer') ? 'd:old!' : ''
    const back = (dead: number) =>
      viewOf(
        nodes
          .split(' ')
          .map((node, at) => (at >= dead && node.endsWith('?') ? node.slice(0, -2) : node === others ? 'd:old' : node))
          .join(' '),
        exempt,
      )
    expect([back(Number(most) + 1), back(Number(most))].map(hasRoom)).toEqual([false, true])
    const [, exempted] = /exempt is at least (\d)/.exec(text) ?? []
    if (exempted !== undefined)
      expect([Number(exempted) - 1, Number(exempted)].map((one) => hasRoom(viewOf(nodes, one)))).toEqual([false, true])
    const [, limit] = /maxUnavailable is at least (\d)/.exec(text) ?? []
    expect([Number(limit) - 1, Number(limit)].map((one) => hasRoom(viewOf(nodes, exempt, one)))).toEqual([false, true])
  })
})
