import { policyReportSchema, type ReleasePolicy, type Rollout } from '@tranche/api-schema'
import { AppError } from '@tranche/errors'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type ApiStage, aSummary, readsOf, startTestApi } from './fixtures.ts'

let stage: ApiStage
let policies: Record<string, ReleasePolicy>
let fault: AppError | undefined

beforeEach(async () => {
  policies = { 'demo/careful': policy('careful'), 'other/elsewhere': policy('elsewhere') }
  fault = undefined
  const rollouts: Record<string, Rollout> = { agent: rollout('careful'), plain: rollout(undefined), lost: rollout('elsewhere') }
  stage = await startTestApi(
    { ...readsOf([aSummary()]), rollout: ({ name }) => rollouts[name] },
    {
      parts: {
        async readPolicy({ namespace, name }) {
          if (fault !== undefined) throw fault
          return policies[`${namespace}/${name}`]
        },
      },
    },
  )
})
afterEach(() => stage.end())

it.each([
  ['the policy that it names', 'agent', { name: 'careful', found: true, sections: expect.arrayContaining([soak('1h')]) }],
  ['the defaults if it names none', 'plain', { found: false, sections: expect.arrayContaining([soak('10s')]) }],
  ['no rules if its namespace has no such policy', 'lost', { name: 'elsewhere', found: false, sections: [] }],
])('the policy of a Rollout is %s', async (_title, name, expected) => {
  expect(policyReportSchema.parse((await ask('admin', name)).json())).toEqual(expected)
})

it('the policy of a Rollout is refused to a user who may not get the Rollout', async () => {
  await stage.grant('viewer', 'demo', { verbs: ['list'] })
  expect((await ask('viewer', 'agent')).json()).toMatchObject({ code: 'ACCESS_DENIED' })
})

it('the policy of a Rollout that does not exist is not found', async () => {
  expect((await ask('admin', 'absent')).json()).toMatchObject({ code: 'ROLLOUT_NOT_FOUND' })
})

it('the policy of a Rollout is an error, and never the defaults, while the API server does not answer', async () => {
  fault = new AppError('API_UNREACHABLE', 'the API server cannot be reached')
  const answer = await ask('admin', 'agent')
  expect(answer.statusCode).toBeGreaterThanOrEqual(500)
  expect(answer.json()).toMatchObject({ code: 'API_UNREACHABLE' })
})

function ask(user: string, name: string) {
  return stage.app.inject({ method: 'GET', url: `/api/v1/namespaces/demo/rollouts/${name}/policy`, headers: stage.as(user) })
}

function soak(final: string): object {
  const sentences = [
    'A step is done as soon as its batch is ready.',
    `The release completes when the last batch has been ready for ${final}.`,
  ]
  return { section: 'soak', sentences }
}

function policy(name: string): ReleasePolicy {
  return { metadata: { namespace: 'demo', name, uid: name, resourceVersion: '1' }, spec: { soak: { final: '1h' } } }
}

function rollout(policyName: string | undefined): Rollout {
  const annotations = policyName === undefined ? {} : { 'tranche.dev/release-policy': policyName }
  const workloadRef = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' }
  return {
    metadata: { namespace: 'demo', name: 'agent', uid: 'rollout', resourceVersion: '1', annotations },
    spec: { workloadRef, strategy: { canary: { steps: [] } } },
  }
}
