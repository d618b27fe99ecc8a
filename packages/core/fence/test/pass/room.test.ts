import type { ReleaseNodeRules } from '@tranche/api-schema'
import { planPass } from '@tranche/fence'
import { describe, expect, it } from 'vitest'
import { NOW_MS, type PassCase, passView, planText } from './pass-notation.ts'

type Case = PassCase & { readonly want: string }

const ELEVEN = [...'abcdefghijk']
const SEVENTEEN = [...'abcdefghijklmnopq']

const rules: ReleaseNodeRules = { room: 'Check' }

describe('planPass: room for the new pod, where the policy asks for it', () => {
  const cases: Record<string, Case> = {
    'is read before a node gets a permit': { nodes: 'a:old', rules, want: 'check a for permit' },
    'lets a node get a permit': { nodes: 'a:old', rules, room: 'a=fits', want: 'append a' },
    'is not read again for a permit within a minute': { nodes: 'a:old', rules, room: 'a=fits', want: 'append a' },
    'of many nodes is read before any gets a permit': {
      nodes: 'a:old b:old',
      limit: 2,
      rules,
      room: 'a=permit',
      want: 'check b for permit',
    },
    'of many nodes counts before it is out of date: those in front get permits (G6)': {
      nodes: 'a:old b:old c:old',
      limit: 2,
      rules,
      room: 'a=permit~ b=permit',
      want: 'append a b',
    },
    'is read again for a permit after a minute': { nodes: 'a:old', rules, room: 'a=fits!', want: 'check a for permit' },
    'is read only for the nodes that come next': { nodes: 'a:old b:old c:old', partition: 2, rules, want: 'check a for permit' },
    'is read again before a pod is deleted': { nodes: 'a:old', permits: 'a', rules, room: 'a=fits!', want: 'check a for deletion' },
    'is read again in time for a broken node in flight while a permit that waits for it fills the batch (G6)': {
      nodes: 'a:old! b:old! c:old',
      permits: 'a.gone b',
      partition: 2,
      rules,
      room: 'a=short?',
      record: { blocked: [{ node: 'a', reason: 'NoRoom', message: 'no room' }] },
      want: `wait for budget until ${NOW_MS + 3_000}`,
    },
    'is read again in time for a node of another zone while a permit that waits for its zone fills the batch (G6)': {
      nodes: 'm:new! n:old o:old',
      permits: 'm.gone n',
      zones: 'm=x n=x o=y',
      limit: 2,
      partition: 1,
      rules: { ...rules, spread: [{ topologyKey: 'zone', maxUnavailable: 1 }] },
      room: 'o=short?',
      record: { blocked: [{ node: 'o', reason: 'NoRoom', message: 'no room' }] },
      want: `wait for budget until ${NOW_MS + 3_000}`,
    },
    'is read again in time for a node in flight with another permit behind one that waits for its zone (G6)': {
      nodes: 'a:old! b:old c:old!',
      permits: 'c.gone a b c',
      zones: 'a=x b=x c=x',
      limit: 2,
      rules: { ...rules, spread: [{ topologyKey: 'zone', maxUnavailable: 1 }] },
      room: 'c=short?',
      want: `wait for budget until ${NOW_MS + 3_000}`,
    },
    'is read again in time for a permit that fits at its place, though others behind it use up the limit (G6)': {
      nodes: 'x:new! a:old b:old! d:old',
      permits: 'x.gone a b d.unseen',
      zones: 'x=p a=p b=q d=r',
      limit: 2,
      rules: { ...rules, spread: [{ topologyKey: 'zone', maxUnavailable: 1 }] },
      room: 'b=short?',
      want: `wait for budget until ${NOW_MS + 3_000}`,
    },
    'withdraws no permit that a spread rule holds while another one waits for it: nothing more could be deleted (G6)': {
      nodes: 'm:new! n:old p:old',
      permits: 'm.gone p n',
      zones: 'm=x n=x p=y',
      limit: 3,
      rules: { ...rules, spread: [{ topologyKey: 'zone', maxUnavailable: 1 }] },
      room: 'p=pending n=permit',
      want: `wait for budget until ${NOW_MS + 14_000}`,
    },
    'withdraws no permit that is being checked, although nodes of its zone could be updated in its place (G6)': {
      nodes: 'm:new! n:old p:old b:old',
      zones: 'm=x n=x p=y b=y',
      permits: 'm.gone n p',
      limit: 3,
      partition: 1,
      rules: { ...rules, spread: [{ topologyKey: 'zone', maxUnavailable: 1 }] },
      room: 'p=pending b=permit',
      want: `wait for budget until ${NOW_MS + 14_000}`,
    },
    'of a node of another zone is read before a permit that waits for its zone makes way for it': {
      nodes: 'm:new! n:old o:old',
      permits: 'm.gone n',
      zones: 'm=x n=x o=y',
      limit: 2,
      partition: 1,
      rules: { ...rules, spread: [{ topologyKey: 'zone', maxUnavailable: 1 }] },
      room: 'o=short!',
      record: { blocked: [{ node: 'o', reason: 'NoRoom', message: 'no room' }] },
      want: 'check o for permit',
    },
    'withdraws a permit that a spread rule holds while another one waits for it, where a third node could be updated': {
      nodes: 'm:new! n:old p:old q:old',
      permits: 'm.gone p n',
      zones: 'm=x n=x p=y q=z',
      limit: 3,
      partition: 1,
      rules: { ...rules, spread: [{ topologyKey: 'zone', maxUnavailable: 1 }] },
      room: 'p=pending n=permit q=permit',
      want: 'withdraw n',
    },
    'is read again where it was read for an earlier permit of the node': {
      nodes: 'a:old',
      permits: 'a',
      rules,
      room: "a=fits'",
      want: 'check a for deletion',
    },
    'does not keep a node from a permit by what was begun for its last one': {
      nodes: 'a:old',
      rules,
      room: 'a=pending',
      want: 'check a for permit',
    },
    'is read at once for a permit that follows the one for which something was begun': {
      nodes: 'a:old',
      permits: 'a',
      rules,
      room: "a=pending'",
      want: 'check a for deletion',
    },
    'lets a pod be deleted': { nodes: 'a:old', permits: 'a', rules, room: 'a=fits', want: 'execute a' },
    'lets some pods be deleted before others are read': {
      nodes: 'a:old b:old',
      permits: 'a b',
      limit: 2,
      rules,
      room: 'b=fits',
      want: 'execute b',
    },
    'takes the permit from a node that has none now': { nodes: 'a:old', permits: 'a', rules, room: 'a=short', want: 'withdraw a' },
    'is read again for a permit that another executor gave a node without room': {
      nodes: 'a:old',
      permits: 'a',
      rules,
      room: 'a=short!',
      want: 'check a for deletion',
    },
    'lacks on a node: the next one gets the permit': {
      nodes: 'a:old b:old',
      partition: 1,
      rules,
      room: 'a=short b=fits',
      want: 'append b, blocked a',
    },
    'lacks on a node: the record names it': { nodes: 'a:old', rules, room: 'a=short', want: 'blocked a' },
    'lacks on a node that the record names: the clock ends the wait': {
      nodes: 'a:old',
      rules,
      room: 'a=short',
      record: { blocked: [{ node: 'a', reason: 'NoRoom', message: 'no room' }] },
      want: `wait for batch until ${NOW_MS + 14_000}`,
    },
    'lacks on a node that is due again: it is read': {
      nodes: 'a:old',
      rules,
      room: 'a=short!',
      record: { blocked: [{ node: 'a', reason: 'NoRoom', message: 'no room' }] },
      want: 'check a for permit',
    },
    'lacks on more nodes than fit: the record names ten': {
      nodes: ELEVEN.map((node) => `${node}:old`).join(' '),
      rules,
      room: ELEVEN.map((node) => `${node}=short`).join(' '),
      want: `blocked ${ELEVEN.slice(0, 10).join(' ')}`,
    },
    'has come to a node that the record names': {
      nodes: 'a:old',
      rules,
      room: 'a=fits',
      record: { blocked: [{ node: 'a', reason: 'NoRoom', message: 'no room' }] },
      want: 'append a, blocked ',
    },
    'is unknown after a restart: nodes that the record names stay named': {
      nodes: 'a:old b:old',
      partition: 1,
      rules,
      room: 'b=fits',
      record: { blocked: [{ node: 'a', reason: 'NoRoom', message: 'no room' }] },
      want: 'check a for permit',
    },
    'is unknown after a restart: a write about other nodes keeps the names': {
      nodes: 'a:old c:new',
      permits: 'c.gone',
      partition: 1,
      rules,
      record: { blocked: [{ node: 'a', reason: 'NoRoom', message: 'no room' }] },
      want: 'remove c',
    },
    'no longer matters on a node that is updated': {
      nodes: 'a:new',
      rules,
      record: { blocked: [{ node: 'a', reason: 'NoRoom', message: 'no room' }] },
      want: 'blocked ',
    },
    'has come to a node, says one executor: the name stays until the node gets a permit': {
      nodes: 'a:old c:new',
      partition: 1,
      rules,
      room: 'a=fits',
      record: { blocked: [{ node: 'a', reason: 'NoRoom', message: 'no room' }] },
      want: 'wait for batch',
    },
    'lacks on a node to which another executor gave a permit: it is not named meanwhile': {
      nodes: 'a:old b:none',
      permits: 'b.gone a',
      rules,
      room: 'a=short',
      want: 'wait for budget',
    },
    'lacks on a broken node: no permit makes way for it': {
      nodes: 'a:old! b:old',
      permits: 'b',
      rules,
      room: 'a=short?',
      record: { blocked: [{ node: 'a', reason: 'NoRoom', message: 'no room' }] },
      want: `wait for budget until ${NOW_MS + 3_000}`,
    },
    'lacks on a broken node in flight: no permit makes way for it': {
      nodes: 'a:old! b:old',
      permits: 'a.gone b',
      rules,
      room: 'a=short?',
      record: { blocked: [{ node: 'a', reason: 'NoRoom', message: 'no room' }] },
      want: `wait for budget until ${NOW_MS + 3_000}`,
    },
    'lacks on a node that is due but whose permit is not executable: the pass rests': {
      nodes: 'a:old b:old c:old d:old e:none',
      permits: 'e.gone b c d',
      rules,
      room: 'a=short!',
      record: { blocked: [{ node: 'a', reason: 'NoRoom', message: 'no room' }] },
      want: 'wait for budget',
    },
    'lacks on a node for another reason than the record says: the record gets it': {
      nodes: 'a:old',
      rules,
      room: 'a=short',
      record: { blocked: [{ node: 'a', reason: 'NoRoom', message: 'cannot read' }] },
      want: 'blocked a',
    },
    'lacks on a node for another reason than the record says after it was recorded: another process has the last word': {
      nodes: 'a:old',
      rules,
      room: 'a=short?',
      record: { blocked: [{ node: 'a', reason: 'NoRoom', message: 'cannot read' }] },
      want: `wait for batch until ${NOW_MS + 3_000}`,
    },
    'is read on at most 16 nodes at once': {
      nodes: SEVENTEEN.map((node) => `${node}:old`).join(' '),
      limit: 17,
      rules,
      want: `check ${SEVENTEEN.slice(0, 16).join(' ')} for permit`,
    },
  }
  it.each(Object.entries(cases))('%s', (_name, { want, ...given }) => {
    expect(planText(planPass(passView(given)))).toBe(want)
  })
})

describe('planPass: room for the new pod, where the policy does not ask for it', () => {
  const cases: Record<string, Case> = {
    'does not matter for a permit': { nodes: 'a:old', room: 'a=short', want: 'append a' },
    'does not matter for a deletion': { nodes: 'a:old', permits: 'a', room: 'a=short', want: 'execute a' },
    'is no longer in the record': {
      nodes: 'a:old',
      record: { blocked: [{ node: 'a', reason: 'NoRoom', message: 'no room' }] },
      want: 'append a, blocked ',
    },
  }
  it.each(Object.entries(cases))('%s', (_name, { want, ...given }) => {
    expect(planText(planPass(passView(given)))).toBe(want)
  })
})
