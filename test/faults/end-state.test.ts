import type { RecordedWrite } from '@tranche/recording'
import { describe, expect, it } from 'vitest'
import { awaitsRelease } from './end-state.ts'

let rv = 0
const write = (kind: string, o: RecordedWrite['o'], type: RecordedWrite['type'] = 'MODIFIED'): RecordedWrite => {
  rv++
  return { t: rv, rv, type, kind, namespace: 'demo', o }
}
const carrying = (): RecordedWrite => write('DaemonSet', { annotations: { 'tranche.dev/unsettled': '{}' } })
const bare = (): RecordedWrite => write('DaemonSet', {})
const begun = (): RecordedWrite => write('BatchRelease', {}, 'ADDED')

describe('the record of nodes that a release left in flight', () => {
  it.each<[string, readonly RecordedWrite[], boolean]>([
    ['awaits the next release', [begun(), bare(), carrying()], true],
    ['awaits it, too, once the DaemonSet is written again', [begun(), carrying(), carrying()], true],
    ['must be gone once that has begun', [begun(), carrying(), begun(), carrying()], false],
    ['awaits another one when that has left nodes in flight, too', [carrying(), begun(), bare(), carrying()], true],
    ['is none where no release has left nodes', [begun(), bare()], false],
  ])('%s', (_name, writes, awaits) => {
    expect(awaitsRelease(writes)).toBe(awaits)
  })
})
