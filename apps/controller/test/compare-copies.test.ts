import { type ConfigSource, type ExistingCopy, pinKey, toCopy } from '@tranche/config'
import { type KubeClient, KubeStatusError } from '@tranche/kube-client'
import { describe, expect, it } from 'vitest'
import { compareCopies, type Comparison } from '../src/ports/pin/compare-copies.ts'

const { signal } = new AbortController()
const owner = { namespace: 'demo', name: 'agent', uid: 'u' }
const map: ConfigSource = { kind: 'ConfigMap', name: 'config', uid: 's', resourceVersion: '1', data: { level: 'info' } }
const secret: ConfigSource = { ...map, kind: 'Secret', type: 'Opaque', data: { token: 'Z29vZA==' } }

describe('a copy that something names, and that is not recorded,', () => {
  it.each<[sentence: string, source: ConfigSource, change: object, isForged: boolean]>([
    ['is one where it holds what its name says', map, {}, false],
    ['is none with other content', map, { data: { level: 'evil' } }, true],
    ['is none where it can be changed', map, { immutable: false }, true],
    ['is none without the marks', map, { metadata: { name: '', uid: 'c', resourceVersion: '1' } }, true],
    ['is one where it holds what its Secret holds', secret, {}, false],
    ['is none with other content than its Secret', secret, { data: { token: 'ZXZpbA==' } }, true],
  ])('%s', async (_sentence, source, change, isForged) => {
    expect(await compare(source, change, new Set())).toEqual({ isForged, isCopy: !isForged })
  })

  it.each([
    ['of a Secret is taken as it is where nothing was recorded yet', { data: { token: 'ZXZpbA==' } }, false],
    ['of a Secret is none where it can be changed', { immutable: false }, true],
  ])('%s', async (_, change, isForged) => {
    expect(await compare(secret, change, undefined)).toEqual({ isForged, isCopy: !isForged })
  })
})

describe('a name', () => {
  it('is free where no object has it', async () => {
    expect(await compare(map, null, new Set())).toEqual({ isForged: false, isCopy: false })
  })

  it('of a recorded copy is no other object, whatever a user does to its marks', async () => {
    expect(await compare(map, { metadata: { name: '', uid: 'c', resourceVersion: '1' } }, new Set(['c']))).toEqual({
      isForged: false,
      isCopy: false,
    })
  })

  it('that nothing names belongs to whatever looks like a copy', async () => {
    expect(await compare(map, { data: { level: 'evil' } }, new Set(), false)).toEqual({ isForged: false, isCopy: true })
  })
})

/** @param change of the copy as the API server has it; null where it is gone */
async function compare(
  source: ConfigSource,
  change: object | null,
  recorded: ReadonlySet<string> | undefined,
  isNamed = true,
): Promise<{ readonly isForged: boolean; readonly isCopy: boolean }> {
  const copy = toCopy(source, owner)
  const { name } = copy.metadata
  const object = { ...copy, metadata: { ...copy.metadata, uid: 'c', resourceVersion: '1' }, ...change }
  const get = async (): Promise<object> => {
    if (change === null) throw new KubeStatusError({ attempt: 'it', status: 404 })
    return object
  }
  const at = { kind: source.kind, name }
  const on: Comparison = {
    client: { get } as unknown as KubeClient,
    ...{ namespace: 'demo', owner: 'u', recorded },
    sources: new Map([[pinKey(source), { kind: 'found', source }]]),
    named: new Map(isNamed ? [[pinKey(at), pinKey(source)]] : []),
  }
  const listed: ExistingCopy = { ...at, uid: 'c', resourceVersion: '1', source: source.name, salt: undefined, isUnused: false }
  const { copies, forged, free } = await compareCopies(on, { listed: [listed], asked: [at] }, signal)
  expect([...forged, ...free]).toEqual([at])
  return { isForged: forged.length > 0, isCopy: copies.length > 0 }
}
