import { FakeClock } from '@tranche/clock'
import { type KubeClient, KubeStatusError } from '@tranche/kube-client'
import { silentLogger } from '@tranche/telemetry'
import { describe, expect, it } from 'vitest'
import { createConfigPort } from '../src/ports/config-port.ts'

const signal = new AbortController().signal
const objects: Readonly<Record<string, object | number>> = {
  fixed: { immutable: true, data: { a: 'b' } },
  open: { data: { a: 'b' } },
  missing: 404,
  denied: 403,
}

function aPort() {
  const asked: string[] = []
  const clock = new FakeClock()
  const get = async (_resource: unknown, { namespace, name }: { readonly namespace: string; readonly name: string }): Promise<object> => {
    asked.push(`${namespace}/${name}`)
    const object = objects[name]
    if (typeof object !== 'object')
      throw new KubeStatusError({ attempt: 'GET', status: object ?? 500, reason: object === 404 ? 'NotFound' : '' })
    return object
  }
  const port = createConfigPort({ client: { get } as unknown as KubeClient, clock, log: silentLogger })
  return { asked, clock, port }
}

describe('the port that reads ConfigMaps', () => {
  it('knows the immutable ones, and takes a missing or unreadable one for mutable', async () => {
    const { port } = aPort()
    const { immutable } = await port.immutableOf('demo', ['fixed', 'open', 'missing', 'denied'], signal)
    expect([...immutable]).toEqual(['fixed'])
  })

  it('reads each one once in five minutes, and one of the same name in another namespace as well', async () => {
    const { asked, clock, port } = aPort()
    expect((await port.immutableOf('demo', ['open', 'missing'], signal)).recheckAfterMs).toBe(300_000)
    clock.advance(299_999)
    expect((await port.immutableOf('demo', ['open', 'missing'], signal)).recheckAfterMs).toBe(1)
    expect(asked).toEqual(['demo/open', 'demo/missing'])
    await port.immutableOf('other', ['open'], signal)
    clock.advance(1)
    await port.immutableOf('demo', ['open'], signal)
    expect(asked.slice(2)).toEqual(['other/open', 'demo/open'])
  })

  it('tries one that could not be read again after a minute', async () => {
    const { asked, clock, port } = aPort()
    expect((await port.immutableOf('demo', ['open', 'denied'], signal)).recheckAfterMs).toBe(60_000)
    clock.advance(60_000)
    await port.immutableOf('demo', ['open', 'denied'], signal)
    expect(asked).toEqual(['demo/open', 'demo/denied', 'demo/denied'])
  })

  it('ends with the reason of its signal', async () => {
    const ended = AbortSignal.abort(new Error('the controller is stopping'))
    await expect(aPort().port.immutableOf('demo', ['denied'], ended)).rejects.toThrow('the controller is stopping')
  })
})
