import { type KubeClient, type ResourcePath, resourcePaths } from '@tranche/kube-client'
import { JSON_LEVELS_MAX, nestsDeeperThan } from '@tranche/kube-types'
import { type Logger, silentLogger } from '@tranche/telemetry'
import { describe, expect, it } from 'vitest'
import { clientOver } from './canned-client.ts'
import { answerPieces } from './fake-api-server.ts'

const key = { namespace: 'demo', name: 'one' }
const deep = `${'{"a":'.repeat(9_990)}{}${'}'.repeat(9_990)}`
const object = `{"metadata":{"namespace":"demo","name":"one","uid":"u","resourceVersion":"5"},"data":${deep},"revision":3}`
const list = `{"metadata":{"resourceVersion":"9"},"items":[${object}]}`
const revisions = resourcePaths.controllerRevisions

const reads: Record<string, { answer: string; read: (client: KubeClient, resource: ResourcePath) => Promise<unknown> }> = {
  get: { answer: object, read: (client, resource) => client.get(resource, key) },
  create: { answer: object, read: (client, resource) => client.create(resource, { metadata: key }) },
  update: { answer: object, read: (client, resource) => client.update(resource, { metadata: key }) },
  patch: { answer: object, read: (client, resource) => client.patch(resource, key, { type: 'merge', body: {} }) },
  delete: { answer: object, read: (client, resource) => client.delete(resource, key) },
  list: { answer: list, read: async (client, resource) => (await client.list(resource)).items[0] },
  'transformed list': {
    answer: list,
    read: async (client, resource) => (await client.list(resource, { transform: (one) => ({ one }) })).items[0]?.one,
  },
  watch: {
    answer: `{"type":"MODIFIED","object":${object}}\n`,
    async read(client, resource) {
      for await (const event of client.watch(resource, { resourceVersion: '1' })) if (event.type === 'MODIFIED') return event.object
      return undefined
    },
  },
}

describe('a value nested thousands of levels deep', () => {
  it.each(Object.entries(reads))('is cut when it arrives in a %s', async (_verb, { answer, read }) => {
    for (const resource of [revisions, resourcePaths.rollouts, resourcePaths.batchReleases, resourcePaths.releasePolicies]) {
      const { client } = clientOver([answerPieces(200, [answer])])
      const received = await read(client, resource)
      expect(received).toMatchObject({ metadata: { name: 'one', resourceVersion: '5' }, data: { a: { a: {} } }, revision: 3 })
      expect(nestsDeeperThan(JSON_LEVELS_MAX, received)).toBe(false)
    }
  })

  it('is not looked for in pods and nodes, whose types bound it', async () => {
    for (const resource of [resourcePaths.pods, resourcePaths.nodes, resourcePaths.daemonSets]) {
      const { client } = clientOver([answerPieces(200, [object])])
      expect(nestsDeeperThan(JSON_LEVELS_MAX, await client.get(resource, key))).toBe(true)
    }
  })

  it('is logged once for each object, without its content', async () => {
    const lines: unknown[] = []
    const log: Logger = { ...silentLogger, warn: (fields: unknown, message?: string) => void lines.push([message, fields]) }
    const other = object.replace('"u"', '"v"')
    const { client } = clientOver(
      [object, object, other].map((text) => answerPieces(200, [text])),
      log,
    )
    for (let at = 0; at < 3; at++) await client.get(revisions, key)
    const fields = { resource: 'controllerrevisions', namespace: 'demo', name: 'one' }
    const line = ['ignored values of an object that are nested too deeply', fields]
    expect(lines).toEqual([line, line])
  })
})
