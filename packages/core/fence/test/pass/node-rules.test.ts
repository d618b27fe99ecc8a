import type { NodeSelector } from '@tranche/api-schema'
import { planPass } from '@tranche/fence'
import { describe, expect, it } from 'vitest'
import { type PassCase, passView, planText } from './pass-notation.ts'

const zones = 'a=x b=x c=y d=y e=z f=z'
const six = 'a:old b:old c:old d:old e:old f:old'
const onePerZone = { spread: [{ topologyKey: 'zone', maxUnavailable: 1 }] }
const inZone = (...values: readonly string[]): NodeSelector => ({ matchExpressions: [{ key: 'zone', operator: 'In', values }] })

describe('the pods that an executor permits and deletes under the node rules of a release', () => {
  it.each<[string, PassCase, string]>([
    [
      'the first key of the order that distinguishes two nodes decides (G5)',
      { nodes: six, zones, rules: { order: [{ selector: inZone('z') }, { selector: inZone('y') }] }, partition: 1 },
      'append e f c d a',
    ],
    ['a key by name decides where ages are equal (G5)', { nodes: 'b:old a:old', rules: { order: [{ by: 'Name' }] } }, 'append a b'],
    [
      'an unhealthy pod goes before the order of the policy (G5)',
      { nodes: 'a:old b:old c:old!', zones, rules: { order: [{ selector: inZone('x') }] }, limit: 2, partition: 1 },
      'append c a',
    ],
    ['an excluded node is never taken (G4)', { nodes: six, zones, rules: { exclude: [inZone('x', 'y')] } }, 'append e f'],
    [
      'an unreadable selector excludes every node',
      { nodes: six, zones, rules: { exclude: [{ matchExpressions: [{ key: 'zone', operator: 'Like' as 'In', values: ['x'] }] }] } },
      'wait for batch',
    ],
    [
      'the permit of a node that its labels now exclude is withdrawn (F7)',
      { nodes: six, zones, rules: { exclude: [inZone('x')] }, permits: 'a' },
      'withdraw a',
    ],
    ['a step takes only its own nodes', { nodes: six, zones, rules: { steps: [inZone('y'), {}] }, batch: 0, partition: 4 }, 'append c d'],
    [
      'the next step takes its nodes as well as those of the steps before it',
      { nodes: six, zones, rules: { steps: [inZone('y'), inZone('z'), {}] }, batch: 1, partition: 2 },
      'append c d e f',
    ],
    [
      'the place of a node outside the steps that others updated is for no other node, though the view does not show that (G3)',
      {
        nodes: 'a:old c:new d:old e:old f:old',
        zones,
        rules: { steps: [inZone('y'), {}] },
        batch: 0,
        partition: 3,
        limit: 3,
        record: { size: 2, outside: 1 },
      },
      'wait for batch',
    ],
    [
      'a node outside the steps that others updated takes no place of a node in them',
      {
        nodes: 'a:new c:new d:old e:old f:old',
        zones,
        rules: { steps: [inZone('y'), {}] },
        batch: 0,
        partition: 2,
        limit: 3,
        record: { size: 3, outside: 1 },
      },
      'append d',
    ],
    [
      'a record that does not count such a node yet gives no place away (G3)',
      {
        nodes: 'a:new c:new d:old e:old f:old',
        zones,
        rules: { steps: [inZone('y'), {}] },
        batch: 0,
        partition: 3,
        limit: 3,
        record: { size: 2 },
      },
      'wait for batch',
    ],
    [
      'an earlier version that counts another one outside the steps as before gives its place to no node of the batch (G3)',
      {
        nodes: 'a:new b:new c:new d:old e:old f:old',
        zones,
        rules: { steps: [inZone('y'), {}] },
        batch: 0,
        partition: 3,
        limit: 3,
        record: { size: 3, outside: 1 },
      },
      'wait for batch',
    ],
    [
      'the last batch takes every node, though an earlier version left a number of those outside the steps in the record',
      { nodes: 'a:new c:new d:old', zones, rules: { steps: [inZone('y')] }, batch: null, record: { size: 3, outside: 1 } },
      'append d',
    ],
    ['the last batch takes every node', { nodes: 'a:old e:old', zones, rules: { steps: [inZone('y')] }, batch: null }, 'append a e'],
    [
      'as many of a zone are permitted as may be down in it, then those of the next zone, and again (F3)',
      { nodes: six, zones, rules: onePerZone, limit: 3 },
      'append a c e b d f',
    ],
    ['a zone allows one slot at a time (F4)', { nodes: six, zones, rules: onePerZone, limit: 3, permits: 'a b c' }, 'execute a c'],
    [
      'a node that another client took down uses the slot of its zone, for a Ready pod',
      { nodes: 'a:new! b:old c:old d:old', zones, rules: onePerZone, limit: 3, permits: 'b c' },
      'execute c',
    ],
    [
      'a pod that is not Ready only needs that Tranche deleted none in its zone',
      { nodes: 'a:new! b:old! c:old', zones, rules: onePerZone, limit: 3, permits: 'b' },
      'execute b',
    ],
    [
      'nodes without the label form one zone',
      { nodes: 'g:old h:old a:old', zones, rules: onePerZone, limit: 3, permits: 'g h a' },
      'execute g a',
    ],
    [
      'a permit that waits for its zone gives its slot to one that does not (F7)',
      { nodes: 'a:none b:old c:old d:old', zones, rules: onePerZone, limit: 2, permits: 'a.gone b' },
      'withdraw b',
    ],
    [
      'a permit that waits for its zone stays where no other could be executed',
      { nodes: 'a:none b:old c:new d:new', zones, rules: onePerZone, limit: 2, permits: 'a.gone b' },
      'wait for budget',
    ],
    [
      'permits that wait for their zone and for the limit give way together where only that lets a broken pod go (F7, G6)',
      {
        nodes: 'f:new! g:new! h:old! i:old q:old!',
        zones: 'f=x g=x h=x i=y q=z',
        rules: { spread: [{ topologyKey: 'zone', maxUnavailable: 2 }] },
        limit: 3,
        permits: 'f.gone g.gone h i',
      },
      'withdraw h i',
    ],
    [
      'a broken pod goes while its zone keeps the Ready ones of a superseded revision that come before it (F3, G6)',
      { nodes: 'a:older b:older n:old!', zones: `${zones} n=x`, rules: onePerZone, limit: 2 },
      'append n a',
    ],
    [
      'the node of the zone’s last permit that is gone may lose another pod, however many nodes are down there (F4)',
      { nodes: 'a:bad! b:bad! c:old', zones, rules: onePerZone, limit: 3, permits: 'a.gone b.gone', partition: 1 },
      'append b c',
    ],
    [
      'it is found among as many gone nodes of its zone as there are, whatever their order (F4, G6)',
      { nodes: 'a:bad! b:bad! g:bad! h:bad!', zones: `${zones} g=x h=x`, rules: onePerZone, limit: 5, permits: 'a.gone b.gone g.gone' },
      'append g',
    ],
    [
      'a permit of a node that is in no view uses a slot of every zone (F4)',
      { nodes: 'a:old c:old', zones, rules: onePerZone, limit: 3, permits: 'n.gone a c' },
      'confirm node n',
    ],
    [
      'a permit of a node that is in no view uses a slot of a zone where nodes are down already (F4)',
      { nodes: 'a:new! b:old', zones, rules: { spread: [{ topologyKey: 'zone', maxUnavailable: 2 }] }, limit: 4, permits: 'n.gone b' },
      'confirm node n',
    ],
    [
      'a node does not wait for permits of a zone without a slot, because other clients took its nodes down (F3)',
      { nodes: 'a:new! b:old c:old', zones, rules: onePerZone, limit: 3 },
      'append c',
    ],
    [
      'no more than twice as many of a zone are permitted as may be down in it (F3)',
      { nodes: 'a:old b:old g:old c:old', zones: `${zones} g=x`, rules: onePerZone, limit: 4 },
      'append a c b',
    ],
    [
      'no more than twice as many of a zone are permitted, whatever other rules distinguish its nodes (F3)',
      {
        nodes: 'a:old b:old g:old',
        zones: 'a=x/1 b=x/2 g=x/3',
        rules: {
          spread: [
            { topologyKey: 'zone', maxUnavailable: 1 },
            { topologyKey: 'rack', maxUnavailable: 1 },
          ],
        },
        limit: 4,
      },
      'append a b',
    ],
    [
      'no more are permitted than the batch lacks, however many zones have room (F3)',
      { nodes: 'a:old c:old e:old', zones, rules: onePerZone, limit: 4, partition: 2 },
      'append a',
    ],
    [
      'nothing is permitted without a size in the record, however many zones have room',
      { nodes: 'a:old b:old', zones, rules: onePerZone, limit: 4, record: { size: undefined } },
      'wait for batch',
    ],
    [
      'the permit of another node is withdrawn while one on a node in flight waits for its zone and blocks it (F7, G6)',
      { nodes: 'a:bad! b:bad! c:old', zones, rules: onePerZone, limit: 2, permits: 'a.gone b.gone a c' },
      'withdraw c',
    ],
    [
      'a permit stays while the waiting broken pod has no slot in its own zone (F7)',
      { nodes: 'a:none b:old! c:old', zones, rules: onePerZone, limit: 2, permits: 'a.gone c' },
      'wait for budget',
    ],
    [
      'a permit stays while the broken pod that uses the budget is on an excluded node (F7)',
      { nodes: 'a:old! c:old', zones, rules: { exclude: [inZone('x')] }, permits: 'c' },
      'wait for budget',
    ],
    [
      'a permit stays while the broken pod that uses the budget is on a node of a later step (F7)',
      { nodes: 'a:old! c:old', zones, rules: { steps: [inZone('y'), {}] }, batch: 0, permits: 'c' },
      'wait for budget',
    ],
    [
      'the next node needs room under every rule (F3)',
      {
        nodes: 'a:new! b:old c:old d:old',
        zones,
        rules: {
          spread: [
            { topologyKey: 'zone', maxUnavailable: 1 },
            { topologyKey: 'none', maxUnavailable: 3 },
          ],
        },
        limit: 4,
      },
      'append c d',
    ],
    [
      'a NotReady node is skipped, and another taken in its place (G6)',
      { nodes: 'a?:old! b:old c:old', rules: { notReady: { action: 'Skip' } }, partition: 1, limit: 3 },
      'append b c',
    ],
    [
      'a NotReady node that the batch waits for keeps its rank, by name and age as if it were healthy',
      { nodes: 'a?:old! b:old c:old', rules: { notReady: { action: 'Wait' } }, partition: 1, limit: 3 },
      'append b',
    ],
    [
      'a NotReady node that is not due yet delays no other',
      { nodes: 'a:old b:old c?:old!', rules: { notReady: { action: 'Wait' } }, partition: 1, limit: 3 },
      'append a b',
    ],
    [
      'a dead node costs budget if the policy exempts none',
      { nodes: 'a?:old! b:old', rules: { notReady: { exempt: 0 } }, permits: 'b' },
      'wait for budget',
    ],
    ['a dead node costs no budget without a policy (G1)', { nodes: 'a?:old! b:old', permits: 'b' }, 'execute b'],
    ['two dead nodes of three cost budget without a policy (G1)', { nodes: 'a?:old! b:old c?:old!', permits: 'b' }, 'wait for budget'],
    [
      'two dead nodes of eleven cost no budget without a policy, since a tenth is rounded up (G1)',
      { nodes: 'a?:old! b?:old! c:old d:new e:new f:new g:new h:new i:new j:new k:new', permits: 'c' },
      'execute c',
    ],
    [
      'dead nodes cost no budget up to the number that the policy exempts (G1)',
      { nodes: 'a?:old! b:old c?:old!', rules: { notReady: { exempt: 2 } }, permits: 'b' },
      'execute b',
    ],
    [
      'where more nodes are dead than the policy exempts, all of them cost budget (G1)',
      { nodes: 'a?:old! b:old c?:old!', rules: { notReady: { exempt: 1 } }, permits: 'b', limit: 2 },
      'wait for budget',
    ],
    [
      'a node whose kubelet reports it NotReady costs budget until it has done so for five minutes, and the pass wakes then (G1)',
      { nodes: 'a¿:old! b:old', permits: 'b' },
      'wait for budget until 300000',
    ],
    [
      'a node whose kubelet reports it NotReady for as long as the policy says costs no budget (G1)',
      { nodes: 'a¿:old! b:old', rules: { notReady: { after: '100s' } }, permits: 'b' },
      'execute b',
    ],
    [
      'a node in maintenance costs no budget at once, even while its kubelet answers (G1)',
      { nodes: 'a&:old! b:old', permits: 'b' },
      'execute b',
    ],
    ['a node in maintenance is skipped, although it is Ready (G6)', { nodes: 'a&:old b:old c:old', partition: 1 }, 'append b c'],
    ['the permit of a node that is in maintenance now is withdrawn (F7)', { nodes: 'a&:old b:old', permits: 'a' }, 'withdraw a'],
    [
      'a node that does not answer costs budget if it has a superseded revision, which may be what took it down (G1)',
      { nodes: 'a?:bad! b:old', rules: { notReady: { exempt: '100%' } }, permits: 'b' },
      'wait for budget',
    ],
    [
      'a dead node costs budget if one of its pods has a superseded revision, whatever the others have (G1)',
      { nodes: 'a?:old!+bad! b:old', rules: { notReady: { exempt: '100%' } }, permits: 'b' },
      'wait for budget',
    ],
    [
      'a dead node costs no budget in a rollback to the revision that it runs (G1, G6)',
      { nodes: 'a?:new! b:old', permits: 'b', published: { stableRevision: 'new' } },
      'execute b',
    ],
    [
      'a dead node costs no budget if it runs the revision that is released, and that was stable once (G1, G6)',
      { nodes: 'a?:new! b:old', permits: 'b', former: ['new'] },
      'execute b',
    ],
    [
      'a dead node whose pod another client deleted takes no place in a batch (G3, G6)',
      { nodes: 'a?:oldx b:old c:old', partition: 2, record: { size: 1 } },
      'append b',
    ],
    ...(
      [
        ['has updated keeps its place in the batch (G3)', '2025-12-31T00:00:00Z', 'wait for batch'],
        ['found on the revision takes no place in a batch (G3, G6)', '2026-01-02T00:00:00Z', 'append b'],
      ] as const
    ).map(([what, begunAt, want]): [string, PassCase, string] => [
      `a dead node that a rollback ${what}`,
      { nodes: 'a?:new! b:old', begunAt, partition: 1, record: { size: 1 }, published: { stableRevision: 'new' } },
      want,
    ]),
    [
      'a dead node that is not in the steps so far makes no room for another one (G3)',
      { nodes: 'a?:oldx c:old d:old', zones, rules: { steps: [inZone('y'), {}] }, batch: 0, partition: 1, record: { size: 2 } },
      'append c',
    ],
    [
      'a dead node costs no budget if it has a former revision (G1)',
      { nodes: 'a?:bad! b:old', former: ['bad'], permits: 'b' },
      'execute b',
    ],
    [
      'more dead nodes than the policy exempts cost budget, also with a former revision (G1)',
      { nodes: 'a?:bad! b:old c?:old!', former: ['bad'], permits: 'b' },
      'wait for budget',
    ],
    [
      'a NotReady node with a former revision is not taken, though its kubelet answers (G6)',
      { nodes: 'a¿:bad b:old', former: ['bad'] },
      'append b',
    ],
    [
      'a dead node costs budget if it has a superseded revision and others are former (G1)',
      { nodes: 'a?:bad! b:old', former: ['worse'], permits: 'b' },
      'wait for budget',
    ],
    [
      'a node in maintenance costs budget if it has a superseded revision, and is not taken (G1)',
      { nodes: 'a&:bad! b:old', rules: { notReady: { exempt: '100%' } }, permits: 'b' },
      'wait for budget',
    ],
    [
      'no node is dead by the clock if the time in the policy is unreadable',
      { nodes: 'a¿:old! b:old', rules: { notReady: { after: 'soon' } }, permits: 'b' },
      'wait for budget',
    ],
    [
      'a NotReady node with a superseded revision costs budget while its kubelet answers: a release may bring it back (G1)',
      { nodes: 'a¿:bad! b:old', rules: { notReady: { after: '0s', exempt: '100%' } }, permits: 'b' },
      'withdraw b',
    ],
    [
      'an updated node that is dead is never exempt (G1)',
      { nodes: 'a?:new! b:old', rules: { notReady: { exempt: '100%' } }, permits: 'b' },
      'wait for budget',
    ],
    [
      'a node that is Ready is never exempt, however broken its pod is (G1)',
      { nodes: 'a:old! b:old', rules: { notReady: { exempt: '100%' } }, permits: 'b' },
      'withdraw b',
    ],
    [
      'a dead node costs no budget if another client deleted its pod, which its kubelet cannot end (G1)',
      { nodes: 'a?:oldx b:old', permits: 'b' },
      'execute b',
    ],
    [
      'a node whose pod Tranche has deleted costs budget, and is not one of the dead ones (G1)',
      { nodes: 'a?:oldx b?:old! c:old', rules: { notReady: { exempt: 1 } }, permits: 'a c', limit: 2 },
      'execute c',
    ],
    [
      'a node that an earlier release took down is one of the dead ones, of which there are too many then (G1)',
      { nodes: 'a?:old! b?:old! c:old d:old', rules: { notReady: { exempt: 1 } }, permits: 'a.gone c', limit: 2 },
      'wait for budget',
    ],
    [
      'a node that an earlier release took down costs budget, though no more nodes are dead than the policy exempts (G1)',
      { nodes: 'a?:old! b?:old! c:old d:old', rules: { notReady: { exempt: 2 } }, permits: 'a.gone c', limit: 1 },
      'wait for budget',
    ],
    [
      'beside a node that an earlier release took down, the dead ones cost no budget while there are few (G1, G6)',
      { nodes: 'a?:old! b?:old! c:old d:old', rules: { notReady: { exempt: 2 } }, permits: 'a.gone c', limit: 2 },
      'execute c',
    ],
    [
      'a node that is lost in its rollback is not one of the dead ones (G6)',
      {
        nodes: 'a?:new! b?:former! c:old d:old',
        former: ['former'],
        rules: { notReady: { exempt: 1 } },
        permits: 'a.gone c',
        limit: 2,
        published: { stableRevision: 'new' },
      },
      'execute c',
    ],
    [
      'a dead node costs budget if its terminating pod is of a superseded revision, or of the one that is released (G1)',
      { nodes: 'a?:badx b?:newx c:old', rules: { notReady: { exempt: '100%' } }, permits: 'c', limit: 2 },
      'wait for budget',
    ],
    [
      'a dead node without any pod costs budget: nothing says what took it down (G1)',
      { nodes: 'a?:none b:old', rules: { notReady: { exempt: '100%' } }, permits: 'b' },
      'wait for budget',
    ],
    [
      'a Ready node takes no exemption from a dead one',
      { nodes: 'a:old! b?:old! c:old', rules: { notReady: { exempt: 1 } }, permits: 'c', limit: 2 },
      'execute c',
    ],
  ])('%s', (_sentence, given, plan) => {
    expect(planText(planPass(passView(given)))).toBe(plan)
  })

  it('waits while the visible rules are not those of the record, and while none are visible (F1)', () => {
    const view = passView({ nodes: six, zones, rules: onePerZone })
    for (const nodes of [undefined, { ...onePerZone, exclude: [inZone('x')] }]) {
      expect(planText(planPass({ ...view, nodes }))).toBe('wait for agreement')
    }
  })
})
