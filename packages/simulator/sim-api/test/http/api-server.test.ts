import { VirtualClock } from '@tranche/clock'
import { createApiServer, createHttpFront, inProcessExchange } from '@tranche/sim-api'
import { bodyText, type Exchange } from '@tranche/wire'
import { beforeEach, describe, expect, it } from 'vitest'

let clock: VirtualClock
let exchange: Exchange

beforeEach(() => {
  clock = new VirtualClock()
  const front = createHttpFront(createApiServer({ clock, seed: 1 }), {
    tokens: { secret: { name: 'admin', groups: ['system:masters'] } },
    clock,
  })
  exchange = inProcessExchange(front, 'secret')
})

describe('an unknown field', () => {
  it('is refused under strict validation', async () => {
    expect(await create('daemonsets', daemonSet({ foo: 1 }), 'fieldValidation=Strict')).toMatchObject({
      status: 400,
      body: { message: 'DaemonSet in version "v1" cannot be handled as a DaemonSet: strict decoding error: unknown field "spec.foo"' },
    })
  })

  it('is dropped with a warning by default', async () => {
    const answer = await create('daemonsets', daemonSet({ foo: 1 }))
    expect(answer).toMatchObject({ status: 201, warning: '299 - "unknown field \\"spec.foo\\""' })
    expect(answer.body).not.toHaveProperty('spec.foo')
  })

  it('is dropped in silence when asked', async () => {
    const answer = await create('daemonsets', daemonSet({ foo: 1 }), 'fieldValidation=Ignore')
    expect(answer).toMatchObject({ status: 201, warning: undefined })
    expect(answer.body).not.toHaveProperty('spec.foo')
  })
})

describe('half a surrogate pair', () => {
  const configMaps = '/api/v1/namespaces/default/configmaps'
  const half = String.raw`{"metadata":{"name":"a"},"data":{"half":"x\ud83d","pair":"\ud83d\ude00","two":"\uDE00\ud83d","text":"\\ud83d"}}`

  it('is stored as U+FFFD, as encoding/json decodes it', async () => {
    const { status, body } = await send('POST', configMaps, half)
    expect({ status, data: body['data'] }).toEqual({
      status: 201,
      data: { half: 'x\uFFFD', pair: '😀', two: '\uFFFD\uFFFD', text: String.raw`\ud83d` },
    })
  })

  it('is U+FFFD in a patch, too', async () => {
    await send('POST', configMaps, half)
    const { body } = await send('PATCH', `${configMaps}/a`, String.raw`{"data":{"half":"y\udfff"}}`, 'application/merge-patch+json')
    expect(body['data']).toMatchObject({ half: 'y\uFFFD' })
  })
})

describe('a custom resource', () => {
  beforeEach(async () => {
    expect((await send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', widgets)).status).toBe(201)
  })

  it('gets the defaults of its schema, and loses unknown fields', async () => {
    const { status, body } = await send('POST', widgetsPath, widget({ size: 1, colour: 'red' }))
    expect({ status, spec: body['spec'] }).toEqual({ status: 201, spec: { size: 1, mode: 'a' } })
  })

  it('is refused with a cause for each fault', async () => {
    expect(await send('POST', widgetsPath, widget({ size: 0, mode: 'z' }))).toMatchObject({
      status: 422,
      body: {
        reason: 'Invalid',
        details: {
          causes: [
            { reason: 'FieldValueInvalid', field: 'spec.size' },
            { reason: 'FieldValueNotSupported', field: 'spec.mode' },
          ],
        },
      },
    })
  })

  it('has its own OpenAPI document', async () => {
    expect((await send('GET', '/openapi/v3/apis/example.com/v1')).body).toHaveProperty(['components', 'schemas', 'com.example.v1.Widget'])
  })
})

it('a definition whose schema is not structural is refused', async () => {
  const { spec } = structuredClone(widgets)
  spec.versions[0]!.schema.openAPIV3Schema.properties.spec.properties['size'] = {}
  expect(await send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { ...widgets, spec })).toMatchObject({
    status: 422,
    body: {
      details: {
        causes: [{ reason: 'FieldValueRequired', field: 'spec.validation.openAPIV3Schema.properties[spec].properties[size].type' }],
      },
    },
  })
})

it('a watch in virtual time delivers every event without a real timer', async () => {
  const answer = await exchange(
    { method: 'GET', path: '/api/v1/configmaps?watch=1&resourceVersion=0', headers: {} },
    new AbortController().signal,
  )
  const seen: string[] = []
  const reading = (async () => {
    for await (const chunk of answer.body) {
      for (const line of chunk.trimEnd().split('\n'))
        seen.push((JSON.parse(line) as { object: { metadata: { name: string } } }).object.metadata.name)
      if (seen.length === 3) return
    }
  })()
  for (const name of ['a', 'b', 'c']) await create('configmaps', { metadata: { name } })
  await clock.run({ done: () => seen.length === 3 })
  await reading
  expect(seen).toEqual(['a', 'b', 'c'])
})

interface Answer {
  readonly status: number
  readonly warning: string | undefined
  readonly body: Record<string, unknown>
}

async function send(method: string, path: string, body?: object | string, type?: string): Promise<Answer> {
  const signal = new AbortController().signal
  const text = typeof body === 'object' ? JSON.stringify(body) : body
  const headers = type === undefined ? {} : { 'content-type': type }
  const response = await exchange({ method, path, headers, body: text }, signal)
  return {
    status: response.status,
    warning: response.headers['warning'],
    body: JSON.parse(await bodyText(response)) as Record<string, unknown>,
  }
}

function create(resource: string, body: object, query = ''): Promise<Answer> {
  return send('POST', `/${resource === 'daemonsets' ? 'apis/apps' : 'api'}/v1/namespaces/default/${resource}?${query}`, body)
}

function daemonSet(spec: object): object {
  const labels = { app: 'x' }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a:1' }] } }
  return { metadata: { name: 'd' }, spec: { selector: { matchLabels: labels }, template, ...spec } }
}

const widgetsPath = '/apis/example.com/v1/namespaces/default/widgets'

function widget(spec: object): object {
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'w' }, spec }
}

const widgetSpec: { type: string; properties: Record<string, object> } = {
  type: 'object',
  properties: { size: { type: 'integer', minimum: 1 }, mode: { type: 'string', enum: ['a', 'b'], default: 'a' } },
}

const widgets = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Widget', plural: 'widgets' },
    versions: [
      { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec: widgetSpec } } } },
    ],
  },
}
