import type { WatchedCluster } from '@tranche/cluster'
import { type ConfigCopy, copyName, type ExistingCopy, PINNED_CONFIG_ANNOTATION, RECORDED_COPIES_ANNOTATION, toCopy } from '@tranche/config'
import type { PinPort } from '@tranche/controllers'
import { type KubeClient, KubeStatusError } from '@tranche/kube-client'
import type { DaemonSet } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { createPinPort } from '../src/ports/pin/pin-port.ts'

const signal = new AbortController().signal
const owner = { namespace: 'demo', name: 'agent', uid: 'u' }
const source = { kind: 'ConfigMap', name: 'config', uid: 's', resourceVersion: '1', data: { level: 'info' } } as const
const copy: ConfigCopy = toCopy(source, owner)
const existing: ExistingCopy = {
  ...{ kind: 'ConfigMap', name: copy.metadata.name, uid: 'c', resourceVersion: '2', source: 'config', salt: undefined, isUnused: true },
}
const write = {
  kind: 'pin',
  pins: `ConfigMap/config=${copyName(source, owner)}`,
  offered: '',
  recorded: [],
  operations: [],
  sources: new Map(),
} as const

const version = (resourceVersion: string): DaemonSet =>
  ({ metadata: { ...owner, resourceVersion }, spec: { template: {} } }) as unknown as DaemonSet
const failed = (status: number): KubeStatusError => new KubeStatusError({ attempt: 'it', status })

describe('a lost race for copies of config', () => {
  it.each<[sentence: string, answers: Answers, act: (port: PinPort) => Promise<unknown>]>([
    ['a copy that is to be named is gone', { configmaps: failed(404) }, (port) => port.pin(version('1'), write, signal)],
    ['a copy that is to be deleted is gone', { delete: failed(404) }, (port) => port.deleteCopy(version('1'), existing, signal)],
    ['a copy that is to be deleted was kept', { delete: failed(409) }, (port) => port.deleteCopy(version('1'), existing, signal)],
  ])('is decided again where %s', async (_sentence, answers, act) => {
    await expect(act(aPort(answers, []))).rejects.toMatchObject({ code: 'WRITE_CONFLICT' })
  })

  it.each<[sentence: string, act: (port: PinPort) => Promise<unknown>]>([
    ['to pin', (port) => port.pin(version('1'), { ...write, pins: null }, signal)],
    ['to touch', (port) => port.touch(version('1'), 'agent', signal)],
  ])('%s a DaemonSet shows its present version, so an old watch repeats nothing', async (_sentence, act) => {
    const learnt: string[] = []
    await expect(act(aPort({ patch: failed(422), daemonsets: version('3') }, learnt))).rejects.toMatchObject({ code: 'WRITE_CONFLICT' })
    expect(learnt).toEqual(['3'])
  })
})

describe('a Secret copy that the template keeps, and that another client has replaced,', () => {
  const secret = { ...source, kind: 'Secret', type: 'Opaque', data: { token: 'Z29vZA==' } } as const
  const kept = toCopy(secret, owner)
  const stored = { ...kept, metadata: { ...kept.metadata, uid: 'c-forged', resourceVersion: '2' } }
  const pins = `Secret/config=${kept.metadata.name}`
  const sources = new Map([['Secret/config', { kind: 'found', source: { ...secret, data: { token: 'bmV3' } } } as const]])
  const naming = (recorded?: string): DaemonSet =>
    ({
      metadata: {
        ...owner,
        resourceVersion: '1',
        ...(recorded !== undefined && { annotations: { [RECORDED_COPIES_ANNOTATION]: recorded } }),
      },
      spec: { template: { metadata: { annotations: { [PINNED_CONFIG_ANNOTATION]: pins } } } },
    }) as unknown as DaemonSet

  it('is named no more: the uid of the copy is recorded', async () => {
    const port = aPort({ secrets: stored }, [])
    await expect(port.pin(naming('c-first'), { ...write, pins, sources }, signal)).rejects.toMatchObject({ code: 'WRITE_CONFLICT' })
  })

  it.each([
    ['it is the recorded one', 'c-forged'],
    ['nothing is recorded, as by an earlier version', undefined],
  ])('is named where %s', async (_, recorded) => {
    const port = aPort({ secrets: stored, patch: version('2') }, [])
    await expect(port.pin(naming(recorded), { ...write, pins, sources }, signal)).resolves.toBeUndefined()
  })
})

it('a name that belongs to another object is known after the first attempt to create a copy there', async () => {
  const foreign = { metadata: { name: copy.metadata.name, uid: 'x', resourceVersion: '1' } }
  const exists = new KubeStatusError({ attempt: 'it', status: 409, reason: 'AlreadyExists' })
  const port = aPort({ create: exists, configmaps: foreign, list: { items: [] } }, [])
  await port.createCopy(copy, signal)
  const { taken } = await port.read(version('1'), [], signal)
  expect([...taken]).toEqual([[`ConfigMap/${copy.metadata.name}`, 'salt']])
})

/** Answers by verb, and to reads by resource. */
type Answers = Readonly<Record<string, object>>

function aPort(answers: Answers, learnt: string[]): PinPort {
  const answer = async (call: string): Promise<unknown> => {
    const given = answers[call]
    if (given === undefined) throw new Error(`${call} was not expected`)
    if (given instanceof KubeStatusError) throw given
    return given
  }
  const client = {
    patch: () => answer('patch'),
    delete: () => answer('delete'),
    create: () => answer('create'),
    list: () => answer('list'),
    get: ({ plural }: { readonly plural: string }) => answer(plural),
  } as unknown as KubeClient
  const watch = { begin: () => {}, end: () => {}, versions: () => null }
  const daemonSets = { learn: ({ metadata }: DaemonSet) => void learnt.push(metadata.resourceVersion) }
  const overlay = { daemonSets } as unknown as WatchedCluster['overlay']
  return createPinPort({ client, watch, kinds: () => ['ConfigMap'], uniqueValue: () => 'x', salt: () => 'salt', overlay })
}
