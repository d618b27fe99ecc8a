import { type ApiObject, type ApiResult, type ApiServer, resources, type SimClient } from '@tranche/sim-api'
import { describe, expect, it } from 'vitest'
import { aPod, aServer, at, refusal } from '../testing.ts'

const tester = { name: 'tester' }
const BUDGET_TEXT = "Cannot evict pod as it would violate the pod's disruption budget."

describe('the eviction of a pod', () => {
  it('deletes a pod that no budget selects, and records the reason in its status', async () => {
    const { client, evict } = await setUp({})
    expect(await evict()).toMatchObject({ kind: 'status', code: 201, status: { status: 'Success', code: 201 } })
    const pod = await client.get(resources.pods, 'a', 'default')
    expect(pod.metadata.deletionTimestamp).toBeDefined()
    expect(conditionsOf(pod)).toContainEqual(
      expect.objectContaining({
        type: 'DisruptionTarget',
        status: 'True',
        reason: 'EvictionByEvictionAPI',
        message: 'Eviction API: evicting',
      }),
    )
  })

  it('decrements the allowed disruptions, and records the pod', async () => {
    const { client, evict } = await setUp({ budgets: [{ disruptionsAllowed: 1, currentHealthy: 3, desiredHealthy: 2 }] })
    await evict()
    const budget = await client.get(resources.podDisruptionBudgets, 'budget-0', 'default')
    expect(budget['status']).toMatchObject({
      disruptionsAllowed: 0,
      disruptedPods: { a: expect.stringMatching(/Z$/) },
      conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'InsufficientPods' }],
    })
  })

  const refused: Record<string, { readonly status: object; readonly cause: string; readonly retryAfterSeconds?: number }> = {
    'while the budget is used up': {
      status: { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2 },
      cause: 'The disruption budget budget-0 needs 2 healthy pods and has 2 currently',
    },
    'while the budget is new': {
      status: { observedGeneration: 0 },
      cause: 'The disruption budget budget-0 is still being processed by the server.',
      retryAfterSeconds: 10,
    },
    'while the budget could not be counted': {
      status: {
        disruptionsAllowed: 0,
        conditions: [
          {
            type: 'DisruptionAllowed',
            status: 'False',
            reason: 'SyncFailed',
            message: 'no scale',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
      },
      cause: 'The disruption budget budget-0 does not allow evicting pods currently because it failed sync: no scale',
    },
    'while the budget has a reason': {
      status: {
        disruptionsAllowed: 0,
        currentHealthy: 3,
        desiredHealthy: 2,
        conditions: [
          { type: 'DisruptionAllowed', status: 'False', reason: 'Held', message: 'by hand', lastTransitionTime: '2026-01-01T00:00:00Z' },
        ],
      },
      cause: 'The disruption budget budget-0 does not allow evicting pods currently (Held): by hand',
    },
  }
  it.each(Object.entries(refused))('is answered with 429 %s', async (_when, { status, cause, retryAfterSeconds }) => {
    const { client, evict } = await setUp({ budgets: [status] })
    const answer = await refusal(evict())
    expect([answer.code, answer.message]).toEqual([429, BUDGET_TEXT])
    const details = { causes: [{ reason: 'DisruptionBudget', message: cause }], ...(retryAfterSeconds && { retryAfterSeconds }) }
    expect(answer.status).toMatchObject({ reason: 'TooManyRequests', details })
    expect(answer.status.details?.retryAfterSeconds).toBe(retryAfterSeconds)
    expect((await client.get(resources.pods, 'a', 'default')).metadata.deletionTimestamp).toBeUndefined()
  })

  it('is refused with 403 while too many evictions are unobserved', async () => {
    const disruptedPods = Object.fromEntries(Array.from({ length: 2001 }, (_, at) => [`p${at}`, '2026-01-01T00:00:00Z']))
    const { evict } = await setUp({ budgets: [{ disruptionsAllowed: 1, disruptedPods }] })
    expect((await refusal(evict())).message).toBe(
      'poddisruptionbudget.policy "budget-0" is forbidden: DisruptedPods map too big - too many evictions not confirmed by PDB controller',
    )
  })

  it('is answered with 500 for a pod with two budgets', async () => {
    const { client, evict } = await setUp({ budgets: [{ disruptionsAllowed: 1 }, { disruptionsAllowed: 1 }] })
    const { status } = await refusal(evict())
    expect(status).toEqual({ ...status, code: 500, message: expect.stringContaining('more than one PodDisruptionBudget') })
    expect(status).not.toHaveProperty('reason')
    expect((await client.get(resources.pods, 'a', 'default')).metadata.deletionTimestamp).toBeUndefined()
  })

  const passes: Record<string, { readonly pod?: object; readonly budget: object; readonly spec?: object }> = {
    'for a pod that is not running yet': { pod: { phase: 'Pending' }, budget: { disruptionsAllowed: 0 } },
    'for a pod that has ended': { pod: { phase: 'Failed' }, budget: { disruptionsAllowed: 0 } },
    'for an unready pod while enough others are healthy': {
      pod: { phase: 'Running' },
      budget: { disruptionsAllowed: 0, currentHealthy: 2, desiredHealthy: 2 },
    },
    'for an unready pod if the policy always allows it': {
      pod: { phase: 'Running' },
      budget: { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 2 },
      spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' },
    },
  }
  it.each(Object.entries(passes))('asks no budget %s', async (_when, { pod, budget, spec }) => {
    const { client, evict } = await setUp({ pod, budgets: [budget], spec })
    expect(await evict()).toMatchObject({ status: { status: 'Success' } })
    expect(at(await client.get(resources.podDisruptionBudgets, 'budget-0', 'default'), 'status', 'disruptionsAllowed')).toBe(0)
  })

  it('is refused for an unready pod while too few others are healthy', async () => {
    const { evict } = await setUp({
      pod: { phase: 'Running' },
      budgets: [{ disruptionsAllowed: 0, currentHealthy: 1, desiredHealthy: 2 }],
    })
    expect((await refusal(evict())).code).toBe(429)
  })

  it('writes nothing in a dry run, and is refused like a real one', async () => {
    const allowed = await setUp({ budgets: [{ disruptionsAllowed: 1 }] })
    const revision = allowed.server.revision()
    expect(await allowed.evict({ deleteOptions: { dryRun: ['All'] } })).toMatchObject({ status: { status: 'Success' } })
    expect(allowed.server.revision()).toBe(revision)
    const used = await setUp({ budgets: [{ disruptionsAllowed: 0 }] })
    expect((await refusal(used.evict({ deleteOptions: { dryRun: ['All'] } }))).code).toBe(429)
  })

  it('checks the preconditions of its delete options', async () => {
    const { evict } = await setUp({})
    const answer = await refusal(evict({ deleteOptions: { preconditions: { uid: 'other' } } }))
    expect([answer.code, answer.message]).toEqual([
      409,
      expect.stringContaining(
        'Operation cannot be fulfilled on Pod "a": the UID in the precondition (other) does not match the UID in record',
      ),
    ])
  })

  it('is refused with 400 when it names another pod', async () => {
    const { evict } = await setUp({})
    expect((await refusal(evict({ metadata: { name: 'b' } }))).message).toBe('name in URL does not match name in Eviction object')
  })
})

describe('a PodDisruptionBudget', () => {
  const faults: readonly (readonly [spec: object, message: string])[] = [
    [{ minAvailable: 1, maxUnavailable: 1 }, 'minAvailable and maxUnavailable cannot be both set'],
    [{ minAvailable: -1 }, 'spec.minAvailable: Invalid value: -1: must be greater than or equal to 0'],
    [{ maxUnavailable: '101%' }, 'spec.maxUnavailable: Invalid value: "101%": must not be greater than 100%'],
    [{ unhealthyPodEvictionPolicy: 'Never' }, 'supported values: "AlwaysAllow", "IfHealthyBudget"'],
    [{ selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } }, 'spec.selector.matchExpressions[0].values: Required value'],
  ]
  it.each(faults)('is refused with %j', async (spec, message) => {
    const client = aServer().server.clientFor(tester)
    const answer = await refusal(client.create(resources.podDisruptionBudgets, aBudget('a', spec)))
    expect([answer.code, answer.message]).toEqual([422, expect.stringContaining(message)])
  })
})

interface SetUp {
  /** @default Running and Ready */
  readonly pod?: object | undefined
  /** Status of each budget; `observedGeneration` 1 unless said. */
  readonly budgets?: readonly object[]
  readonly spec?: object | undefined
}

async function setUp({ pod, budgets = [], spec = {} }: SetUp) {
  const { server } = aServer()
  const client = server.clientFor(tester)
  await client.create(resources.pods, aPod('a', { metadata: { labels: { app: 'a' } } }))
  await client.bind('a', 'default', 'node-1')
  const status = pod ?? { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
  await client.patch(resources.pods, 'a', 'default', { status }, 'status')
  for (const [index, one] of budgets.entries()) await addBudget(client, `budget-${index}`, spec, one)
  return { server, client, evict: (body?: object) => evict(server, body) }
}

async function addBudget(client: SimClient, name: string, spec: object, status: object): Promise<void> {
  await client.create(resources.podDisruptionBudgets, aBudget(name, { minAvailable: 1, selector: {}, ...spec }))
  await client.patch(resources.podDisruptionBudgets, name, 'default', { status: { observedGeneration: 1, ...status } }, 'status')
}

function aBudget(name: string, spec: object): object {
  return { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name, namespace: 'default' }, spec }
}

function evict(server: ApiServer, parts: object = {}): Promise<ApiResult> {
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' }, ...parts }
  return server.handle({
    actor: tester,
    verb: 'create',
    resource: resources.pods,
    subresource: 'eviction',
    namespace: 'default',
    name: 'a',
    body,
  })
}

function conditionsOf(object: ApiObject): readonly unknown[] {
  return at(object, 'status', 'conditions') as readonly unknown[]
}
