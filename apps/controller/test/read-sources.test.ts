import type { ConfigObject } from '@tranche/config'
import { type KubeClient, KubeStatusError } from '@tranche/kube-client'
import type { ObjectKey } from '@tranche/kube-types'
import { expect, it } from 'vitest'
import { readSources } from '../src/ports/pin/read-sources.ts'

const MIB = 1024 * 1024
const objects: readonly ConfigObject[] = Array.from({ length: 30 }, (_, at) => ({ kind: 'ConfigMap', name: `c${at}` }))

it('objects are read eight at a time, and those beyond 16 MiB are not kept', async () => {
  const world = aWorld(MIB)
  const readings = [...(await readSources(world.client, objects, 'demo', signal)).values()]
  expect(readings.filter(({ kind }) => kind === 'found')).toHaveLength(16)
  expect(readings[16]).toMatchObject({ kind: 'unread', why: expect.stringContaining('more than 16 MiB') as string })
  expect(readings).toHaveLength(30)
  expect(world.asked).toBe(24)
  expect(world.most).toBe(8)
})

it('many small objects are all read, and those that do not exist are absent', async () => {
  const world = aWorld(10, 'c3')
  const readings = await readSources(world.client, objects, 'demo', signal)
  expect(world.asked).toBe(30)
  expect([...readings].filter(([, { kind }]) => kind === 'absent').map(([key]) => key)).toEqual(['ConfigMap/c3'])
})

const signal = new AbortController().signal

interface SourceWorld {
  readonly client: KubeClient
  asked: number
  /** Largest number of reads at a time. */
  most: number
}

/** Objects of one size, in characters. */
function aWorld(size: number, absent?: string): SourceWorld {
  const world = { asked: 0, most: 0 }
  let open = 0
  const get = async (_path: unknown, { name }: ObjectKey): Promise<object> => {
    world.asked++
    world.most = Math.max(world.most, ++open)
    await Promise.resolve()
    open--
    if (name === absent) throw new KubeStatusError({ attempt: 'it', status: 404 })
    return { metadata: { name, uid: name, resourceVersion: '1' }, data: { text: 'x'.repeat(size) } }
  }
  return Object.assign(world, { client: { get } as unknown as KubeClient })
}
