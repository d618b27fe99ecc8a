import { request } from 'node:https'
import { type HttpsServer, listen } from '@tranche/sim-api'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createStub, type Stub } from './stub-api-server.ts'

let stub: Stub
let server: HttpsServer

beforeEach(async () => {
  stub = createStub()
  server = await listen(stub.front, { port: 0 })
})

afterEach(() => server.close())

describe('a body in protobuf', () => {
  it('is read for the kinds that command line clients send in protobuf', async () => {
    const meta = message(
      text(1, 'cm'),
      text(2, ''),
      text(3, 'default'),
      whole(7, 0),
      bytes(8, []),
      bytes(11, message(text(1, 'app'), text(2, 'x'))),
    )
    const configMap = message(
      bytes(1, meta),
      bytes(2, message(text(1, 'key'), text(2, 'välue'))),
      bytes(3, message(text(1, 'raw'), bytes(2, [1, 2]))),
      whole(4, 1),
    )
    expect(await post(envelope('v1', 'ConfigMap', configMap))).toBe(200)
    expect(stub.requests[0]?.body).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'cm', namespace: 'default', labels: { app: 'x' } },
      data: { key: 'välue' },
      binaryData: { raw: 'AQI=' },
      immutable: true,
    })
  })

  it('keeps a grace period of 0', async () => {
    const options = message(whole(1, 0), bytes(2, message(text(1, 'uid-1'))))
    await post(envelope('policy/v1', 'Eviction', message(bytes(1, message(text(1, 'p'))), bytes(2, options))))
    expect(stub.requests[0]?.body).toMatchObject({ deleteOptions: { gracePeriodSeconds: 0, preconditions: { uid: 'uid-1' } } })
  })

  it('of another kind is refused with 415', async () => {
    expect(await post(envelope('apps/v1', 'Deployment', []))).toBe(415)
  })

  it('that is not protobuf is refused with 415', async () => {
    expect(await post([1, 2, 3])).toBe(415)
  })

  it('with an endless number is refused as quickly as any other', async () => {
    expect(await post(Buffer.concat([Buffer.from('k8s\0'), Buffer.alloc(1024 * 1024, 0x80)]))).toBe(415)
  })
})

function post(body: readonly number[] | Uint8Array): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: 'Bearer secret', 'content-type': 'application/vnd.kubernetes.protobuf' }
    const path = '/api/v1/namespaces/default/pods'
    const options = { host: '127.0.0.1', port: server.port, path, ca: server.caCertificate, headers, agent: false, method: 'POST' }
    request(options, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .once('error', reject)
      .end(Buffer.from(body))
  })
}

function envelope(apiVersion: string, kind: string, raw: readonly number[]): readonly number[] {
  return [...Buffer.from('k8s\0'), ...message(bytes(1, message(text(1, apiVersion), text(2, kind))), bytes(2, raw))]
}

/** Fields of at most 127 bytes and numbers below 128: each length is one byte. */
function message(...fields: readonly (readonly number[])[]): readonly number[] {
  return fields.flat()
}

function text(field: number, value: string): readonly number[] {
  return bytes(field, [...Buffer.from(value)])
}

function bytes(field: number, value: readonly number[]): readonly number[] {
  return [(field << 3) | 2, value.length, ...value]
}

function whole(field: number, value: number): readonly number[] {
  return [field << 3, value]
}
