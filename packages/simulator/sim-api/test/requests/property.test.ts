import { FakeClock } from '@tranche/clock'
import { type ApiObject, createApiServer, createSeededFaults, isStatus, resources } from '@tranche/sim-api'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Store } from '../../src/store/store.ts'
import { aConfigMap } from '../testing.ts'

const NAMES = ['a', 'b', 'c', 'd']
const step = fc.record({
  verb: fc.constantFrom('create', 'create', 'patch', 'patch', 'delete', 'wait', 'wait', 'wait', 'compact'),
  name: fc.constantFrom(...NAMES),
  label: fc.constantFrom('x', 'y'),
  ms: fc.integer({ min: 0, max: 400 }),
})

describe('a client that watches', () => {
  it('has the state of the server in the end, whatever fails on the way', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 60, size: 'max' }),
        fc.integer(),
        fc.constantFrom(undefined, 'app=x'),
        async (steps, seed, labelSelector) => {
          const clock = new FakeClock()
          const server = createApiServer({ clock, seed, historySize: 5 })
          const writer = server.clientFor({ name: 'writer' })
          const known = new Map<string, ApiObject>()
          server.useFaults(
            createSeededFaults({ seed, requests: 0.3, events: 0.3, mostDelayMs: 2_000, applies: (actor) => actor === 'watcher' }),
          )
          server.clientFor({ name: 'watcher' }).watch(resources.configMaps, { ...(labelSelector && { labelSelector }) }, (event) => {
            if (event.type === 'SYNCED') return
            const { name } = event.object.metadata
            if (event.type === 'ADDED') expect(known.has(name)).toBe(false)
            else expect(known.has(name)).toBe(true)
            if (event.type === 'DELETED') known.delete(name)
            else known.set(name, event.object)
          })
          for (const { verb, name, label, ms } of steps) {
            const labels = { app: label }
            if (verb === 'wait') await clock.advanceAsync(ms)
            else if (verb === 'compact') server.compact()
            else if (verb === 'create') await writer.create(resources.configMaps, aConfigMap(name, { labels })).catch(expectAnswer)
            else if (verb === 'patch')
              await writer.patch(resources.configMaps, name, 'default', { metadata: { labels } }).catch(expectAnswer)
            else await writer.delete(resources.configMaps, name, 'default').catch(expectAnswer)
          }
          server.useFaults(undefined)
          await clock.advanceAsync(60_000)
          const { items } = await writer.list(resources.configMaps, { ...(labelSelector && { labelSelector }) })
          expect([...known.values()].sort(byName)).toEqual(items)
        },
      ),
      { numRuns: 200 },
    )
  })
})

describe('the store', () => {
  it('remembers each past state within its history', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ name: fc.constantFrom(...NAMES), gone: fc.boolean() }), { maxLength: 60, size: 'max' }),
        (writes) => {
          const id = resources.configMaps
          const store = new Store({ firstRevision: 10, historySize: 8, onChange: () => {} })
          const past = new Map<number, readonly (ApiObject | undefined)[]>([[10, NAMES.map(() => undefined)]])
          for (const { name, gone } of writes) {
            const old = store.bucket(id).get(name)
            if (!gone) store.put(id, object(name))
            else if (old !== undefined) store.remove(id, old)
            past.set(
              store.revision,
              NAMES.map((each) => store.bucket(id).get(each)),
            )
          }
          for (const [revision, objects] of past) {
            const snapshot = store.bucket(id).at(revision)
            if (snapshot === null) expect(store.revision - revision).toBeGreaterThan(8)
            else expect(NAMES.map((name) => snapshot.objects.get(name))).toEqual(objects)
          }
        },
      ),
    )
  })
})

function expectAnswer(error: unknown): void {
  if (!isStatus(error, 404) && !isStatus(error, 409)) throw error
}

function object(name: string): ApiObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, uid: name, resourceVersion: '', creationTimestamp: '' } }
}

function byName(a: ApiObject, b: ApiObject): number {
  return a.metadata.name < b.metadata.name ? -1 : 1
}
