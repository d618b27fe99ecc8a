import { pullProgress, type PullProgress, type PullState } from '@tranche/pre-pull'
import { expect, it } from 'vitest'

const failed = { kind: 'failed', message: 'cannot pull image' } as const

it.each<[sentence: string, state: PullState, afterMs: number, progress: PullProgress]>([
  ['continues within its time', { kind: 'pulling' }, 59_999, { kind: 'pulling', leftMs: 1 }],
  ['fails once its time is over', { kind: 'pulling' }, 60_000, { kind: 'failed', message: 'the images were not pulled within 1m' }],
  ['is complete, however long it took', { kind: 'pulled' }, 600_000, { kind: 'pulled' }],
  ['keeps the words of the kubelet after its time', failed, 600_000, failed],
])('a pull %s', (_sentence, state, afterMs, progress) => {
  expect(pullProgress({ state, createdMs: 1_000 }, '1m', 1_000 + afterMs)).toEqual(progress)
})
