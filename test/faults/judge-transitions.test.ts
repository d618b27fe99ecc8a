import type { RecordedWrite } from '@tranche/recording'
import { expect, it } from 'vitest'
import { findUnlisted } from './judge-transitions.ts'

const isOurs = (actor: string): boolean => actor === 'controller-1'

function rollout(phase: string, fields: Partial<RecordedWrite> = {}): RecordedWrite {
  return {
    t: 1,
    type: 'MODIFIED',
    kind: 'Rollout',
    rv: 1,
    actor: 'controller-1',
    o: { metadata: { uid: 'r' }, status: { phase } },
    ...fields,
  }
}

it.each<[string, readonly RecordedWrite[], readonly string[]]>([
  ['a listed transition', [rollout('Healthy'), rollout('Progressing')], []],
  ['no change', [rollout('Healthy'), rollout('Healthy')], []],
  [
    'a transition that no state machine lists',
    [rollout('Healthy'), rollout('Progressing'), rollout('Initial'), rollout('Disabling'), rollout('Initial')],
    ['phase: Disabling to Initial'],
  ],
  ['the write of another client', [rollout('Disabling', { actor: 'people' }), rollout('Initial', { actor: 'people' })], []],
  [
    'our answer to the write of another client',
    [rollout('Disabling', { actor: 'people' }), rollout('Initial')],
    ['phase: Disabling to Initial'],
  ],
  [
    'the batch and the record of a BatchRelease',
    [
      rollout('', {
        kind: 'BatchRelease',
        actor: 'people',
        o: { metadata: { uid: 'b' }, status: { phase: 'Preparing', flight: { state: 'open' } } },
      }),
      rollout('', { kind: 'BatchRelease', o: { metadata: { uid: 'b' }, status: { phase: 'Completed', flight: { state: 'stopped' } } } }),
    ],
    ['phase: Preparing to Completed', 'record: open to stopped'],
  ],
])('finds in %s what no state machine lists', (_what, writes, texts) => {
  expect(findUnlisted(writes, isOurs).map(({ text }) => text.split('lists: ')[1])).toEqual(texts)
})
