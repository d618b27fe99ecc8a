import { planPass } from '@tranche/fence'
import { describe, expect, it } from 'vitest'
import { NOW_MS, type PassCase, passView, planText } from './pass-notation.ts'

type Case = PassCase & { readonly want: string }

/** As many as a record with limit 1 has room for. */
const IN_FLIGHT = [...'abcdefghi']
const TEN = [...'abcdefghij']
const failed = (names: readonly string[]): string => names.map((node) => `${node}=failed`).join(' ')
const old = (names: readonly string[]): string => names.map((node) => `${node}:old`).join(' ')

/** The permit of b waits for its zone, whose budget a uses up. The batch lacks no node; c could be updated. */
const heldByZone: PassCase = {
  nodes: 'a:new! b:old c:old',
  permits: 'a.gone b',
  zones: 'a=x b=x c=y',
  limit: 2,
  partition: 1,
  rules: { spread: [{ topologyKey: 'zone', maxUnavailable: 1 }] },
  ahead: 1,
  prepared: 'b=ready',
}

describe('planPass: nodes that the policy lets be prepared ahead', () => {
  const cases: Record<string, Case> = {
    'are those to delete on again, although standing permits and broken pods use up their spread rule (G6)': {
      nodes: 'a:bad! b:old n:old! c:old',
      permits: 'a.gone c b',
      prepared: 'b=ready c=ready',
      rules: { spread: [{ topologyKey: 'zone', maxUnavailable: 1 }] },
      zones: 'a=x b=x n=x c=y',
      ahead: 2,
      minReadySeconds: 10,
      want: 'check a for ahead',
    },
    'are prepared before they get a permit': { nodes: 'a:old b:old', ahead: 1, want: 'check a for ahead' },
    'are as many at a time as the policy says': { nodes: 'a:old b:old c:old', ahead: 2, want: 'check a b for ahead' },
    'are no more while others are not finished': { nodes: 'a:old b:old', ahead: 1, prepared: 'a=begun', want: 'wait for batch' },
    'are no more than the batch lacks': { nodes: 'a:old b:old c:old', partition: 2, ahead: 3, want: 'check a for ahead' },
    'come in the order of permits: broken ones first': { nodes: 'a:old b:old!', ahead: 1, want: 'check b for ahead' },
    'are not those out of reach': { nodes: 'a?:old b:old', ahead: 1, want: 'check b for ahead' },
    'are not those of the new revision': { nodes: 'a:new b:old', ahead: 1, want: 'check b for ahead' },
    'get a permit once they are prepared and their other checks are known': {
      nodes: 'a:old b:old',
      ahead: 1,
      prepared: 'a=ready',
      want: 'check a for permit',
    },
    'get a permit before those that come first and are not prepared': {
      nodes: 'a:old b:old',
      partition: 1,
      ahead: 2,
      prepared: 'a=begun b=ready',
      room: 'b=fits',
      want: 'append b',
    },
    'get no permit by what was done for another revision': {
      nodes: 'a:old',
      ahead: 1,
      prepared: 'a=ready!',
      undone: 'a',
      want: 'check a for ahead',
    },
    'leave their places to others once they have a permit': {
      nodes: 'a:old b:old',
      permits: 'a',
      ahead: 1,
      prepared: 'a=ready',
      room: 'a=pending',
      want: 'check b for ahead',
    },
    'wait, until the clock says that they failed': {
      nodes: 'a:old',
      ahead: 1,
      prepared: 'a=begun~',
      want: `wait for batch until ${NOW_MS + 5_000}`,
    },
    'are asked why once they failed': { nodes: 'a:old b:old', ahead: 1, prepared: 'a=failed', want: 'check a for ahead' },
    'are undone once they failed and said why': {
      nodes: 'a:old b:old',
      ahead: 1,
      prepared: 'a=failed',
      room: 'a=failed',
      want: 'undo a',
    },
    'keep no place from others where another check blocks them': {
      nodes: 'a:old b:old',
      ahead: 1,
      prepared: 'a=ready',
      room: 'a=short?',
      record: { blocked: [{ node: 'a', reason: 'NoRoom', message: 'no room' }] },
      want: 'check b for ahead',
    },
    'keep no place from nodes of another zone while a spread rule holds them back': {
      nodes: 'a:old b:old c:old!',
      zones: 'a=x b=y c=x',
      limit: 3,
      rules: { spread: [{ topologyKey: 'zone', maxUnavailable: 1 }] },
      ahead: 1,
      prepared: 'a=ready',
      room: 'c=short?',
      record: { blocked: [{ node: 'c', reason: 'NoRoom', message: 'no room' }] },
      want: 'check b for ahead',
    },
    'are no more at a time than the policy says, also where a spread rule holds some back': {
      nodes: 'a:old b:old c:old!',
      zones: 'a=x b=y c=x',
      limit: 3,
      rules: { spread: [{ topologyKey: 'zone', maxUnavailable: 1 }] },
      ahead: 1,
      prepared: 'a=begun',
      room: 'c=short?',
      record: { blocked: [{ node: 'c', reason: 'NoRoom', message: 'no room' }] },
      want: `wait for batch until ${NOW_MS + 3_000}`,
    },
    'come after a node on which a pod is to be deleted again': {
      nodes: 'a:bad! b:bad! c:old',
      permits: 'a.gone b.gone',
      ahead: 1,
      want: 'check b for ahead',
    },
    'are such a node, also where others are prepared and the record has no room for their permits': {
      nodes: `${IN_FLIGHT.map((node) => `${node}:bad!`).join(' ')} z:old`,
      permits: IN_FLIGHT.map((node) => `${node}.gone`).join(' '),
      ahead: 1,
      prepared: 'z=ready',
      want: 'check i for ahead',
    },
    'are such a node, also where the batch lacks no more than the standing permit of another node': {
      nodes: 'a:bad! b:old! c:old',
      permits: 'a.gone b',
      partition: 2,
      ahead: 1,
      prepared: 'b=ready',
      want: 'check a for ahead',
    },
    'are no such node while others are not finished': {
      nodes: 'a:bad! b:bad! c:old',
      permits: 'a.gone b.gone',
      ahead: 1,
      prepared: 'c=begun',
      want: 'wait for availability',
    },
    'get their permits until that node is prepared': {
      nodes: 'a:bad! b:bad! c:old',
      permits: 'a.gone b.gone',
      ahead: 2,
      prepared: 'a=ready',
      room: 'a=fits',
      want: 'append a',
    },
    'are not asked why they failed while the batch lacks none, and no node is the one to delete on again': {
      nodes: 'a:old! b:new! c:old',
      permits: 'a.gone b.gone',
      partition: 2,
      ahead: 1,
      prepared: 'c=failed',
      want: 'wait for availability',
    },
    'are such a node, although ten others failed': {
      nodes: `${old(TEN)} y:bad! z:bad!`,
      permits: 'y.gone z.gone',
      ahead: 1,
      room: TEN.map((node) => `${node}=failed?`).join(' '),
      record: { blocked: TEN.map((node) => ({ node, reason: 'NoRoom', message: 'no room' })) },
      want: 'check z for ahead',
    },
    'are followed by others once they failed': {
      nodes: 'a:old b:old',
      ahead: 1,
      room: 'a=failed?',
      record: { blocked: [{ node: 'a', reason: 'NoRoom', message: 'no room' }] },
      want: 'check b for ahead',
    },
    'are tried again after a while': {
      nodes: 'a:old',
      ahead: 1,
      room: 'a=failed!',
      record: { blocked: [{ node: 'a', reason: 'NoRoom', message: 'no room' }] },
      want: 'check a for ahead',
    },
    'are followed by no others while ten of them failed': {
      nodes: `${old(TEN)} k:old`,
      ahead: 1,
      room: TEN.map((node) => `${node}=failed?`).join(' '),
      record: { blocked: TEN.map((node) => ({ node, reason: 'NoRoom', message: 'no room' })) },
      want: `wait for batch until ${NOW_MS + 3_000}`,
    },
    'are others although ten failed that were updated since, by another process': {
      nodes: `${TEN.map((node) => `${node}:new`).join(' ')} k:old`,
      ahead: 1,
      room: failed(TEN),
      want: 'check k for ahead',
    },
    'are others although ten failed that are out of reach since': {
      nodes: `${TEN.map((node) => `${node}?:old`).join(' ')} k:old`,
      ahead: 1,
      room: TEN.map((node) => `${node}=failed?`).join(' '),
      record: { blocked: TEN.map((node) => ({ node, reason: 'NoRoom', message: 'no room' })) },
      want: 'check k for ahead',
    },
    'are tried again while ten of them failed': {
      nodes: `k:old ${old(TEN)}`,
      ahead: 1,
      room: `${failed(TEN.slice(1))} a=failed!`,
      record: { blocked: TEN.map((node) => ({ node, reason: 'NoRoom', message: 'no room' })) },
      want: 'check a for ahead',
    },
    'are a broken node for which the only permit waits, although the batch lacks no other (G6)': {
      nodes: 'a:old! b:old',
      permits: 'b',
      partition: 1,
      ahead: 1,
      prepared: 'b=ready',
      want: 'check a for ahead',
    },
    'are no other such node while one is not finished': {
      nodes: 'a:old! b:old c:old!',
      permits: 'b',
      partition: 2,
      ahead: 1,
      prepared: 'a=begun b=ready',
      want: 'wait for budget',
    },
    'are no such node while a check keeps it from a permit, which is asked again in time (G6)': {
      nodes: 'a:old! b:old',
      permits: 'b',
      partition: 1,
      ahead: 1,
      prepared: 'b=ready',
      room: 'a=short?',
      record: { blocked: [{ node: 'a', reason: 'NoRoom', message: 'no room' }] },
      want: `wait for budget until ${NOW_MS + 3_000}`,
    },
    'are another such node while a check keeps one from a permit (G6)': {
      nodes: 'a:old! b:old c:old!',
      permits: 'b',
      partition: 2,
      ahead: 1,
      prepared: 'b=ready',
      room: 'a=short?',
      record: { blocked: [{ node: 'a', reason: 'NoRoom', message: 'no room' }] },
      want: 'check c for ahead',
    },
    'are such a node, although the batch lacks others, and one of these is prepared and waits for a permit (G6)': {
      nodes: 'a:old! b:old c:old d:old e:old',
      permits: 'b c d',
      ahead: 1,
      prepared: 'b=ready c=ready d=ready e=ready',
      want: 'check a for ahead',
    },
    'are any node that the batch lacks while a check keeps such a node from a permit': {
      nodes: 'a:old! b:old c:old',
      permits: 'b',
      ahead: 1,
      prepared: 'b=ready',
      room: 'a=short?',
      record: { blocked: [{ node: 'a', reason: 'NoRoom', message: 'no room' }] },
      want: 'check c for ahead',
    },
    'are those of another zone that can take the place of the only permit, which waits for its zone (G6)': {
      ...heldByZone,
      want: 'check c for ahead',
    },
    'are checked before that permit of another zone makes way for them': {
      ...heldByZone,
      prepared: 'b=ready c=ready',
      want: 'check c for permit',
    },
    'take the place of that permit once they are prepared and may have one (G6)': {
      ...heldByZone,
      prepared: 'b=ready c=ready',
      room: 'c=permit',
      want: 'withdraw b',
    },
    'are others of the batch while such a node is not finished': {
      nodes: 'a:old! b:old c:old d:old',
      permits: 'b',
      ahead: 3,
      prepared: 'a=begun b=ready',
      want: 'check c d for ahead',
    },
    'are others of another zone while such a node is not finished': {
      nodes: 'a:old! h:old c:old',
      zones: 'a=x h=x c=y',
      permits: 'h',
      limit: 3,
      rules: { spread: [{ topologyKey: 'zone', maxUnavailable: 1 }] },
      ahead: 3,
      prepared: 'h=ready a=begun',
      want: 'check c for ahead',
    },
    'are no others of another zone while ten of them failed': {
      nodes: `${old(TEN)} k:old m:new! n:old`,
      zones: `${[...TEN, 'k'].map((node) => `${node}=y`).join(' ')} m=x n=x`,
      permits: 'm.gone n',
      limit: 3,
      rules: { spread: [{ topologyKey: 'zone', maxUnavailable: 1 }] },
      ahead: 1,
      prepared: 'n=ready',
      room: TEN.map((node) => `${node}=failed?`).join(' '),
      record: { blocked: TEN.map((node) => ({ node, reason: 'NoRoom', message: 'no room' })) },
      want: `wait for budget until ${NOW_MS + 3_000}`,
    },
    'wait for the clock to end another preparation, which takes the place of such a node': {
      nodes: 'a:old! b:old c:old',
      permits: 'b',
      partition: 2,
      ahead: 1,
      prepared: 'b=ready c=begun~',
      want: `wait for budget until ${NOW_MS + 5_000}`,
    },
    'are undone once they failed and said why, also with a permit that waits (G6)': {
      nodes: 't:old a:old!',
      permits: 't a',
      ahead: 1,
      prepared: 't=ready a=failed',
      room: 'a=failed',
      want: 'undo a',
    },
    'are none of a zone that is used up as well': {
      ...heldByZone,
      zones: 'a=x b=x c=x',
      want: 'wait for budget',
    },
    'are none of another zone while a permit can be used': {
      ...heldByZone,
      nodes: 'a:new! b:old c:old d:old',
      permits: 'a.gone b d',
      zones: 'a=x b=x c=y d=z',
      limit: 3,
      prepared: 'b=ready d=ready',
      room: 'd=pending',
      want: `wait for budget until ${NOW_MS + 14_000}`,
    },
    'are checked before that permit makes way for them': {
      nodes: 'a:old! b:old',
      permits: 'b',
      partition: 1,
      ahead: 1,
      prepared: 'a=ready b=ready',
      want: 'check a for permit',
    },
    'get the place of that permit once they are prepared and may have one (G6)': {
      nodes: 'a:old! b:old',
      permits: 'b',
      partition: 1,
      ahead: 1,
      prepared: 'a=ready b=ready',
      room: 'a=permit',
      want: 'withdraw b',
    },
    'are checked although their preparation is gone, where they have a permit behind that one (G6)': {
      nodes: 's:new! t:older a:old!',
      permits: 's.gone t a',
      limit: 2,
      ahead: 1,
      prepared: 't=ready',
      want: 'check a for permit',
    },
    'are checked behind two permits, also where a spread rule applies (G6)': {
      nodes: 't:old u:old a:old!',
      zones: 't=x u=x a=x',
      permits: 't u a',
      rules: { spread: [{ topologyKey: 'zone', maxUnavailable: 3 }] },
      ahead: 1,
      prepared: 't=ready u=ready',
      want: 'check a for permit',
    },
    'come to their permit behind that one once it may be used (G6)': {
      nodes: 's:new! t:older a:old!',
      permits: 's.gone t a',
      limit: 2,
      ahead: 1,
      prepared: 't=ready',
      room: 'a=permit',
      want: 'withdraw t',
    },
    'are others of the batch while a spread rule keeps such a node from the budget (G6)': {
      nodes: 'f:new! a:old! h:old c:old',
      permits: 'f.gone h',
      zones: 'f=x a=x h=x c=y',
      limit: 3,
      rules: { spread: [{ topologyKey: 'zone', maxUnavailable: 1 }] },
      ahead: 1,
      prepared: 'h=ready',
      want: 'check c for ahead',
    },
    'are no such node while the permit fits the budget': {
      nodes: 'a:old! b:old',
      permits: 'b',
      partition: 1,
      limit: 2,
      ahead: 1,
      prepared: 'b=ready',
      room: 'b=pending',
      want: `wait for budget until ${NOW_MS + 14_000}`,
    },
    'are not taken from the permits of others while they are not prepared': {
      nodes: 'a:old! b:old',
      permits: 'b',
      ahead: 1,
      prepared: 'a=begun b=ready',
      want: 'wait for budget',
    },
  }
  it.each(Object.entries(cases))('%s', (_name, { want, ...given }) => {
    expect(planText(planPass(passView(given)))).toBe(want)
  })
})

describe('planPass: a node whose preparation begins with its permit', () => {
  const cases: Record<string, Case> = {
    'gets a permit without it': { nodes: 'a:old', ahead: 0, room: 'a=permit', want: 'append a' },
    'is checked before its pod is deleted': { nodes: 'a:old', permits: 'a', ahead: 0, room: 'a=permit', want: 'check a for deletion' },
    'keeps its pod while it waits': {
      nodes: 'a:old',
      permits: 'a',
      ahead: 0,
      prepared: 'a=begun?',
      room: 'a=pending',
      want: `wait for budget until ${NOW_MS + 14_000}`,
    },
    'does not keep others from being deleted': {
      nodes: 'a:old b:old',
      permits: 'a b',
      limit: 2,
      ahead: 0,
      prepared: 'a=begun?',
      room: 'a=pending b=fits',
      want: 'execute b',
    },
    'is asked again when it is due': {
      nodes: 'a:old',
      permits: 'a',
      ahead: 0,
      prepared: 'a=begun?',
      room: 'a=pending!',
      want: 'check a for deletion',
    },
    'keeps its permit while it waits, although a broken node has none (G6)': {
      nodes: 'h:older a:old!',
      permits: 'h',
      limit: 2,
      partition: 1,
      ahead: 0,
      room: 'h=pending',
      want: `wait for budget until ${NOW_MS + 14_000}`,
    },
    'loses its permit when it is blocked': { nodes: 'a:old', permits: 'a', ahead: 0, room: 'a=short', want: 'withdraw a' },
  }
  it.each(Object.entries(cases))('%s', (_name, { want, ...given }) => {
    expect(planText(planPass(passView(given)))).toBe(want)
  })
})

describe('planPass: what was done on a node', () => {
  const cases: Record<string, Case> = {
    'ahead stays while another check keeps the node from a permit: it would be done again with each question (G6)': {
      ...{ nodes: 'a:old', ahead: 1, prepared: 'a=ready', room: 'a=short?' },
      record: { blocked: [{ node: 'a', reason: 'NoRoom', message: 'no room' }] },
      want: `wait for batch until ${NOW_MS + 3_000}`,
    },
    'ahead stays on ten such nodes': {
      nodes: `${old(TEN)} k:old`,
      limit: 11,
      ahead: 1,
      prepared: [...TEN, 'k'].map((node) => `${node}=ready`).join(' '),
      room: [...TEN, 'k'].map((node) => `${node}=short?`).join(' '),
      record: { blocked: TEN.map((node) => ({ node, reason: 'NoRoom', message: 'no room' })) },
      want: 'undo k',
    },
    'ahead is undone while it keeps the node from a permit itself': {
      ...{ nodes: 'a:old', ahead: 1, prepared: 'a=ready', room: 'a=failed?' },
      record: { blocked: [{ node: 'a', reason: 'NoRoom', message: 'no room' }] },
      want: 'undo a',
    },
    'stays while its permit is unused': { nodes: 'a:old', permits: 'a', ahead: 0, prepared: 'a=ready?', room: 'a=fits', want: 'execute a' },
    'stays while its pod is gone and no new one is available': {
      nodes: 'a:none',
      permits: 'a.gone',
      ahead: 0,
      prepared: 'a=ready?',
      want: 'wait for availability',
    },
    'is undone once the pod is deleted, where it began before the permit': {
      nodes: 'a:none',
      permits: 'a.gone',
      ahead: 1,
      prepared: 'a=ready',
      want: 'undo a',
    },
    'is undone once its new pod is available': {
      nodes: 'a:new',
      permits: 'a.gone',
      ahead: 0,
      prepared: 'a=ready?',
      want: 'undo a',
    },
    'is undone while the record is stopped and its permit is withdrawn': {
      nodes: 'a:old b:none',
      permits: 'b.gone',
      ahead: 1,
      prepared: 'a=ready b=ready?',
      record: { state: 'stopped' },
      want: 'undo a',
    },
    'is undone while the record is being revoked': {
      nodes: 'a:old',
      ahead: 1,
      prepared: 'a=ready',
      record: { state: 'voiding' },
      want: 'undo a',
    },
    'is undone where the new version is bad': {
      nodes: 'a:old b:new',
      ahead: 1,
      prepared: 'b=ready',
      isBad: true,
      want: 'undo b',
    },
    'is undone where it needs a permit and has none': { nodes: 'a:old', ahead: 0, prepared: 'a=ready?', want: 'undo a' },
    'is undone where the policy no longer asks for it, although its permit is unused': {
      nodes: 'a:old',
      permits: 'a',
      prepared: 'a=ready!',
      want: 'undo a',
    },
    'is undone on a node that the batch may not take': { nodes: 'a?:old', ahead: 1, prepared: 'a=ready', want: 'undo a' },
    'is undone on a node that is no longer desired': {
      nodes: 'a-:old b:old',
      partition: 1,
      ahead: 1,
      prepared: 'a=begun',
      want: 'undo a',
    },
    'is undone on a node that is gone': { nodes: 'b:old', partition: 1, ahead: 1, prepared: 'z=begun', want: 'undo z' },
    'is undone once by this process': { nodes: 'a:new', ahead: 1, prepared: 'a=ready', undone: 'a', want: 'wait for batch' },
    'is undone on at most 16 nodes at once': {
      nodes: 'a:new',
      ahead: 1,
      prepared: [...'bcdefghijklmnopqrs'].map((node) => `${node}=ready`).join(' '),
      want: `undo ${[...'bcdefghijklmnopq'].join(' ')}`,
    },
    'is left alone until the watch has reached the record': {
      nodes: 'a:new',
      ahead: 1,
      prepared: 'a=ready',
      podsSeen: '1',
      record: { watermark: '2' },
      want: 'wait for podWatch',
    },
  }
  it.each(Object.entries(cases))('%s', (_name, { want, ...given }) => {
    expect(planText(planPass(passView(given)))).toBe(want)
  })
})

describe('what lasts only for a time on a node', () => {
  const cases: Readonly<Record<string, PassCase & { readonly want: string }>> = {
    'is renewed when it is due, while its permit may be used': {
      nodes: 'a:old',
      permits: 'a',
      ahead: 0,
      room: 'a=fits',
      prepared: 'a=begun+/lock',
      want: 'renew a',
    },
    'is renewed while the pod of its permit is gone': { nodes: 'a:none', permits: 'a.gone', prepared: 'a=begun+/lock', want: 'renew a' },
    'is renewed while the record is stopped': {
      nodes: 'a:none',
      permits: 'a.gone',
      record: { state: 'stopped' },
      prepared: 'a=begun+/lock',
      want: 'renew a',
    },
    'is not renewed before that': {
      nodes: 'a:old',
      permits: 'a',
      ahead: 0,
      room: 'a=fits',
      prepared: 'a=begun-/lock',
      want: 'execute a',
    },
    'is renewed once by this process': {
      nodes: 'a:none',
      permits: 'a.gone',
      prepared: 'a=begun+/lock',
      renewed: 'a',
      want: 'wait for availability',
    },
    'is undone instead where its permit has settled': { nodes: 'a:new', prepared: 'a=begun+/lock', want: 'undo a' },
    'is undone although this process renewed it a moment ago': { nodes: 'a:new', prepared: 'a=begun+/lock', renewed: 'a', want: 'undo a' },
    'is undone instead where the policy no longer asks for it': {
      nodes: 'a:none',
      permits: 'a.gone',
      prepared: 'a=begun!/lock',
      want: 'undo a',
    },
  }
  it.each(Object.entries(cases))('%s', (_name, { want, ...given }) => {
    expect(planText(planPass(passView(given)))).toBe(want)
  })
})

describe('what is undone last on a node', () => {
  it('stays until the other preparations of the node are undone', () => {
    const given: PassCase = { nodes: 'a:new', prepared: 'a=begun/lock a=begun?' }
    expect(planPass(passView(given))).toMatchObject({ kind: 'undoPreparations', nodes: [{ node: 'a', check: 'pull' }] })
    expect(planText(planPass(passView({ ...given, undone: 'a' })))).toBe('wait for batch')
  })

  it('is undone while another node still has preparations', () => {
    const plan = planPass(passView({ nodes: 'a:new b:none', permits: 'b.gone', limit: 2, prepared: 'a=begun/lock b=begun?' }))
    expect(plan).toMatchObject({ kind: 'undoPreparations', nodes: [{ node: 'a', check: 'lock' }] })
  })
})
