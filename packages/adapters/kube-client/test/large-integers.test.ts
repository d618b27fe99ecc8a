import { type KubeClient, type ResourcePath, resourcePaths } from '@tranche/kube-client'
import { canonicalJson, isSameJson } from '@tranche/kube-types'
import { describe, expect, it } from 'vitest'
import { clientOver } from './canned-client.ts'
import { answerPieces } from './fake-api-server.ts'

const key = { namespace: 'demo', name: 'one' }
const spec = '{"a":9007199254740993,"b":[9223372036854775807,-9223372036854775808],"c":9007199254740991,"d":"9223372036854775807"}'
const object = `{"metadata":{"namespace":"demo","name":"one"},"spec":${spec}}`
const withSpec = (text: string): string => object.replace(spec, text)

const reads: Record<string, (client: KubeClient, resource: ResourcePath) => Promise<unknown>> = {
  get: (client, resource) => client.get(resource, key),
  list: async (client, resource) => (await client.list(resource)).items[0],
  async watch(client, resource) {
    for await (const event of client.watch(resource, { resourceVersion: '1' })) if (event.type === 'MODIFIED') return event.object
    return undefined
  },
}
const answers: Readonly<Record<string, (one: string) => string>> = {
  get: (one) => one,
  list: (one) => `{"metadata":{"resourceVersion":"9"},"items":[${one}]}`,
  watch: (one) => `{"type":"MODIFIED","object":${one}}\n`,
}

describe('an integer that a number of JavaScript cannot hold', () => {
  it.each(Object.keys(reads))('is sent as it came, after a %s', async (verb) => {
    for (const resource of [resourcePaths.daemonSets, resourcePaths.controllerRevisions]) {
      const read = await readBy(verb, resource, object)
      const { client, requests } = clientOver([answerPieces(200, [object])])
      await client.update(resource, { metadata: key, spec: (read as { readonly spec: object }).spec } as never)
      expect(requests[0]?.body).toBe(object)
    }
  })

  it('differs from the next one, and is the same as its own copy', async () => {
    const [one, again, next] = await Promise.all(
      ['9007199254740992', '9007199254740992', '9007199254740993'].map((digits) =>
        readBy('get', resourcePaths.daemonSets, withSpec(`{"a":${digits}}`)),
      ),
    )
    expect([isSameJson(one, again), isSameJson(one, next)]).toEqual([true, false])
    expect(canonicalJson(next)).toContain('"a":9007199254740993')
  })

  it('is no reason to refuse an object that nests as deep as the API server allows', async () => {
    const deep = `${'{"a":'.repeat(9_990)}9007199254740993${'}'.repeat(9_990)}`
    expect(await readBy('list', resourcePaths.controllerRevisions, withSpec(deep))).toMatchObject({ metadata: { name: 'one' } })
  })

  it('is not looked for in objects that hold no template', async () => {
    const pod = await readBy('get', resourcePaths.pods, object)
    expect(typeof (pod as { readonly spec: { readonly a: unknown } }).spec.a).toBe('number')
  })
})

async function readBy(verb: string, resource: ResourcePath, text: string): Promise<unknown> {
  const { client } = clientOver([answerPieces(200, [answers[verb]!(text)])])
  return reads[verb]!(client, resource)
}
