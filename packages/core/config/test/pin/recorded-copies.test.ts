import { copiesNamed, parseRecorded, PINNED_CONFIG_ANNOTATION, recordedText } from '@tranche/config'
import { describe, expect, it } from 'vitest'

const pinned = (text: string): object => ({ metadata: { annotations: { [PINNED_CONFIG_ANNOTATION]: text } } })

describe('the record of copies', () => {
  it('is read as it was written, each uid once', () => {
    expect(recordedText(['a', 'b', 'a'])).toBe('a,b')
    expect(parseRecorded('a,b')).toEqual(new Set(['a', 'b']))
  })

  it.each([
    ['is unknown without the annotation', undefined, undefined],
    ['is empty where no copy was compared', '', new Set()],
  ])('%s', (_, text, recorded) => {
    expect(parseRecorded(text)).toEqual(recorded)
  })
})

it('copies are named by the template, the last offer, and every revision', () => {
  const revisions = [pinned('Secret/s=s-1'), undefined]
  const named = copiesNamed({ template: pinned('ConfigMap/a=a-1'), offered: 'ConfigMap/a=a-2', revisions })
  expect([...named]).toEqual([
    ['ConfigMap/a-1', 'ConfigMap/a'],
    ['ConfigMap/a-2', 'ConfigMap/a'],
    ['Secret/s-1', 'Secret/s'],
  ])
})
