import { FakeClock } from '@tranche/clock'
import type { Consumer, EvictionRefusal } from '@tranche/drain'
import { createKubeClient } from '@tranche/kube-client'
import { silentLogger } from '@tranche/telemetry'
import { expect, it } from 'vitest'
import { createEvictionRights, evictPod } from '../src/evict-pod.ts'

const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
const { signal } = new AbortController()

it.each<[sentence: string, answer: Answer]>([
  ['nothing', [201, {}]],
  ['nothing, where the pod is gone', [404, status('NotFound', 'pods "web" not found')]],
  ['nothing, where another pod has the name', [409, status('Conflict', 'uid mismatch')]],
])('an eviction that is accepted needs %s', async (_sentence, answer) => {
  const world = aWorld(answer)
  expect(await evict(world)).toBeNull()
  expect(world.asked).toEqual(['/api/v1/namespaces/team-a/pods/web/eviction'])
})

it('a denial of a webhook is a refusal, if the executor has the right to evict', async () => {
  const world = aWorld([403, status('Forbidden', 'admission webhook "freeze.example.com" denied the request: code freeze')])
  expect(await evict(world)).toEqual({ uid: 'u', message: 'admission webhook "freeze.example.com" denied the request: code freeze' })
})

it.each<[sentence: string, review: Answer]>([
  ['the executor lacks the right', [201, { status: { allowed: false } }]],
  ['nothing says whether the executor lacks the right', [403, status('Forbidden', 'no reviews')]],
])('a 403 is a failure where %s', async (_sentence, review) => {
  await expect(evict(aWorld([403, status('Forbidden', 'pods "web" is forbidden')], review))).rejects.toThrow('pods "web" is forbidden')
})

it('a 401 is a failure, without a question about rights', async () => {
  const world = aWorld([401, status('Unauthorized', 'Unauthorized')])
  await expect(evict(world)).rejects.toThrow('Unauthorized')
  expect(world.asked).toHaveLength(1)
})

it('the words of a refusal are bounded', async () => {
  const refusal = await evict(aWorld([422, status('Invalid', 'no'.repeat(5_000))]))
  expect(refusal?.message).toHaveLength(256)
})

it('rights are asked for once a namespace', async () => {
  const world = aWorld([403, status('Forbidden', 'code freeze')])
  const mayEvict = createEvictionRights(clientOf(world))
  const pods = ['team-a', 'team-a', 'team-b'].map((namespace) => ({ ...web, namespace }))
  await Promise.all(pods.map(async (pod) => evictPod(clientOf(world), pod, { mayEvict, signal })))
  expect(world.asked.filter((path) => path === REVIEWS)).toHaveLength(2)
})

type Answer = readonly [status: number, body: object]

interface World {
  readonly eviction: Answer
  readonly review: Answer
  readonly asked: string[]
}

function aWorld(eviction: Answer, review: Answer = [201, { status: { allowed: true } }]): World {
  return { eviction, review, asked: [] }
}

function status(reason: string, message: string): object {
  return { kind: 'Status', reason, message }
}

function clientOf({ eviction, review, asked }: World): ReturnType<typeof createKubeClient> {
  return createKubeClient({
    exchange: async ({ path }) => {
      const [bare = ''] = path.split('?')
      asked.push(bare)
      const [code, body] = bare === REVIEWS ? review : eviction
      return {
        status: code,
        headers: { 'content-type': 'application/json' },
        body: (async function* () {
          yield JSON.stringify({ ...body, code })
        })(),
      }
    },
    ...{ clock: new FakeClock(), userAgent: 'test/1', log: silentLogger },
  })
}

const web: Consumer = { namespace: 'team-a', name: 'web', uid: 'u', isLeaving: false, finalizers: [] }

function evict(world: World): Promise<EvictionRefusal | null> {
  const client = clientOf(world)
  return evictPod(client, web, { mayEvict: createEvictionRights(client), signal })
}
